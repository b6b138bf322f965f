"""`above_threshold`, `sparse_vector` and their kin, over a list known beforehand.

The engine computes all answers in one pass; `Run` compares them. Which variant it is
follows from `ThresholdNoise` and from what is released beside the indices.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Generic, TypeVar, final

from dpframe.domain.schema import Schema
from dpframe.engines.protocol import Source
from dpframe.errors import ParameterError, shown
from dpframe.mechanisms.above_threshold import Run
from dpframe.mechanisms.calibrate import SparseOptions
from dpframe.mechanisms.questions import Questions
from dpframe.mechanisms.request import Request, Setting
from dpframe.noise.threshold import ThresholdNoise
from dpframe.privacy.loss import PrivacyLoss
from dpframe.queries.threshold import Threshold
from dpframe.releases.compared import Compared
from dpframe.releases.receipt import Receipt
from dpframe.secret import Secret

__all__ = ["SparseVectorRequest"]

R = TypeVar("R", bound=Compared)


@final
@dataclass(frozen=True, slots=True)
class SparseVectorRequest(Request[R], Generic[R]):
    """Which answers of a public list pass a public threshold.

    Parameters
    ----------
    verb : str
        The verb as typed.
    setting : Setting
        Unit, relation and accountant of the session.
    questions : Questions
        The list, resolved.
    threshold : Threshold
        What answers are compared with.
    options : SparseOptions
        As typed.
    noise : ThresholdNoise
        What follows from them.
    form : type of Compared
        What to hand back.
    schema : Schema
        Of the frame.
    """

    verb: str
    setting: Setting
    questions: Questions
    threshold: Threshold
    options: SparseOptions
    noise: ThresholdNoise
    form: type[R]
    schema: Schema

    @classmethod
    def of(
        cls,
        verb: str,
        setting: Setting,
        questions: Questions,
        compared: tuple[object, object],
        epsilon: Fraction,
        options: SparseOptions,
        monotonic: object,
        form: type[R],
        schema: Schema,
    ) -> SparseVectorRequest[R]:
        """Check the arguments and calibrate the noise; no data is read.

        ``compared`` is the threshold and its direction, as typed.
        """
        if not questions.size:
            msg = "there is no query to ask: the list of keys is empty."
            raise ParameterError(msg)
        noise = options.calibrate(
            epsilon,
            sensitivity=questions.sensitivity,
            monotonic=_monotonic(monotonic, questions),
            grid=questions.grid,
            l1=questions.l1,
            concentrated=setting.accountant.name == "zcdp",
        )
        value, direction = compared
        threshold = Threshold.read(value, questions.grid, direction)
        return cls(verb, setting, questions, threshold, options, noise, form, schema)

    @property
    def loss(self) -> PrivacyLoss:  # type: ignore[override]
        """The whole loss: "nothing above" is an answer too."""
        return self.noise.loss

    @property
    def mechanism(self) -> str:
        """The noise, in words."""
        return self.noise.mechanism

    def describe(self) -> dict[str, object]:
        """Return the call with its defaults filled in."""
        return {
            "verb": self.verb,
            "mechanism": self.mechanism,
            "loss": self.loss.describe(),
            "queries": self.questions.describe(),
            "threshold": self.threshold.describe(),
            "noise": self.noise.describe(),
            **self.options.describe(),
            **self.setting.unit.describe(),
            "neighboring": self.setting.neighboring,
        }

    def reduce(self, source: Source) -> Secret[Any]:
        """Ask the engine for all answers in one pass."""
        return self.questions.reduce(source)

    def answer(self, secret: Secret[Any] | None, receipt: Receipt) -> R:
        """Compare every answer with the threshold; then draw fresh values."""
        assert secret is not None
        exact = self.questions.answers(secret.reveal())
        run = Run(self.noise, self.threshold)
        crossings = run.examine(exact, gap=bool(self.options.gap))
        return self.form(
            receipt,
            self.schema.library,
            crossings,
            self.questions.listing,
            self.questions.key_types,
        )


def _monotonic(asked: object, questions: Questions) -> bool:
    """Whether the cheaper scale is right: the library must know it to be."""
    if isinstance(asked, str) and asked == "auto":
        return questions.monotone
    if not isinstance(asked, bool):
        msg = f"monotonic must be 'auto', True or False; got {shown(asked)}."
        raise ParameterError(msg)
    if asked and not questions.monotone:
        msg = (
            "these queries do not all move the same way between neighbors (under "
            "'replace' nothing does; a sum of negative values moves against counts). "
            "Leave monotonic='auto'."
        )
        raise ParameterError(msg)
    return asked
