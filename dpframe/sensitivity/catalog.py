"""Statistics by the names that a user writes.

`as_statistic` is where a name becomes a `Statistic`: what reads values and bounds, the
function itself, and a profile for each relation that has a proof.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dpframe.errors import ParameterError, shown
from dpframe.privacy.amounts import Amount
from dpframe.sensitivity.closest_pair import closest_pair
from dpframe.sensitivity.order_statistics import iqr, median, order, quantile
from dpframe.sensitivity.statistic import Statistic
from dpframe.sensitivity.totals import count, mean, total
from dpframe.sensitivity.triangles import triangles
from dpframe.sensitivity.trimmed_mean import trimmed_mean
from dpframe.sensitivity.variance import variance

__all__ = ["StatisticLike", "as_statistic"]

StatisticLike = str | tuple[str, Amount]

_ALONE: dict[str, Callable[[], Statistic[Any]]] = {
    "median": median,
    "iqr": iqr,
    "variance": variance,
    "mean": mean,
    "sum": total,
    "count": count,
    "closest_pair": closest_pair,
    "triangles": triangles,
}
_WITH_PARAMETER: dict[str, Callable[[Any], Statistic[Any]]] = {
    "quantile": quantile,
    "order": order,
    "trimmed_mean": trimmed_mean,
}
_EXAMPLES = {
    "quantile": "('quantile', 0.9)",
    "order": "('order', 1)",
    "trimmed_mean": "('trimmed_mean', 0.1)",
}


def as_statistic(statistic: object) -> Statistic[Any]:
    """Read ``statistic=``, or raise `ParameterError` with all names."""
    if isinstance(statistic, str) and statistic in _ALONE:
        return _ALONE[statistic]()
    if isinstance(statistic, (tuple, list)) and len(statistic) == 2:
        name, parameter = statistic
        if isinstance(name, str) and name in _WITH_PARAMETER:
            return _WITH_PARAMETER[name](parameter)
    if isinstance(statistic, str) and statistic == "mode":
        msg = "mode is a label, not a number: it has a distance, but no profile."
        raise ParameterError(msg)
    known = ", ".join([*map(repr, _ALONE), *_EXAMPLES.values()])
    msg = f"statistic must be one of {known}; got {shown(statistic)}."
    raise ParameterError(msg)
