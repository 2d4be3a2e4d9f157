"""Files of scan statistics: another graph, and sets of vertices."""

from __future__ import annotations

import semira as gb
from semira import Matrix


def read_them(path: str, n: int) -> Matrix:
    """Read another graph of the same vertices, whose edges are counted."""
    del n
    found: Matrix = gb.io.read(path)
    return found


def read_neighbourhoods(path: str, n: int) -> Matrix:
    """Read sets of vertices that take the place of steps: a matrix with a row for each."""
    return read_them(path, n)
