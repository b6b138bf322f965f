"""The inverse of discrete Laplace noise written out: for tests, slow and exact."""

import itertools
import math
from decimal import Decimal, localcontext

import numpy as np


def row(y, rate, ends):
    """Weights of one bin as {integer: Decimal}, straight from the definition."""
    low, high = ends
    p = (-Decimal(float(rate))).exp()
    d = p / (1 - p)
    c = p / (1 - p) ** 2
    if low is not None and low == high:
        return {low: Decimal(1)}
    if low is not None and y <= low:
        return {low: 1 + d, low + 1: -d}
    if high is not None and y >= high:
        return {high: 1 + d, high - 1: -d}
    return {y - 1: -c, y: 1 + 2 * c, y + 1: -c}


def enumerate_inverse(noisy, f, digits=60):
    """Sum f over all 3^n neighbors of the noisy counts, in decimals."""
    bins = zip(noisy.values.tolist(), noisy.rate.tolist(), strict=True)
    with localcontext() as context:
        context.prec = digits
        rows = [row(y, rate, noisy.ends).items() for y, rate in bins]
        return float(
            sum(
                math.prod((w for _, w in combination), start=Decimal(1))
                * f([z for z, _ in combination])
                for combination in itertools.product(*rows)
            )
        )


def decimal_entropy(x):
    """Entropy of a vector, the terms with x <= 0 or N <= 0 being 0, as a Decimal."""
    total = sum(x)
    if total <= 0:
        return Decimal(0)
    shares = [Decimal(z) / total for z in x if z > 0]
    return sum((-share * share.ln() for share in shares), Decimal(0))


def noise_law(rate, tail=1e-17):
    """Integers k and their probabilities under noise of the given rate."""
    reach = math.ceil(-math.log(tail) / rate)
    k = np.arange(-reach, reach + 1)
    return k, math.tanh(rate / 2) * np.exp(-rate * np.abs(k))


def expectation(estimate, x, rates, tail=1e-17):
    """E estimate(y) over the product of the bins' noise laws, by summation."""
    laws = [noise_law(rate, tail) for rate in rates]
    terms = []
    for place in itertools.product(*(range(k.size) for k, _ in laws)):
        y = [int(a + k[i]) for a, (k, _), i in zip(x, laws, place, strict=True)]
        weight = math.prod(float(q[i]) for (_, q), i in zip(laws, place, strict=True))
        terms.append(weight * np.asarray(estimate(y), dtype=float))
    return np.sum(terms, axis=0)
