"""Trimmed means, closest pairs and proposals, as an analyst meets them."""

from __future__ import annotations

import gc
import json
import logging
import math
import pickle
import re
from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest
from helpers_frames import CONVERTERS

import dpframe as dpf
from dpframe import sensitivity
from dpframe.mechanisms.noising import watch_draws
from dpframe.mechanisms.ptr import cap
from dpframe.mechanisms.smooth import SmoothOptions
from dpframe.noise import DiscreteLaplace
from dpframe.noise.smooth import SmoothNoise
from dpframe.releases.record import METADATA_KEY
from dpframe.releases.tested import StabilityTest

DELTA = "1e-6"
PEOPLE = pl.DataFrame(
    {
        "age": [23, 35, 61, 44, 44, 29, 90, 17] * 50,
        "pay": [1.5, 2.25, None, 99.0, 4.0, -7.0, math.inf, math.nan] * 50,
        "who": [i // 2 for i in range(400)],
        "job": ["cook", "cook", "nurse", "cook"] * 100,
    }
)


def asked(ask, frame=PEOPLE, **setting):
    opened = dpf.Session(**{"epsilon": 20, "delta": "1e-4", "unit": "row", **setting})
    return ask(dpf.private(frame, opened))


def propose(statistic, column="age", *, epsilon=2, **options):
    options = {"delta": DELTA, "bounds": (0, 120), **options}
    return lambda d: d.propose_test_release(
        statistic, column, epsilon=epsilon, **options
    )


# -- kinds of frames and of answers --------------------------------------------

PTR = {"method": "ptr", "delta": DELTA}
VERBS = {
    "trimmed_mean": lambda d: d.trimmed_mean("pay", 2, bounds=(0.0, 10.0), trim=0.2),
    "trimmed_mean of rows": lambda d: d.trimmed_mean("age", 2, bounds=(0, 99), trim=5),
    "closest_pair": lambda d: d.closest_pair(["age", "pay"], 2, bounds=(0, 99)),
    "closest_pair on a line": lambda d: d.closest_pair("age", 2, bounds=(0, 99)),
    "median": propose("median", bound=30),
    "variance": propose("variance", bound=40),
    "scale": propose("iqr_scale"),
    "mode": lambda d: d.mode("job", 2, keys=["cook", "nurse"], **PTR),
}


@pytest.mark.parametrize("library", CONVERTERS)
@pytest.mark.parametrize("verb", VERBS)
def test_every_kind_of_frame_has_the_same_exact_numbers(verb, library):
    """Value and smooth sensitivity, or distance: the same to a bit."""

    def exact(frame):
        seen = []

        def watcher(what, perform):
            seen.append([part.tolist() for part in what.exact])
            drawn = perform()
            return (np.array(drawn[0]) + 10**6,) if len(seen) == 1 else drawn

        with watch_draws(watcher):
            released = asked(VERBS[verb], frame)
        assert type(released.to_frame()) is type(
            asked(lambda d: d.count(1), frame).to_frame()
        )
        return seen

    assert exact(CONVERTERS[library](PEOPLE)) == exact(PEOPLE)


KINDS = pl.DataFrame(
    {
        "day": [date(2024, 1, 1) + timedelta(days=i) for i in range(300)],
        "time": [datetime(2024, 1, 1) + timedelta(hours=i) for i in range(300)],
        "span": [timedelta(minutes=i) for i in range(300)],
        "digits": [Decimal(i) / 100 for i in range(300)],
        "whole": list(range(300)),
        "real": [i / 7 for i in range(300)],
        "yes": [i % 3 > 0 for i in range(300)],
        "none": [None] * 300,
    }
)
YEAR = (date(2024, 1, 1), date(2024, 12, 31))
BOUNDS = {
    "day": YEAR,
    "time": YEAR,
    "span": (timedelta(0), timedelta(hours=5)),
    "digits": (0, 3),
    "whole": (0, 300),
    "real": (0.0, 50.0),
    "yes": None,
    "none": (0.0, 1.0),
}
#: Kinds of a trimmed mean, of a median, and of the distance between quartiles.
ANSWERS = {
    "day": (date, date, timedelta),
    "time": (datetime, datetime, timedelta),
    "span": (timedelta, timedelta, timedelta),
    "digits": (Decimal, Decimal, Decimal),
    "whole": (float, int, int),
    "real": (float, float, float),
    "yes": (float, int, int),
    "none": (float, float, float),
}


@pytest.mark.parametrize("column", ANSWERS)
def test_answers_are_of_the_kind_of_the_column(column):
    bounds = BOUNDS[column]
    mean = asked(lambda d: d.trimmed_mean(column, 1, bounds=bounds), KINDS)
    of_mean, of_median, of_length = ANSWERS[column]
    assert type(mean.value) is of_mean
    large = timedelta(days=900) if of_length is timedelta else 900
    for statistic, kind in ("median", of_median), ("iqr", of_length):
        ask = propose(statistic, column, bounds=bounds, bound=large)
        released = asked(ask, KINDS)
        assert released.released  # no data violate the bound
        assert type(released.value) is kind
        assert type(released.scale) is (float if of_length is int else of_length)
        low, high = released.interval()
        assert low <= released.value <= high
        assert released.to_frame().height == 1


@pytest.mark.parametrize("column", ["day", "real", "whole", "digits"])
def test_smooth_answers_stay_within_bounds(column):
    for _ in range(30):
        value = asked(
            lambda d: d.trimmed_mean(column, "0.05", bounds=BOUNDS[column]), KINDS
        ).value
        lower, upper = BOUNDS[column]
        assert lower <= value <= upper


def test_medians_are_near_where_the_data_are_dense():
    frame = pl.DataFrame({"x": np.linspace(40, 60, 5_001)})
    for noise in ("lomax", "student_t"):
        given = "x", 2, SmoothOptions(noise=noise), (0.0, 1e6), "row", None
        found = dpf.private(frame, dpf.Session(2, unit="row"))._smooth(
            "median", "median", *given
        )
        assert abs(found.value - 50) < 1


def test_bounds_and_epsilon_may_come_from_the_session():
    domain = {"age": dpf.integers(0, 120)}
    session = dpf.Session(1, unit="row", domain=domain, default_epsilon="1/4")
    with session:
        PEOPLE.dp.trimmed_mean("age")
    assert session.spent.epsilon == Fraction(1, 4)


@pytest.mark.parametrize("make", [lambda f: f["age"], lambda f: f.to_pandas()["age"]])
def test_series_have_the_verbs(make):
    with dpf.Session(10, delta="1e-5", unit="row"):
        column = make(PEOPLE).dp
        assert 0 <= column.trimmed_mean(1, bounds=(0, 99), trim=3).value <= 99
        assert 0 <= column.closest_pair(1, bounds=(0, 99)).value <= 99
        found = column.propose_test_release(
            "median", bound=99, bounds=(0, 99), epsilon=1, delta=DELTA
        )
        assert found.released
        modes = column.mode(1, keys=[44, 23], **PTR)
    assert modes.keys in ([44], [])


# -- what is noised ------------------------------------------------------------

STATISTICS = [
    "median",
    ("quantile", 0.9),
    "iqr",
    ("trimmed_mean", 0.1),
    ("trimmed_mean", 5),
]


def noised(ask, **setting):
    draws = []

    def watcher(what, perform):
        draws.append(what)
        return perform()

    with watch_draws(watcher):
        asked(ask, **setting)
    return draws


@pytest.mark.parametrize("statistic", STATISTICS, ids=str)
def test_smooth_noise_follows_the_smooth_sensitivity_of_the_rows(statistic):
    (draw,) = noised(
        lambda d: d._smooth(
            "verb", statistic, "age", 1, SmoothOptions(), (0, 120), "row", None
        )
    )
    (value,), (smooth,) = (part.tolist() for part in draw.exact)
    data, public = PEOPLE["age"].to_numpy(), {"bounds": (0, 120)}
    assert float(value) == sensitivity.evaluate(data, statistic, **public)
    right = sensitivity.smooth(
        data, statistic, neighboring="add_remove", beta="0.3", **public
    )
    assert math.isclose(smooth, max(right * (1 + 1e-9), 120 / 2**30), rel_tol=1e-12)
    assert draw.law.beta == Fraction(3, 10)


UNIT = dpf.Unit("who", max_rows=2)


@pytest.mark.parametrize(
    ("unit", "relation", "rows"),
    [
        ("row", "add_remove", 1),
        ("row", "replace", 2),
        (UNIT, "add_remove", 2),
        (UNIT, "replace", 4),
    ],
)
def test_units_of_several_rows_have_their_own_profile(unit, relation, rows):
    setting = {"unit": unit, "neighboring": relation}
    (draw,) = noised(
        lambda d: d.trimmed_mean("age", 1, bounds=(0, 120), trim=10), **setting
    )
    chosen = sensitivity.catalog.as_statistic(("trimmed_mean", 10))
    data = chosen.read(PEOPLE["age"].to_numpy(), (0, 120))
    profile = chosen.profile(data, "add_remove").of_unit(rows)
    expected = profile.smooth(Fraction(3, 10)) * (1 + 1e-9)
    assert math.isclose(draw.exact[1].item(), expected, rel_tol=1e-12)
    test, *_ = noised(propose(("trimmed_mean", 10), bound=9), **setting)
    assert test.exact[0].item() == min(profile.distance(9), 13 + 45)


def test_closest_pairs_have_one_profile_under_both_relations():
    frame = PEOPLE.filter(pl.col("age") > 20).unique("age").sort("age")
    seen = []
    for relation in ("add_remove", "replace"):
        draws = []

        def watcher(what, perform, draws=draws):
            draws.append(what)
            return perform()

        with watch_draws(watcher):
            asked(
                lambda d: d.closest_pair("age", 1, bounds=(0, 120)),
                frame,
                neighboring=relation,
            )
        seen.append([part.tolist() for part in draws[0].exact])
    assert seen[0] == seen[1]
    assert seen[0][0] == [6]  # 23 and 29


def test_smooth_sensitivity_is_never_nothing():
    frame = pl.DataFrame({"x": [0] * 5_000})
    draws = []

    def watcher(what, perform):
        draws.append(what)
        return perform()

    with watch_draws(watcher):
        asked(lambda d: d.closest_pair("x", 5, bounds=(0, 1), beta="4"), frame)
    assert draws[0].exact[1].item() == 2.0**-30


def test_the_distance_is_looked_for_up_to_a_public_cap():
    test, *_ = noised(propose("median", bound=200))
    threshold = DiscreteLaplace(1).interval(1 - Fraction(2, 10**6))[1]
    assert test.exact[0].tolist() == [threshold + 45]
    assert threshold == 13


def test_ptr_release_is_at_the_proposed_scale():
    found = asked(propose("median", bound=200, epsilon=4, test_share="1/4"))
    assert found.scale == 200 / 3
    assert found.test.epsilon == 1
    assert found.loss == dpf.PrivacyLoss(Fraction(4), Fraction(DELTA))
    real = asked(propose(("trimmed_mean", 0.1), bound=200))
    assert math.isclose(real.scale, 200, rel_tol=1e-3)
    assert real.scale >= 200


@pytest.mark.parametrize("epsilon", [2])
def test_proposals_far_from_true_are_refused_and_charged(epsilon):
    session = dpf.Session(epsilon, delta=DELTA, unit="row")
    found = propose("median", bound="1e-3", epsilon=epsilon)(
        dpf.private(PEOPLE, session)
    )
    assert not found.released
    assert found.value is None
    assert session.remaining == dpf.PrivacyLoss(Fraction(0), Fraction(0))
    assert found.to_frame().rows() == [(False, None)]
    assert "refused; the charge stands" in repr(found)
    with pytest.raises(TypeError, match="no single number"):
        float(found)
    for refused in (lambda: found.scale, lambda: found.std_error, found.interval):
        with pytest.raises(dpf.ParameterError, match="refused"):
            refused()


def test_scales_are_bins_without_noise():
    frame = pl.DataFrame({"x": np.linspace(0.0, 16.0, 4_001)})  # an IQR of 8
    ends = set()
    for _ in range(5):
        found = asked(propose("iqr_scale", "x", bounds=(0.0, 64.0), epsilon=4), frame)
        low, high = found.value
        assert low <= 8 <= high
        assert math.isclose(high / low, 2, rel_tol=1e-3)
        ends.add((low, high))
    # 8 is an edge of the first grid, and in the middle of a bin of the second.
    assert len(ends) == 1
    assert found.test.tests == 2
    assert found.loss == dpf.PrivacyLoss(Fraction(4), Fraction(DELTA))
    assert found.to_frame().columns == ["released", "lower", "upper"]
    with pytest.raises(dpf.ParameterError, match="without noise"):
        found.interval()


def test_modes_are_exact_or_refused():
    sure = lambda d: d.mode("job", 2, keys=["nurse", "cook"], **PTR)  # noqa: E731
    found = asked(sure)
    assert (found.keys, found.released, found.rank_error()) == (["cook"], True, 0.0)
    assert "exactly the most frequent key" in repr(found)
    even = PEOPLE.filter(pl.col("job") == "cook").head(10)
    refused = asked(lambda d: d.mode("job", 1, keys=["a", "b"], **PTR), even)
    assert (refused.keys, refused.released) == ([], False)
    assert "refused" in repr(refused)
    assert refused.to_frame().height == 0


def test_functions_of_ones_own():
    def mean(values):
        return float(np.mean(values)) if len(values) else 0.0

    def far(values):
        return max(0, len(values) - 121)  # rows until 120/n passes 1

    ask = propose(mean, bound=1, distance=far, trusted=True)
    found = asked(ask)
    assert found.released
    assert found.name == "mean"
    assert abs(found.value - PEOPLE["age"].mean()) < 60
    assert math.isclose(found.scale, 1, rel_tol=0.01)
    several = asked(ask, unit=dpf.Unit("who", max_rows=3))
    assert math.isclose(several.scale, 3, rel_tol=0.01)


@pytest.mark.parametrize(
    "bad",
    [
        lambda values: 1 / 0,
        lambda values: math.nan,
        lambda values: "many",
        lambda values: None,
        lambda values: 2.5,
        lambda values: True,
        lambda values: -7,
        lambda values: values,
    ],
)
def test_any_doubt_is_distance_nothing(bad):
    test, *_ = noised(propose(len, bound=1, distance=bad, trusted=True))
    assert test.exact[0].tolist() == [0]


@pytest.mark.parametrize("bad", [lambda v: 1 / 0, lambda v: math.inf, lambda v: "x"])
def test_a_function_that_fails_counts_as_nothing(bad):
    _, answer = noised(propose(bad, bound=1, distance=lambda v: math.inf, trusted=True))
    assert answer.exact[0].tolist() == [0]


def test_functions_see_clamped_values_in_the_unit_of_the_column():
    seen = {}

    def keep(values):
        seen[values.dtype.kind] = values
        return 0

    for column, bounds in ("age", (20, 60)), ("pay", (0.0, 8.0)):
        asked(propose(len, column, bounds=bounds, bound=1, distance=keep, trusted=True))
    assert seen["i"].tolist() == sorted([23, 35, 60, 44, 44, 29, 60, 20] * 50)
    assert seen["f"].tolist() == sorted([1.5, 2.25, 8.0, 4.0, 0.0, 8.0] * 50)


# -- charges -------------------------------------------------------------------


def test_losses():
    mean = lambda d, **o: d.trimmed_mean("age", 1, bounds=(0, 99), **o)  # noqa: E731
    priced = {"interval": True, "epsilon_interval": "1/2"}
    assert asked(mean).loss == dpf.PrivacyLoss(Fraction(1))
    assert asked(lambda d: mean(d, **priced)).loss == dpf.PrivacyLoss(Fraction(3, 2))
    taught = asked(lambda d: mean(d, noise="laplace", delta=DELTA)).loss
    assert taught == dpf.PrivacyLoss(Fraction(1), Fraction(DELTA))
    zcdp = {"epsilon": None, "rho": 9, "delta": "1e-5"}
    assert asked(mean, **zcdp).loss == dpf.PrivacyLoss(rho=Fraction(1, 2))
    assert asked(lambda d: mean(d, **priced), **zcdp).loss.rho == Fraction(5, 8)
    ptr = asked(propose("median", bound=9, epsilon=2, test_share="1/4"), **zcdp).loss
    assert ptr == dpf.PrivacyLoss(None, Fraction(DELTA), Fraction(5, 4))
    mode = asked(VERBS["mode"], **zcdp).loss
    assert mode == dpf.PrivacyLoss(None, Fraction(DELTA), Fraction(2))


@pytest.mark.parametrize("verb", ["median", "scale", "mode"])
def test_a_pure_session_names_the_one_to_open(verb):
    session = dpf.Session(5, unit="row")
    with pytest.raises(dpf.AccountantError, match=r"dpf\.Session\(epsilon=5, delta="):
        VERBS[verb](dpf.private(PEOPLE, session))
    assert session.spent.epsilon == 0


def test_labels_return_the_stored_release():
    with dpf.Session(3, delta="1e-5", unit="row") as session:
        for ask in (
            lambda: PEOPLE.dp.trimmed_mean("age", 1, bounds=(0, 99), label="mean"),
            lambda: PEOPLE.dp.propose_test_release(
                "iqr",
                "age",
                bound=9,
                bounds=(0, 99),
                epsilon=1,
                delta=DELTA,
                label="iqr",
            ),
        ):
            first, again = ask(), ask()
            assert again.replayed
            assert again.value == first.value
            assert again.to_arrow() == first.to_arrow()
        assert len(session.charges) == 2
        with pytest.raises(dpf.LabelConflictError):
            PEOPLE.dp.trimmed_mean("age", 1, bounds=(0, 99), trim=0.2, label="mean")


def test_equal_bounds_are_known_and_free():
    session = dpf.Session(1, unit="row")
    found = dpf.private(PEOPLE, session).trimmed_mean("age", 1, bounds=(50, 50))
    assert (found.value, found.std_error) == (50.0, 0.0)
    assert found.interval() == (50.0, 50.0)
    assert found.mechanism == "public constant"
    assert session.charges == ()


# -- intervals that are paid for -----------------------------------------------


def test_an_interval_can_be_bought():
    held, ages = 0, PEOPLE["age"].to_numpy()
    truth = sensitivity.evaluate(ages, ("trimmed_mean", 0.1), bounds=(0, 99))
    for _ in range(100):
        found = asked(
            lambda d: d.trimmed_mean(
                "age", 1, bounds=(0, 99), interval=True, epsilon_interval=1
            )
        )
        low, high = found.interval(0.9)
        held += low <= truth <= high
        assert found.std_error > 0
        assert found.scale > 0
    assert held >= 80


def test_without_one_there_is_no_scale():
    found = asked(VERBS["trimmed_mean"])
    for ask in (lambda: found.scale, lambda: found.std_error, found.interval):
        with pytest.raises(dpf.ParameterError, match="epsilon_interval"):
            ask()


# -- what is never shown -------------------------------------------------------


def said(release):
    """Everything that a release shows or holds, as text."""
    table = release.to_arrow()
    metadata = [table.schema.metadata, *(field.metadata for field in table.schema)]
    texts = [repr(release), release._repr_html_(), f"{table.to_pydict()} {metadata}"]
    stack, seen = [release, pickle.loads(pickle.dumps(release))], set()
    while stack:
        one = stack.pop()
        if id(one) in seen or isinstance(one, type) or callable(one):
            continue
        seen.add(id(one))
        texts.append(repr(one) if not isinstance(one, dict) else "")
        stack += gc.get_referents(one)
    text = "\n".join(texts)
    passing = release.release_id, repr(release.time), str(release.time)
    for chance in (*passing, release.time.isoformat()):  # digits of no meaning
        text = text.replace(chance, "")
    return re.sub("0x[0-9a-f]+", "", text)


def numbers(text):
    found = re.findall(r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?", text)
    return {float(number) for number in found}


@pytest.mark.parametrize("verb", VERBS)
def test_no_secret_number_is_in_any_corner_of_a_release(verb, caplog):
    secrets = set()

    def watcher(what, perform):
        parts = [float(v) for part in what.exact for v in part.tolist()]
        if isinstance(what.law, SmoothNoise):
            smooth = parts[1]
            scale = smooth / float(what.law.s)
            parts += [scale, scale * what.law.law.std, math.log(smooth)]
        secrets.update(parts)
        return perform()

    # Odd numbers, so that none of them is a public one by chance.
    rng = np.random.default_rng(7)
    frame = pl.DataFrame(
        {
            "age": np.arange(997) * 37 % 91,
            "pay": rng.normal(4.123, 0.7, 997),
            "job": ["cook"] * 511 + ["nurse"] * 486,
        }
    )
    caplog.set_level(logging.NOTSET)
    with watch_draws(watcher):
        release = asked(VERBS[verb], frame)
    assert secrets
    test = getattr(release, "test", None) or getattr(release, "law", None)
    public = {0.0, 1.0}
    if isinstance(test, StabilityTest):
        public.add(float(cap(test)))  # what a great distance is cut to
    if hasattr(release, "rounded"):  # noise may be 0
        public |= set(map(float, release.rounded.steps.tolist()))
    shown = numbers(said(release))
    for secret in secrets - public:
        assert not [x for x in shown if math.isclose(x, secret, rel_tol=1e-6)], secret
    assert not caplog.records


def metadata_of(verb):
    return json.loads(asked(VERBS[verb]).to_arrow().schema.metadata[METADATA_KEY])


def test_the_noise_and_the_test_are_public():
    record = metadata_of("trimmed_mean")
    (column,) = record["columns"]
    assert column["noise"]["family"] == "lomax"
    assert column["noise"]["beta"] == "3/5"
    assert column["grid"]["upper"] == "10.0"
    record = metadata_of("median")
    assert record["test"] == {
        "epsilon": "1", "delta": "1/1000000", "threshold": 13, "tests": 1,
    }  # fmt: skip
    assert record["scale"] == "30"
    assert record["bound"] == "30"


def test_pass_probabilities_can_be_planned():
    found = asked(VERBS["median"])
    assert found.pass_probability(0) <= 1e-6
    for distance in (3, 13, 20):
        assert math.isclose(
            found.pass_probability(distance),
            sensitivity.ptr_pass_probability(distance, 1, DELTA),
        )
    for wrong in (-1, 2.5, "x", math.inf):
        with pytest.raises(dpf.ParameterError):
            found.pass_probability(wrong)


# -- bad input -----------------------------------------------------------------


def trimmed(**options):
    options = {"bounds": (0, 120), **options}
    return lambda d: d.trimmed_mean("age", 1, **options)


def closest(columns="age", **options):
    options = {"bounds": (0, 120), **options}
    return lambda d: d.closest_pair(columns, 1, **options)


BAD = {
    "no bounds": (trimmed(bounds=None), dpf.DomainError, "age"),
    "swapped bounds": (trimmed(bounds=(9, 0)), dpf.ParameterError, "swapped|lower"),
    "infinite bounds": (trimmed(bounds=(0, math.inf)), dpf.ParameterError, "finite"),
    "no pair": (trimmed(bounds=5), dpf.ParameterError, "pair"),
    "data as bounds": (
        lambda d: d.trimmed_mean("age", 1, bounds=PEOPLE["age"]),
        dpf.ParameterError,
        "pair",
    ),
    "trim of a half": (trimmed(trim=0.5), dpf.ParameterError, "below 1/2"),
    "negative trim": (trimmed(trim=-1), dpf.ParameterError, "negative"),
    "beta above": (trimmed(beta=1), dpf.ParameterError, "beta"),
    "beta of nothing": (trimmed(beta=0), dpf.ParameterError, "beta"),
    "laplace without delta": (
        trimmed(noise="laplace"),
        dpf.ParameterError,
        "delta=1e-6",
    ),
    "delta without laplace": (trimmed(delta=DELTA), dpf.ParameterError, "delta"),
    "unknown noise": (trimmed(noise="gaussian"), dpf.ParameterError, "noise"),
    "interval unpaid": (trimmed(interval=True), dpf.ParameterError, "epsilon_interval"),
    "paid for no interval": (
        trimmed(epsilon_interval=1),
        dpf.ParameterError,
        "interval",
    ),
    "interval of text": (trimmed(interval="yes"), dpf.ParameterError, "True or False"),
    "no epsilon": (
        lambda d: d.trimmed_mean("age", bounds=(0, 9)),
        dpf.ParameterError,
        "how much",
    ),
    "text": (
        lambda d: d.trimmed_mean("job", 1, bounds=(0, 9)),
        dpf.ParameterError,
        "numbers",
    ),
    "no column": (
        lambda d: d.trimmed_mean("aeg", 1, bounds=(0, 9)),
        dpf.ColumnNotFoundError,
        "age",
    ),
    "per unit of rows": (trimmed(per="unit"), dpf.ParameterError, "per='unit'"),
    "no columns": (closest([]), dpf.ParameterError, "columns"),
    "columns twice": (closest(["age", "age"]), dpf.ParameterError, "each once"),
    "bounds of three": (
        closest(["age", "pay"], bounds=[(0, 1)] * 3),
        dpf.ParameterError,
        "one for each of the 2",
    ),
    "method": (closest(method="global"), dpf.ParameterError, "'smooth' or 'ptr'"),
    "bound without ptr": (closest(bound=3), dpf.ParameterError, "method='ptr'"),
    "ptr without bound": (
        closest(**PTR),
        dpf.ParameterError,
        "bound is missing",
    ),
    "ptr without delta": (
        closest(method="ptr", bound=3),
        dpf.ParameterError,
        "needs a delta",
    ),
    "no delta": (
        propose("median", bound=3, delta=None),
        dpf.ParameterError,
        "delta=1e-6",
    ),
    "delta of nothing": (
        propose("median", bound=3, delta=0),
        dpf.ParameterError,
        "below 1/2",
    ),
    "no bound": (propose("median"), dpf.ParameterError, "bound=500"),
    "bound of nothing": (propose("median", bound=0), dpf.ParameterError, "positive"),
    "negative bound": (propose("median", bound=-2), dpf.ParameterError, "positive"),
    "bound of text": (propose("median", bound="many"), dpf.ParameterError, "bound"),
    "tiny bound": (
        propose(("trimmed_mean", 0.1), bound="1e-40"),
        dpf.ParameterError,
        "too small",
    ),
    "equal bounds": (
        propose("median", bound=3, bounds=(7, 7)),
        dpf.ParameterError,
        "nothing to propose",
    ),
    "equal bounds of a scale": (
        propose("iqr_scale", bounds=(7, 7)),
        dpf.ParameterError,
        "nothing to propose",
    ),
    "unknown statistic": (
        propose("average", bound=1),
        dpf.ParameterError,
        "'median', 'iqr'",
    ),
    "mean": (propose("mean", bound=1), dpf.ParameterError, "statistic must be"),
    "mode": (propose("mode", bound=1), dpf.ParameterError, "method='ptr'"),
    "closest pair": (
        propose("closest_pair", bound=1),
        dpf.ParameterError,
        "closest_pair",
    ),
    "no share": (
        propose("median", bound=1, test_share=1),
        dpf.ParameterError,
        "test_share",
    ),
    "scale with a bound": (propose("iqr_scale", bound=1), dpf.ParameterError, "bins"),
    "ratio": (propose(("iqr_scale", 1)), dpf.ParameterError, "1.01"),
    "untrusted": (
        propose(len, bound=1, distance=len),
        dpf.ParameterError,
        "trusted=True",
    ),
    "no distance": (
        propose(len, bound=1, trusted=True),
        dpf.ParameterError,
        "distance=",
    ),
    "a stray distance": (
        propose("median", bound=1, distance=len),
        dpf.ParameterError,
        "your own",
    ),
    "no positive epsilon": (
        lambda d: d.propose_test_release(
            "variance", "who", bound=1, bounds=(0, 400), epsilon=-1, delta=DELTA
        ),
        dpf.ParameterError,
        "epsilon must be positive",
    ),
    "too much": (
        propose("median", bound=3, epsilon=19.5),
        dpf.BudgetExceededError,
        "19",
    ),
}


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("library", ["polars", "pandas"])
def test_bad_input_costs_nothing(name, library):
    ask, error, match = BAD[name]
    frame = PEOPLE if library == "polars" else PEOPLE.to_pandas()
    session = dpf.Session(19, delta="1e-4", unit="row")
    with pytest.raises(error, match=match) as caught:
        ask(dpf.private(frame, session))
    assert session.charges == ()
    assert "99.0" not in str(caught.value)


def test_a_bound_of_times_is_a_timedelta():
    ask = propose("median", "day", bounds=YEAR, bound=3)
    with pytest.raises(dpf.ParameterError, match=r"timedelta\(days=1\)"):
        asked(ask, KINDS)
    with pytest.raises(dpf.ParameterError, match="points in time"):
        asked(propose("variance", "day", bounds=YEAR, bound=3), KINDS)


def test_a_large_delta_is_warned_of():
    with pytest.warns(dpf.PrivacyWarning, match="above 1e-4"):
        session = dpf.Session(9, delta="0.01", unit="row")
    with pytest.warns(dpf.PrivacyWarning, match="above 1e-4"):
        propose("median", bound=3, delta="0.001")(dpf.private(PEOPLE, session))


def test_laplace_noise_has_no_rho():
    with pytest.raises(dpf.AccountantError, match="no rho"):
        asked(trimmed(noise="laplace", delta=DELTA), epsilon=None, rho=1, delta="1e-4")


def test_a_unit_needs_its_rows():
    with pytest.raises(dpf.ParameterError, match="max_rows"):
        asked(trimmed(), unit=dpf.Unit("who", max_groups=3))
    with pytest.raises(dpf.ParameterError, match="max_rows"):
        asked(VERBS["mode"], unit=dpf.Unit("who"))


def test_totals_of_units_need_no_max_rows():
    unit = dpf.Unit("who")
    found = asked(trimmed(per="unit", bounds=(0, 200)), unit=unit)
    assert 0 <= found.value <= 200


@pytest.mark.parametrize("n", [0, 1, 2])
@pytest.mark.parametrize("verb", VERBS)
def test_few_rows_are_no_error(verb, n):
    asked(VERBS[verb], PEOPLE.head(n))
    asked(VERBS[verb], PEOPLE.head(n).to_pandas())


def test_nothing_but_missing_values():
    frame = pd.DataFrame({"pay": [None, np.nan], "age": [1, 2]})
    assert 0 <= asked(VERBS["trimmed_mean"], frame).value <= 10
