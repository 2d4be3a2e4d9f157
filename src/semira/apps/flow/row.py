"""The rows of maximum flow and minimum cut."""

from __future__ import annotations

from semira.apps.row import Application

_MODULE = "semira.algorithms.flows"
_ENDS = ("source", "sink")

ROWS = (
    Application(
        name="maximum_flow", title="maximum flow", module=_MODULE, vertices=_ENDS, single=_ENDS,
        directed=True,
    ),
    Application(
        name="minimum_cut", title="minimum cut", module=_MODULE, vertices=_ENDS, single=_ENDS,
        directed=True,
    ),
)  # fmt: skip
