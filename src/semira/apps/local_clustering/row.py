"""The row of local clusters."""

from __future__ import annotations

from semira.apps.row import Application

ROWS = (
    Application(
        name="local_clusters",
        title="Clusters around seeds",
        module="semira.apps.local_clustering",
        files={"seeds": "semira.apps.local_clustering.files:read_seeds"},
        plot="semira.apps.local_clustering.picture:draw",
        weighted=False,
    ),
)
