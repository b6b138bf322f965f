"""Exact values that were worked out independently, to 1e-9."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from dpframe import sensitivity
from dpframe.noise.law import as_positive
from dpframe.privacy.amounts import as_fraction
from dpframe.sensitivity.disjoint_pairs import disjoint_distances
from dpframe.sensitivity.mode import mode_distance
from dpframe.sensitivity.plain import profile_of
from dpframe.sensitivity.points import read_points
from dpframe.sensitivity.stability import stability_threshold

CASES = json.loads(
    (Path(__file__).parents[2] / "data/sensitivity.json").read_text(encoding="utf-8")
)["cases"]


def cases(kind):
    chosen = [case for case in CASES if case["type"] == kind]
    return pytest.mark.parametrize("case", chosen, ids=[c["id"] for c in chosen])


def close(value):
    return pytest.approx(value, rel=1e-9, abs=1e-9)


def statistic(case):
    named = {
        "order": lambda: ("order", case["rank"]),
        "trimmed_mean": lambda: ("trimmed_mean", case["trim"]),
        "min": lambda: ("order", 1),
        "max": lambda: ("order", len(case["data"])),
    }
    return named.get(case["statistic"], lambda: case["statistic"])()


def public(case):
    return {
        "bounds": (case["lower"], case["upper"]),
        "neighboring": case["adjacency"],
    }


@cases("smooth")
def test_smooth(case):
    asked, known = (case["data"], statistic(case)), public(case)
    assert sensitivity.local(*asked, **known) == close(case["local"])
    k_max = len(case["profile"]) - 1
    found = sensitivity.profile(*asked, **known, k_max=k_max)
    assert found == close(case["profile"])
    assert sensitivity.smooth(*asked, **known, beta=case["beta"]) == close(
        case["smooth"]
    )
    whole = profile_of(*asked, **known)
    assert whole.exact == (case["form"] == "exact")
    if "local_exact" in case:
        assert whole.exact_local == close(case["local_exact"])


@cases("ptr")
def test_ptr(case):
    distance = sensitivity.distance(
        case["data"], case["statistic"], **public(case), bound=case["bound"]
    )
    assert distance == case["distance"]
    test = (case["eps_test"], case["delta"])
    amounts = as_positive(test[0], "epsilon"), as_fraction(test[1], "delta")
    assert stability_threshold(*amounts) == case["threshold_discrete"]
    passes = sensitivity.ptr_pass_probability
    assert passes(distance, *test) == close(case["pass_probability_discrete"])
    continuous = passes(distance, *test, noise="laplace")
    assert continuous == close(case["pass_probability"])


@cases("closest_pair")
def test_closest_pair(case):
    box = (0, case["diameter"])
    known = {"bounds": box, "neighboring": case["adjacency"]}
    assert sensitivity.evaluate(case["data"], "closest_pair", bounds=box) == close(
        case["value"]
    )
    line = profile_of(case["data"], "closest_pair", **known)
    curve = [line.removal(j) for j in range(len(case["removal_curve"]))]
    assert curve == close(case["removal_curve"])
    assert line.exact_local == close(case["local"])
    assert line.smooth(case["beta"]) == close(case["smooth_exact_curve"])

    points = [(x, 0) for x in case["data"]]
    box = (box, (0, 0))
    assert disjoint_distances(read_points(points, box)) == close(case["greedy_curve"])
    greedy = sensitivity.smooth(
        points, "closest_pair", bounds=box, neighboring="add_remove", beta=case["beta"]
    )
    assert greedy == close(case["smooth_greedy"])


@cases("triangles")
def test_triangles(case):
    graph = np.zeros((case["nodes"], case["nodes"]), dtype=int)
    for i, j in case["edges"]:
        graph[i, j] = graph[j, i] = 1
    assert sensitivity.evaluate(graph, "triangles") == case["value"]
    known = {"neighboring": case["adjacency"]}
    k_max = len(case["profile"]) - 1
    found = sensitivity.profile(graph, "triangles", **known, k_max=k_max)
    assert found == close(case["profile"])
    smooth = sensitivity.smooth(graph, "triangles", **known, beta=case["beta"])
    assert smooth == close(case["smooth"])


@cases("mode")
def test_mode(case):
    counts = np.array(case["counts"])
    assert counts.argmax() == case["argmax"]
    relation = case["adjacency"]
    distance = sensitivity.distance(counts, "mode", neighboring=relation)
    assert distance == case["distance"] == mode_distance(counts, relation)
    passes = sensitivity.ptr_pass_probability(
        distance, case["eps_test"], case["delta"], noise="laplace"
    )
    assert passes == close(case["pass_probability"])
    threshold = 1 + math.log(1 / (2 * case["delta"])) / case["eps_test"]
    assert threshold == close(case["stability_threshold"])


def test_every_kind_of_case_is_here():
    assert {case["type"] for case in CASES} == {
        "smooth", "ptr", "closest_pair", "triangles", "mode", "noise",
    }  # fmt: skip
