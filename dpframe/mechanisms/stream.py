"""`SparseVector`: ask one query after another, pay once, when it is opened.

One noisy threshold serves all questions, so a second holder of it would give twice as
many positive answers: the object refuses to be copied, pickled or used after a fork,
answers one question at a time, and closes when anything fails.
"""

from __future__ import annotations

import math
import os
import threading
from contextlib import nullcontext
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NoReturn, final

from dpframe.domain.schema import Library, Schema
from dpframe.engines.attempt import attempt
from dpframe.engines.ingest import ingest
from dpframe.engines.protocol import Source
from dpframe.engines.source import draw_key
from dpframe.errors import ClosedError, EngineError, ParameterError, shown
from dpframe.mechanisms.above_threshold import Run
from dpframe.mechanisms.calibrate import SparseOptions
from dpframe.mechanisms.questions import Questions, resolve
from dpframe.mechanisms.request import Request, Setting
from dpframe.noise.law import as_positive
from dpframe.noise.threshold import ThresholdNoise
from dpframe.privacy.amounts import Amount
from dpframe.privacy.loss import PrivacyLoss
from dpframe.privacy.sensitivity import Adjacency
from dpframe.queries.threshold import Threshold
from dpframe.releases.crossings import Crossings
from dpframe.releases.receipt import Receipt
from dpframe.secret import Secret

__all__ = ["OpenSparseVector", "SparseVector"]


