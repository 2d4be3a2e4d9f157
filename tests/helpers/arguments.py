"""What algorithms are given, whichever they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from semira.algorithms.row import Row


def needed_by(row: Row, vertex: Callable[[int], Any] = int) -> list[Any]:
    """Return the arguments that an algorithm needs beside the matrix.

    `vertex` makes an argument of the number of a vertex.
    """
    given = {"source": vertex(0), "sources": [vertex(0), vertex(3)], "k": 2}
    return [given[name] for name in row.needed]
