"""mypy sees the public interface as users do, and refuses to open a Secret."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent


def mypy(file):
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", str(file)],
        capture_output=True,
        text=True,
        cwd=HERE.parents[1],
        check=False,
    )
    assert not done.stderr, done.stderr
    return done.stdout


def test_the_public_interface_type_checks():
    assert mypy(HERE / "api.py") == ""


def test_every_leak_is_refused():
    source = (HERE / "leaks.py").read_text().splitlines()
    wanted = {i for i, line in enumerate(source, 1) if line.endswith("# refused")}
    assert len(wanted) == 11
    report = mypy(HERE / "leaks.py")
    found = {int(n) for n in re.findall(r"leaks\.py:(\d+): error", report)}
    assert found == wanted
