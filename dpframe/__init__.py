"""Differential privacy as a dataframe extension.

Importing dpframe puts ``.dp`` on pandas and Polars frames. Open a `Session` with a
budget, then ask: ``df.dp.count(0.1)``, ``df.dp.mean("age", 0.2)``,
``df.dp.histogram(0.5).debias(entropy)``. Every answer is charged before it is read.
"""

from dpframe import (
    accounting,
    errors,
    estimands,
    mechanisms,
    multiplicative_weights,
    noise,
    sensitivity,
)
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
from dpframe.mechanisms.stream import SparseVector
from dpframe.privacy.ledger import Charge
from dpframe.privacy.loss import PrivacyLoss
from dpframe.privacy.unit import Unit
from dpframe.queries import (
    Workload,
    agg,
    cdf,
    col,
    marginals,
    ranges,
    sum_by,
    weights,
)
from dpframe.releases import (
    AboveThresholdRelease,
    BoundsRelease,
    ConvertedRelease,
    HistogramRelease,
    PTRRelease,
    Release,
    ScalarRelease,
    SelectionRelease,
    SmoothRelease,
    SparseVectorRelease,
    TableRelease,
)
from dpframe.sensitivity import public
from dpframe.session import Session

__version__ = "0.1.0"

__all__ = [
    "AboveThresholdRelease",
    "AccountantError",
    "BoundsRelease",
    "BudgetExceededError",
    "Charge",
    "ClosedError",
    "ColumnNotFoundError",
    "ConvertedRelease",
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
    "PTRRelease",
    "ParameterError",
    "PrivacyLoss",
    "PrivacyWarning",
    "PrivateFrame",
    "PrivateGroups",
    "PrivateSeries",
    "ProvenanceError",
    "Release",
    "ScalarRelease",
    "SelectionRelease",
    "Session",
    "SmoothRelease",
    "SparseVector",
    "SparseVectorRelease",
    "TableRelease",
    "Unit",
    "UnstableEstimateError",
    "UnsupportedFrameError",
    "Workload",
    "accounting",
    "agg",
    "bounds",
    "cdf",
    "col",
    "dates",
    "debias",
    "edges",
    "errors",
    "estimands",
    "integers",
    "marginals",
    "mechanisms",
    "multiplicative_weights",
    "noise",
    "private",
    "public",
    "ranges",
    "sensitivity",
    "sum_by",
    "weights",
]

register()
