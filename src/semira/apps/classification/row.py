"""The row of classification."""

from __future__ import annotations

from semira.apps.row import Application

ROWS = (
    Application(
        name="classify",
        title="application classification",
        module="semira.apps.classification",
        files={
            "vertices": "semira.apps.classification.files:read_vertices",
            "edges": "semira.apps.classification.files:read_edges",
            "pattern_vertices": "semira.apps.classification.files:read_table",
            "pattern_edges": "semira.apps.classification.files:read_pattern_edges",
        },
        plot="semira.apps.classification.picture:draw",
        weighted=False,
        directed=True,
    ),
)
