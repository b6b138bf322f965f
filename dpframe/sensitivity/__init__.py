"""Local and smooth sensitivity, and the distance of propose-test-release.

What these functions return is private unless the data are public: they are for
teaching, for synthetic data, and for the mechanisms that are built on them.

A mechanism reads one statistic, and takes all it needs from the profile of it at the
exact data, inside the door:

    statistic = as_statistic(("quantile", 0.9))     # catalog
    profile = statistic.profile(data, "add_remove") # data: Ordered or Points
    profile = profile.of_unit(rows)                 # m rows; 2m under "replace"
    profile.smooth(beta)                            # S; inflate it, keep it from 0
    profile.distance(bound, cap=public)             # D of propose-test-release
    stability_threshold(epsilon, delta)             # t: pass iff D + noise > t

Verbs take add_remove profiles under both relations, since no verb knows n; those of
"replace" are for lists whose length is public. Only the closest pair has m rows a unit
under both. Distances without a profile are `mode.mode_distance` and
`iqr_scale.iqr_bin_distance`.
"""

from __future__ import annotations

from dpframe.sensitivity.comparison import Comparison, compare
from dpframe.sensitivity.plain import distance, evaluate, local, profile, smooth
from dpframe.sensitivity.public import PublicFrame, public
from dpframe.sensitivity.stability import ptr_pass_probability

__all__ = [
    "Comparison",
    "PublicFrame",
    "compare",
    "distance",
    "evaluate",
    "local",
    "profile",
    "ptr_pass_probability",
    "public",
    "smooth",
]
