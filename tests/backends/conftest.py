"""Fixtures of the tests that run over every kind of frame."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from backends.frames import ENGINES

from dpframe.engines import polars as shim


@pytest.fixture(params=ENGINES)
def engine(request) -> str:
    return request.param


class Hashes:
    """Every hash that a plan asked for, by purpose and row; perhaps a constant one."""

    def __init__(self, hash_rows: Callable[..., Any]) -> None:
        self.seen: dict[tuple[str, tuple[Any, ...]], int] = {}
        self.keys: set[bytes] = set()
        self.constant = False
        self._hash_rows = hash_rows

    def __call__(self, rows, columns, key, purpose):
        hashed = self._hash_rows(rows, columns, key, purpose)
        if self.constant:
            hashed = hashed * 0
        self.keys.add(key)
        for row, value in zip(rows.select(columns).rows(), hashed, strict=True):
            # Untyped text travels as bytes.
            texts = (v.decode() if isinstance(v, bytes) else v for v in row)
            self.seen[purpose, tuple(texts)] = value
        return hashed

    def of(self, purpose: str, row: tuple[Any, ...]) -> int:
        return self.seen[purpose, row]


@pytest.fixture
def hashes(monkeypatch) -> Hashes:
    """Record what the one hash function returns, for the oracle to look up."""
    recorder = Hashes(shim.hash_rows)
    monkeypatch.setattr(shim, "hash_rows", recorder)
    return recorder
