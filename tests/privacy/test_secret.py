"""Every accident with a `Secret` is refused, or shows one fixed text."""

from __future__ import annotations

import copy
import io
import json
import logging
import pickle
import traceback
import weakref

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from dpframe.releases import Release
from dpframe.secret import Secret

SHOWN = "<Secret: not released>"
VALUE = 271828


@pytest.fixture
def secret():
    return Secret(VALUE)


REFUSED = {
    "+ 1.0": lambda s: s + 1.0,
    "1.0 +": lambda s: 1.0 + s,
    "- s": lambda s: -s,
    "abs": abs,
    "round": round,
    "float": float,
    "int": int,
    "complex": complex,
    "index": lambda s: [1, 2, 3][s],
    "bool": bool,
    "if": lambda s: 1 if s else 0,
    "not": lambda s: not s,
    "==": lambda s: s == VALUE,
    "!=": lambda s: s != VALUE,
    "reflected ==": lambda s: VALUE == s,  # noqa: SIM300
    "<": lambda s: s < VALUE,
    "<=": lambda s: s <= VALUE,
    ">": lambda s: s > VALUE,
    ">=": lambda s: s >= VALUE,
    "sorted": lambda s: sorted([s, s]),
    "in it": lambda s: VALUE in s,
    "in a list": lambda s: VALUE in [s],
    "hash": hash,
    "set": lambda s: {s},
    "list": list,
    "iter": iter,
    "len": len,
    "item": lambda s: s[0],
    "unpacking": lambda s: [*s],
    "vars": vars,
    "json": json.dumps,
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "deepcopy of a list": lambda s: copy.deepcopy([s]),
    "weak reference": weakref.ref,
    "format with a width": lambda s: f"{s:.2f}",
    "percent": lambda s: "%d" % s,  # noqa: UP031
    "asarray": np.asarray,
    "array": np.array,
    "array of objects": lambda s: np.array(s, dtype=object),
    "numpy function": np.sqrt,
    "bytes": bytes,
    "range": range,
    "sum": lambda s: sum([s]),
    "max": lambda s: max(s, 1),
    "isclose": lambda s: np.isclose(s, VALUE),
    "called": lambda s: s(),
    "with": lambda s: s.__enter__,
}


@pytest.mark.parametrize("attempt", REFUSED.values(), ids=REFUSED)
def test_use_of_the_value_is_refused(secret, attempt):
    with pytest.raises((TypeError, AttributeError)) as raised:
        attempt(secret)
    assert str(VALUE) not in str(raised.value)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_pickle_is_refused(secret, protocol):
    with pytest.raises(TypeError):
        pickle.dumps(secret, protocol)


@pytest.mark.parametrize("name", ["value", "held", "__dict__", "item", "__buffer__"])
def test_there_is_no_attribute_with_the_value(secret, name):
    with pytest.raises(AttributeError):
        getattr(secret, name)


def test_attributes_cannot_be_added(secret):
    with pytest.raises(AttributeError):
        secret.note = VALUE


PRINTED = {
    "repr": repr,
    "str": str,
    "f-string": lambda s: f"{s}",
    "f-string repr": lambda s: f"{s!r}",
    "percent": lambda s: "%s" % s,  # noqa: UP031
    "ascii": ascii,
    "join": lambda s: ", ".join(map(str, [s])),
}


@pytest.mark.parametrize("show", PRINTED.values(), ids=PRINTED)
def test_text_is_fixed(secret, show):
    assert show(secret) == SHOWN


def test_print_shows_the_fixed_text(secret, capsys):
    print(secret, [secret], {"count": secret})
    said = capsys.readouterr().out
    assert said == f"{SHOWN} [{SHOWN}] {{'count': {SHOWN}}}\n"


def test_log_lines_show_the_fixed_text(secret):
    stream = io.StringIO()
    logger = logging.Logger("test")
    logger.addHandler(logging.StreamHandler(stream))
    logger.warning("counted %s", secret)
    assert stream.getvalue() == f"counted {SHOWN}\n"


def test_frames_hold_no_value(secret):
    cell = pd.DataFrame({"count": pd.Series([secret], dtype=object)})
    assert str(VALUE) not in repr(cell)
    assert str(VALUE) not in cell.to_html()
    held = pl.Series([secret], dtype=pl.Object)
    assert str(VALUE) not in repr(held)
    with pytest.raises((TypeError, pa.ArrowInvalid)):
        pa.array([secret])


def test_tracebacks_that_print_locals_show_the_fixed_text(secret):
    def verb(closed):
        count = closed
        raise ValueError(type(count).__name__)

    try:
        verb(secret)
    except ValueError as error:
        shown = traceback.TracebackException.from_exception(error, capture_locals=True)
    text = "".join(shown.format())
    assert SHOWN in text
    assert str(VALUE) not in text


def test_secret_is_no_release(secret):
    assert not isinstance(secret, Release)


def test_class_is_final(secret):
    assert getattr(Secret, "__final__", False)
    assert Secret.__slots__ == ("__held",)


def test_mechanisms_can_open_it(secret):
    assert secret.reveal() == VALUE
