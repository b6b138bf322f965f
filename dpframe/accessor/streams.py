"""`open_sparse_vector`: a stream of questions, paid when it is opened."""

from __future__ import annotations

from dpframe.accessor.private import Private
from dpframe.accessor.thresholds import Auto, Direction, Family
from dpframe.mechanisms.calibrate import SparseOptions
from dpframe.mechanisms.spend import Price
from dpframe.mechanisms.stream import OpenSparseVector, SparseVector
from dpframe.privacy.amounts import Amount

__all__ = ["Streams"]


class Streams(Private):
    """Objects that answer one question after another."""

    __slots__ = ()

    def open_sparse_vector(
        self,
        threshold: Amount,
        epsilon: Amount | None = None,
        *,
        max_above: int,
        sensitivity: Amount = 1,
        grid: Amount = 1,
        direction: Direction = "above",
        values: bool = False,
        gap: bool = False,
        refresh: Auto = "auto",
        adaptive: bool = False,
        margin: Amount | None = None,
        noise: Family = "geometric",
        ratio: str | Amount = "optimal",
        monotonic: Auto = "auto",
        label: str | None = None,
    ) -> SparseVector:
        """Open a stream of questions: pay once, then ask as many as you like.

        Parameters
        ----------
        threshold, epsilon, direction
            As in `above_threshold`. The whole epsilon is charged here.
        max_above : int
            Positive answers after which the stream closes.
        sensitivity : number
            How far one row may move any single answer, in the unit of the answers; the
            unit's ``max_rows`` is multiplied in. 1 is right for counts.
        grid : number
            The public step on which all answers lie; 1 for counts and integers.
        values, gap, refresh
            As in `sparse_vector`.
        adaptive, margin
            As in `adaptive_sparse_vector`. Not with ``values``, whose noise is for
            ``max_above`` answers; gaps are free.
        noise, ratio
            As in `above_threshold`.
        monotonic : {"auto"} or bool
            True promises to ask only counts and sums of non-negative values, under
            add/remove; others are then refused. "auto" is False: the queries are not
            known yet.
        label : str, optional
            Asking again under the label hands back the same open stream.

        Returns
        -------
        SparseVector
            ``ask``, ``ask_many``, ``remaining``, ``closed``.

        Raises
        ------
        NoSessionError, ParameterError, BudgetExceededError
            As in `above_threshold`.

        Notes
        -----
        .. admonition:: Privacy

           Charges (epsilon, 0) now, or its rho in zCDP; asking is free. Queries may
           depend on earlier answers, and the frame may change between them.

        Examples
        --------
        >>> import polars as pl
        >>> import dpframe as dpf
        >>> hour = pl.DataFrame({"status": ["error"] * 900})
        >>> with dpf.Session(epsilon=1, unit="row"):
        ...     alerts = hour.dp.open_sparse_vector(500, 1, max_above=1)
        >>> alerts.ask(dpf.col("status") == "error"), alerts.closed
        (True, True)
        """
        session, source = self._open("open_sparse_vector")
        options = SparseOptions(
            max_above, noise, ratio, gap, values, refresh, adaptive, margin
        )
        request = OpenSparseVector.of(
            session.setting,
            (threshold, direction, sensitivity, grid),
            Price(epsilon).pure(session.setting),
            options,
            monotonic,
        )
        return session.release(request, source, label=label)
