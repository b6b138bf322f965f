"""Count and sum by keys that are found, beside what one would write in plain Polars.

``python tests/benchmarks/bench_unknown_keys.py [rows] [keys]``; 10^6 and 10^5 if none.
Whole verbs, charge and noise included. Plain and private calls alternate in one
process, and ratios are medians over the rounds.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from statistics import median
from time import perf_counter, process_time

import numpy as np
import polars as pl
import pytest

import dpframe as dpf

ROUNDS = 5
UNITS = {"row": "row", "id": dpf.Unit("unit", max_rows=3, max_groups=2)}


def make_frame(rows: int, keys: int) -> pl.DataFrame:
    rng = np.random.default_rng(1)
    return pl.DataFrame(
        {
            "unit": rng.integers(0, rows // 3, rows),
            "code": rng.integers(0, keys, rows),
            "x": rng.normal(50, 30, rows),
        }
    ).with_columns(name="key-" + pl.col("code").cast(pl.String))


def plain(frame: pl.DataFrame, column: str, bounded: bool) -> pl.DataFrame:
    rows = frame.lazy()
    if bounded:
        rows = rows.filter(pl.int_range(pl.len()).shuffle().over("unit") < 3)
    return rows.group_by(column).agg(pl.len(), pl.col("x").clip(0, 100).sum()).collect()


def private(frame: pl.DataFrame, column: str, unit: str) -> dpf.TableRelease:
    session = dpf.Session(20, delta="1e-6", unit=UNITS[unit])
    groups = dpf.private(frame, session).group_by(column, delta="1e-6")
    return groups.agg(20, n=dpf.agg.count(), x=dpf.agg.sum("x", bounds=(0, 100)))


def seconds(work: Callable[[], object]) -> tuple[float, float]:
    """Return wall and processor seconds; the latter bear other users of the machine."""
    wall, processor = perf_counter(), process_time()
    work()
    return perf_counter() - wall, process_time() - processor


def compare(rows: int, keys: int, column: str, unit: str) -> None:
    """Print private over plain."""
    frame = make_frame(rows, keys)
    shown = len(private(frame, column, unit))
    rounds = [
        (
            seconds(lambda: plain(frame, column, unit != "row")),
            seconds(lambda: private(frame, column, unit)),
        )
        for _ in range(ROUNDS)
    ]
    theirs = median(wall for (wall, _), _ in rounds)
    ours = median(wall for _, (wall, _) in rounds)
    wall, processor = (median(b[i] / a[i] for a, b in rounds) for i in (0, 1))
    print(
        f"{rows:>10,} rows, {keys:>7,} keys by {column:<4} ({shown:,} shown), unit "
        f"{unit:<3}: plain {theirs:6.3f} s, private {ours:6.3f} s, ratio {wall:.2f}, "
        f"of processor time {processor:.2f}"
    )


@pytest.mark.benchmark
@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("column", ["code", "name"])
def test_ratio_to_plain_polars(column, unit):
    compare(10**6, 10**5, column, unit)


def main() -> None:
    rows, keys = (int(float(n)) for n in [*sys.argv[1:3], 1e6, 1e5][:2])
    for unit in UNITS:
        for column in ("code", "name"):
            compare(rows, keys, column, unit)


if __name__ == "__main__":
    main()
