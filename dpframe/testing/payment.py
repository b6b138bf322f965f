"""Whether the noise that was drawn is worth what was charged for it."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from dpframe.mechanisms.noising import Draw
from dpframe.noise import DiscreteGaussian, DiscreteLaplace
from dpframe.privacy.gaussian_curve import discrete_gaussian_delta, gaussian_delta
from dpframe.privacy.loss import PrivacyLoss

__all__ = ["unpaid"]


def unpaid(draws: Sequence[Draw], loss: PrivacyLoss) -> str | None:
    """Say by how much the draws of one charge cost more than its loss; None if not.

    Laplace noise costs L1/scale in epsilon, Gaussian noise L2²/(2σ²) in rho; in epsilon
    and delta what the Gaussian curve says of all draws together.
    """
    pure = [_epsilon(d) for d in draws if isinstance(d.law, DiscreteLaplace)]
    normal = [d for d in draws if isinstance(d.law, DiscreteGaussian)]
    ratio = sum((_ratio(d) for d in normal), Fraction(0))
    if loss.rho is not None:
        rho = (sum(e * e for e in pure) + ratio) / 2
        return _excess("rho", Fraction(rho), loss.rho)
    epsilon = Fraction(sum(pure))
    if loss.epsilon is None or epsilon > loss.epsilon:
        return _excess("epsilon", epsilon, loss.epsilon or Fraction(0))
    if not normal:
        return None
    return _excess("delta", _delta(normal, ratio, loss.epsilon - epsilon), loss.delta)


def _delta(draws: Sequence[Draw], ratio: Fraction, epsilon: Fraction) -> Fraction:
    """Return the delta of Gaussian draws: exact for one integer, else by l2."""
    first = draws[0]
    if len(draws) == 1 and first.sensitivity.l0 == 1:
        assert isinstance(first.law, DiscreteGaussian)
        shift = first.sensitivity.linf
        return discrete_gaussian_delta(first.law.sigma2, epsilon, shift)
    return gaussian_delta(1 / ratio, epsilon)


def _epsilon(draw: Draw) -> Fraction:
    assert isinstance(draw.law, DiscreteLaplace)
    return draw.sensitivity.l1 / draw.law.scale


def _ratio(draw: Draw) -> Fraction:
    """Return L2²/σ²."""
    assert isinstance(draw.law, DiscreteGaussian)
    return draw.sensitivity.l2_squared / draw.law.sigma2


def _excess(measure: str, cost: Fraction, paid: Fraction) -> str | None:
    if cost <= paid:
        return None
    return (
        f"the noise drawn costs {measure} {float(cost):.6g}, and {float(paid):.6g} "
        "was charged"
    )
