"""The verbs and the sessions that a replay goes through, and the frames it uses."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from zlib import crc32

import polars as pl
from helpers_frames import CONVERTERS

import dpframe as dpf
from dpframe.privacy.unit import Unit
from dpframe.testing import Pair, Replay, neighbours, replay

#: Ordinary values, those at the bounds and around them; ids of several rows and none.
PEOPLE = pl.DataFrame(
    {
        "person": ["a", "a", "b", "b", "c", "d", None, "e"],
        "age": [17, 90, 40, 40, 16, 91, 17, 0],
        "pay": [-10.0, 100.0, 50.5, 0.0, 1e-7, 99.99999, 3.0, -10.5],
        "sex": ["F", "M", "F", "X", "M", "F", "M", None],
        "ok": [True, False, True, True, False, False, True, False],
    }
)
DOMAIN = dpf.Domain(
    {"age": dpf.integers(17, 90), "pay": dpf.bounds(-10.0, 100.0), "ok": bool}
)
SEX = {"keys": ["F", "M"]}
SEX_AND_OK = {"keys": [("F", True), ("M", False), ("X", True)]}
PERSON = Unit("person", max_rows=2, max_groups=1)

Verb = Callable[..., Any]


def pure(price: dict[str, Any]) -> dict[str, Any]:
    """The price of a verb whose noise is its own: an epsilon, whatever the session."""
    return {"epsilon": price.get("epsilon", 1)}


#: Verbs that cost a delta, with that of their sessions.
DELTAS: dict[Verb, str] = {}


def costs_delta(verb: Verb, most: str = "1e-4") -> Verb:
    """Mark a verb that a session without a delta refuses."""
    DELTAS[verb] = most
    return verb


def streamed(dp: Any, **price: Any) -> Any:
    """Ask an open stream while it answers: one query, then a list of them."""
    col, total = dpf.col, dpf.sum_by([], "pay", bounds=(0, 5))
    stream = dp.open_sparse_vector(
        3,
        max_above=2,
        sensitivity=5,
        grid="1/1024",
        values=True,
        gap=True,
        **pure(price),
    )
    found = [stream.ask(col("age") >= 40)]
    for queries in (["ok", col("sex") == "F"], [total, col("pay") < 50]):
        if not stream.closed:
            found.append(stream.ask_many(queries))
    return found, stream.remaining


def taught(dp: Any, **price: Any) -> Any:
    """Laplace noise, which has no rho: in zCDP the pure kind."""
    if "rho" in repr(dp):
        return dp.trimmed_mean("age", **pure(price))
    return dp.trimmed_mean("age", noise="laplace", delta="1e-6", **pure(price))


@costs_delta
def proposed(dp: Any, **price: Any) -> Any:
    """Propose bounds that hold everywhere, some that hold nowhere, and others."""
    common = {"delta": "1e-6", **pure(price)}
    return [
        dp.propose_test_release(statistic, column, bound=bound, **common)
        for statistic, column, bound in [
            ("median", "age", 300),
            ("iqr", "pay", 1),
            (("trimmed_mean", 0.1), "pay", 55),
            ("variance", "age", 1500),
            (("iqr_scale", 30), "pay", None),
        ]
    ]


#: A delta with which keys of one or two units pass the threshold.
OFTEN = {"delta": "0.4"}


def found(dp: Any, **price: Any) -> Any:
    """Several aggregates under keys that are found, beside public ones."""
    edges = {"pay": [-10, 0, 200]}
    return dp.group_by("sex", "pay", bins=edges, **OFTEN).agg(
        n=dpf.agg.count(),
        age=dpf.agg.mean("age"),
        middle=dpf.agg.median("age"),
        weights={"n": 3},
        **pure(price),
    )


#: Verbs of a frame; each takes a private frame and a price.
VERBS: dict[str, Verb] = {
    "count": lambda dp, **c: dp.count(**c),
    "sum of integers": lambda dp, **c: dp.sum("age", **c),
    "sum of floats": lambda dp, **c: dp.sum("pay", bounds=(3, 5), **c),
    "sum of booleans": lambda dp, **c: dp.sum("ok", **c),
    "mean": lambda dp, **c: dp.mean("pay", **c),
    "mean of integers": lambda dp, **c: dp.mean("age", **c),
    "variance": lambda dp, **c: dp.variance("age", **c),
    "std": lambda dp, **c: dp.std("pay", **c),
    "n_unique": lambda dp, **c: dp.n_unique("sex", **c),
    "n_unique of floats": lambda dp, **c: dp.n_unique("pay", **c),
    "histogram by key": lambda dp, **c: dp.histogram(by="sex", **SEX, **c),
    "histogram of integers": lambda dp, **c: dp.histogram(by="age", **c),
    "histogram of bins": lambda dp, **c: dp.histogram(
        by="pay", bins=[-10.0, 0.0, 50.5, 100.0], **c
    ),
    "histogram of two columns": lambda dp, **c: dp.histogram(
        by=["sex", "ok"], keys={"sex": ["F", "M", None]}, **c
    ),
    "histogram of tuples": lambda dp, **c: dp.histogram(
        by=["sex", "ok"], keys=[("F", True), ("M", False), ("X", True)], **c
    ),
    "top_k": lambda dp, **c: dp.top_k("sex", 2, keys=["X", "F", "M"], **pure(c)),
    "top_k of integers": lambda dp, **c: dp.top_k("age", 3, **pure(c)),
    "mode": lambda dp, **c: dp.mode("sex", keys=["F", "M", None], **pure(c)),
    "mode of tuples": lambda dp, **c: dp.mode(
        ["sex", "ok"], keys=[("F", True), ("M", False), ("X", True)], **pure(c)
    ),
    "above_threshold": lambda dp, **c: dp.above_threshold(
        "sex", 2, keys=["X", "F", "M", None], gap=True, **pure(c)
    ),
    "above_threshold of predicates": lambda dp, **c: dp.above_threshold(
        [dpf.col("age") >= 40, dpf.col("sex") == "F", *dpf.marginals("ok")],
        3,
        direction="below",
        noise="laplace",
        **pure(c),
    ),
    "sparse_vector": lambda dp, **c: dp.sparse_vector(
        "age", 1, max_above=3, values=True, gap=True, **pure(c)
    ),
    "sparse_vector of sums": lambda dp, **c: dp.sparse_vector(
        dpf.sum_by("ok", "pay") + dpf.cdf("age"), "5/2", max_above=2, **pure(c)
    ),
    "numeric_sparse": lambda dp, **c: dp.numeric_sparse(
        dpf.sum_by("ok", "age"), 90, max_above=2, **pure(c)
    ),
    "adaptive_sparse_vector": lambda dp, **c: dp.adaptive_sparse_vector(
        ["ok", dpf.col("sex") == "F"], 2, max_above=2, margin=1, **pure(c)
    ),
    "open_sparse_vector": streamed,
    "quantile": lambda dp, **c: dp.quantile("age", "1/3", **pure(c)),
    "quantile of floats": lambda dp, **c: dp.quantile("pay", 0.9, **pure(c)),
    "quantile of a list": lambda dp, **c: dp.quantile("age", [0.1, 0, 1], **pure(c)),
    "median": lambda dp, **c: dp.median("age", **pure(c)),
    "median, smooth": lambda dp, **c: dp.median("age", method="smooth", **pure(c)),
    "quantile, smooth": lambda dp, **c: dp.quantile(
        "age", 0.9, method="smooth", **pure(c)
    ),
    "iqr, smooth": lambda dp, **c: dp.iqr("pay", method="smooth", **pure(c)),
    "min": lambda dp, **c: dp.min("age", **pure(c)),
    "max": lambda dp, **c: dp.max("ok", **pure(c)),
    "iqr": lambda dp, **c: dp.iqr("age", **pure(c)),
    "bounds": lambda dp, **c: dp.bounds("age", coverage=0.5, **pure(c)),
    "bounds of floats": lambda dp, **c: dp.bounds("pay", **pure(c)),
    "trimmed_mean": lambda dp, **c: dp.trimmed_mean("pay", trim=0.2, **pure(c)),
    "trimmed_mean of rows": lambda dp, **c: dp.trimmed_mean(
        "age",
        trim=1,
        noise="student_t",
        interval=True,
        epsilon_interval="1/2",
        **pure(c),
    ),
    "trimmed_mean, laplace": costs_delta(taught),
    "closest_pair": lambda dp, **c: dp.closest_pair(["age", "pay"], **pure(c)),
    "closest_pair of integers": lambda dp, **c: dp.closest_pair("age", **pure(c)),
    "closest_pair, ptr": costs_delta(
        lambda dp, **c: dp.closest_pair(
            "pay", method="ptr", bound=109, delta="1e-6", **pure(c)
        )
    ),
    "propose_test_release": proposed,
    "mode, ptr": costs_delta(
        lambda dp, **c: dp.mode(
            "sex", keys=["F", "M"], method="ptr", delta="1e-6", **pure(c)
        )
    ),
    "histogram of found keys": costs_delta(
        lambda dp, **c: dp.histogram(by="sex", **OFTEN, **pure(c)), "0.4"
    ),
    "group_by.count of found keys": costs_delta(
        lambda dp, **c: dp.group_by("sex", "ok", **OFTEN).count(**pure(c)), "0.4"
    ),
    "group_by.agg of found keys": costs_delta(found, "0.4"),
    "group_by.count": lambda dp, **c: dp.group_by("sex", **SEX).count(**c),
    "group_by.sum": lambda dp, **c: dp.group_by("sex", **SEX).sum("age", **c),
    "group_by.mean": lambda dp, **c: dp.group_by("sex", **SEX).mean("pay", **c),
    "group_by.variance": lambda dp, **c: dp.group_by("ok").variance("age", **c),
    "group_by.std": lambda dp, **c: dp.group_by("ok").std("pay", **c),
    "group_by.median": lambda dp, **c: dp.group_by("sex", **SEX).median(
        "age", **pure(c)
    ),
    "group_by.quantile": lambda dp, **c: dp.group_by(
        "sex", "ok", **SEX_AND_OK
    ).quantile("age", [0.25, 0.9], **pure(c)),
    "group_by.min": lambda dp, **c: dp.group_by("ok").min("age", **pure(c)),
    "group_by.max": lambda dp, **c: dp.group_by("ok").max("age", **pure(c)),
    "group_by.iqr": lambda dp, **c: dp.group_by("ok").iqr("age", **pure(c)),
    "group_by.agg of ranks": lambda dp, **c: dp.group_by("sex", **SEX).agg(
        n=dpf.agg.count(),
        middle=dpf.agg.median("age"),
        same=dpf.agg.quantile("age", 0.5),
        pay=dpf.agg.mean("pay"),
        most=dpf.agg.max("age"),
        **c,
    ),
    "group_by.agg": lambda dp, **c: dp.group_by("sex", "ok", keys={"sex": ["F"]}).agg(
        n=dpf.agg.count(),
        age=dpf.agg.mean("age"),
        pay=dpf.agg.sum("pay"),
        weights={"n": 2},
        **c,
    ),
}

#: Verbs that need a unit with an id.
UNIT_VERBS: dict[str, Verb] = {
    "n_unique of units": lambda dp, **c: dp.n_unique("person", **c),
    "group_by.n_unique": lambda dp, **c: dp.group_by("sex", **SEX).n_unique(
        "person", **c
    ),
    "group_by.n_unique of found keys": costs_delta(
        lambda dp, **c: dp.group_by("sex", **OFTEN).n_unique("person", **pure(c)),
        "0.4",
    ),
    "group_by.sum of found keys, per unit": costs_delta(
        lambda dp, **c: dp.group_by("sex", **OFTEN).sum("age", per="unit", **pure(c)),
        "0.4",
    ),
    "sum per unit": lambda dp, **c: dp.sum("age", per="unit", **c),
    "mean per unit": lambda dp, **c: dp.mean("pay", per="unit", **c),
    "variance per unit": lambda dp, **c: dp.variance("age", per="unit", **c),
    "group_by.sum per unit": lambda dp, **c: dp.group_by("sex", **SEX).sum(
        "pay", bounds=(3, 5), per="unit", **c
    ),
    "median per unit": lambda dp, **c: dp.median("age", per="unit", **pure(c)),
    "group_by.quantile per unit": lambda dp, **c: dp.group_by("sex", **SEX).quantile(
        "age", 0.75, per="unit", **pure(c)
    ),
    "group_by.agg of units": lambda dp, **c: dp.group_by("sex", **SEX).agg(
        people=dpf.agg.n_unique("person"),
        age=dpf.agg.std("age", per="unit"),
        n=dpf.agg.count(),
        **c,
    ),
}

#: Verbs of a Series, under its column.
SERIES_VERBS: dict[str, tuple[str, Verb]] = {
    "series.count": ("pay", lambda dp, **c: dp.count(**c)),
    "series.sum": ("age", lambda dp, **c: dp.sum(**c)),
    "series.mean": ("pay", lambda dp, **c: dp.mean(**c)),
    "series.variance": ("age", lambda dp, **c: dp.variance(**c)),
    "series.std": ("age", lambda dp, **c: dp.std(**c)),
    "series.n_unique": ("sex", lambda dp, **c: dp.n_unique(**c)),
    "series.histogram": ("sex", lambda dp, **c: dp.histogram(**SEX, **c)),
    "series.histogram of found keys": (
        "sex",
        costs_delta(lambda dp, **c: dp.histogram(**OFTEN, **pure(c)), "0.4"),
    ),
    "series.top_k": ("sex", lambda dp, **c: dp.top_k(2, keys=["M", "F"], **pure(c))),
    "series.mode": ("sex", lambda dp, **c: dp.mode(**SEX, **pure(c))),
    "series.quantile": ("age", lambda dp, **c: dp.quantile([0.5, 0.9], **pure(c))),
    "series.median": ("age", lambda dp, **c: dp.median(**pure(c))),
    "series.min": ("age", lambda dp, **c: dp.min(**pure(c))),
    "series.max": ("age", lambda dp, **c: dp.max(**pure(c))),
    "series.iqr": ("age", lambda dp, **c: dp.iqr(method="smooth", **pure(c))),
    "series.bounds": ("age", lambda dp, **c: dp.bounds(**pure(c))),
    "series.trimmed_mean": ("pay", lambda dp, **c: dp.trimmed_mean(**pure(c))),
    "series.closest_pair": ("age", lambda dp, **c: dp.closest_pair(**pure(c))),
    "series.propose_test_release": (
        "age",
        costs_delta(
            lambda dp, **c: dp.propose_test_release(
                "median", bound=40, delta="1e-6", **pure(c)
            )
        ),
    ),
}

#: Sessions by accountant, each with the prices that a verb may have in it.
PRICES: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"epsilon": 10}, {"epsilon": "1/3"}),
    (
        {"epsilon": 10, "delta": "1e-5"},
        {"epsilon": 1, "noise": "gaussian", "delta": "1e-6"},
    ),
    ({"rho": 10}, {"rho": "0.1"}),
    ({"rho": 10}, {"epsilon": 1}),
]
RELATIONS = ("add_remove", "replace")


@dataclass(frozen=True)
class Case:
    """A pair as frames of one library, and a session that protects its unit."""

    pair: Pair
    library: str
    frame: Any
    neighbour: Any
    session: dict[str, Any]
    price: dict[str, Any]
    seed: int

    def replay(self, verb: Verb, column: str | None = None) -> Replay:
        def asked(frame: Any) -> Any:
            held = frame if column is None else frame[column]
            return verb(dpf.private(held), **self.price)

        delta = {"delta": DELTAS[verb]} if verb in DELTAS else {}
        return replay(
            asked,
            self.frame,
            self.neighbour,
            session=lambda: dpf.Session(**{**self.session, **delta}, domain=DOMAIN),
            seed=self.seed,
        )


@lru_cache
def pool(kind: str, size: int) -> list[Case]:
    """Cases that take turns among relations, libraries, accountants and pairs.

    ``kind`` is "row", "unit" or "series" (rows, and libraries that have a Series).
    """
    lazy = {"polars lazy", "pyarrow"} if kind == "series" else set()
    unit: Any = PERSON if kind == "unit" else "row"
    settings = [
        (relation, library, convert, neighbours(PEOPLE, unit=unit, neighboring=relation,
                                       seed=f"{kind} {library}", count=size))
        for relation in RELATIONS
        for library, convert in CONVERTERS.items()
        if library not in lazy
    ]  # fmt: skip
    found = []
    for number in range(size):
        turn, setting = divmod(number, len(settings))
        relation, library, convert, pairs = settings[setting]
        session, price = PRICES[(turn // 2 + setting) % len(PRICES)]
        pair = next(pairs)
        found.append(
            Case(
                pair,
                library,
                convert(pair.frame),
                convert(pair.neighbour),
                {**session, "unit": unit, "neighboring": relation},
                price,
                number,
            )
        )
    return found


def few_cases(kind: str, count: int, verb: str) -> list[Case]:
    """Return ``count`` cases of a pool of eleven times as many; others for each verb.

    Eleven has no divisor in common with the number of settings, or of kinds of pair,
    so that they all take turns.
    """
    first = crc32(verb.encode()) % 11
    return pool(kind, 11 * count)[first::11]


def many_cases(kind: str, count: int, verb: str) -> list[Case]:
    """Return ``count`` cases of a pool of a thousand; others for each verb."""
    drawn = sorted(pool(kind, 1_020), key=lambda c: crc32(f"{verb} {c.seed}".encode()))
    return drawn[:count]


def each_verb() -> Iterator[tuple[str, str, Verb, str | None]]:
    """Name, kind of case, verb and column of every verb there is."""
    for name, verb in VERBS.items():
        yield f"{name}, row", "row", verb, None
        yield f"{name}, unit", "unit", verb, None
    for name, verb in UNIT_VERBS.items():
        yield name, "unit", verb, None
    for name, (column, verb) in SERIES_VERBS.items():
        yield name, "series", verb, column
