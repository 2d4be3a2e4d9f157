"""Rows of walks in the registry."""

from __future__ import annotations

from semira.apps.row import Application

ROWS = (
    Application(
        name="random_walks",
        title="Random walks",
        module="semira.apps.walks",
        files={
            "starts": "semira.apps.sampling.files:vertices",
            "scores": "semira.apps.sampling.files:numbers",
        },
        vertices=("starts",),
        directed=True,
    ),
)
