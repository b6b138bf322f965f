"""How a value was made, carried with it through Arrow and Parquet.

The key ``dpframe`` of the schema's metadata holds canonical JSON: mechanism, exact
scale in steps, grid, sensitivity, unit, loss, column roles, release id, and a SHA-256
over the value buffers. It is unsigned: it helps honest readers, it proves nothing.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from hashlib import sha256
from typing import Any

import pyarrow as pa

from dpframe.noise import DiscreteGaussian, DiscreteLaplace
from dpframe.releases.answers import Answer
from dpframe.releases.receipt import Receipt

__all__ = ["METADATA_KEY", "attach", "digest"]

METADATA_KEY = b"dpframe"
_VERSION = 1


def attach(
    table: pa.Table, form: str, answers: Mapping[str, Answer], receipt: Receipt
) -> pa.Table:
    """Write the record into the schema: the whole at table level, columns at theirs.

    Parameters
    ----------
    table : pyarrow.Table
        Key columns, then one column for each answer, under its name.
    form : str
        Class of the release.
    answers : mapping of str to Answer
        What each value column holds.
    receipt : Receipt
        What the session says about the release.
    """
    columns = [
        {"name": name, **_column(answers.get(name))} for name in table.column_names
    ]
    whole = {
        "version": _VERSION,
        "release": form,
        "release_id": receipt.release_id,
        "verb": receipt.verb,
        "label": receipt.label,
        "mechanism": sorted({answer.mechanism for answer in answers.values()}),
        "loss": receipt.loss.describe(),
        "unit": receipt.unit,
        "neighboring": receipt.neighboring,
        "private": receipt.private,
        "columns": columns,
        "sha256": digest(*(table.column(name) for name in answers)),
    }
    fields = []
    for field, column in zip(table.schema, columns, strict=True):
        own = {k: whole[k] for k in ("version", "release_id", "unit", "neighboring")}
        if field.name in answers:
            own["sha256"] = digest(table.column(field.name))
        fields.append(field.with_metadata({METADATA_KEY: _json({**own, **column})}))
    schema = pa.schema(fields, metadata={METADATA_KEY: _json(whole)})
    return pa.Table.from_arrays(table.columns, schema=schema)


def digest(*columns: pa.ChunkedArray[Any]) -> str:
    """Return the SHA-256 of the value buffers of fixed-width columns without nulls."""
    hashed = sha256()
    for column in columns:
        for chunk in filter(len, column.chunks):  # empty ones may have no buffer
            width = chunk.type.bit_width // 8
            start = chunk.offset * width
            held: Any = chunk.buffers()[1]
            hashed.update(held[start : start + len(chunk) * width])
    return hashed.hexdigest()


def _column(answer: Answer | None) -> dict[str, Any]:
    """The facts of one column."""
    if answer is None:
        return {"role": "key"}
    facts: dict[str, Any] = {
        "role": "value",
        "statistic": answer.statistic,
        "mechanism": answer.mechanism,
        "grid": None if answer.lattice is None else answer.lattice.describe(),
        "post_processing": ["nonnegative"] if answer.clamped else [],
    }
    measurement = answer.measurement
    if measurement is None:
        return facts
    return {
        **facts,
        **_law(measurement.law),
        "noisy_numbers": len(measurement.values),
        "sensitivity": asdict(measurement.sensitivity),
        "column": measurement.column,
        "loss": measurement.loss.describe(),
    }


def _law(law: DiscreteLaplace | DiscreteGaussian) -> dict[str, str]:
    """The exact parameter of the noise, in steps (squared for sigma2)."""
    if isinstance(law, DiscreteLaplace):
        return {"scale": str(law.scale)}
    return {"sigma2": str(law.sigma2)}


def _json(facts: Mapping[str, Any]) -> bytes:
    return json.dumps(facts, sort_keys=True, separators=(",", ":")).encode()
