"""`Robusts`: verbs whose noise follows the data, or is proposed and tested."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from dpframe.accessor.private import Private
from dpframe.domain.lattice import Per
from dpframe.domain.schema import Schema
from dpframe.errors import ParameterError, shown
from dpframe.mechanisms.nearest import nearest
from dpframe.mechanisms.proposals import (
    propose_function,
    propose_number,
    propose_scale,
)
from dpframe.mechanisms.ptr import Proposal, PTRRequest, read_share, read_test
from dpframe.mechanisms.request import Setting
from dpframe.mechanisms.robust import numeric, read_column
from dpframe.mechanisms.smooth import SmoothOptions, SmoothRequest, smooth_request
from dpframe.mechanisms.spend import Price
from dpframe.privacy.amounts import Amount
from dpframe.releases import PTRRelease, SmoothRelease

__all__ = ["Robusts"]


class Robusts(Private):
    """Trimmed means, closest pairs, and what is proposed and tested."""

    __slots__ = ()

    def trimmed_mean(
        self,
        column: str,
        epsilon: Amount | None = None,
        *,
        trim: Amount = 0.1,
        bounds: Sequence[Any] | None = None,
        per: Per = "row",
        noise: str = "lomax",
        beta: Amount | None = None,
        delta: Amount | None = None,
        interval: bool = False,
        epsilon_interval: Amount | None = None,
        label: str | None = None,
    ) -> SmoothRelease:
        """Average what is left after the least and the greatest values are cut off.

        Noise is in proportion to the smooth sensitivity: small where the values within
        lie close together, whatever the bounds are. How much noise it was is private.

        Parameters
        ----------
        column : str
            Numbers, booleans, decimals, dates, datetimes or durations.
        epsilon : number, optional
            Privacy loss of the mean.
        trim : number
            A share below 1/2 of the usable values, or (an int) so many rows, off each
            end.
        bounds : pair, optional
            Public (lower, upper), in the column's own unit; from the session's domain
            if omitted. Never taken from the data. With equal bounds the mean is that
            constant: free.
        per : {"row", "unit"}
            Of rows, or of the totals of the privacy units.
        noise : {"lomax", "student_t", "laplace"}
            Lomax errs least. Laplace noise needs ``delta`` and is there to teach.
        beta : number, optional
            How fast far changes lose weight, by default 0.3 epsilon (Lomax). Choose it
            before you see any data.
        delta : number, optional
            For ``noise="laplace"``.
        interval : bool
            Publish the smooth sensitivity too, so that the release has a scale, a
            standard error and an interval.
        epsilon_interval : number, optional
            What that costs, in addition to epsilon.
        label : str, optional
            Stores the release: asking again under the label is free.

        Returns
        -------
        SmoothRelease
            ``value`` in the column's own unit, within its bounds; the lower bound
            where nothing is left.

        Raises
        ------
        NoSessionError
            If no session is active and none was given.
        ColumnNotFoundError, DomainError, ParameterError
            If the column, its bounds or an option do not fit; nothing is spent.
        AccountantError
            If Laplace noise is asked for in a session without a delta.
        BudgetExceededError
            If the charge does not fit; nothing is spent.

        Notes
        -----
        .. admonition:: Privacy

           Charges (epsilon, 0), with ``epsilon_interval`` where it is given; half of
           their squares in zCDP; (epsilon, delta) for Laplace noise. The number of rows
           is never public: profiles are those of rows that come and go, for units of
           ``max_rows`` (twice that under replace). Time depends on the data.

        References
        ----------
        .. [1] Nissim, Raskhodnikova and Smith (2007), Smooth sensitivity and sampling
           in private data analysis, lemma 2.5.
        .. [2] docs/proofs/sensitivity, theorems 6 and 7.

        Examples
        --------
        >>> import polars as pl
        >>> import dpframe as dpf
        >>> pay = pl.DataFrame({"pay": [2_000, 2_400, 2_500, 3_100, 90_000] * 200})
        >>> with dpf.Session(epsilon=1, unit="row"):
        ...     mean = pay.dp.trimmed_mean("pay", 1, bounds=(0, 100_000), trim=0.25)
        >>> type(mean.value), mean.loss
        (<class 'float'>, PrivacyLoss(epsilon=1))
        """
        options = SmoothOptions(noise, beta, delta, interval, epsilon_interval)
        statistic = "trimmed_mean", trim
        return self._smooth(
            "trimmed_mean", statistic, column, epsilon, options, bounds, per, label
        )

    def closest_pair(
        self,
        columns: str | Sequence[str],
        epsilon: Amount | None = None,
        *,
        bounds: Sequence[Any] | None = None,
        method: str = "smooth",
        bound: Amount | None = None,
        delta: Amount | None = None,
        test_share: Amount = 0.5,
        noise: str = "lomax",
        beta: Amount | None = None,
        interval: bool = False,
        epsilon_interval: Amount | None = None,
        label: str | None = None,
    ) -> SmoothRelease | PTRRelease:
        """Measure the distance of the two rows that are closest to each other.

        An example to teach with: rows that lie dense make it sensitive, as one more row
        may be a copy of any, and then the answer is mostly noise.

        Parameters
        ----------
        columns : str or sequence of str
            Coordinates: numbers, all in one unit.
        epsilon : number, optional
            Privacy loss of this call.
        bounds : pair or sequence of pairs, optional
            Public (lower, upper) for all columns, or for each; from the session's
            domain if omitted.
        method : {"smooth", "ptr"}
            Noise in proportion to the smooth sensitivity; or a proposed ``bound`` that
            is tested, as in `propose_test_release`, which needs a ``delta``.
        bound, test_share
            As in `propose_test_release`.
        delta : number, optional
            For ``method="ptr"`` and ``noise="laplace"``.
        noise, beta, interval, epsilon_interval
            As in `trimmed_mean`, for ``method="smooth"``.
        label : str, optional
            Stores the release.

        Returns
        -------
        SmoothRelease or PTRRelease
            In the unit of the columns; for fewer than two rows the diameter of the
            public box. Rows with a missing coordinate do not count.

        Raises
        ------
        NoSessionError, ColumnNotFoundError, DomainError, ParameterError, \
