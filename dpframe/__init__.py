"""Differential privacy as a dataframe extension.

Importing dpframe puts ``.dp`` on pandas and Polars frames. Open a `Session` with a
budget, then ask: ``df.dp.count(0.1)``, ``df.dp.mean("age", 0.2)``,
``df.dp.histogram(0.5).debias(entropy)``. Every answer is charged before it is read.
"""

from dpframe import accounting, errors, estimands, noise
from dpframe.accessor import (
    PrivateFrame,
    PrivateGroups,
    PrivateSeries,
    private,
    register,
)
from dpframe.domain import Domain, bounds, dates, edges, integers
from dpframe.errors import (
    AccountantError,
    BudgetExceededError,
    ClosedError,
    ColumnNotFoundError,
    DomainError,
    DPFrameError,
    EngineError,
    LabelConflictError,
    LedgerBusyError,
    LedgerError,
    NoSessionError,
    ParameterError,
    PrivacyWarning,
    ProvenanceError,
    UnstableEstimateError,
    UnsupportedFrameError,
)
from dpframe.estimands import Estimate, debias
from dpframe.privacy.ledger import Charge
from dpframe.privacy.loss import PrivacyLoss
from dpframe.privacy.unit import Unit
from dpframe.queries import agg
from dpframe.releases import HistogramRelease, Release, ScalarRelease, TableRelease
from dpframe.session import Session

__version__ = "0.1.0"

__all__ = [
    "AccountantError",
    "BudgetExceededError",
    "Charge",
    "ClosedError",
    "ColumnNotFoundError",
    "DPFrameError",
    "Domain",
    "DomainError",
    "EngineError",
    "Estimate",
    "HistogramRelease",
    "LabelConflictError",
    "LedgerBusyError",
    "LedgerError",
    "NoSessionError",
    "ParameterError",
    "PrivacyLoss",
    "PrivacyWarning",
    "PrivateFrame",
    "PrivateGroups",
    "PrivateSeries",
    "ProvenanceError",
    "Release",
    "ScalarRelease",
    "Session",
    "TableRelease",
    "Unit",
    "UnstableEstimateError",
    "UnsupportedFrameError",
    "accounting",
    "agg",
    "bounds",
    "dates",
    "debias",
    "edges",
    "errors",
    "estimands",
    "integers",
    "noise",
    "private",
]

register()
