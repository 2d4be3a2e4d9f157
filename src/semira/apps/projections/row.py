"""The row of projections."""

from __future__ import annotations

from semira.apps.row import Application

ROWS = (
    Application(
        name="project",
        title="Graph projection",
        module="semira.apps.projections",
        plot="semira.apps.projections.picture:draw",
        directed=True,
    ),
)
