"""`Selections`: the verbs that choose among public keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from dpframe.accessor.private import Private
from dpframe.errors import ParameterError, shown
from dpframe.mechanisms.selection import TopK
from dpframe.mechanisms.spend import Price
from dpframe.mechanisms.terms import cells
from dpframe.privacy.amounts import Amount
from dpframe.releases import SelectionRelease

__all__ = ["Method", "Selections"]

Keys = Sequence[Any] | Mapping[str, Sequence[Any]]
Method = Literal["permute_and_flip"]


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
        themselves are not released. Where all keys are known beforehand it errs less
        than `sparse_vector`.

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
        method : {"permute_and_flip"}
            How to choose.
        delta : number, optional
            For a method that needs one; permute-and-flip does not.

        Returns
        -------
        SelectionRelease
            With one key.

        Raises
        ------
        NoSessionError, ColumnNotFoundError, DomainError, ParameterError
            As in `top_k`.
        BudgetExceededError
            If the charge does not fit; nothing is spent.

        Notes
        -----
        .. admonition:: Privacy

           Charges (epsilon, 0); in zCDP epsilon² / 2. Sensitivity as in `top_k`.

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
        return self._select("mode", by, 1, epsilon, (keys, bins), label)

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
        columns = [by] if isinstance(by, str) else by
        if not isinstance(columns, Sequence):
            msg = f"by must be a column or a list of columns; got {shown(by)}."
            raise ParameterError(msg)
        listed, bins = keys
        request = TopK(
            verb,
            session.setting,
            Price(epsilon).pure(session.setting),
            k,
            cells(columns, session.setting, source.schema, keys=listed, bins=bins),
            source.schema,
        )
        return session.release(request, source, label=label)


def _check_method(method: object, delta: object) -> None:
    if method != "permute_and_flip":
        later = " 'ptr' is not offered yet." if method == "ptr" else ""
        msg = f"method must be 'permute_and_flip'; got {shown(method)}.{later}"
        raise ParameterError(msg)
    if delta is not None:
        msg = "delta= is not needed: permute-and-flip is purely epsilon-private."
        raise ParameterError(msg)
