"""Draw the picture of docs/explanation/sparse_vector.rst, beside this file.

    pip install -e '.[plot]' && python docs/pictures/sparse_vector_recall.py

It takes a minute. Noise comes from a fixed seed: the same picture comes out again.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import matplotlib as mpl

mpl.use("svg")

import matplotlib.pyplot as plt
import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dpframe.accounting import gaussian_sigma
from dpframe.mechanisms import sparse_vector
from dpframe.noise import DiscreteGaussian, DiscreteLaplace
from dpframe.testing import unsafe_deterministic

HERE = Path(__file__).parent

STYLE = {
    "svg.hashsalt": "dpframe",
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
}
SPARSE, SELECTION, LAPLACE, GAUSSIAN = "#1f5f99", "#4d9a6a", "#c44e29", "#d9a441"

Integers = npt.NDArray[np.int64]
Finder = Callable[[Integers], Integers]

EPSILON, DELTA = 1, "1e-6"
ABOVE = 5
RUNS = 60
SIZES = [10, 30, 100, 300, 1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000]


def draw_recall() -> Figure:
    """Share of five large answers that is found, against how many are asked for."""
    figure, (left, right) = plt.subplots(
        1, 2, figsize=(8.6, 4), sharey=True, layout="tight"
    )
    rng = np.random.default_rng(7)
    _queries_that_overlap(left, rng)
    _keys_of_one_column(right, rng)
    for axes in (left, right):
        axes.set_xscale("log")
        axes.minorticks_off()
        axes.set_xticks([10, 1_000, 100_000], ["10", "1,000", "100,000"])
        axes.set_xlabel("number of queries")
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), ncol=2, fontsize=8)
    left.set_ylabel("recall of the five large answers")
    left.set_yticks([0, 0.5, 1], ["0", "0.5", "1"])
    return figure


def _queries_that_overlap(axes: Axes, rng: np.random.Generator) -> None:
    """A unit moves every answer by 1, up or down: noise on all grows with them."""
    margin = 100
    sigma = Fraction(gaussian_sigma(EPSILON, DELTA))

    def sparse(answers: Integers) -> Integers:
        return sparse_vector(answers, 0, EPSILON, max_above=ABOVE).indices

    def laplace(answers: Integers) -> Integers:
        noise = DiscreteLaplace(Fraction(answers.size, EPSILON))
        return _greatest(answers + noise.sample(answers.size))

    def gaussian(answers: Integers) -> Integers:
        noise = DiscreteGaussian(answers.size * sigma**2)
        return _greatest(answers + noise.sample(answers.size))

    selection = [_peeling(size, 2 * margin, 0.5, rng) for size in SIZES]
    _line(axes, selection, SELECTION, "permute-and-flip")
    _line(axes, _recalls(sparse, margin, rng), SPARSE, "sparse vector")
    _line(axes, _recalls(gaussian, margin, rng), GAUSSIAN, "Gaussian noise on all")
    _line(axes, _recalls(laplace, margin, rng), LAPLACE, "Laplace noise on all")
    axes.set_title("Queries that overlap, T ± 100", fontsize=10)


def _keys_of_one_column(axes: Axes, rng: np.random.Generator) -> None:
    """A unit adds to one count: noise on all of them stays as it is."""
    margin = 20

    def sparse(answers: Integers) -> Integers:
        found = sparse_vector(answers, 0, EPSILON, max_above=ABOVE, monotonic=True)
        return found.indices

    def histogram(answers: Integers) -> Integers:
        noise = DiscreteLaplace(Fraction(1, EPSILON))
        return _greatest(answers + noise.sample(answers.size))

    selection = [_peeling(size, 2 * margin, 1, rng) for size in SIZES]
    _line(axes, _recalls(histogram, margin, rng), LAPLACE, "histogram: Laplace on all")
    _line(axes, selection, SELECTION, "top_k")
    _line(axes, _recalls(sparse, margin, rng), SPARSE, "sparse vector")
    axes.set_title("Keys of one column, T ± 20", fontsize=10)


def _recalls(find: Finder, margin: int, rng: np.random.Generator) -> list[float]:
    """Return the share found for each size: five answers at T + margin, T is 0."""
    shares = []
    for size in SIZES:
        found = 0
        for _ in range(RUNS):
            large = rng.choice(size, ABOVE, replace=False)
            answers = np.full(size, -margin)
            answers[large] = margin
            found += np.isin(find(answers), large).sum()
        shares.append(found / (RUNS * ABOVE))
    return shares


def _greatest(noisy: Integers) -> Integers:
    """Return where the five greatest are: kinder than a comparison with T."""
    return np.argpartition(noisy, -ABOVE)[-ABOVE:]


def _peeling(size: int, gap: int, rate: float, rng: np.random.Generator) -> float:
    """Return the recall of permute-and-flip, a round for each answer wanted.

    All answers but the large ones are equal, so that only the number of their coins
    that show heads matters, and of all heads the first in a random order is taken.
    """
    runs = 100 * RUNS
    chance = np.exp(-rate * EPSILON / ABOVE * gap)
    large = np.full(runs, ABOVE)
    small = np.full(runs, size - ABOVE)
    for _ in range(ABOVE):
        heads = rng.binomial(small, np.where(large > 0, chance, 1.0))
        hit = rng.random(runs) * (large + heads) < large
        large -= hit
        small -= ~hit
    return float(1 - large.mean() / ABOVE)


def _line(axes: Axes, recalls: list[float], color: str, label: str) -> None:
    axes.plot(SIZES, recalls, color=color, label=label, marker="o", markersize=3)


if __name__ == "__main__":
    with unsafe_deterministic("picture of sparse vector"), mpl.rc_context(STYLE):
        picture = draw_recall()
        picture.savefig(HERE / "sparse_vector_recall.svg", metadata={"Date": None})
