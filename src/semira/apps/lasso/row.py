"""The row of the fused lasso."""

from __future__ import annotations

from semira.apps.row import Application

ROWS = (
    Application(
        name="fused_lasso",
        title="sparse fused lasso",
        module="semira.apps.lasso",
        files={"y": "semira.apps.lasso.files:read_values"},
        plot="semira.apps.lasso.picture:draw",
    ),
)
