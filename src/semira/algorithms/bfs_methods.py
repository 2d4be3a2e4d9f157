"""The searches of a textbook by name: each is `bfs` under options of its product."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

#: Options of each search, as W. Hwu, D. Kirk and I. El Hajj, *Programming Massively Parallel
#: Processors* (chapter 15), names it. Any product has them; a device that lacks one refuses it:
#: ``balance`` and ``queue`` are for ``cuda``.
BFS_METHODS: Mapping[str, Mapping[str, Any]] = {
    "vertex-centric push": {"direction": "push", "balance": "positions"},
    "vertex-centric pull": {"direction": "pull", "balance": "thread"},
    "edge-centric": {"matrix_storage": "coo"},
    "frontier, global queue": {"direction": "push", "balance": "thread", "queue": "global"},
    "frontier, block queue": {"direction": "push", "balance": "thread", "queue": "block"},
    # The policy never pulls, but counts the edges of the frontier: small levels go to one block.
    "one block for small levels": {"policy": "ligra", "switch_point": 1.0},
}
