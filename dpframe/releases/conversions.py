"""Changing the noise of released counts to another law: post-processing, free.

Noise that does not depend on data is added to noisy integers (docs/proofs/conversions).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpframe.errors import ParameterError, ProvenanceError
from dpframe.noise import DiscreteLaplace, Laplace, Staircase, residuals
from dpframe.noise.law import Floats
from dpframe.privacy.amounts import Amount, as_amount, show_amount
from dpframe.privacy.loss import PrivacyLoss
from dpframe.releases.answers import Answer
from dpframe.releases.measurement import Measurement

__all__ = ["as_laplace", "as_staircase", "noisier"]


def as_laplace(answer: Answer) -> tuple[Floats, Laplace]:
    """Return the counts with continuous Laplace noise of the same scale."""
    measurement, law = _plain(answer, "to_laplace()")
    counts = measurement.values[0]
    noise = residuals.to_laplace(law.scale, len(counts))
    return _add(counts, noise), Laplace(law.scale)


def as_staircase(answer: Answer, gamma: Amount | None) -> tuple[Floats, Staircase]:
    """Return the counts with staircase noise of the same epsilon.

    Raises
    ------
    ParameterError
        If one unit may move the counts by more than 1.
    """
    measurement, law = _plain(answer, "to_staircase()")
    if measurement.sensitivity.l1 > 1:
        msg = (
            f"these counts were released for a sensitivity of "
            f"{measurement.sensitivity.l1}, and no post-processing of discrete Laplace "
            "noise has the staircase law of a sensitivity above 1: the noise to be "
            "added would need negative probabilities. Use to_laplace(), which works "
            "for every sensitivity, or release under unit='row' and "
            "neighboring='add_remove', where it is 1."
        )
        raise ParameterError(msg)
    staircase = Staircase(1 / law.scale, gamma)
    counts = measurement.values[0]
    noise = residuals.to_staircase(staircase, len(counts))
    return _add(counts, noise), staircase


def noisier(answer: Answer, epsilon: Amount) -> Answer:
    """Return the counts with discrete Laplace noise for a smaller epsilon.

    Raises
    ------
    ParameterError
        If ``epsilon`` is no positive number below that of the counts.
    """
    measurement, law = _plain(answer, "to_noisier()")
    sensitivity, target = measurement.sensitivity.l1, as_amount(epsilon, "epsilon")
    if target * law.scale >= sensitivity:
        msg = (
            f"to_noisier adds noise, so its epsilon must be below "
            f"{show_amount(sensitivity / law.scale)}, that of the release; got "
            f"{show_amount(target)}. A release of a greater epsilon is a new one, with "
            "a charge of its own."
        )
        raise ParameterError(msg)
    larger = DiscreteLaplace(sensitivity / target)
    counts = measurement.values[0]
    noisy = counts + residuals.to_noisier(law.scale, larger.scale, len(counts))
    noisy.setflags(write=False)
    copy = replace(
        measurement, values=(noisy,), law=larger, loss=PrivacyLoss(epsilon=target)
    )
    return replace(answer, measurement=copy)


def _plain(answer: Answer, verb: str) -> tuple[Measurement, DiscreteLaplace]:
    """Return plain discrete Laplace counts and their law, or raise."""
    measurement = answer.measurement
    if measurement is None:
        msg = f"{verb} has nothing to change: without keys there is no noise."
        raise ProvenanceError(msg)
    if answer.clamped:
        msg = (
            "these counts were clamped at 0, so that their noise is no longer discrete "
            f"Laplace. Call {verb} before nonnegative()."
        )
        raise ProvenanceError(msg)
    law = measurement.law
    if not isinstance(law, DiscreteLaplace):
        msg = (
            f"{verb} starts from discrete Laplace noise, and these counts have "
            f"{answer.mechanism} noise. Release the histogram with noise='laplace'."
        )
        raise ProvenanceError(msg)
    return measurement, law


def _add(counts: NDArray[Any], noise: Floats) -> Floats:
    values: Floats = counts.astype(np.float64) + noise
    values.setflags(write=False)
    return values
