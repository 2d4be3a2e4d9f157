"""The row of subgraph matching."""

from __future__ import annotations

from semira.apps.row import Application

_LABELS = "semira.apps.subgraph_matching.files"

ROWS = (
    Application(
        name="subgraph_match",
        title="subgraph matching",
        module="semira.apps.subgraph_matching",
        files={
            "pattern": f"{_LABELS}:read_pattern",
            "labels": f"{_LABELS}:read_labels",
            "pattern_labels": f"{_LABELS}:read_pattern_labels",
        },
        directed=True,
    ),
)
