"""No module of dpframe draws random numbers but through `dpframe.noise.bits`."""

import re
from pathlib import Path

import pytest

import dpframe.noise

PACKAGE = Path(dpframe.noise.__file__).parents[1]
MODULES = [
    path
    for path in sorted(PACKAGE.rglob("*.py"))
    if "testing" not in path.relative_to(PACKAGE).parts
]
OTHER_SOURCE = re.compile(
    r"\b(import random\b|from random import|(np|numpy)\.random\b|from numpy import.*"
    r"\brandom\b|default_rng|RandomState|\.rvs\(|scipy\.stats|import secrets)"
)


def offences(text: str) -> list[str]:
    """Lines that name another source of noise and are not post-processing."""
    return [
        line.strip()
        for line in text.splitlines()
        if OTHER_SOURCE.search(line) and "post-processing" not in line.partition("#")[2]
    ]


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_no_other_source_of_randomness(path):
    assert offences(path.read_text(encoding="utf-8")) == []


def test_the_package_was_found():
    assert PACKAGE / "noise" / "bits.py" in MODULES


@pytest.mark.parametrize(
    "line",
    [
        "import random",
        "from random import choice",
        "rng = np.random.default_rng(3)",
        "from numpy import random as r",
        "x = norm.rvs(3)",
        "from scipy.stats import laplace",
        "x = default_rng()  # processing",
    ],
)
def test_offences_are_seen(line):
    assert offences(line) == [line]


def test_marked_post_processing_is_allowed():
    assert offences("rng = np.random.default_rng(seed)  # post-processing") == []
    assert offences("from dpframe.noise.bits import random_bytes") == []
