r"""The quantile of the rows behind a histogram with ordered bins.

Let S_b be the rows in the bins 0 … b, R_b the others, N = S_b + R_b. The q-quantile is
the first bin with S_b >= q N; S_b does not fall, so it is the number of bins with
S_b < q N, that is (1 - q) S_b < q R_b. S_b and R_b belong to different bins and are
independent under T; the signed law of each is multiplied out bin by bin, in decimals
as in `dpframe.estimands.tie_weights`. O(n) for each b.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, localcontext
from fractions import Fraction
from itertools import accumulate
from typing import final

import numpy as np

from dpframe.errors import ParameterError, UnstableEstimateError
from dpframe.estimands.estimand import Debiased, Estimand
from dpframe.estimands.noisy_counts import NoisyCounts
from dpframe.estimands.order_statistics import read_level
from dpframe.estimands.stencil import Stencil
from dpframe.estimands.tie_weights import Law, StepWeights, product
from dpframe.privacy.amounts import Amount

__all__ = ["DataQuantile", "data_quantile"]

_MOST_BINS = 500
_MOST_DIGITS = 300  # of the l1 norm of the weights
_SPARE_DIGITS = 40

_LOST = (
    "the standard error is more than the number of bins: the estimate says nothing. "
    "Use method='auto' or 'plugin', or merge bins."
)


@final
@dataclass(frozen=True, repr=False)
class DataQuantile(Estimand):
    """The bin that a quantile of the rows is in; made by `data_quantile`."""

    level: Fraction
    name: str

    def plug_in(self, noisy: NoisyCounts) -> float:
        """Return the bin found in the noisy counts, cut to the domain."""
        self._check(noisy)
        upto = list(accumulate(noisy.clip(noisy.values.ravel()).tolist()))
        return float(next(b for b, s in enumerate(upto) if s >= self.level * upto[-1]))

    def debias(self, noisy: NoisyCounts) -> Debiased:
        """Return the unbiased estimate and its unbiased variance.

        It is not ``stable`` where its standard error is above the number of bins.
        """
        self._check(noisy)
        stencil = Stencil.of(noisy)
        with localcontext(Context(_digits(stencil), Emin=MIN_EMIN, Emax=MAX_EMAX)):
            below = _below(stencil, self.level)
            value = sum(below, Decimal(0))
            square = sum((2 * b + 1) * p for b, p in enumerate(below))
            variance = float(value * value - square)
        lost = abs(variance) > noisy.values.size**2
        return Debiased(
            float(value), variance, (_LOST,) if lost else (), stable=not lost
        )

    def _check(self, noisy: NoisyCounts) -> None:
        low, _ = noisy.ends
        if low is None or low < 0:
            msg = (
                f"{self.name} needs counts of rows, which are not negative: take "
                "domain='counts', or (lo, hi) with lo >= 0."
            )
            raise ParameterError(msg)
        if not noisy.values.size:
            msg = f"{self.name} needs at least one bin."
            raise ParameterError(msg)


def data_quantile(q: Amount) -> DataQuantile:
    """Make the estimand: the bin that holds the ``q``-quantile of the rows.

    The bins must be in order, such as ages or incomes. The value is the index, from 0,
    of the first bin with at least the share ``q`` of all rows in it and the bins
    before; an estimate lies between bins, or outside. Not to be confused with
    `quantile`, which sorts the counts themselves and forgets which bin each is of:
    of the counts 5, 90, 5 the median is 5, and the median row is in bin 1.

    Parameters
    ----------
    q : number
        Share of the rows, in [0, 1]; a float means its shortest decimal.

    Raises
    ------
    ParameterError
        If ``q`` is no number or not in [0, 1]; when estimating, if the domain has
        negative counts.
    UnstableEstimateError
        When estimating, where noise can move the quantile: if there are more than 500
        bins, or the weights have a norm beyond 1e300.

    Notes
    -----
    Exact, O(n²), seconds for 500 bins; at once if no noise next to the noise that was
    drawn could move the quantile. The variance is very high where counts are small
    against the noise: with a standard error above the number of bins, a warning is
    given, and ``method="auto"`` takes the plug-in.

    References
    ----------
    .. [1] docs/proofs/debias_orders.rst, theorem 3.

    Examples
    --------
    >>> from dpframe.estimands import data_quantile, debias
    >>> debias([5, 90, 5], data_quantile(0.5), epsilon=1.0).value
    1.0
    >>> e = debias([30, 41, 12], data_quantile(0.37), epsilon=2.0)
    >>> e.plug_in, e.value
    (1.0, 0.872...)
    """
    level = read_level(q, "data_quantile")
    return DataQuantile(level, f"data_quantile({float(level):.6g})")


def _digits(stencil: Stencil) -> int:
    return _SPARE_DIGITS + math.ceil(min(_log_norm(stencil), _MOST_DIGITS))


def _log_norm(stencil: Stencil) -> float:
    return float(np.log10(1 + 2 * (stencil.up + stencil.down)).sum())


def _below(stencil: Stencil, level: Fraction) -> list[Decimal]:
    """Return T of 1[S_b < level N] for every bin b but the last."""
    part, rest = level.numerator, level.denominator - level.numerator
    least = list(accumulate((stencil.center - stencil.falls).tolist()))
    most = list(accumulate((stencil.center + stencil.rises).tolist()))
    result, undecided = [], []
    for b, (low, high) in enumerate(zip(least[:-1], most[:-1], strict=True)):
        always = rest * high < part * (least[-1] - low)
        never = rest * low >= part * (most[-1] - high)
        result.append(Decimal(always))
        if not (always or never):
            undecided.append(b)
    if undecided:
        _check_cost(stencil)
        for b, upto, beyond in _laws(stencil, undecided):
            # Both laws count from the least value of their sum.
            enough = (
                rest * (least[b] + i) // part + 1 - (least[-1] - least[b])
                for i in range(len(upto))
            )
            result[b] = _exceeds(upto, beyond, enough)
    return result


def _exceeds(law: Law, other: Law, enough: Iterable[int]) -> Decimal:
    """Return the probability that ``other`` has what each value of ``law`` needs."""
    tails = list(accumulate(reversed(other)))[::-1]
    return sum(
        (
            p * tails[max(need, 0)]
            for p, need in zip(law, enough, strict=True)
            if need < len(tails)
        ),
        Decimal(0),
    )


def _laws(stencil: Stencil, places: list[int]) -> Iterator[tuple[int, Law, Law]]:
    """Return the laws of S_b and R_b for the bins ``places``, in ascending order."""
    bins = _bin_laws(stencil)
    backwards = accumulate(bins[: places[0] : -1], product)
    ends = zip(range(len(bins) - 2, -1, -1), backwards, strict=False)
    wanted = set(places)
    beyond = {b: law for b, law in ends if b in wanted}
    for b, law in enumerate(accumulate(bins[: places[-1] + 1], product)):
        if b in wanted:
            yield b, law, beyond.pop(b)


def _bin_laws(stencil: Stencil) -> list[Law]:
    kinds = list(
        zip(
            stencil.rate.tolist(),
            stencil.rises.tolist(),
            stencil.falls.tolist(),
            strict=True,
        )
    )
    known = {kind: _bin_law(*kind) for kind in set(kinds)}
    return [known[kind] for kind in kinds]


def _bin_law(rate: float, rises: bool, falls: bool) -> Law:
    weights = StepWeights.of(rate, rises=rises, falls=falls)
    return [-weights.down] * falls + [weights.stay] + [-weights.up] * rises


def _check_cost(stencil: Stencil) -> None:
    norm, size = _log_norm(stencil), stencil.center.size
    if norm > _MOST_DIGITS or size > _MOST_BINS:
        msg = (
            f"the estimate for {size} bins is a sum with weights of norm 1e{norm:.0f}: "
            f"not computed beyond 1e{_MOST_DIGITS} or {_MOST_BINS} bins. Merge bins, "
            "or use method='plugin'."
        )
        raise UnstableEstimateError(msg)
