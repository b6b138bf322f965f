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
PERSON = Unit("person", max_rows=2, max_groups=1)

Verb = Callable[..., Any]


def pure(price: dict[str, Any]) -> dict[str, Any]:
    """The price of a verb whose noise is its own: an epsilon, whatever the session."""
    return {"epsilon": price.get("epsilon", 1)}


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
    "group_by.count": lambda dp, **c: dp.group_by("sex", **SEX).count(**c),
    "group_by.sum": lambda dp, **c: dp.group_by("sex", **SEX).sum("age", **c),
    "group_by.mean": lambda dp, **c: dp.group_by("sex", **SEX).mean("pay", **c),
    "group_by.variance": lambda dp, **c: dp.group_by("ok").variance("age", **c),
    "group_by.std": lambda dp, **c: dp.group_by("ok").std("pay", **c),
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
    "sum per unit": lambda dp, **c: dp.sum("age", per="unit", **c),
    "mean per unit": lambda dp, **c: dp.mean("pay", per="unit", **c),
    "variance per unit": lambda dp, **c: dp.variance("age", per="unit", **c),
    "group_by.sum per unit": lambda dp, **c: dp.group_by("sex", **SEX).sum(
        "pay", bounds=(3, 5), per="unit", **c
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
    "series.top_k": ("sex", lambda dp, **c: dp.top_k(2, keys=["M", "F"], **pure(c))),
    "series.mode": ("sex", lambda dp, **c: dp.mode(**SEX, **pure(c))),
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

        return replay(
            asked,
            self.frame,
            self.neighbour,
            session=lambda: dpf.Session(**self.session, domain=DOMAIN),
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
