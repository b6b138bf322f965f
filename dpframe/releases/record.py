"""How a value was made, carried with it through Arrow and Parquet.

The key ``dpframe`` of the schema's metadata holds canonical JSON: mechanism, exact
scale in steps, grid, sensitivity, unit, loss, column roles, release id, and a SHA-256
over the value buffers. It is unsigned: it helps honest readers, it proves nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, final

import numpy as np
import pyarrow as pa

from dpframe.releases.receipt import Receipt

__all__ = ["METADATA_KEY", "Record", "attach", "digest"]

METADATA_KEY = b"dpframe"
_VERSION = 1


@final
@dataclass(frozen=True, slots=True)
class Record:
    """What a release tells of how it was made, beyond its receipt.

    Parameters
    ----------
    form : str
        Class of the release.
    mechanisms : tuple of str
        The mechanisms in words.
    values : mapping of str to dict
        The value columns with JSON facts of each; all other columns are keys.
    whole : mapping of str to JSON value
        Further facts of the release as a whole.
    """

    form: str
    mechanisms: tuple[str, ...]
    values: Mapping[str, Mapping[str, Any]]
    whole: Mapping[str, Any] = field(default_factory=dict)


def attach(table: pa.Table, record: Record, receipt: Receipt) -> pa.Table:
    """Write the record into the schema: the whole at table level, columns at theirs.

    Parameters
    ----------
    table : pyarrow.Table
        Key columns and value columns.
    record : Record
        What the release says of itself.
    receipt : Receipt
        What the session says about the release.
    """
    columns = [
        {"name": name, "role": "value", **record.values[name]}
        if name in record.values
        else {"name": name, "role": "key"}
        for name in table.column_names
    ]
    whole = {
        **record.whole,
        "version": _VERSION,
        "release": record.form,
        "release_id": receipt.release_id,
        "verb": receipt.verb,
        "label": receipt.label,
        "mechanism": sorted(record.mechanisms),
        "loss": receipt.loss.describe(),
        "unit": receipt.unit,
        "neighboring": receipt.neighboring,
        "private": receipt.private,
        "columns": columns,
        "sha256": digest(*(table.column(name) for name in record.values)),
    }
    fields = []
    for column_field, column in zip(table.schema, columns, strict=True):
        own = {k: whole[k] for k in ("version", "release_id", "unit", "neighboring")}
        if column["role"] == "value":
            own["sha256"] = digest(table.column(column_field.name))
        metadata = {METADATA_KEY: _json({**own, **column})}
        fields.append(column_field.with_metadata(metadata))
    schema = pa.schema(fields, metadata={METADATA_KEY: _json(whole)})
    return pa.Table.from_arrays(table.columns, schema=schema)


def digest(*columns: pa.ChunkedArray[Any]) -> str:
    """Return the SHA-256 of the value buffers of columns of numbers or text.

    A column with nulls is hashed as one byte for each entry, 1 where it has a value,
    and then those values; text as the length of each entry (int32), and then UTF-8.
    """
    hashed = sha256()
    for column in columns:
        parts = [column]
        if column.null_count:
            parts = [column.is_valid(), column.drop_null()]
        for part in parts:
            for buffer in _buffers(part):
                hashed.update(buffer)
    return hashed.hexdigest()


def _buffers(column: pa.ChunkedArray[Any]) -> Iterator[Any]:
    """The values as bytes, one piece after the other."""
    if pa.types.is_string(column.type):
        texts = [text.encode() for text in column.to_pylist()]
        yield np.array([len(text) for text in texts], dtype="<i4").tobytes()
        yield b"".join(texts)
        return
    if pa.types.is_boolean(column.type):
        column = column.cast(pa.uint8())
    for chunk in filter(len, column.chunks):  # empty ones may have no buffer
        width = chunk.type.bit_width // 8
        start = chunk.offset * width
        held: Any = chunk.buffers()[1]
        yield held[start : start + len(chunk) * width]


def _json(facts: Mapping[str, Any]) -> bytes:
    return json.dumps(facts, sort_keys=True, separators=(",", ":")).encode()
