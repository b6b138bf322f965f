"""Hand-made measurements, for tests of what is public about a release."""

from __future__ import annotations

from datetime import UTC, datetime
from fractions import Fraction

import numpy as np

from dpframe.domain.keys import Keys
from dpframe.domain.lattice import Lattice, fit_lattice
from dpframe.domain.schema import ColumnType
from dpframe.noise import DiscreteGaussian, DiscreteLaplace
from dpframe.privacy.loss import PrivacyLoss
from dpframe.privacy.sensitivity import Sensitivity
from dpframe.releases.answers import Answer
from dpframe.releases.measurement import Measurement, Quantity
from dpframe.releases.receipt import Receipt

LOSS = PrivacyLoss(Fraction(1, 2))
RECEIPT = Receipt(
    verb="histogram",
    loss=LOSS,
    unit="row",
    neighboring="add_remove",
    release_id="release-7",
    time=datetime(2026, 5, 1, 12, 30, tzinfo=UTC),
)

FLOAT, INTEGER, BOOLEAN = (ColumnType(k) for k in ("float", "integer", "boolean"))

Law = DiscreteLaplace | DiscreteGaussian


def measured(
    quantity: Quantity,
    *values: object,
    law: Law | None = None,
    lattice: Lattice | None = None,
) -> Measurement:
    """Measurement of given noisy integers: arrays, or one list for each part."""
    arrays = tuple(
        v if isinstance(v, np.ndarray) else np.array(v, dtype=np.int64) for v in values
    )
    return Measurement(
        quantity,
        arrays,
        law or DiscreteLaplace(2),
        Sensitivity(1, 1, 1, 1),
        LOSS,
        None if lattice is None else "x",
        lattice,
    )


def counted(values: object, name: str = "count", law: Law | None = None) -> Answer:
    """Noisy row counts."""
    return Answer(name, "count", measured("rows", values, law=law))


def summed(values: object, lattice: Lattice, law: Law | None = None) -> Answer:
    """Noisy sums."""
    return Answer(
        "sum", "sum", measured("sum", values, law=law, lattice=lattice), lattice
    )


def averaged(a: object, c: object, lattice: Lattice, law: Law | None = None) -> Answer:
    """Means from noisy pairs."""
    return Answer(
        "mean", "mean", measured("pair", a, c, law=law, lattice=lattice), lattice
    )


def lattice_of(kind: ColumnType, low: object, high: object, use: str) -> Lattice:
    """The grid of a column x."""
    return fit_lattice("x", kind, (low, high), use)  # type: ignore[arg-type]


def keys_of(**columns: object) -> Keys:
    """Listed public keys, one list for each column."""
    return Keys.resolve(list(columns), domain=None, keys=columns)


def bins_of(**columns: object) -> Keys:
    """Bins by their edges, one list for each column."""
    return Keys.resolve(list(columns), domain=None, bins=columns)


def pair_of(rows: object, width: int) -> tuple[int, int]:
    """True parts (Σk, Σ(W − k)) of rows k."""
    k = np.asarray(rows)
    return int(k.sum()), int((width - k).sum())


def triple_of(rows: object, width: int) -> tuple[int, int, int]:
    """True parts (Σ(W − k)², Σ2k(W − k), Σk²) of rows k."""
    k = np.asarray(rows)
    rest = width - k
    return int((rest**2).sum()), int((2 * k * rest).sum()), int((k**2).sum())


def all_noise(law: Law, reach: int, parts: int) -> tuple[list[np.ndarray], np.ndarray]:
    """Every noise vector up to ``reach``, one array for each part, and its chance."""
    steps = np.arange(-reach, reach + 1)
    grids = np.meshgrid(*[steps] * parts, indexing="ij")
    chances = np.ones(grids[0].shape)
    for grid in grids:
        chances = chances * law.pmf(grid)
    return [grid.ravel() for grid in grids], chances.ravel()


def std_of(values: np.ndarray, chances: np.ndarray) -> float:
    """Standard deviation under enumerated chances, what is beyond reach left out."""
    center = np.average(values, weights=chances)
    return float(np.sqrt(np.average((values - center) ** 2, weights=chances)))
