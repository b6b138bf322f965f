"""A statistic with noise in proportion to its smooth sensitivity.

    S = max over k of exp(-beta k) A(k), for the profile A of one unit at the data
    release value + (S / s) Z, clamped to public ends and rounded to a public grid

S is at least the local sensitivity and moves by a factor of exp(beta) at most between
neighbors; Z has polynomial tails, so that a shift by S and a dilation by exp(beta)
together cost epsilon. Family, beta and s are fixed before the data are read.

Three true quantities are touched, all in `SmoothRequest.answer`: the value and S, which
the noise protects, and S once more where an interval is paid for, on a grid of its
logarithm and with noise of its own.

Guarantee: pure epsilon (epsilon²/2 in zCDP); with Laplace noise (epsilon, delta), to
teach with. Source: Nissim, Raskhodnikova and Smith 2007, lemma 2.5 and theorem 4.1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import final

import numpy as np

from dpframe.domain.lattice import Per
from dpframe.domain.schema import Schema
from dpframe.engines.protocol import Source
from dpframe.errors import AccountantError, ParameterError, shown
from dpframe.mechanisms.noising import Draw, draw
from dpframe.mechanisms.request import Request, Setting
from dpframe.mechanisms.robust import Robust, numeric, read_column
from dpframe.mechanisms.spend import Price
from dpframe.noise.smooth import SmoothNoise
from dpframe.noise.spread import SpreadNoise
from dpframe.privacy.amounts import as_amount, as_delta
from dpframe.privacy.loss import PrivacyLoss
from dpframe.privacy.sensitivity import Sensitivity
from dpframe.releases.receipt import Receipt
from dpframe.releases.rounded import Rounded
from dpframe.releases.smooth import PublishedSpread, SmoothRelease
from dpframe.secret import Occurrences, Secret

__all__ = ["SmoothOptions", "SmoothRequest", "smooth_request"]

#: S is inflated by this against the rounding of its own computation.
_SLACK = 1 + 1e-9
#: And it is never below this share of the range: it must not be 0.
_LEAST = Fraction(1, 2**30)
_MOST_STEPS = 2**62  # of the grid, on which the noise is drawn


@final
@dataclass(frozen=True, slots=True)
class SmoothOptions:
    """What an analyst typed beside epsilon.

    Parameters
    ----------
    noise : {"lomax", "student_t", "laplace"}
        The family of Z.
    beta : number or None
        Decay of the smooth sensitivity; by default 0.3 epsilon for Lomax noise.
    delta : number or None
        For Laplace noise.
    interval : bool
        Publish S too, for a scale and an interval.
    epsilon_interval : number or None
        What that may cost.
    """

    noise: str = "lomax"
    beta: object = None
    delta: object = None
    interval: bool = False
    epsilon_interval: object = None

    def read(self, epsilon: Fraction) -> tuple[SmoothNoise, SpreadNoise | None]:
        """Read the choice, or raise `ParameterError`."""
        if self.noise == "laplace" and self.delta is None:
            msg = (
                "noise='laplace' at a scale that depends on the data is private only "
                "with a delta: give delta=1e-6, or leave noise='lomax', which is pure "
                "and errs less."
            )
            raise ParameterError(msg)
        delta = None if self.delta is None else as_delta(self.delta)
        noise = SmoothNoise.read(
            self.noise,
            epsilon,
            beta=self.beta,  # type: ignore[arg-type]
            delta=delta,
        )
        return noise, self._spread(noise)

    def _spread(self, noise: SmoothNoise) -> SpreadNoise | None:
        if not isinstance(self.interval, bool):
            msg = f"interval must be True or False; got {shown(self.interval)}."
            raise ParameterError(msg)
        if self.interval != (self.epsilon_interval is not None):
            msg = (
                "an interval needs the scale of the noise, which is private: buy it "
                "with interval=True and epsilon_interval=0.1, added to epsilon."
            )
            raise ParameterError(msg)
        if not self.interval:
            return None
        return SpreadNoise.read(
            noise, as_amount(self.epsilon_interval, "epsilon_interval")
        )


def smooth_request(
    verb: str,
    statistic: object,
    column: str,
    epsilon: object,
    options: SmoothOptions,
    setting: Setting,
    schema: Schema,
    *,
    bounds: object = None,
    per: Per = "row",
) -> SmoothRequest:
    """Resolve a statistic of one column, as `dpframe.mechanisms.robust.numeric` does.

    Raises
    ------
    ColumnNotFoundError, DomainError, ParameterError, AccountantError
        From arguments, domain and schema alone.
    """
    subject = read_column(column, bounds, setting, schema, per=per)
    robust = numeric(statistic, subject, setting)
    return SmoothRequest.of(verb, robust, epsilon, options, setting, schema)


@final
@dataclass(frozen=True, slots=True)
class SmoothRequest(Request[SmoothRelease]):
    """One statistic by smooth sensitivity.

    Parameters
    ----------
    verb : str
        The verb as typed.
    setting : Setting
        Unit, relation and accountant of the session.
    robust : Robust
        The statistic.
    noise : SmoothNoise
        The law of Z, with beta and s.
    spread : SpreadNoise or None
        Noise of the logarithm of S, if an interval is paid for.
    schema : Schema
        Of the frame.
    """

    verb: str
    setting: Setting
    robust: Robust
    noise: SmoothNoise
    spread: SpreadNoise | None
    schema: Schema

    @classmethod
    def of(
        cls,
        verb: str,
        robust: Robust,
        epsilon: object,
        options: SmoothOptions,
        setting: Setting,
        schema: Schema,
    ) -> SmoothRequest:
        """Read the price and the options; no data is read."""
        noise, spread = options.read(Price(epsilon).pure(setting))
        if noise.delta and setting.accountant.name == "zcdp":
            msg = (
                "Laplace noise under a data-dependent scale has no rho. Leave "
                "noise='lomax' in a zCDP session."
            )
            raise AccountantError(msg)
        ends = robust.low - robust.start, robust.high - robust.start
        if max(map(abs, ends)) >= _MOST_STEPS * robust.grid:
            msg = "the bounds are 2^62 steps or more wide or from 0; narrow them."
            raise ParameterError(msg)
        return cls(verb, setting, robust, noise, spread, schema)

    @property
    def loss(self) -> PrivacyLoss | None:  # type: ignore[override]
        """The whole loss; None where both bounds are equal, and the answer known."""
        if self.robust.low == self.robust.high:
            return None
        parts = [self.noise.epsilon]
        if self.spread is not None:
            parts.append(self.spread.epsilon)
        if self.setting.accountant.name == "zcdp":
            return PrivacyLoss(rho=sum((e**2 for e in parts), Fraction(0)) / 2)
        return PrivacyLoss(sum(parts, Fraction(0)), self.noise.delta)

    @property
    def mechanism(self) -> str:
        """The mechanism, in words."""
        return f"smooth sensitivity, {self.noise.family}"

    def describe(self) -> dict[str, object]:
        """Return the call with its defaults filled in."""
        spread = self.spread
        return {
            "verb": self.verb,
            "mechanism": self.mechanism,
            "epsilon": str(self.noise.epsilon),
            "delta": str(self.noise.delta),
            "beta": str(self.noise.beta),
            "epsilon_interval": None if spread is None else str(spread.epsilon),
            **self.robust.describe(),
            **self.setting.unit.describe(),
            "neighboring": self.setting.neighboring,
        }

    def reduce(self, source: Source) -> Secret[Occurrences]:
        """Ask the engine how often each value occurs."""
        return source.multiset(self.robust.query)

    def answer(
        self, secret: Secret[Occurrences] | None, receipt: Receipt
    ) -> SmoothRelease:
        """Noise the statistic by its smooth sensitivity; then that, if it is paid."""
        if secret is None:
            known = np.array([math.floor(self.robust.low)], dtype=np.int64)
            return self._release(receipt, known, None)
        data = self.robust.read(secret.reveal())
        value = self.robust.value(data)
        smooth = self._inflated(self.robust.profile(data).smooth(self.noise.beta))
        steps = self._noised(value, smooth)
        return self._release(receipt, steps, self._published(smooth))

    def _inflated(self, smooth: float) -> float:
        """Round S up, and keep it from 0: both leave it smooth."""
        width = float(self.robust.high - self.robust.low)
        return max(smooth * _SLACK, width * float(_LEAST))

    def _noised(
        self, value: Fraction, smooth: float
    ) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        robust = self.robust
        start = robust.start
        exact = np.array([value - start], dtype=object)
        scale = np.array([smooth])

        def perform() -> tuple[np.ndarray[tuple[int], np.dtype[np.int64]]]:
            ends = robust.low - start, robust.high - start
            return (self.noise.draw(exact, scale, *ends, robust.grid),)

        (steps,) = draw(Draw((exact, scale), self.noise, self._moved), perform)
        return steps

    def _published(self, smooth: float) -> PublishedSpread | None:
        spread = self.spread
        if spread is None:
            return None
        scale = np.array([smooth])
        (steps,) = draw(
            Draw((scale,), spread, self._moved), lambda: (spread.draw(scale),)
        )
        return PublishedSpread(spread, int(steps[0]))

    @property
    def _moved(self) -> Sensitivity:
        """How far the value may move: anywhere; what counts is S."""
        width = math.ceil(self.robust.high - self.robust.low)
        return Sensitivity(width, width**2, 1, width)

    def _release(
        self,
        receipt: Receipt,
        steps: np.ndarray[tuple[int], np.dtype[np.int64]],
        spread: PublishedSpread | None,
    ) -> SmoothRelease:
        robust = self.robust
        constant = robust.low == robust.high
        grid = Fraction(1) if constant else robust.grid
        start = 0 if constant else robust.start
        return SmoothRelease(
            receipt,
            self.schema.library,
            self.verb,
            robust.columns,
            robust.name,
            Rounded(
                steps,
                grid,
                robust.lattice,
                robust.form,
                start,
                robust.exact,
                clamped=True,
            ),
            None if constant else self.noise,
            spread,
        )
