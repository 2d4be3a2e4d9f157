"""The row of graph matching."""

from __future__ import annotations

from semira.apps.row import Application

ROWS = (
    Application(
        name="graph_match",
        title="graph matching",
        module="semira.apps.graph_matching",
        files={
            "other": "semira.apps.graph_matching.files:read_other",
            "seeds": "semira.apps.graph_matching.files:read_pairs",
            "soft_seeds": "semira.apps.graph_matching.files:read_pairs",
            "similarity": "semira.apps.graph_matching.files:read_similarity",
        },
        directed=True,
    ),
)
