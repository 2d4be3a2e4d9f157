"""The row of geolocation."""

from __future__ import annotations

from semira.apps.row import Application

ROWS = (
    Application(
        name="geolocate",
        title="geolocation",
        module="semira.apps.geolocation",
        files={"labels": "semira.apps.geolocation.files:read_labels"},
        plot="semira.apps.geolocation.picture:draw",
        weighted=False,
        directed=True,
    ),
)
