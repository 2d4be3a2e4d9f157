"""Rows of sampling in the registry."""

from __future__ import annotations

from semira.apps.row import Application

ROWS = (
    Application(
        name="sample_neighbours",
        title="Sample of neighbours",
        module="semira.apps.sampling",
        files={"vertices": "semira.apps.sampling.files:vertices"},
        weighted=False,
        vertices=("vertices",),
        directed=True,
    ),
)
