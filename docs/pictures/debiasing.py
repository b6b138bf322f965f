"""Draw the pictures of docs/explanation/debiasing.rst, beside this file.

    pip install -e '.[plot]' && python docs/pictures/debiasing.py

Noise comes from a fixed seed, so that the same pictures come out again.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import NamedTuple

import matplotlib as mpl

mpl.use("svg")

import matplotlib.pyplot as plt
import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dpframe.estimands import NoisyCounts, Separable, debias, entropy, k_stars, profile
from dpframe.estimands.stencil import Stencil
from dpframe.noise import DiscreteLaplace
from dpframe.testing import unsafe_deterministic

HERE = Path(__file__).parent
DATA = HERE.parents[1] / "examples" / "data"

NAIVE, UNBIASED, RULE = "#c44e29", "#1f5f99", "#999999"
STYLE = {
    "svg.hashsalt": "dpframe",
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
}

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


class Law(NamedTuple):
    """Bias and standard deviations over the noise of one release."""

    bias: float
    naive: float
    unbiased: float


def column(name: str) -> Integers:
    """Return the last column of a file of example data."""
    lines = (DATA / name).read_text(encoding="utf-8").splitlines()[1:]
    return np.array([int(line.rsplit(",", 1)[1]) for line in lines])


def exact_law(counts: Integers, estimand: Separable, epsilon: float) -> Law:
    """Add up the noise law of every count: nothing is sampled."""
    reach = math.ceil(45 / epsilon)
    k = np.arange(-reach, reach + 1)
    weights = np.tanh(epsilon / 2) * np.exp(-epsilon * np.abs(k))
    bias = naive = unbiased = 0.0
    for count, bins in zip(*np.unique(counts, return_counts=True), strict=True):
        stencil = Stencil.of(NoisyCounts(count + k, epsilon))
        local = stencil.evaluate(estimand.f)
        ours = stencil.apply(local)
        bias += bins * (weights @ (local.here - ours))
        naive += bins * _variance(weights, local.here)
        unbiased += bins * _variance(weights, ours)
    return Law(bias, math.sqrt(naive), math.sqrt(unbiased))


def draw_bias() -> Figure:
    """Errors against epsilon: the entropy of words, the stars of a graph."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(8.6, 3.5), layout="tight")
    _entropy_of_words(left)
    _stars_of_a_graph(right)
    for axes, ticks in ((left, [0.25, 0.5, 1, 2]), (right, [0.1, 0.2, 0.5, 1])):
        axes.set_xscale("log")
        axes.minorticks_off()
        axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        axes.set_xlabel("epsilon")
        axes.axhline(0, color=RULE, linewidth=0.8, zorder=0)
    right.legend(loc="upper right")
    return figure


def draw_federated() -> Figure:
    """Errors of a sum over parties: the naive one grows as K, ours as its root."""
    counts = np.floor(60 / np.arange(1, 121) + 0.5).astype(np.int64)
    estimand, epsilon = profile(1), 1.0
    bias, naive, unbiased = exact_law(counts, estimand, epsilon)
    parties = np.geomspace(1, 1000, 60)
    figure, axes = plt.subplots(figsize=(5.6, 3.8), layout="tight")
    biased = np.hypot(parties * bias, np.sqrt(parties) * naive)
    axes.loglog(parties, biased, color=NAIVE)
    axes.loglog(parties, np.sqrt(parties) * unbiased, color=UNBIASED)
    sizes = [1, 4, 16, 64]
    for size, errors in zip(sizes, _federations(counts, sizes), strict=True):
        root = np.sqrt((errors**2).mean(axis=0))
        axes.plot(size, root[0], "o", color=NAIVE, markersize=4)
        axes.plot(size, root[1], "o", color=UNBIASED, markersize=4)
    axes.text(230, 0.45 * abs(bias) * 230, "naive: K", color=NAIVE, ha="left")
    axes.text(60, 1.5 * unbiased * 60**0.5, "unbiased: √K", color=UNBIASED, ha="right")
    for ticks, put in (
        ([1, 10, 100, 1_000], axes.set_xticks),
        ([100, 1_000, 10_000], axes.set_yticks),
    ):
        put(ticks, [f"{tick:,}" for tick in ticks])
    axes.minorticks_off()
    axes.set_title("Keys that occur once: 80 of 120, epsilon 1", fontsize=10)
    axes.set_xlabel("parties K, each with a release of its own")
    axes.set_ylabel("root mean squared error of the sum")
    return figure


def _entropy_of_words(axes: Axes) -> None:
    words = column("shakespeare_word_counts.csv")
    share = words / words.sum()
    true = -float(share @ np.log(share))
    epsilons = np.array([0.25, 0.35, 0.5, 0.7, 1.0, 1.4, 2.0])
    errors = np.empty((epsilons.size, 30, 2))
    for place, epsilon in enumerate(epsilons.tolist()):
        law = DiscreteLaplace(1 / epsilon)
        for run in range(30):
            found = debias(words + law.sample(words.size), entropy, epsilon=epsilon)
            errors[place, run] = found.plug_in - true, found.value - true
    mean, spread = errors.mean(axis=1).T, errors.std(axis=1).T
    _band(axes, epsilons, mean[0], spread[0], NAIVE, "naive")
    _band(axes, epsilons, mean[1], spread[1], UNBIASED, "unbiased")
    axes.set_ylabel("error in nats")
    axes.set_title("Entropy of 12,373 words (6.74)", fontsize=10)


def _stars_of_a_graph(axes: Axes) -> None:
    degrees, stars = column("facebook_degrees.csv"), k_stars(2)
    true = float(stars.f(degrees.astype(np.float64)).sum())
    epsilons = np.geomspace(0.07, 1, 16)
    laws = [exact_law(degrees, stars, epsilon) for epsilon in epsilons.tolist()]
    bias, naive, unbiased = 100 * np.array(laws).T / true
    _band(axes, epsilons, bias, naive, NAIVE, "naive")
    _band(axes, epsilons, 0 * bias, unbiased, UNBIASED, "unbiased")
    axes.set_ylabel("error in per cent")
    axes.set_title("2-stars of 4,039 Facebook users (9.3 million)", fontsize=10)


def _band(
    axes: Axes, x: Floats, mean: Floats, spread: Floats, color: str, label: str
) -> None:
    """Draw the bias, and one standard deviation of a release to either side."""
    axes.plot(x, mean, color=color, label=label)
    axes.fill_between(x, mean - spread, mean + spread, color=color, alpha=0.2, lw=0)


def _federations(counts: Integers, sizes: list[int]) -> list[Floats]:
    """Return errors, naive and unbiased, of 100 sums over so many parties."""
    true = float((counts == 1).sum())
    found = []
    for size in sizes:
        errors = np.zeros((100, 2))
        for run in range(100):
            for _ in range(size):
                noisy = counts + DiscreteLaplace(1).sample(counts.size)
                e = debias(noisy, profile(1), epsilon=1)
                errors[run] += e.plug_in - true, e.value - true
        found.append(errors)
    return found


def _variance(weights: Floats, values: Floats) -> float:
    return float(weights @ (values - weights @ values) ** 2)


if __name__ == "__main__":
    with unsafe_deterministic("pictures of debiasing"), mpl.rc_context(STYLE):
        for name, draw in {"bias": draw_bias, "federated": draw_federated}.items():
            picture = draw()
            picture.savefig(HERE / f"debiasing_{name}.svg", metadata={"Date": None})
