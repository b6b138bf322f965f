"""Whether the noise that was drawn is worth what was charged for it."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from dpframe.mechanisms.noising import Draw
from dpframe.noise import DiscreteGaussian, DiscreteLaplace
from dpframe.noise.key_threshold import KeyThreshold
from dpframe.noise.ordered_choice import OrderedChoice
from dpframe.noise.selection import PermuteAndFlip
from dpframe.noise.smooth import SmoothNoise
from dpframe.noise.spread import SpreadNoise
from dpframe.noise.threshold import ThresholdNoise
from dpframe.privacy.gaussian_curve import discrete_gaussian_delta, gaussian_delta
from dpframe.privacy.loss import PrivacyLoss

__all__ = ["unpaid"]


def unpaid(draws: Sequence[Draw], loss: PrivacyLoss) -> str | None:
    """Say by how much the draws of one charge cost more than its loss; None if not.

    Costs follow from the scales of the noise and from the declared sensitivities, in
    epsilon or in rho:

    * Laplace noise on n integers: L1/scale, or L2²/(2 scale²); L1 is at most n L∞;
    * Gaussian noise: L2²/(2σ²) in rho; in epsilon and delta what the Gaussian curve
      says of all draws together;
    * a selection: its rate times twice L∞ (once if monotone), or half of its square;
      among ordered candidates its rate times twice L1 of one candidate's scores, or an
      eighth of the square where the exponential mechanism chooses;
    * a threshold of keys: L1/scale, and the chance that a key of one unit passes, for
      each of the keys that one unit has;
    * a smooth sensitivity: the epsilon and delta that its noise was made for, for each
      number;
    * a sparse vector: what its threshold and all its positive answers cost, once for
      all draws, because they share the one threshold.
    """
    counted = _counted(draws)
    if loss.rho is not None:
        return _excess("rho", sum(map(_rho, counted), Fraction(0)), loss.rho)
    normal = [d for d in counted if isinstance(d.law, DiscreteGaussian)]
    pure = [d for d in counted if not isinstance(d.law, DiscreteGaussian)]
    epsilon = sum(map(_epsilon, pure), Fraction(0))
    if loss.epsilon is None or epsilon > loss.epsilon:
        return _excess("epsilon", epsilon, loss.epsilon or Fraction(0))
    if not normal:
        failing = [_failure(d) for d in pure]
        return _excess("delta", sum(failing, Fraction(0)), loss.delta)
    return _excess("delta", _delta(normal, loss.epsilon - epsilon), loss.delta)


def _counted(draws: Sequence[Draw]) -> list[Draw]:
    """Leave one draw of each sparse vector: that of the greatest sensitivity."""
    once: dict[ThresholdNoise, Draw] = {}
    others = []
    for draw in sorted(draws, key=lambda d: d.sensitivity.linf):
        if isinstance(draw.law, ThresholdNoise):
            once[draw.law] = draw
        else:
            others.append(draw)
    return [*others, *once.values()]


def _epsilon(draw: Draw) -> Fraction:
    """Return the cost of any draw but a Gaussian one."""
    law, moved = draw.law, draw.sensitivity.linf
    if isinstance(law, DiscreteLaplace):
        return min(draw.sensitivity.l1, _size(draw) * moved) / law.scale
    if isinstance(law, KeyThreshold):
        return draw.sensitivity.l1 / law.law.scale
    if isinstance(law, (SmoothNoise, SpreadNoise)):
        return law.epsilon * draw.exact[0].size
    if isinstance(law, PermuteAndFlip):
        return law.rate * moved * (1 if law.monotonic else 2)
    if isinstance(law, OrderedChoice):
        # Under each key the scores of all candidates move alike, at most.
        candidates: int = draw.exact[0].shape[-1]
        return law.rate * 2 * draw.sensitivity.l1 / candidates
    assert isinstance(law, ThresholdNoise)
    return law.runs * sum(_shares(law, moved), Fraction(0))


def _failure(draw: Draw) -> Fraction:
    """Return the delta of any draw but a Gaussian one."""
    law = draw.law
    if isinstance(law, KeyThreshold):
        return Fraction(law.groups * law.chance(1))
    return law.delta if isinstance(law, SmoothNoise) else Fraction(0)


def _rho(draw: Draw) -> Fraction:
    law = draw.law
    if isinstance(law, DiscreteGaussian):
        return _ratio(draw) / 2
    if isinstance(law, DiscreteLaplace):
        # Entries are independent: each costs half the square of its own epsilon.
        declared = draw.sensitivity
        squares = min(declared.l2_squared, _size(draw) * declared.linf**2)
        return squares / law.scale**2 / 2
    if isinstance(law, ThresholdNoise):
        one, two = _shares(law, draw.sensitivity.linf)
        if law.monotonic and not law.adaptive:
            return law.runs * (one + 2 * two) ** 2 / 8
        return law.runs * (one + two) ** 2 / 2
    exponential = isinstance(law, OrderedChoice) and law.rule == "exponential"
    return _epsilon(draw) ** 2 / (8 if exponential else 2)


def _shares(law: ThresholdNoise, moved: int) -> tuple[Fraction, Fraction]:
    """Return what rho and all the nu of one run cost, from their scales.

    A positive answer moves its nu by twice ``moved``, or once if all answers move the
    same way. A run ends when its credit is spent, on the dearest way to be above.
    """
    each = moved if law.monotonic else 2 * moved
    credit = Fraction(law.credit, law.runs)
    dearest = max(each / way.law.scale / way.price for way in law.branches)
    return moved / law.threshold.scale, credit * dearest


def _delta(draws: Sequence[Draw], epsilon: Fraction) -> Fraction:
    """Return the delta of Gaussian draws: exact for one integer, else by l2."""
    first = draws[0]
    if len(draws) == 1 and first.sensitivity.l0 == 1:
        assert isinstance(first.law, DiscreteGaussian)
        shift = first.sensitivity.linf
        return discrete_gaussian_delta(first.law.sigma2, epsilon, shift)
    return gaussian_delta(1 / sum(map(_ratio, draws), Fraction(0)), epsilon)


def _ratio(draw: Draw) -> Fraction:
    """Return L2²/σ²."""
    assert isinstance(draw.law, DiscreteGaussian)
    return draw.sensitivity.l2_squared / draw.law.sigma2


def _size(draw: Draw) -> int:
    return sum(part.size for part in draw.exact)


def _excess(measure: str, cost: Fraction, paid: Fraction) -> str | None:
    if cost <= paid:
        return None
    return (
        f"the noise drawn costs {measure} {float(cost):.6g}, and {float(paid):.6g} "
        "was charged"
    )
