"""Rows of GraphSAGE in the registry."""

from __future__ import annotations

from semira.apps.row import Application

_TABLE = "semira.apps.sampling.files:matrix"

ROWS = (
    Application(
        name="sage_embedding",
        title="GraphSAGE embedding",
        module="semira.apps.sage",
        files={
            "features": _TABLE,
            "Wf1": "semira.apps.sampling.files:weights",
            "Wa1": "semira.apps.sampling.files:weights",
            "Wf2": "semira.apps.sampling.files:weights",
            "Wa2": "semira.apps.sampling.files:weights",
        },
        weighted=False,
    ),
)