AccountantError, BudgetExceededError
            As in `trimmed_mean` and `propose_test_release`.

        Notes
        -----
        .. admonition:: Privacy

           Charges as `trimmed_mean` and `propose_test_release` do. In the plane the
           profile is that of greedy disjoint pairs, an upper one.

        References
        ----------
        .. [1] docs/proofs/sensitivity, theorem 10.

        Examples
        --------
        >>> import polars as pl
        >>> import dpframe as dpf
        >>> towns = pl.DataFrame({"x": [1, 5, 9], "y": [2, 7, 3]})
        >>> with dpf.Session(epsilon=1, unit="row"):
        ...     near = towns.dp.closest_pair(["x", "y"], 1, bounds=(0, 10))
        >>> 0 <= near.value <= 14.15
        True
        """
        session, source = self._open("closest_pair")
        setting, schema = session.setting, source.schema
        robust = nearest(columns, bounds, setting, schema)
        if method == "ptr":
            proposal = propose_number(robust, bound, setting)
            price = epsilon, delta, test_share
            asked = _test("closest_pair", proposal, price, setting, schema)
            return session.release(asked, source, label=label)
        if method != "smooth":
            msg = f"method must be 'smooth' or 'ptr'; got {shown(method)}."
            raise ParameterError(msg)
        if bound is not None:
            msg = "bound= is what method='ptr' proposes; leave it out."
            raise ParameterError(msg)
        options = SmoothOptions(noise, beta, delta, interval, epsilon_interval)
        request = SmoothRequest.of(
            "closest_pair", robust, epsilon, options, setting, schema
        )
        return session.release(request, source, label=label)

    def propose_test_release(
        self,
        statistic: str | tuple[str, Amount] | Callable[[Any], Any],
        column: str,
        *,
        bound: Any = None,
        epsilon: Amount | None = None,
        delta: Amount | None = None,
        bounds: Sequence[Any] | None = None,
        test_share: Amount = 0.5,
        distance: Callable[[Any], Any] | None = None,
        trusted: bool = False,
        label: str | None = None,
    ) -> PTRRelease:
        """Release a statistic with noise for a proposed sensitivity, if that is tested.

        You propose how far one unit may move it. A noisy test asks by how many units
        the data differ from data where more is possible; if by many, the statistic
        comes out with noise for your bound, else a refusal. Either is charged in full.

        Parameters
        ----------
        statistic : str, tuple or callable
            "median", ("quantile", q), ("trimmed_mean", trim), "iqr", "variance" (with
            1/n); "iqr_scale" or ("iqr_scale", ratio), whose answer is a bin of the
            interquartile range without noise; or a function of your own.
        column : str
            Numbers, booleans, decimals, dates, datetimes or durations.
        bound : number or timedelta
            The proposed sensitivity of one unit's coming or going, in the unit of the
            statistic, public: never taken from these data. Not for "iqr_scale".
        epsilon : number, optional
            Privacy loss of test and release together.
        delta : number
            The chance that the test passes where it must not; far below 1/n.
        bounds : pair, optional
            Public (lower, upper), in the column's own unit; from the session's domain
            if omitted.
        test_share : number
            The part of epsilon that the test takes.
        distance : callable, optional
            For a function of your own: takes the same values and returns how many rows
            must come or go before one row may move the function by more than
            ``bound``. It must be whole, move by 1 at most with one row, and be 0 on any
            doubt. `dpframe.testing.check_distance` tries it out on small data.
        trusted : bool
            For a function of your own: you vouch for ``distance``, which nobody can
            check here. Both functions get the clamped values as a sorted array and must
            do nothing but return a number; what they raise counts as 0.
        label : str, optional
            Stores the release.

        Returns
        -------
        PTRRelease
            ``released``, and ``value``, which is None if refused.

        Raises
        ------
        NoSessionError
            If no session is active and none was given.
        ColumnNotFoundError, DomainError, ParameterError
            If an argument does not fit, or both bounds are equal; nothing is spent.
        AccountantError
            If the session holds no delta; the message names one that does.
        BudgetExceededError
            If the charge does not fit; nothing is spent.

        Notes
        -----
        .. admonition:: Privacy

           Charges (epsilon, delta), never a pure epsilon; in zCDP half the squares of
           both parts, and delta. A refused proposal is not refunded. For units of s
           rows the distance counts units; a function of your own is given in rows, and
           the noise is s times the bound. Time depends on the data.

        References
        ----------
        .. [1] Dwork and Lei (2009), Differential privacy and robust statistics,
           section 4.
        .. [2] docs/proofs/propose_test_release.

        Examples
        --------
        >>> import polars as pl
        >>> import dpframe as dpf
        >>> ages = pl.DataFrame({"age": list(range(20, 71)) * 40})
        >>> with dpf.Session(epsilon=2, delta=1e-6, unit="row"):
        ...     median = ages.dp.propose_test_release(
        ...         "median", "age", bound=1, bounds=(0, 120), epsilon=2, delta=1e-6
        ...     )
        >>> median.released, median.loss
        (True, PrivacyLoss(epsilon=2, delta=1e-06))
        """
        verb = "propose_test_release"
        session, source = self._open(verb)
        setting, schema = session.setting, source.schema
        subject = read_column(column, bounds, setting, schema)
        price = epsilon, delta, test_share
        name = statistic[0] if isinstance(statistic, (tuple, list)) else statistic
        if callable(statistic):
            if trusted is not True:
                msg = (
                    "the library cannot check a function of your own and its distance: "
                    "read what they must fulfil, try dpframe.testing.check_distance, "
                    "and say trusted=True."
                )
                raise ParameterError(msg)
            proposal = propose_function(statistic, distance, subject, bound, setting)
        elif distance is not None:
            msg = "distance= belongs to a function of your own; leave it out."
            raise ParameterError(msg)
        elif name == "iqr_scale":
            if bound is not None:
                msg = "iqr_scale proposes public bins, not a bound; leave bound= out."
                raise ParameterError(msg)
            ratio = 2 if isinstance(statistic, str) else statistic[1]
            proposal = propose_scale(subject, ratio, setting)
        else:
            _refuse_elsewhere(name)
            proposal = propose_number(
                numeric(statistic, subject, setting), bound, setting
            )
        request = _test(verb, proposal, price, setting, schema)
        return session.release(request, source, label=label)

    def _smooth(
        self,
        verb: str,
        statistic: object,
        column: str,
        epsilon: Amount | None,
        options: SmoothOptions,
        bounds: object,
        per: Per,
        label: str | None,
    ) -> SmoothRelease:
        """Ask for a statistic of one column by smooth sensitivity."""
        session, source = self._open(verb)
        request = smooth_request(
            verb, statistic, column, epsilon, options, session.setting, source.schema,
            bounds=bounds, per=per,
        )  # fmt: skip
        return session.release(request, source, label=label)


def _test(
    verb: str,
    proposal: Proposal,
    price: tuple[object, object, object],
    setting: Setting,
    schema: Schema,
) -> PTRRequest:
    """Split the price: between test and release, or among the tests."""
    epsilon, delta, test_share = price
    whole, share = Price(epsilon).pure(setting), read_share(test_share)
    tests = len(proposal.distances)
    if not proposal.moved:  # no noise but that of the tests
        test = read_test(whole, delta, verb, tests=tests)
        return PTRRequest(verb, setting, proposal, test, None, schema)
    test = read_test(whole * share, delta, verb)
    return PTRRequest(verb, setting, proposal, test, whole * (1 - share), schema)


def _refuse_elsewhere(name: object) -> None:
    if name == "mode":
        msg = (
            "the mode has no bound to propose: ask mode(..., method='ptr', delta=1e-6)."
        )
        raise ParameterError(msg)
    if name == "closest_pair":
        msg = "ask closest_pair(columns, method='ptr', bound=..., delta=1e-6)."
        raise ParameterError(msg)
