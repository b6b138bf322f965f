"""README and guides say what runs: their code, their commands, the examples."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import dpframe as dpf

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
GUIDES = [
    page
    for folder in ("docs", "docs/guides", "docs/explanation")
    for page in sorted((ROOT / folder).glob("*.rst"))
]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


def literal_blocks(text):
    """The indented blocks after a "::" of an .rst page."""
    blocks = re.findall(r"::\n\n((?:    .*\n|\n)+)", text)
    return ["\n".join(line[4:] for line in block.split("\n")) for block in blocks]


def run(block, monkeypatch):
    monkeypatch.chdir(ROOT)
    people = pl.read_parquet("examples/data/adult.parquet")
    domain = dpf.Domain.from_json(ROOT / "examples/data/adult-domain.json")
    names = {"dpf": dpf, "pl": pl, "people": people}
    with dpf.Session(epsilon=20, unit="row", domain=domain):
        exec(compile(block, "block", "exec"), names)


@pytest.mark.parametrize("block", re.findall(r"```python\n(.*?)```", README, re.S))
def test_readme_code_runs(block, monkeypatch, capsys):
    run(block, monkeypatch)


@pytest.mark.parametrize("page", GUIDES, ids=lambda page: page.stem)
def test_guide_code_runs(page, monkeypatch, capsys):
    run("\n".join(literal_blocks(page.read_text(encoding="utf-8"))), monkeypatch)


def test_some_guide_has_code():
    assert sum(len(literal_blocks(p.read_text(encoding="utf-8"))) for p in GUIDES) >= 2


def test_index_lists_every_page():
    docs = ROOT / "docs"
    pages = {str(p.relative_to(docs).with_suffix("")) for p in docs.rglob("*.rst")}
    listed = re.findall(r"^   ([\w/]+)$", (docs / "index.rst").read_text("utf-8"), re.M)
    assert sorted(listed) == sorted(pages - {"index"})


PICTURES = sorted((ROOT / "docs/pictures").glob("*.svg"))


@pytest.mark.parametrize("picture", PICTURES, ids=lambda picture: picture.stem)
def test_pictures_are_small_and_shown_and_have_no_date(picture):
    text = picture.read_text(encoding="utf-8")
    assert len(text) < 60_000
    assert "<dc:date>" not in text
    shown = f":: ../pictures/{picture.name}\n"
    assert any(shown in page.read_text(encoding="utf-8") for page in GUIDES)
    scripts = [p.stem for p in picture.parent.glob("*.py")]
    assert any(picture.stem.startswith(script) for script in scripts)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda e: e.stem)
def test_examples_run_and_are_short(example):
    assert len(example.read_text(encoding="utf-8").splitlines()) < 80
    done = subprocess.run(
        [sys.executable, str(example)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "left" in done.stdout
    assert "NOT PRIVATE" not in done.stdout


def test_readme_has_the_two_commands_that_ci_runs():
    commands = re.findall(r"^python3 -m venv .*$", README, re.M)
    assert len(commands) == 2
    assert "examples/01_quickstart.py" in commands[0]
    assert " -m pytest" in commands[1]
    ci = (ROOT / ".ci/run").read_text(encoding="utf-8")
    assert "readme_command 'Run the main example'" in ci
    assert "readme_command 'Run the tests'" in ci


def test_top_level_is_as_agreed():
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False
    ).stdout.split()
    if not listed:  # an unpacked source archive has no index
        return
    tops = {name.split("/")[0] for name in listed if not name.startswith(".")}
    assert tops <= {
        "pyproject.toml", "README.md", "dpframe", "tests", "examples", "docs",
        "LICENSE", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md",
    }  # fmt: skip


def test_every_public_name_exists_once():
    assert len(set(dpf.__all__)) == len(dpf.__all__)
    for name in dpf.__all__:
        assert getattr(dpf, name) is not None
        assert name == "agg" or name in vars(dpf)
