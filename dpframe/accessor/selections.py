"""`Selections`: the verbs that choose among public keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, get_args

from dpframe.accessor.private import Private
from dpframe.errors import ParameterError, shown
from dpframe.mechanisms.ptr import read_test
from dpframe.mechanisms.selection import TopK
from dpframe.mechanisms.spend import Price
from dpframe.mechanisms.stable_mode import StableMode
from dpframe.mechanisms.terms import cells
from dpframe.privacy.amounts import Amount
from dpframe.releases import SelectionRelease

__all__ = ["Method", "Selections"]

Keys = Sequence[Any] | Mapping[str, Sequence[Any]]
Method = Literal["permute_and_flip", "ptr"]


class Selections(Private):
    """Choices among the public keys of one or several columns."""

    __slots__ = ()

    def top_k(
        self,
        by: str | Sequence[str],
        k: int,
        epsilon: Amount | None = None,
        *,
        keys: Keys | None = None,
        bins: Keys | None = None,
        label: str | None = None,
    ) -> SelectionRelease:
        """Find the k public keys with the most rows, the greatest first.

        Each round chooses one of the keys that are left, with epsilon / k. The counts
        themselves are not released. For k = 1 it errs less than the largest counts of a
        `histogram` do, which is the better choice from k = 2 on.

        Parameters
        ----------
        by : str or sequence of str
            The key columns.
        k : int
            How many keys, between 1 and the number of keys.
        epsilon : number, optional
            Privacy loss of this call; the session's ``default_epsilon`` if omitted.
        keys, bins : list or dict, optional
            The candidates, as in `histogram`; from the session's domain if omitted.
        label : str, optional
            Stores the release: asking again under the label is free.

        Returns
        -------
        SelectionRelease
            ``keys`` in the order of choice; ``rank_error(level)`` says, in rows, how
            far from the greatest they may be.

        Raises
        ------
        NoSessionError
            If no session is active and none was given.
        ColumnNotFoundError, DomainError, ParameterError
            If keys are missing or wrong, there are none, or k does not fit.
        BudgetExceededError
            If the charge does not fit; nothing is drawn, nothing is spent.

        Notes
        -----
        .. admonition:: Privacy

           Charges (epsilon, 0); in zCDP epsilon² / (2k), as k rounds of epsilon / k
           compose. A count moves by ``max_rows`` (1 for ``unit="row"``). Under
           add/remove all counts move the same way, which halves the noise; under
           replace they do not.

        References
        ----------
        .. [1] McKenna, Sheldon (2020), Permute-and-flip: a new mechanism for
           differentially private selection, Theorem 1.

        Examples
        --------
        >>> import polars as pl
        >>> import dpframe as dpf
        >>> people = pl.DataFrame({"job": ["cook"] * 900 + ["nurse"] * 400})
        >>> with dpf.Session(epsilon=1, unit="row"):
        ...     top = people.dp.top_k("job", 2, 1, keys=["nurse", "pilot", "cook"])
        >>> top.keys
        ['cook', 'nurse']
        """
        return self._select("top_k", by, k, epsilon, (keys, bins), label)

    def mode(
        self,
        by: str | Sequence[str],
        epsilon: Amount | None = None,
        *,
        keys: Keys | None = None,
        bins: Keys | None = None,
        method: Method = "permute_and_flip",
        delta: Amount | None = None,
        label: str | None = None,
    ) -> SelectionRelease:
        """Find the public key with the most rows.

        Parameters
        ----------
        by, epsilon, keys, bins, label
            As in `top_k`.
        method : {"permute_and_flip", "ptr"}
            Choose by noise; or test whether the most frequent key would stay so in all
            data nearby, and release it exactly, or nothing.
        delta : number, optional
            For ``method="ptr"``: the chance that its test passes where it must not.

        Returns
        -------
        SelectionRelease
            With one key; with none (``released`` is False) where a test refused it.

        Raises
        ------
        NoSessionError, ColumnNotFoundError, DomainError, ParameterError
            As in `top_k`.
        BudgetExceededError
            If the charge does not fit; nothing is spent.

        Notes
        -----
        .. admonition:: Privacy

           Charges (epsilon, 0); in zCDP epsilon² / 2. Sensitivity as in `top_k`. With
           ``method="ptr"`` (epsilon, delta), also for a refusal.

        References
        ----------
        .. [1] McKenna, Sheldon (2020), Permute-and-flip: a new mechanism for
           differentially private selection, Theorem 1.
        .. [2] docs/proofs/propose_test_release, for ``method="ptr"``.

        Examples
        --------
        >>> import polars as pl
        >>> import dpframe as dpf
        >>> people = pl.DataFrame({"job": ["cook"] * 900 + ["nurse"] * 400})
        >>> with dpf.Session(epsilon=1, unit="row"):
        ...     most = people.dp.mode("job", 1, keys=["nurse", "pilot", "cook"])
        >>> most.keys
        ['cook']
        """
        _check_method(method, delta)
        if method == "ptr":
            return self._stable(by, epsilon, delta, (keys, bins), label)
        return self._select("mode", by, 1, epsilon, (keys, bins), label)

    def _stable(
        self,
        by: object,
        epsilon: Amount | None,
        delta: object,
        keys: tuple[object, object],
        label: str | None,
    ) -> SelectionRelease:
        """Ask for the exact mode, if it is stable."""
        session, source = self._open("mode")
        setting, (listed, bins) = session.setting, keys
        price = Price(epsilon).pure(setting)
        request = StableMode(
            setting,
            read_test(price, delta, "mode(method='ptr')"),
            cells(_columns(by), setting, source.schema, keys=listed, bins=bins),
            source.schema,
        )
        return session.release(request, source, label=label)

    def _select(
        self,
        verb: str,
        by: object,
        k: int,
        epsilon: Amount | None,
        keys: tuple[object, object],
        label: str | None,
    ) -> SelectionRelease:
        session, source = self._open(verb)
        listed, bins = keys
        request = TopK(
            verb,
            session.setting,
            Price(epsilon).pure(session.setting),
            k,
            cells(_columns(by), session.setting, source.schema, keys=listed, bins=bins),
            source.schema,
        )
        return session.release(request, source, label=label)


def _columns(by: object) -> Sequence[str]:
    columns = [by] if isinstance(by, str) else by
    if not isinstance(columns, Sequence):
        msg = f"by must be a column or a list of columns; got {shown(by)}."
        raise ParameterError(msg)
    return columns


def _check_method(method: object, delta: object) -> None:
    if not isinstance(method, str) or method not in get_args(Method):
        msg = f"method must be 'permute_and_flip' or 'ptr'; got {shown(method)}."
        raise ParameterError(msg)
    if method == "permute_and_flip" and delta is not None:
        msg = "delta= is for method='ptr': permute-and-flip is purely epsilon-private."
        raise ParameterError(msg)
