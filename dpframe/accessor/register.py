"""``.dp`` on the hosts that offer a hook, and `private` for every frame."""

from __future__ import annotations

from typing import Any, overload

import pandas as pd
import polars as pl
import pyarrow as pa

from dpframe.accessor.frame import PrivateFrame
from dpframe.accessor.series import PrivateSeries
from dpframe.engines.ingest import ingest
from dpframe.errors import DPFrameError, ParameterError, shown
from dpframe.session import Session

__all__ = ["private", "register"]


@overload
def private(
    frame: pd.Series[Any] | pl.Series, session: Session | None = None
) -> PrivateSeries: ...
@overload
def private(
    frame: pd.DataFrame | pl.DataFrame | pl.LazyFrame | pa.Table,
    session: Session | None = None,
) -> PrivateFrame: ...
def private(
    frame: object, session: Session | None = None
) -> PrivateFrame | PrivateSeries:
    """Guard a frame or a Series: the typed front door to the verbs of ``.dp``.

    Parameters
    ----------
    frame : pandas or Polars DataFrame, LazyFrame, Series, or pyarrow Table
        The private rows. They are read when a verb is called, not here.
    session : Session, optional
        Who pays; the active session at each call if omitted.

    Returns
    -------
    PrivateFrame or PrivateSeries

    Raises
    ------
    UnsupportedFrameError
        If the object is none of these.

    Notes
    -----
    .. admonition:: Privacy

       Charges nothing by itself.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import dpframe as dpf
    >>> session = dpf.Session(epsilon=1, unit="row")
    >>> visits = dpf.private(pa.table({"minutes": [3, 10, 25]}), session)
    >>> visits.count(0.5).loss
    PrivacyLoss(epsilon=0.5)
    """
    if session is not None and not isinstance(session, Session):
        msg = f"session must be a dpf.Session; got {shown(session)}."
        raise ParameterError(msg)
    if isinstance(frame, (pd.Series, pl.Series)):
        return PrivateSeries(frame, session)
    ingest(frame)  # an unsupported object is refused here, not at the first verb
    return PrivateFrame(frame, session)


def register() -> None:
    """Put ``.dp`` on the pandas and Polars classes, once.

    A second call, as after a reload, changes nothing.

    Raises
    ------
    DPFrameError
        If another library has taken the name.
    """
    hosts: list[tuple[type, Any, type]] = [
        (pd.DataFrame, pd.api.extensions.register_dataframe_accessor, PrivateFrame),
        (pd.Series, pd.api.extensions.register_series_accessor, PrivateSeries),
        (pl.DataFrame, pl.api.register_dataframe_namespace, PrivateFrame),
        (pl.LazyFrame, pl.api.register_lazyframe_namespace, PrivateFrame),
        (pl.Series, pl.api.register_series_namespace, PrivateSeries),
    ]
    for host, hook, verbs in hosts:
        there = getattr(host, "dp", None)  # on a class, the registered accessor
        if there is None:
            hook("dp")(verbs)
        elif not getattr(there, "__module__", "").startswith("dpframe."):
            msg = (
                f"{host.__module__.split('.')[0]}.{host.__name__} already has a 'dp' "
                "accessor of another library; import only one of the two, or use "
                "dpf.private(frame)."
            )
            raise DPFrameError(msg)
