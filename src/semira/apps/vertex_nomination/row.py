"""The row of vertex nomination."""

from __future__ import annotations

from semira.apps.row import Application

ROWS = (
    Application(
        name="nominate",
        title="Vertex nomination",
        module="semira.apps.vertex_nomination",
        files={
            "seeds": "semira.apps.local_clustering.files:read_seeds",
            "content": "semira.apps.sampling.files:numbers",
            "weights": "semira.apps.vertex_nomination.files:read_weights",
        },
        vertices=("seeds",),
        plot="semira.apps.vertex_nomination.picture:draw",
    ),
)