@final
class SparseVector:
    """An open run of sparse vector technique; made by ``open_sparse_vector``.

    Each question costs nothing more: the whole epsilon was charged at opening. After
    ``max_above`` positive answers it closes. Queries may depend on earlier answers,
    and the frame may be another one each time, as when a table grows.

    Examples
    --------
    >>> import polars as pl
    >>> import dpframe as dpf
    >>> visits = pl.DataFrame({"status": ["ok", "ok", "error"] * 100})
    >>> with dpf.Session(epsilon=1, unit="row"):
    ...     alerts = visits.dp.open_sparse_vector(1_000, 1, max_above=2)
    >>> alerts.ask(dpf.col("status") == "error")
    False
    >>> alerts.remaining, alerts.closed
    (2, False)
    """

    __slots__ = (
        "__held",
        "__request",
        "__weakref__",
        "_closed",
        "_hash_key",
        "_lock",
        "_process",
        "_receipt",
    )

    def __init__(
        self, request: OpenSparseVector, source: Source, receipt: Receipt
    ) -> None:
        self.__request = request
        #: The private frame and the noisy threshold, dropped when it closes.
        self.__held: tuple[Source, Run] | None = (
            source,
            Run(request.noise, request.threshold),
        )
        self._receipt = receipt
        self._hash_key = draw_key()  # one for its life: the same rows, asked again
        self._closed = ""
        self._lock = threading.Lock()
        self._process = os.getpid()

    # -- asking --------------------------------------------------------------------

    def ask(self, query: Any, frame: Any = None) -> bool | float | int | None:
        """Ask one query, of the frame it was opened on or of another one.

        Parameters
        ----------
        query : query
            With one answer: a predicate such as ``dpf.col("age") >= 40``, or a
            ``dpf.sum_by([], "bytes", bounds=(0, 100))``.
        frame : frame, optional
            The rows of this moment; of the same library, with the same columns.

        Returns
        -------
        bool, or number or None
            Whether the answer passes. If opened with ``gap`` or ``values``: None if
            it does not, else an estimate of the answer: the fresh value, the threshold
            plus the gap (biased by selection), or the weighted mean of both.

        Raises
        ------
        ClosedError
            After the last positive answer, a failure, or `close`.
        ParameterError
            If the query may move by more than was said at opening, does not lie on the
            grid, or is not monotone where that was promised; or if it has several
            answers. Nothing was read, and the stream stays open.
        EngineError
            If the engine fails. The stream is closed; the charge stands.

        Notes
        -----
        .. admonition:: Privacy

           Charges nothing: it was all charged at opening.
        """
        other = None if frame is None else ingest(frame)
        found = self._found(query, other, single=True)
        estimates = found.estimates
        if estimates is None:
            return bool(len(found.indices))
        return estimates.item() if len(found.indices) else None

    def ask_many(self, queries: Any, frame: Any = None) -> Any:
        """Ask queries in their order, until the last positive answer is given.

        Parameters
        ----------
        queries : str, query, list or Workload
            As in ``above_threshold``; keys of a column come from the domain.
        frame : frame, optional
            As in `ask`.

        Returns
        -------
        ndarray of int64, or Crossings
            Positions of the positive answers. If opened with ``gap`` or ``values``:
            a record with these as ``indices``, and ``gaps``, ``values`` and
            ``estimates``.

        Raises
        ------
        ClosedError, ParameterError, EngineError
            As in `ask`.
        """
        other = None if frame is None else ingest(frame)
        found = self._found(queries, other, single=False)
        return found.indices if found.estimates is None else found

    @property
    def remaining(self) -> int:
        """Positive answers that it has left, at least."""
        held, branches = self.__held, self.__request.noise.branches
        if held is None:
            return 0
        return held[1].credit // max(branch.price for branch in branches)

    @property
    def closed(self) -> bool:
        """Whether it answers no more."""
        return bool(self._closed)

    @property
    def loss(self) -> PrivacyLoss:
        """What was charged when it was opened."""
        return self._receipt.loss

    @property
    def noise(self) -> ThresholdNoise:
        """The public noise: scales, shift, `ThresholdNoise.accuracy`, in grid steps."""
        return self.__request.noise

    def close(self) -> None:
        """Close it. Nothing is refunded."""
        here = os.getpid() == self._process
        # In a fork nobody would release the lock if another thread had held it.
        with self._lock if here else nullcontext():
            self._close("it was closed")

    def replay(self) -> SparseVector:
        """Return the stream itself: the label that opened it was asked again."""
        return self

    # -- how -----------------------------------------------------------------------

    def _found(self, queries: Any, other: Source | None, *, single: bool) -> Crossings:
        if os.getpid() != self._process:
            msg = (
                "this stream was opened in another process; a fork of it would answer "
                "twice for one charge. Ask it there, or open another one here."
            )
            raise ClosedError(msg)
        with self._lock:
            if self.__held is None:
                msg = (
                    f"the stream is closed: {self._closed}. Open another one with "
                    "frame.dp.open_sparse_vector(...), a new charge."
                )
                raise ClosedError(msg)
            source, run = self.__held
            if other is not None:
                self._check(other, source.schema.library)
                source = other
            questions = self._questions(queries, source.schema, single=single)
            try:
                secret = self._reduce(questions, source)
            except BaseException:
                self._close("a query failed")
                raise
            outcome = attempt(self._examine, run, questions, secret)
            if outcome.interrupt is not None or outcome.failed:
                self._close("a query failed")
                if outcome.interrupt is not None:
                    raise outcome.interrupt
                msg = "the query failed and closed the stream; its charge stands."
                raise EngineError(msg)
            if run.exhausted:
                self._close("its last positive answer was given")
            return outcome.value

    def _check(self, other: Source, library: Library) -> None:
        """Refuse another frame that is not like the one it was opened on."""
        if other.schema.library != library:
            msg = (
                f"the stream was opened on a frame of {library}, and this one is of "
                f"{other.schema.library}; convert it first."
            )
            raise ParameterError(msg)
        self.__request.setting.check(other.schema)

    def _questions(self, queries: Any, schema: Schema, *, single: bool) -> Questions:
        request = self.__request
        questions = resolve(queries, request.setting, schema)
        if single and questions.size != 1:
            msg = (
                f"ask takes one query, and this one has {questions.size:,} answers; "
                "use ask_many."
            )
            raise ParameterError(msg)
        noise = request.noise
        return questions.on_grid(
            request.threshold.grid, noise.sensitivity, noise.monotonic
        )

    def _reduce(self, questions: Questions, source: Source) -> Secret[Any]:
        domain = self.__request.setting.domain
        declared = () if domain is None else tuple(domain)
        also = tuple(c for c in declared if c in source.schema.columns)
        return questions.reduce(source, self._hash_key, also)

    def _examine(
        self, run: Run, questions: Questions, secret: Secret[Any]
    ) -> Crossings:
        exact = questions.answers(secret.reveal())
        return run.examine(exact, gap=bool(self.__request.options.gap))

    def _close(self, why: str) -> None:
        self._closed = self._closed or why
        self.__held = None

    def __enter__(self) -> SparseVector:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def __repr__(self) -> str:
        state = f"closed: {self._closed}" if self._closed else f"{self.remaining} left"
        threshold = self.__request.threshold
        return (
            f"<SparseVector: {threshold.direction} {float(threshold.value):,g}, "
            f"{state}, {self.loss.show()}>"
        )

    def _refuse(self, *args: object) -> NoReturn:
        msg = (
            "an open stream cannot be copied or pickled: a second one would answer "
            "twice for one charge."
        )
        raise TypeError(msg)

    __copy__ = __deepcopy__ = __reduce__ = __reduce_ex__ = _refuse


