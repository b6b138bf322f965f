"""From what a verb was given (epsilon, rho, delta, noise) to a loss and noise laws."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, final, get_args

from dpframe.errors import AccountantError, ParameterError, shown
from dpframe.mechanisms.request import Setting
from dpframe.noise import DiscreteGaussian, DiscreteLaplace
from dpframe.privacy.amounts import as_amount, as_delta, show_amount
from dpframe.privacy.conversion import discrete_gaussian_variance
from dpframe.privacy.loss import PrivacyLoss
from dpframe.privacy.sensitivity import Sensitivity

__all__ = ["Noise", "Price", "Spend"]

Noise = Literal["laplace", "gaussian"]

#: Scales above this many lattice steps are refused: int64 could not hold the noise.
_LARGEST_SCALE = 2**54


@final
@dataclass(frozen=True, slots=True)
class Price:
    """What an analyst typed: epsilon (and delta) or rho, and a kind of noise."""

    epsilon: object = None
    noise: str = "laplace"
    delta: object = None
    rho: object = None

    def spend(self, setting: Setting) -> Spend:
        """Read the price under the session's accountant.

        Raises
        ------
        ParameterError
            If an amount is invalid, missing, or given twice.
        AccountantError
            If the session's accountant cannot hold such a loss.
        """
        if not isinstance(self.noise, str) or self.noise not in get_args(Noise):
            msg = f"noise must be 'laplace' or 'gaussian'; got {shown(self.noise)}."
            raise ParameterError(msg)
        if self.rho is not None:
            return self._concentrated(setting)
        typed = setting.default_epsilon if self.epsilon is None else self.epsilon
        if typed is None:
            zcdp = setting.accountant.name == "zcdp"
            amounts = "epsilon= (pure noise) or rho= (Gaussian)" if zcdp else "epsilon="
            msg = (
                f"how much may this cost? Give {amounts}, "
                "or open the session with default_epsilon=0.1."
            )
            raise ParameterError(msg)
        epsilon = as_amount(typed, "epsilon")
        if self.noise == "gaussian":
            return self._approximate(setting, epsilon)
        if self.delta is not None:
            msg = "delta= is for noise='gaussian'; Laplace noise needs none."
            raise ParameterError(msg)
        return Spend(PrivacyLoss(epsilon), "laplace")

    def pure(self, setting: Setting) -> Fraction:
        """Read an epsilon for a mechanism whose noise is its own."""
        epsilon = self.spend(setting).loss.epsilon
        assert epsilon is not None
        return epsilon

    def _concentrated(self, setting: Setting) -> Spend:
        if self.epsilon is not None or self.delta is not None:
            msg = "give rho= alone, without epsilon or delta."
            raise ParameterError(msg)
        rho = as_amount(self.rho, "rho")
        if setting.accountant.name != "zcdp":
            msg = (
                f"rho= needs a zCDP session, and this one is "
                f"{setting.accountant.name!r}. Open dpf.Session(rho=0.5, unit=...) or "
                "give epsilon."
            )
            raise AccountantError(msg)
        return Spend(PrivacyLoss(rho=rho), "gaussian")

    def _approximate(self, setting: Setting, epsilon: Fraction) -> Spend:
        if setting.accountant.name == "zcdp":
            msg = (
                "in a zCDP session Gaussian noise is asked for with rho= in place of "
                "epsilon, as in count(rho=0.01)."
            )
            raise ParameterError(msg)
        if setting.accountant.name == "pure":
            msg = (
                "Gaussian noise has no pure epsilon, and this session is 'pure'. Open "
                "dpf.Session(epsilon=1, delta=1e-6, unit=...) or dpf.Session(rho=0.5, "
                "unit=...), or leave noise='laplace'."
            )
            raise AccountantError(msg)
        delta = Fraction(0) if self.delta is None else as_delta(self.delta)
        if not delta:
            msg = "noise='gaussian' needs a delta, such as delta=1e-7."
            raise ParameterError(msg)
        return Spend(PrivacyLoss(epsilon, delta), "gaussian")


@final
@dataclass(frozen=True, slots=True)
class Spend:
    """A privacy loss and the kind of noise that it buys."""

    loss: PrivacyLoss
    noise: Noise

    def share(self, part: Fraction) -> Spend:
        """Return the part of the loss that one of several measurements takes."""
        return Spend(self.loss.scaled(part), self.noise)

    def law(self, sensitivity: Sensitivity) -> DiscreteLaplace | DiscreteGaussian:
        """Calibrate the noise of one measurement.

        Laplace: scale = L1 / epsilon. Gaussian: sigma² = L2² / (2 rho), or what the
        exact (epsilon, delta) curve asks for.
        """
        if self.noise == "laplace":
            assert self.loss.epsilon is not None
            scale = sensitivity.l1 / self.loss.epsilon
            if scale > _LARGEST_SCALE:
                raise _too_wide(sensitivity, scale)
            return DiscreteLaplace(scale)
        if self.loss.rho is not None:
            variance = sensitivity.l2_squared / (2 * self.loss.rho)
        else:
            assert self.loss.epsilon is not None
            variance = discrete_gaussian_variance(
                self.loss.epsilon, self.loss.delta, sensitivity
            )
        if variance > _LARGEST_SCALE**2:
            raise _too_wide(sensitivity, Fraction(variance) / _LARGEST_SCALE)
        return DiscreteGaussian(variance)


def _too_wide(sensitivity: Sensitivity, scale: Fraction) -> ParameterError:
    fits = sensitivity.linf * _LARGEST_SCALE / scale
    narrower = f"bounds within {show_amount(fits)} steps of 0, or " if fits >= 1 else ""
    return ParameterError(
        "the noise would have a scale above 2**54 steps: one unit moves the answer by "
        f"up to {show_amount(Fraction(sensitivity.linf))} steps. Ask with {narrower}a "
        "larger epsilon."
    )
