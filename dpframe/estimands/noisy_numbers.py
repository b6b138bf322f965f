"""Numbers whose noise is not discrete Laplace: fewer estimands have an inverse."""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from numbers import Real
from typing import Any, Literal, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from dpframe.errors import ParameterError, ProvenanceError, shown
from dpframe.estimands.smooth_functions import SmoothFunction

__all__ = [
    "ExponentialTerms",
    "NoInverseError",
    "NoisyNumbers",
    "RealDomain",
    "read_numbers",
    "read_parameter",
    "read_real_domain",
]

Floats = npt.NDArray[np.float64]
RealEnds = tuple[float | None, float | None]
RealDomain = Literal["counts", "integers"] | RealEnds


class NoInverseError(ParameterError, ProvenanceError):
    """The estimand has no exact unbiased estimate under the noise of these numbers."""


class ExponentialTerms(NamedTuple):
    """The unbiased estimate of e^(t x) in every bin, as logarithms; shape (n,)."""

    exponent: Floats  # t y, y cut to the ends where the noise allows for them
    sign: Floats
    log_factor: Floats  # the estimate is sign e^(exponent + log_factor)
    log_spread: Floats  # its variance is estimated by e^(2 exponent + log_spread)


class NoisyNumbers(ABC):
    """Numbers with independent symmetric noise, and where the truth lies.

    The counterpart of `NoisyCounts` for other laws than discrete Laplace. Bins are
    in rows; ``apply`` and ``covariance`` are the inverse T of the noise, one bin at
    a time: E[T f(y)] = f(x), and T f T g - T(f g) estimates Cov(T f, T g).

    Attributes
    ----------
    values : array of float64, shape (n,)
        The noisy numbers.
    domain : {"counts", "integers"} or (lo, hi)
        What is public about the true values: at least 0; any number; within ends.
    """

    values: Floats
    domain: RealDomain

    @property
    def ends(self) -> RealEnds:
        """Least and greatest value that a true number may take; None if open."""
        if isinstance(self.domain, tuple):
            return self.domain
        return (0, None) if self.domain == "counts" else (None, None)

    def clip(self, values: Floats) -> Floats:
        """Move ``values`` to the nearest number of the domain."""
        low, high = self.ends
        if low is not None:
            values = np.maximum(values, low)
        return values if high is None else np.minimum(values, high)

    def shifted(self, by: float) -> Self:
        """Return the same numbers counted from ``by``."""
        low, high = (None if end is None else end - by for end in self.ends)
        return replace(self, values=self.values - by, domain=(low, high))  # type: ignore[type-var]

    @property
    @abstractmethod
    def reach(self) -> float:
        """The |t| from which on e^(t noise) has no expectation; inf if none."""

    @abstractmethod
    def inverts(self, f: object) -> bool:
        """Return whether ``apply`` and ``covariance`` take the function f."""

    @abstractmethod
    def apply(self, f: SmoothFunction) -> Floats:
        """Return T f(y) of every bin."""

    @abstractmethod
    def covariance(self, f: SmoothFunction, g: SmoothFunction) -> Floats:
        """Return T f T g - T(f g) of every bin, free of cancellation."""

    @abstractmethod
    def power(self, place: int, k: int) -> Fraction:
        """Return T of x^k in the bin at ``place``, not rounded."""

    @abstractmethod
    def exponential(self, t: float) -> ExponentialTerms:
        """Return T of e^(t x) in every bin, for |t| below ``reach``."""

    @abstractmethod
    def refuse(self, name: str) -> NoInverseError:
        """Return the error that says why the estimand ``name`` has no inverse."""


def read_numbers(values: Any) -> Floats:
    """Read finite numbers, shape (n,) or (r, s), as a flat float64 array."""
    given = np.asarray(values)
    if given.ndim == 0:
        msg = (
            "counts must be an array or a list, with one noisy number per bin; got "
            f"{type(given.item()).__name__}."
        )
        raise ParameterError(msg)
    number = np.full(given.shape, np.nan)
    if given.dtype.kind in "iufO":
        with suppress(TypeError, ValueError, OverflowError):
            number = given.astype(np.float64)
    # Their squares must fit in float64.
    if given.size and not (np.abs(number) < 1e150).all():
        msg = "counts must be numbers below 1e150 in size, as they were released."
        raise ParameterError(msg)
    return _frozen(np.zeros(0) if not given.size else number.ravel())


def read_parameter(value: Any, size: int, name: str) -> Floats:
    """Read one positive noise parameter for all bins, or one for each."""
    try:
        given = np.asarray(value, dtype=np.float64).ravel()
        per_bin = np.array(np.broadcast_to(given, (size,)))
    except (TypeError, ValueError):
        msg = f"{name} must be one number or one number per bin, {size} of them."
        raise ParameterError(msg) from None
    if not ((per_bin > 1e-100) & (per_bin < 1e100)).all():
        msg = f"{name} must be above 1e-100 and below 1e100 in every bin."
        raise ParameterError(msg)
    return _frozen(per_bin)


def read_real_domain(domain: Any) -> RealDomain:
    """Read the domain; its ends may be fractional."""
    if isinstance(domain, str) and domain in ("counts", "integers"):
        return domain  # type: ignore[return-value]
    if isinstance(domain, tuple) and len(domain) == 2 and all(map(_is_end, domain)):
        low, high = (None if end is None else float(end) for end in domain)
        if low is None or high is None or low <= high:
            return (low, high)
    msg = (
        'domain must be "counts" (true values at least 0), "integers" (any number) or '
        f"a pair (lo, hi) of finite numbers with lo <= hi; got {shown(domain)}."
    )
    raise ParameterError(msg)


def _is_end(end: Any) -> bool:
    if end is None:
        return True
    return (
        isinstance(end, Real) and not isinstance(end, bool) and abs(float(end)) < 1e300
    )


def _frozen(array: Floats) -> Floats:
    array.flags.writeable = False
    return array
