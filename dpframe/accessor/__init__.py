"""The verbs: ``frame.dp`` and ``dpf.private(frame)``, one thin object for both."""

from dpframe.accessor.frame import PrivateFrame
from dpframe.accessor.groups import PrivateGroups
from dpframe.accessor.register import private, register
from dpframe.accessor.series import PrivateSeries

__all__ = ["PrivateFrame", "PrivateGroups", "PrivateSeries", "private", "register"]
