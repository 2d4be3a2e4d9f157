"""Real graphs for tests: found on disk if they are there, skipped cleanly if not."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from semira.files import read_edges
from semira.formats import EdgeList

VARIABLE = "SEMIRA_TEST_DATA"

#: Vertices kept of every graph; None: all. Few are enough to see which kernels are asked for.
KEPT_VERTICES: int | None = None


def data_folder() -> Path | None:
    """Return the folder of real graphs, or None if this machine has none."""
    named = os.environ.get(VARIABLE)
    sibling = Path(__file__).resolve().parents[2].parent / "shared" / "data"
    folder = Path(named) if named else sibling
    return folder if folder.is_dir() else None


def graph_path(name: str) -> Path:
    """Return the file of graph `name`; skips the calling test if it is absent."""
    folder = data_folder()
    if folder is None:
        pytest.skip(f"no real graphs here; set {VARIABLE} to their folder")
    path = folder / f"{name}.npz"
    if not path.is_file():
        pytest.skip(f"{path} is absent")
    return path


def load_reference(name: str) -> dict[str, np.ndarray[Any, Any]]:
    """Return the arrays of published results; skips the calling test if they are absent."""
    path = graph_path("p2p-31").parent / "ref" / f"{name}.npz"
    if not path.is_file():
        pytest.skip(f"{path} is absent")
    # Left open, the file is a warning in whatever test runs when it is collected.
    with np.load(path) as members:
        return dict(members)


def load_graph(name: str) -> EdgeList:
    """Return graph `name` as an edge list; skips the calling test if it is absent."""
    edges = read_edges(graph_path(name), progress=False)
    return edges if KEPT_VERTICES is None else _first_vertices(edges, KEPT_VERTICES)


def _first_vertices(edges: EdgeList, kept: int) -> EdgeList:
    inside = (edges.rows < kept) & (edges.cols < kept)
    return replace(
        edges, nrows=min(edges.nrows, kept), ncols=min(edges.ncols, kept), rows=edges.rows[inside],
        cols=edges.cols[inside], values=None if edges.values is None else edges.values[inside],
        labels=None,
    )  # fmt: skip
