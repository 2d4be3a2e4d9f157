"""The row of scan statistics."""

from __future__ import annotations

from semira.apps.row import Application

ROWS = (
    Application(
        name="local_scan",
        title="Scan statistics",
        module="semira.apps.scan_statistics",
        files={
            "them": "semira.apps.scan_statistics.files:read_them",
            "neighbourhoods": "semira.apps.scan_statistics.files:read_neighbourhoods",
        },
        plot="semira.apps.scan_statistics.picture:draw",
        weighted=False,
    ),
)