@final
@dataclass(frozen=True, slots=True)
class OpenSparseVector(Request[SparseVector]):
    """Open a stream: the whole loss is charged, and no row is read yet."""

    setting: Setting
    threshold: Threshold
    options: SparseOptions
    noise: ThresholdNoise
    verb: str = "open_sparse_vector"

    @classmethod
    def of(
        cls,
        setting: Setting,
        compared: tuple[object, object, Amount, Amount],
        epsilon: Fraction,
        options: SparseOptions,
        monotonic: object,
    ) -> OpenSparseVector:
        """Check the arguments and calibrate the noise.

        ``compared`` is the threshold, its direction, and the sensitivity and grid of
        one row's answers, as typed.
        """
        value, direction, sensitivity, grid = compared
        step = as_positive(grid, "grid")
        rows = Adjacency(setting.unit, setting.neighboring).rows
        moved = math.ceil(rows * as_positive(sensitivity, "sensitivity") / step)
        noise = options.calibrate(
            epsilon,
            sensitivity=moved,
            monotonic=_monotonic(monotonic, setting),
            grid=step,
            concentrated=setting.accountant.name == "zcdp",
        )
        return cls(setting, Threshold.read(value, step, direction), options, noise)

    @property
    def loss(self) -> PrivacyLoss:  # type: ignore[override]
        """The whole loss."""
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
            "threshold": self.threshold.describe(),
            "noise": self.noise.describe(),
            **self.options.describe(),
            **self.setting.unit.describe(),
            "neighboring": self.setting.neighboring,
        }

    def reduce(self, source: Source) -> Secret[Source]:
        """Close the frame itself: it is read when a query is asked."""
        return Secret(source)

    def answer(self, secret: Secret[Source] | None, receipt: Receipt) -> SparseVector:
        """Draw the noisy threshold and hand the stream over."""
        assert secret is not None
        return SparseVector(self, secret.reveal(), receipt)


def _monotonic(asked: object, setting: Setting) -> bool:
    """Whether only monotone queries will be asked: the caller's word, checked later."""
    if isinstance(asked, str) and asked == "auto":
        return False
    if not isinstance(asked, bool):
        msg = f"monotonic must be 'auto', True or False; got {shown(asked)}."
        raise ParameterError(msg)
    if asked and setting.neighboring == "replace":
        msg = (
            "under neighboring='replace' no query is monotone: a row may leave one "
            "count and enter another. Leave monotonic='auto'."
        )
        raise ParameterError(msg)
    return asked
