"""Count and clipped sum by key, beside what one would write in plain Polars.

``python tests/benchmarks/bench_engines.py [rows]`` (10^6 by default). Plain and
private plans alternate in one process; ratios are medians over the rounds. Aims:
``unit="row"`` at most 2 x a plain group-by; a bounded unit at most 1.2 x shuffling
each unit's rows and keeping the first m; at most 300 MB above the loaded frame.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import perf_counter, process_time

import numpy as np
import polars as pl
import pytest

from dpframe.domain.coding import Coding, Linear, Lookup
from dpframe.domain.keys import Keys
from dpframe.domain.lattice import fit_lattice
from dpframe.domain.schema import ColumnType
from dpframe.engines.ingest import ingest
from dpframe.privacy.unit import ROW, Unit
from dpframe.queries.reduction import Measure, Reduction

ROWS_PER_UNIT = 3
MAX_ROWS = 3
ROUNDS = 9

LATTICE = fit_lattice("x", ColumnType("float"), (0, 100), "sum")


def make_frame(rows: int, keys: int) -> pl.DataFrame:
    rng = np.random.default_rng(1)
    return pl.DataFrame(
        {
            "unit": rng.integers(0, rows // ROWS_PER_UNIT, rows),
            "code": rng.integers(0, keys, rows),
            "x": rng.normal(50, 30, rows),
        }
    ).with_columns(name="key-" + pl.col("code").cast(pl.String))


def coding(column: str, keys: int) -> Coding:
    if column == "code":
        return Linear(0, keys - 1)
    return Lookup(tuple(f"key-{i}" for i in range(keys)))


def plain(frame: pl.DataFrame, column: str, max_rows: int | None) -> pl.DataFrame:
    rows = frame.lazy()
    if max_rows is not None:
        rows = rows.filter(pl.int_range(pl.len()).shuffle().over("unit") < max_rows)
    total = pl.col("x").clip(0, 100).sum()
    return rows.group_by(column).agg(pl.len(), total).collect()


def private(frame: pl.DataFrame, column: str, keys: int, unit: Unit) -> object:
    reduction = Reduction(
        unit,
        Keys((column,), (coding(column, keys),)),
        rows=True,
        measures=(Measure("x", LATTICE),),
    )
    return ingest(frame).aggregate(reduction)


def seconds(work: Callable[[], object]) -> tuple[float, float]:
    """Return wall and processor seconds; the latter bear other users of the machine."""
    wall, processor = perf_counter(), process_time()
    work()
    return perf_counter() - wall, process_time() - processor


def compare(rows: int, keys: int, column: str, max_rows: int | None) -> None:
    """Print private over plain."""
    frame = make_frame(rows, keys)
    unit = ROW if max_rows is None else Unit("unit", max_rows=max_rows)
    rounds = [
        (
            seconds(lambda: plain(frame, column, max_rows)),
            seconds(lambda: private(frame, column, keys, unit)),
        )
        for _ in range(ROUNDS + 1)
    ][1:]
    theirs = median(wall for (wall, _), _ in rounds)
    ours = median(wall for _, (wall, _) in rounds)
    wall, processor = (median(b[i] / a[i] for a, b in rounds) for i in (0, 1))
    print(
        f"{rows:>10,} rows, {keys:>6,} keys by {column:<4}, {unit!r:<24}: "
        f"plain {theirs:6.3f} s, private {ours:6.3f} s, "
        f"ratio {wall:.2f}, of processor time {processor:.2f}"
    )


_PEAK = """
import gc, sys
from pathlib import Path
import polars as pl
sys.path[:0] = {path!r}
from bench_engines import private
from dpframe.privacy.unit import ROW, Unit

def megabytes(line):
    status = Path("/proc/self/status").read_text().split()
    return int(status[status.index(line) + 1]) / 1024

frame = pl.read_ipc({file!r})
frame.select(pl.all().max())  # the file may be mapped: touch every page
private(frame.head(10), "name", 100, Unit("unit", max_rows=3))  # imports, threads
gc.collect()
Path("/proc/self/clear_refs").write_text("5")  # Linux: forget the peak so far
before = megabytes("VmRSS:")
private(frame, "name", 100, {unit})
print(megabytes("VmHWM:") - before)
"""


def peak(rows: int, unit: str) -> float:
    """Return the MB that a call adds to the peak of a process with the frame."""
    with tempfile.TemporaryDirectory() as folder:
        file = str(Path(folder) / "frame.arrow")
        make_frame(rows, 100).write_ipc(file)
        path = [str(Path(__file__).parent), *sys.path]
        script = _PEAK.format(path=path, file=file, unit=unit)
        done = subprocess.run(
            [sys.executable, "-c", script],
            check=True,
            stdout=subprocess.PIPE,
            text=True,
        )
    megabytes = float(done.stdout)
    print(f"{rows:>10,} rows {unit:<28} {megabytes:6.0f} MB above the loaded frame")
    return megabytes


@pytest.mark.benchmark
@pytest.mark.parametrize("max_rows", [None, MAX_ROWS])
@pytest.mark.parametrize("column", ["code", "name"])
@pytest.mark.parametrize("keys", [100, 10_000])
def test_ratio_to_plain_polars(keys, column, max_rows):
    compare(10**6, keys, column, max_rows)


@pytest.mark.benchmark
@pytest.mark.parametrize("unit", ["ROW", "Unit('unit', max_rows=3)"])
def test_peak_memory(unit):
    peak(10**6, unit)


def main() -> None:
    rows = int(float(sys.argv[1])) if len(sys.argv) > 1 else 10**6
    for max_rows in (None, MAX_ROWS):
        for keys in (100, 10_000):
            for column in ("code", "name"):
                compare(rows, keys, column, max_rows)
    for unit in ("ROW", f"Unit('unit', max_rows={MAX_ROWS})"):
        peak(rows, unit)


if __name__ == "__main__":
    main()
