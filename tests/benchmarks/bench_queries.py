"""A thousand queries in one pass over a frame.

``python tests/benchmarks/bench_queries.py [rows]`` (10^6 by default). Aim: under two
seconds, also where almost every row is a combination of its own.
"""

from __future__ import annotations

import sys
from time import perf_counter
from typing import Any

import numpy as np
import polars as pl
import pytest

import dpframe as dpf
from dpframe.engines.ingest import ingest
from dpframe.mechanisms.questions import resolve
from dpframe.mechanisms.request import Setting
from dpframe.privacy.accountants import open_accountant
from dpframe.privacy.unit import ROW

QUERIES = 1000
c = dpf.col


def make_frame(rows: int) -> pl.DataFrame:
    rng = np.random.default_rng(1)
    return pl.DataFrame(
        {
            "age": rng.integers(17, 91, rows),
            "job": rng.choice([f"job {i}" for i in range(15)], rows),
            **{name: rng.normal(size=rows) for name in "wxyz"},
        }
    )


def workloads() -> dict[str, list[Any]]:
    rng = np.random.default_rng(2)
    cuts = rng.normal(size=(QUERIES, 4)).tolist()
    ages = rng.integers(17, 80, QUERIES).tolist()
    jobs = [f"job {i % 15}" for i in range(QUERIES)]
    return {
        "one column": [c("x") > x for x, *_ in cuts],
        "two columns": [(c("x") > x) & (c("y") <= y) for x, y, *_ in cuts],
        "ranges and lists": [
            c("age").between(age, age + 10) & (c("job") == job) | (c("x") > 2)
            for age, job in zip(ages, jobs, strict=True)
        ],
        "four columns": [
            (c("w") > w) & (c("x") > x) & (c("y") > y) & ~(c("z") > z)
            for w, x, y, z in cuts
        ],
    }


def measure(rows: int) -> None:
    source = ingest(make_frame(rows))
    setting = Setting(ROW, "add_remove", open_accountant(1))
    for name, queries in workloads().items():
        times = [perf_counter()]
        questions = resolve(queries, setting, source.schema)
        times.append(perf_counter())
        secret = questions.reduce(source)
        times.append(perf_counter())
        questions.answers(secret.reveal())
        times.append(perf_counter())
        parts = np.diff(times)
        print(
            f"{QUERIES} queries, {name:>16}: {parts.sum():5.2f} s (resolve "
            f"{parts[0]:.2f}, engine {parts[1]:.2f}, answers {parts[2]:.2f})"
        )


@pytest.mark.benchmark
def test_thousand_queries() -> None:
    measure(10**6)


if __name__ == "__main__":
    measure(int(float(sys.argv[1])) if len(sys.argv) > 1 else 10**6)
