"""An application that tests register: everything that a row may have."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from semira.apps.named import Named
from semira.apps.row import Application
from semira.exceptions import FileFormatError


@dataclass(frozen=True)
class Shares(Named):
    """What the toy returns."""

    vertex_columns = ("vertex", "from")

    total: np.ndarray
    calls: int
    far: bool

    def facts(self) -> dict[str, Any]:
        """Return counts."""
        return {
            "vertices": len(self.total),
            "largest_share": float(self.total.max(initial=0)),
            "parts": [1, 2],
            "is_far": self.far,
        }

    def columns(self) -> dict[str, np.ndarray]:
        """Return columns."""
        count = len(self.total)
        return {"vertex": np.arange(count), "share": self.total, "from": np.full(count, -1)}


def share_out(
    A: Any,
    starts: Any,
    *,
    weights: Any = None,
    rounds: int = 2,
    factor: float = 0.5,
    mode: str = "even",
    weighted: bool = True,
    symmetric: bool = False,
    is_far: bool = True,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> Shares:
    """Return the shares of vertices after some rounds.

    Parameters
    ----------
    A : Matrix
    starts : sequence of int
        Where everything is at first.
    weights : array, optional
        What each vertex adds. Default: nothing.
    rounds : int >= 1
        How often to share.
    factor : float
        What is kept.
    mode : {"even", "odd"}
        How to share.
    weighted : bool
        Share by the values of `A`.
    symmetric : bool
        The caller knows that `A` is.
    is_far : bool
        Whether to go far.
    seed : int
        Of what is drawn.
    progress : callable, optional
        Told the rounds that are done.
    """
    rows, _, values = A.to_coo()
    total = np.zeros(A.nrows)
    np.add.at(total, rows.astype(int), values if weighted else 1)
    total *= factor
    total[list(starts)] += 100 + 10 * (mode == "odd") + seed
    if weights is not None:
        total += weights
    for done in range(rounds):
        if progress is not None:
            progress(done + 1, rounds)
    return Shares(total, rounds, is_far)


def read_weights(path: str, size: int) -> np.ndarray:
    """Numbers, one a line."""
    lines = Path(path).read_text().split()
    for number, line in enumerate(lines, 1):
        if not line.isdecimal():
            raise FileFormatError(f"{path}, line {number}: {line!r} is no number")
    return np.resize(np.array(lines, float), size)


def read_starts(path: str, size: int, labels: Any = None) -> list[int]:
    """Return the vertices of a line each."""
    known = [str(label) for label in (range(size) if labels is None else labels.tolist())]
    return [known.index(word) for word in Path(path).read_text().split()]


def read_both(path: str, size: int, labels: Any = None) -> dict[str, Any]:
    """Return starts and weights at once, by name."""
    known = range(size) if labels is None else labels.tolist()
    first, *_ = Path(path).read_text().split()
    return {"starts": [list(known).index(first)], "weights": np.ones(size)}


def draw(result: Shares, A: Any, path: str) -> None:
    """Draw nothing, but write."""
    Path(path).write_text(f"{A.nrows} {len(result.total)}")


ROW = Application(
    name="share_out",
    title="shares",
    module="tests.helpers.toy_application",
    files={
        "starts": "tests.helpers.toy_application:read_starts",
        "weights": "tests.helpers.toy_application:read_weights",
        "both": "tests.helpers.toy_application:read_both",
    },
    vertices=("starts",),
    plot="tests.helpers.toy_application:draw",
)
