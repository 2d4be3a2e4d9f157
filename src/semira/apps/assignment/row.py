"""The row of linear assignment."""

from __future__ import annotations

from semira.apps.row import Application

ROWS = (
    Application(
        name="linear_sum_assignment",
        title="linear assignment",
        module="semira.apps.assignment",
        directed=True,
    ),
)
