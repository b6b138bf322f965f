"""Lines that must NOT type-check: each would let a true value out.

Every line that ends in "# refused" has to be reported by mypy --strict.
"""

from __future__ import annotations

import json

from dpframe.releases import ScalarRelease
from dpframe.secret import Secret


def publish(release: ScalarRelease) -> None:
    """Take a public value only."""


def leak(secret: Secret[int]) -> None:
    """Try every road to the value but the one that mechanisms have."""
    publish(secret)  # refused
    secret + 1  # refused
    float(secret)  # refused
    int(secret)  # refused
    secret.value  # refused
    len(secret)  # refused
    list(secret)  # refused
    secret[0]  # refused
    secret < 1  # refused
    round(secret)  # refused
    json.loads(secret)  # refused
