"""What an estimand is estimated from: noisy integers and the law of their noise."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral
from typing import Any, Literal, final

import numpy as np
import numpy.typing as npt

from dpframe.errors import ParameterError, shown

__all__ = ["CountDomain", "NoisyCounts"]

Integers = npt.NDArray[np.int64]
Ends = tuple[int | None, int | None]
CountDomain = Literal["counts", "integers"] | Ends

# Counts worked on at a time, and the length of their histogram, whose last place is
# for the few that are greater: both stay in the processor's cache.
_BLOCK = 2**16
_LENGTH = 2**14

# Neighbors y - 1 and y + 1 must be exact in float64, for f is evaluated there.
_LARGEST = 2**53 - 2


@final
@dataclass(frozen=True, eq=False)
class NoisyCounts:
    """Integers with independent discrete Laplace noise, and where the truth lies.

    Bin i holds ``values[i] = x[i] + noise`` with
    Pr[noise = k] proportional to exp(-rate[i] |k|).

    Parameters
    ----------
    values : array of int, shape (n,) or (r, s)
        Noisy counts, in rows. Floats are taken when they are whole numbers.
    rate : float or array broadcast to ``values``
        Epsilon / sensitivity of each bin, as the sampler used it: 1 / scale.
    domain : {"counts", "integers"} or (lo, hi)
        What is public about the true values: at least 0; any integer; within
        ``lo`` and ``hi``, both included, ``None`` for an open end.

    Raises
    ------
    ParameterError
        If a value is no integer or beyond 2**53 - 2, a rate is not positive and
        finite, or the domain is none of the above.
    """

    values: Integers
    rate: npt.NDArray[np.float64]
    domain: CountDomain = "counts"

    def __post_init__(self) -> None:
        values = _read_values(self.values)
        rate = _read_rate(self.rate, values.shape)
        for array in (values, rate):
            array.flags.writeable = False
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "rate", rate)
        object.__setattr__(self, "domain", _read_domain(self.domain))

    @property
    def ends(self) -> Ends:
        """Least and greatest value that a true count may take; None if open."""
        if isinstance(self.domain, tuple):
            return self.domain
        return (0, None) if self.domain == "counts" else (None, None)

    def clip(self, values: Integers) -> Integers:
        """Move ``values`` to the nearest integer of the domain."""
        low, high = self.ends
        if low is not None:
            values = np.maximum(values, low)
        return values if high is None else np.minimum(values, high)

    @cached_property
    def tally(self) -> tuple[NoisyCounts, Integers]:
        """One bin for each distinct count, cut to the domain, and how many hold it.

        What is the same function of every bin needs no more. Bins whose rates differ
        are left as they are.
        """
        rate = self.rate
        # One rate given for all bins is spread over them with strides of 0.
        if not rate.size or (any(rate.strides) and (rate != rate.flat[0]).any()):
            return self, np.ones(rate.size, dtype=np.int64)
        distinct, numbers = _tally(self.values.ravel(), self.clip)
        return NoisyCounts(distinct, rate.flat[:1], self.domain), numbers


def _tally(values: Integers, clip: Callable[[Integers], Integers]) -> tuple[Any, ...]:
    """Return the distinct values, clipped, in order, and how often each occurs."""
    least = int(clip(values.min(keepdims=True))[0])
    most = least + _LENGTH - 1
    numbers = np.zeros(_LENGTH, dtype=np.int64)
    greater = [np.zeros(0, dtype=np.int64)]
    for start in range(0, values.size, _BLOCK):
        block = clip(values[start : start + _BLOCK])
        numbers += np.bincount(np.minimum(block, most) - least, minlength=_LENGTH)
        greater.append(block[block >= most])
    far, far_numbers = np.unique(np.concatenate(greater), return_counts=True)
    near = np.flatnonzero(numbers[:-1])
    return (
        np.concatenate([near + least, far]),
        np.concatenate([numbers[near], far_numbers]),
    )


def _read_values(values: Any) -> Integers:
    given = np.asarray(values)
    if given.ndim == 0:
        msg = (
            "counts must be an array or a list, with one noisy count per bin; got "
            f"{type(given.item()).__name__}."
        )
        raise ParameterError(msg)
    if given.size == 0:
        return np.zeros(given.shape, dtype=np.int64)
    if given.dtype.kind in "iu":
        if max(-int(given.min()), int(given.max())) > _LARGEST:
            raise _too_large()
        return given.astype(np.int64)
    number = np.full(given.shape, np.nan)
    if given.dtype.kind in "fO":
        with suppress(TypeError, ValueError, OverflowError):
            number = given.astype(np.float64)
    if np.isnan(number).any():
        msg = (
            "counts must be numbers, none of them missing: pass the column of counts "
            "alone. Where counts below a threshold tau were withheld, enter tau - 1 "
            "for them, with domain=(tau - 1, None)."
        )
        raise ParameterError(msg)
    if not (np.floor(number) == number).all():  # infinity meets the next check
        msg = (
            "counts must be whole numbers: discrete Laplace noise leaves integers. "
            "Pass the counts as they were released, neither scaled nor rounded."
        )
        raise ParameterError(msg)
    if np.abs(number).max() > _LARGEST:
        raise _too_large()
    return number.astype(np.int64)


def _too_large() -> ParameterError:
    return ParameterError(
        "counts beyond 2**53 - 2 in size cannot be debiased in float64."
    )


def _read_rate(rate: Any, shape: tuple[int, ...]) -> npt.NDArray[np.float64]:
    try:
        given = np.array(rate, dtype=np.float64)
        per_bin = np.broadcast_to(given, shape)
    except ValueError:
        msg = (
            "epsilon and sensitivity must be one number or one number per bin; "
            f"got shape {np.shape(rate)} for {shape[0]} bins."
        )
        raise ParameterError(msg) from None
    # Below 1e-100 the noise variance, 2 / rate**2, comes near the end of float64.
    if not ((given > 1e-100) & (given < np.inf)).all():
        msg = (
            "epsilon and sensitivity must be positive and finite in every bin, and "
            "epsilon / sensitivity above 1e-100."
        )
        raise ParameterError(msg)
    return per_bin


def _read_domain(domain: Any) -> CountDomain:
    if isinstance(domain, str) and domain in ("counts", "integers"):
        return domain  # type: ignore[return-value]
    if isinstance(domain, tuple) and len(domain) == 2 and all(map(_is_end, domain)):
        low, high = (None if end is None else int(end) for end in domain)
        if low is None or high is None or low <= high:
            return (low, high)
    msg = (
        'domain must be "counts" (true values at least 0), "integers" (any integer) '
        f"or a pair (lo, hi) of integers with lo <= hi; got {shown(domain)}."
    )
    raise ParameterError(msg)


def _is_end(end: Any) -> bool:
    if end is None:
        return True
    return (
        isinstance(end, Integral)
        and not isinstance(end, bool)
        and abs(int(end)) <= _LARGEST
    )
