"""What is asked: public objects that hold no data."""

from dpframe.queries import agg
from dpframe.queries.column import col
from dpframe.queries.families import cdf, marginals, ranges, sum_by, weights
from dpframe.queries.workload import Workload

__all__ = ["Workload", "agg", "cdf", "col", "marginals", "ranges", "sum_by", "weights"]
