"""Results of walks."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semira import Vector
from semira.apps.arrays import on_host
from semira.apps.named import Named
from semira.apps.walks.problem import Ground
from semira.apps.walks.solve import false_moves
from semira.kernels import array_module


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class WalkResult(Named):
    """Walks, by `random_walks`.

    Attributes
    ----------
    kept : array of the device (NumPy, or CuPy on ``cuda``), which exports DLPack
        Of ``keep="paths"``: shape (walks, length), the vertices of each walk, then -1. Row i began
        at ``starts[i % len(starts)]``. NumPy's too if the device had no room for it.
        Of ``"ends"``: shape (walks,), the last vertex of each. Of ``"counts"``: shape (n,), how
        often each vertex was visited, starts included.
    lengths : array of int32, shape (walks,)
        Vertices of each walk: fewer than asked for if it met a vertex without neighbours.
    seen : array of int64, shape (walks,)
        The degrees of the vertices that a walk moved on from, added up.
    keep, kind, device : str
    """

    vertex_columns = ("vertex", "end")

    kept: Any
    lengths: Any
    seen: Any
    keep: str
    kind: str
    device: str
    length: int
    _ground: Ground = field(repr=False)
    _starts: Any = field(repr=False)
    _restarts: bool = False

    def __repr__(self) -> str:
        return f"WalkResult({len(self.lengths)} {self.kind} walks, {self.keep} on {self.device})"

    @property
    def paths(self) -> NDArray[Any]:
        """The walks on the host, shape (walks, length), padded with -1."""
        return self._host("paths")

    @property
    def ends(self) -> NDArray[Any]:
        """Last vertex of each walk, on the host."""
        if self.keep == "paths":
            paths = on_host(self.kept)
            last: NDArray[Any] = paths[np.arange(len(paths)), on_host(self.lengths) - 1]
            return last
        return self._host("ends")

    @property
    def counts(self) -> Vector:
        """How often each vertex was visited; an INT64 entry for each vertex."""
        if self.keep == "paths":
            n = len(self._ground.indptr) - 1
            found = np.bincount(on_host(self.kept).reshape(-1) + 1, minlength=n + 1)[1:]
            return Vector.from_dense(found)
        return Vector.from_dense(self._host("counts"))

    def _host(self, what: str) -> NDArray[Any]:
        if self.keep != what:
            raise AttributeError(f"keep={self.keep!r} was asked for, which keeps no {what}")
        return on_host(self.kept)

    @property
    def steps(self) -> int:
        """Moves made by all walks, restarts included. Waits for the device."""
        return int(self.lengths.sum()) - len(self.lengths)

    @property
    def neighbours_seen(self) -> int:
        """Sum of the degrees of the vertices moved on from. Waits for the device."""
        return int(self.seen.sum())

    @property
    def false_moves(self) -> int:
        """Moves that are no entry of the matrix: 0. Needs the paths; O(steps log degree)."""
        if self.keep != "paths":
            raise AttributeError(f"keep={self.keep!r} was asked for, which keeps no paths")
        with array_module(self.device) as xp:
            given = (self._ground, self.kept, self._starts, self._restarts, self.device, xp)
            return int(false_moves(*given).sum())

    def facts(self) -> dict[str, Any]:
        """Return counts, and with the paths the proof that every move is an entry."""
        found = {
            "walks": len(self.lengths),
            "steps": self.steps,
            "neighbours_seen": self.neighbours_seen,
            "ended_early": int((self.lengths < self.length).sum()),
        }
        if self.keep == "paths":
            found["false_moves"] = self.false_moves
        return found

    def columns(self) -> dict[str, NDArray[np.generic]]:
        """Return columns on the host: walk, step and vertex; walk and end; or vertex and count."""
        if self.keep == "ends":
            return {"walk": np.arange(len(self.lengths)), "end": self.ends}
        if self.keep == "counts":
            counts = on_host(self.kept)
            return {"vertex": np.arange(len(counts)), "visits": counts}
        paths = self.paths
        walk, step = np.nonzero(paths >= 0)
        return {"walk": walk, "step": step, "vertex": paths[walk, step]}
