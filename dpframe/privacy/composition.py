"""What several releases cost together."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction

from dpframe.errors import ParameterError
from dpframe.privacy.amounts import Amount
from dpframe.privacy.conversion import read_delta
from dpframe.privacy.loss import PrivacyLoss
from dpframe.privacy.rounding import as_decimal, precision, round_up

__all__ = ["advanced_composition", "compose"]

_DIGITS = 15  # of an epsilon that is claimed


def compose(*losses: PrivacyLoss) -> PrivacyLoss:
    """Return what ``losses`` cost together, in every measure that all of them have.

    Epsilons, deltas and rhos add up, exactly and in any order. Where one loss states
    a rho, the others count ε²/2 in it; one without an epsilon leaves the total
    without (`zcdp_to_epsilon` gives one, at a delta that is fixed in advance).

    Parameters
    ----------
    *losses : PrivacyLoss
        Each states an epsilon, a rho, or both.

    Raises
    ------
    ParameterError
        If a loss states neither.

    Examples
    --------
    >>> from fractions import Fraction
    >>> tenth = PrivacyLoss(Fraction(1, 10))
    >>> compose(*[tenth] * 10)
    PrivacyLoss(epsilon=1)
    """
    epsilons = [loss.epsilon for loss in losses if loss.epsilon is not None]
    rho = sum(map(_rho, losses), Fraction(0))
    return PrivacyLoss(
        sum(epsilons, Fraction(0)) if len(epsilons) == len(losses) else None,
        sum((loss.delta for loss in losses), Fraction(0)),
        rho if any(loss.rho is not None for loss in losses) else None,
    )


def _rho(loss: PrivacyLoss) -> Fraction:
    return _epsilon(loss) ** 2 / 2 if loss.rho is None else loss.rho


def _epsilon(loss: PrivacyLoss) -> Fraction:
    if loss.epsilon is None:
        msg = (
            f"{loss!r} states no epsilon. Each loss here needs one, as in "
            "dpf.PrivacyLoss(Fraction(1, 10)); only sums in zCDP do without."
        )
        raise ParameterError(msg)
    return loss.epsilon


def advanced_composition(
    losses: Iterable[PrivacyLoss], slack_delta: Amount
) -> PrivacyLoss:
    """Return what many small losses cost together, if a little more delta is allowed.

    ε = sqrt(2 ln(1/δ') S) + S/2 with S = Σ ε², and δ = δ' + Σ δ: smaller than Σ ε for
    many small losses.

    Parameters
    ----------
    losses : iterable of PrivacyLoss
        Each states an epsilon; a delta is added up.
    slack_delta : int, float, str, Decimal or Fraction
        δ', in (0, 1), fixed in advance.

    Returns
    -------
    PrivacyLoss
        The epsilon rounded up to 15 digits, the delta exact. Amounts may be chosen
        after seeing earlier releases, as long as the total was fixed before.

    Raises
    ------
    ParameterError
        If a loss states no epsilon, or the slack is not in (0, 1).

    References
    ----------
    .. [1] Whitehouse, Ramdas, Rogers and Wu (2023), *Fully-adaptive composition in
       differential privacy*, Theorem 1.

    Examples
    --------
    >>> from fractions import Fraction
    >>> advanced_composition([PrivacyLoss(Fraction(1, 100))] * 1000, 1e-6)
    PrivacyLoss(epsilon=1.71226, delta=1e-06)
    """
    every = list(losses)
    slack = read_delta(slack_delta)
    squares = sum((_epsilon(loss) ** 2 for loss in every), Fraction(0))
    with precision(_DIGITS + 15):
        need = -2 * as_decimal(slack).ln()
        epsilon = (need * as_decimal(squares)).sqrt() + as_decimal(squares) / 2
        epsilon *= 1 + Decimal("1e-20")  # far above the rounding
    delta = slack + sum((loss.delta for loss in every), Fraction(0))
    return PrivacyLoss(round_up(epsilon, _DIGITS), delta)
