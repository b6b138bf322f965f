"""An empirical audit: a lower bound on the epsilon that a mechanism really spends.

It runs the mechanism on two neighboring inputs, looks for an event that tells them
apart on one half of the runs, and bounds its two chances on the other half. It needs
no knowledge of the mechanism and proves nothing right: it finds what is wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from dpframe.errors import ParameterError, shown
from dpframe.noise.law import as_positive
from dpframe.privacy.amounts import Amount, as_fraction
from dpframe.testing.events import choose_event
from dpframe.testing.outcomes import columns

__all__ = ["Audit", "audit"]

Floats = NDArray[np.float64]

_LEAST = 1_000  # runs; with fewer nothing could be seen


@final
@dataclass(frozen=True, slots=True)
class Audit:
    """What an audit found.

    Parameters
    ----------
    epsilon, delta : float
        The claim.
    lower_bound : float
        With the stated confidence the mechanism spends at least this epsilon (beside
        ``delta``) on these two inputs.
    event : str
        What tells the inputs apart.
    counts : tuple of int
        How often the event came about under the first and under the second input, in
        ``tested`` runs of each that were not used to find it.
    tested : int
        Half of the runs.
    confidence : float
        Of the bound, for the audit as a whole.
    """

    epsilon: float
    delta: float
    lower_bound: float
    event: str
    counts: tuple[int, int]
    tested: int
    confidence: float

    @property
    def violated(self) -> bool:
        """Whether the bound is above the claim."""
        return self.lower_bound > self.epsilon

    def check(self) -> Audit:
        """Return the audit, or raise if the claim is violated.

        Raises
        ------
        AssertionError
            With the event and how often it came about.
        """
        if self.violated:
            one, other = self.counts
            msg = (
                f"epsilon is at least {self.lower_bound:.4g}, and {self.epsilon:g} was "
                f"claimed: {self.event} came about {one:,} and {other:,} times in "
                f"{self.tested:,} runs"
            )
            raise AssertionError(msg)
        return self


def audit(
    mechanism: Callable[..., Any],
    neighbours: tuple[Any, Any],
    epsilon: Amount,
    delta: Amount = 0,
    *,
    runs: int = 100_000,
    confidence: float = 1 - 1e-9,
    vectorized: bool | None = None,
) -> Audit:
    """Bound from below what a mechanism spends on two neighboring inputs.

    For an event E of chances p and q, (epsilon, delta) differential privacy needs
    p <= exp(epsilon) q + delta. E is found on one half of the runs; on the other half
    p and q get Clopper-Pearson bounds [1]_, so log((p - delta) / q) has one too.

    Parameters
    ----------
    mechanism : callable
        Takes an input and returns its output: a number, text, None, or a tuple, list
        or array of them, nested or not, of any length. If vectorized, it also takes
        ``runs=`` and returns a sequence of as many independent outputs, one row of an
        array for each.
    neighbours : tuple
        The two inputs. An audit is only as good as this pair: take one that moves as
        far as it may, in the directions that hurt.
    epsilon, delta : number
        The claim.
    runs : int
        Of each input.
    confidence : float
        With this chance the bound holds; the choice of the event is part of it. A
        right mechanism is accused with chance 1 - ``confidence`` at most.
    vectorized : bool, optional
        By default what the attribute ``vectorized`` of the mechanism says, else False.

    Returns
    -------
    Audit

    Raises
    ------
    ParameterError
        For a claim, a number of runs or a confidence out of range, and for outputs
        that cannot be compared.

    Notes
    -----
    Power: at 100,000 runs and the default confidence, epsilon 1 shows as 0.91 by an
    event of chances 0.5 and 0.5 / e, and as 0.29 by one of 0.01 and 0.01 / e; an event
    that the other input never has shows as 5.3 at chance 0.1, as 2.8 at 0.01, and not
    at all below 0.001. Counts with Laplace noise of epsilon 1 show above 0.9.

    References
    ----------
    .. [1] Clopper and Pearson (1934), The use of confidence or fiducial limits
       illustrated in the case of the binomial.
    .. [2] Ding, Wang, Wang, Zhang and Kifer (2018), Detecting violations of
       differential privacy, for the split of the runs.

    Examples
    --------
    >>> from dpframe.noise import DiscreteLaplace
    >>> from dpframe.testing import audit
    >>> def count(rows, runs):
    ...     return len(rows) + DiscreteLaplace(2).sample(runs)
    >>> audit(count, ("abc", "ab"), epsilon=0.5, vectorized=True).violated
    False
    >>> audit(count, ("abc", "ab"), epsilon=0.3, vectorized=True).violated
    True
    """
    claim, allowed = float(as_positive(epsilon, "epsilon")), _read_delta(delta)
    _check(runs, confidence)
    if vectorized is None:
        vectorized = bool(getattr(mechanism, "vectorized", False))
    outputs = [_outputs(mechanism, x, runs, vectorized) for x in neighbours]
    together = _joined(outputs)
    first, last = runs // 4, runs // 2
    tested = runs - last
    miss = (1 - confidence) / 2  # one half for each of the two chances

    def bound(likelier: Floats, other: Floats) -> Floats:
        return _epsilon(likelier * tested, other * tested, tested, allowed, miss)

    event = choose_event(columns(together), together, (first, last), bound)
    one, other = event.inside[:, last:].sum(axis=1).tolist()
    ordered = (one, other) if event.likelier == 0 else (other, one)
    likelier, rarer = (np.array([float(count)]) for count in ordered)
    (lower,) = _epsilon(likelier, rarer, tested, allowed, miss)
    return Audit(
        claim,
        allowed,
        max(0.0, float(lower)),
        event.words,
        (one, other),
        tested,
        confidence,
    )


def _epsilon(
    likelier: Floats, other: Floats, runs: int, delta: float, miss: float
) -> Floats:
    """Return log((p - delta) / q) with p bounded from below and q from above."""
    low = _lower(likelier, runs, miss)
    high = 1 - _lower(runs - other, runs, miss)
    with np.errstate(divide="ignore"):
        return np.log(np.maximum(low - delta, 0)) - np.log(high)


def _lower(successes: Floats, runs: int, miss: float) -> Floats:
    """Bound a chance from below (Clopper and Pearson): wrong with chance ``miss``."""
    from scipy.special import betaincinv

    some = np.maximum(successes, 1e-9)
    found: Floats = betaincinv(some, runs - some + 1, miss)
    return np.where(successes > 0, found, 0.0)


def _outputs(
    mechanism: Callable[..., Any], given: Any, runs: int, vectorized: bool
) -> Sequence[Any]:
    if not vectorized:
        return [mechanism(given) for _ in range(runs)]
    outputs: Sequence[Any] = mechanism(given, runs=runs)
    if len(outputs) != runs:
        msg = (
            f"the mechanism was asked for {runs:,} runs and returned {len(outputs):,} "
            "outputs; a vectorized one returns one row for each run."
        )
        raise ParameterError(msg)
    return outputs


def _joined(outputs: Sequence[Sequence[Any]]) -> Sequence[Any]:
    """Return the outputs of both inputs, one after the other."""
    one, other = outputs
    arrays = isinstance(one, np.ndarray) and isinstance(other, np.ndarray)
    if arrays and np.shape(one)[1:] == np.shape(other)[1:]:
        joined: Sequence[Any] = np.concatenate([one, other])  # type: ignore[assignment]
        return joined
    return [*one, *other]


def _read_delta(delta: Amount) -> float:
    value = as_fraction(delta, "delta")
    if not 0 <= value < 1:
        msg = f"delta must be in [0, 1); got {shown(delta)}."
        raise ParameterError(msg)
    return float(value)


def _check(runs: object, confidence: object) -> None:
    if isinstance(runs, bool) or not isinstance(runs, int) or runs < _LEAST:
        msg = f"runs must be an integer of {_LEAST:,} or more; got {shown(runs)}."
        raise ParameterError(msg)
    if not isinstance(confidence, float) or not 0 < confidence < 1:
        msg = f"confidence must be a float between 0 and 1; got {shown(confidence)}."
        raise ParameterError(msg)
