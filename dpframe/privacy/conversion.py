r"""From one measure of privacy loss to another, always to the safe side.

A mechanism that is ρ-zCDP is (ε, δ)-DP for every order α > 1 with

    ε = α ρ + ln(1/(α δ))/(α - 1) + ln(1 - 1/α)

(Canonne, Kamath and Steinke 2020, Corollary 13). The derivative in α is
ρ - ln(1/(α δ))/(α - 1)², which changes sign once, so the best order solves
ρ (α - 1)² = ln(1/(α δ)). *Every* order gives a valid statement: the search for the
best one may be approximate, only the formula at that order is rounded with care.

Gaussian noise is found in the same spirit: a σ is proposed by bisection and handed
out only if its own delta, rounded up, fits. Nothing rests on the search, nor on the
curve being monotone in σ (for narrow noise on integers it is not).
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache

from dpframe.errors import ParameterError
from dpframe.privacy.amounts import Amount, as_fraction
from dpframe.privacy.gaussian_curve import continuous_curve, discrete_curve
from dpframe.privacy.rounding import (
    as_decimal,
    digits_below_one,
    leading_place,
    precision,
    round_down,
    round_up,
)
from dpframe.privacy.sensitivity import Sensitivity

__all__ = [
    "discrete_gaussian_variance",
    "epsilon_to_zcdp",
    "gaussian_sigma",
    "read_delta",
    "rho_for_epsilon",
    "zcdp_to_epsilon",
]

_WORKING_DIGITS = 60
_CLAIM_DIGITS = 15  # of an epsilon that is claimed
_RHO_DIGITS = 12  # of a rho that is allowed
_SIGMA_DIGITS = 10  # of a continuous σ
_VARIANCE_DIGITS = 8  # of a discrete σ²: 1e-7 of relative excess
_DOWN = Decimal(1) - Decimal("1e-13")  # keeps the claim at a rounded rho below ε


def zcdp_to_epsilon(rho: Amount, delta: Amount) -> Fraction:
    """Return the least epsilon at ``delta`` that rho-zCDP implies, rounded up.

    Parameters
    ----------
    rho : int, float, str, Decimal or Fraction
        The zCDP total; not negative (0 gives 0).
    delta : int, float, str, Decimal or Fraction
        In (0, 1), fixed before the first answer.

    Returns
    -------
    Fraction
        A decimal of 15 digits, at most 1e-14 of itself above the minimum over the
        order α; never negative.

    Raises
    ------
    ParameterError
        If rho is negative, or delta not in (0, 1).

    Examples
    --------
    >>> float(zcdp_to_epsilon("0.01048", "1e-5"))
    0.559738875158595
    """
    total = as_fraction(rho, "rho")
    if total < 0:
        msg = "rho must not be negative."
        raise ParameterError(msg)
    return _zcdp_to_epsilon(total, read_delta(delta))


@lru_cache(maxsize=1024)
def _zcdp_to_epsilon(rho: Fraction, delta: Fraction) -> Fraction:
    if not rho:
        return Fraction(0)
    # Where rho is huge, α - 1 is tiny, and 1 + (α - 1) needs the more digits.
    with precision(_WORKING_DIGITS + digits_below_one(1 / rho)):
        cost, need = as_decimal(rho), _need(delta)
        gap = _best_gap(cost, need)
        claim = (1 + gap) * cost + _overhead(gap, need)
        claim += (1 + gap) * cost * Decimal("1e-20")  # far above all rounding
    return max(Fraction(0), round_up(claim, _CLAIM_DIGITS))


def epsilon_to_zcdp(epsilon: Amount) -> Fraction:
    """Return ε²/2, the rho of a pure mechanism (Bun and Steinke 2016, Prop. 1.4)."""
    loss = as_fraction(epsilon, "epsilon")
    if loss < 0:
        msg = "epsilon must not be negative."
        raise ParameterError(msg)
    return loss**2 / 2


def rho_for_epsilon(epsilon: Amount, delta: Amount) -> Fraction:
    """Return the largest rho whose zCDP implies (epsilon, delta)-DP, rounded down.

    Returns
    -------
    Fraction
        A decimal of 12 digits with ``zcdp_to_epsilon(rho, delta) <= epsilon``.

    Raises
    ------
    ParameterError
        If epsilon is not positive, or delta not in (0, 1).

    Examples
    --------
    >>> float(rho_for_epsilon(1, "1e-6"))
    0.0243559...
    """
    return _rho_for_epsilon(_read_epsilon(epsilon), read_delta(delta))


@lru_cache(maxsize=1024)
def _rho_for_epsilon(epsilon: Fraction, delta: Fraction) -> Fraction:
    with precision(_WORKING_DIGITS):
        claim, need = as_decimal(epsilon), _need(delta)
        gap = _gap_for_claim(claim, need)
        rho = (claim - _overhead(gap, need)) / (1 + gap)
        return round_down(rho * _DOWN, _RHO_DIGITS)


def _need(delta: Fraction) -> Decimal:
    """Return ln(1/δ), for a smaller delta where δ is next to 1."""
    return -as_decimal(min(delta, 1 - Fraction(1, 10**10))).ln()


def _overhead(gap: Decimal, need: Decimal) -> Decimal:
    """Return the part of the claim at order α = 1 + gap that does not hold rho."""
    return (need - (1 + gap).ln()) / gap - _log_of_one_plus(1 / gap)


def _log_of_one_plus(x: Decimal) -> Decimal:
    if x > Decimal("1e-10"):
        return (1 + x).ln()
    return x - x**2 / 2 + x**3 / 3 - x**4 / 4 + x**5 / 5  # to 1e-50 of itself


def _best_gap(rho: Decimal, need: Decimal) -> Decimal:
    """Solve ρ (α - 1)² + ln α = ln(1/δ) for α - 1.

    In t = ln α the left side is convex and increasing, so Newton's method falls
    to the root from any point above it.
    """
    log = min(need, (1 + (need / rho).sqrt()).ln())
    while True:
        order = log.exp()
        gap = order - 1
        step = (rho * gap**2 + log - need) / (2 * rho * gap * order + 1)
        if step <= log * Decimal("1e-15"):
            return gap
        log -= step


def _gap_for_claim(claim: Decimal, need: Decimal) -> Decimal:
    """Return α - 1 at which the best rho has exactly ``claim`` as its epsilon.

    With ρ = ln(1/(α δ))/(α - 1)² that epsilon is convex and falls in α, so Newton's
    method climbs to the root from any point below it.
    """
    gap = (need / claim).sqrt()
    while True:
        left = need - (1 + gap).ln()  # ln(1/(α δ))
        excess = (1 + gap) * left / gap**2 + _overhead(gap, need) - claim
        if excess < 0:  # beyond the root: at the start only
            gap /= 4
            continue
        step = excess * gap**3 / (gap + 2 * (1 + gap) * left)
        if step <= gap * Decimal("1e-10"):
            return gap
        gap += step


def gaussian_sigma(epsilon: Amount, delta: Amount, sensitivity: Amount = 1) -> Fraction:
    """Return the least σ of continuous Gaussian noise for (epsilon, delta)-DP.

    For calculations and comparison: releases use discrete noise, whose variance is
    `discrete_gaussian_variance`.

    Parameters
    ----------
    epsilon, delta : int, float, str, Decimal or Fraction
        epsilon > 0 and 0 < delta < 1.
    sensitivity : int, float, str, Decimal or Fraction
        The l2 sensitivity; σ is proportional to it.

    Returns
    -------
    Fraction
        At most 1e-9 of itself above the least σ, never below it.

    Raises
    ------
    ParameterError
        If an argument is out of range.

    References
    ----------
    .. [1] Balle and Wang (2018), *Improving the Gaussian mechanism for differential
       privacy*, Theorem 8.

    Examples
    --------
    >>> float(gaussian_sigma("3.72", "1e-6"))
    1.273159127
    """
    size = as_fraction(sensitivity, "sensitivity")
    if size <= 0:
        msg = "sensitivity must be positive."
        raise ParameterError(msg)
    return size * _gaussian_sigma(_read_epsilon(epsilon), read_delta(delta))


@lru_cache(maxsize=1024)
def _gaussian_sigma(epsilon: Fraction, delta: Fraction) -> Fraction:
    with precision(30):
        enough = as_decimal(_zcdp_variance(epsilon, delta, 1)).sqrt()
    return _least(
        lambda sigma: continuous_curve(sigma**2, epsilon, Fraction(1)) <= delta,
        round_up(enough, _SIGMA_DIGITS),
        _SIGMA_DIGITS,
    )


def discrete_gaussian_variance(
    epsilon: Amount, delta: Amount, sensitivity: Sensitivity
) -> Fraction:
    """Return the least σ² of integer Gaussian noise for (epsilon, delta)-DP.

    Where one integer may change (``l0 == 1``) the exact curve decides: it covers all
    smaller changes too. It says nothing about several integers that change together,
    by (+1, -1) for instance; these go through `rho_for_epsilon`, σ² = ‖Δ‖₂²/(2ρ).

    Parameters
    ----------
    epsilon, delta : int, float, str, Decimal or Fraction
        epsilon > 0 and 0 < delta < 1.
    sensitivity : Sensitivity
        In lattice steps.

    Returns
    -------
    Fraction
        In squared lattice steps, to be used as it is; by the curve a decimal of 8
        digits, otherwise of 12.

    Raises
    ------
    ParameterError
        If an argument is out of range.

    Examples
    --------
    >>> float(discrete_gaussian_variance(1, "1e-6", Sensitivity(1, 1, 1, 1)))
    17.89949
    """
    loss, chance = _read_epsilon(epsilon), read_delta(delta)
    if sensitivity.l0 > 1:
        return _zcdp_variance(loss, chance, sensitivity.l2_squared)
    return _single_variance(loss, chance, sensitivity.linf)


@lru_cache(maxsize=1024)
def _single_variance(epsilon: Fraction, delta: Fraction, shift: int) -> Fraction:
    return _least(
        lambda sigma2: discrete_curve(sigma2, epsilon, Fraction(shift)) <= delta,
        _zcdp_variance(epsilon, delta, shift**2),
        _VARIANCE_DIGITS,
    )


def _zcdp_variance(epsilon: Fraction, delta: Fraction, l2_squared: int) -> Fraction:
    enough = l2_squared / (2 * rho_for_epsilon(epsilon, delta))
    return round_up(enough, _RHO_DIGITS)


def _least(fits: Callable[[Fraction], bool], enough: Fraction, digits: int) -> Fraction:
    """Bisect for the least decimal of ``digits`` digits that fits, below ``enough``.

    ``enough`` is known to fit; what is returned has been seen to fit, or is it.
    """
    low, high = enough / 2, enough
    while fits(low):
        low, high = low / 2, low
    grid = leading_place(high) / Fraction(10) ** (digits - 1)
    below, above = low // grid, -(-high // grid)
    while above - below > 1:
        middle = (below + above) // 2
        below, above = (below, middle) if fits(middle * grid) else (middle, above)
    return min(high, above * grid)


def read_delta(value: object) -> Fraction:
    """Read a delta for a calculation: in (0, 1), without a warning."""
    delta = as_fraction(value, "delta")
    if not 0 < delta < 1:
        msg = "delta must be above 0 and below 1, as in delta=1e-6."
        raise ParameterError(msg)
    return delta


def _read_epsilon(value: object) -> Fraction:
    epsilon = as_fraction(value, "epsilon")
    if epsilon <= 0:
        msg = "epsilon must be positive."
        raise ParameterError(msg)
    return epsilon
