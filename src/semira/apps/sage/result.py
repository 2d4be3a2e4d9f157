"""The result of GraphSAGE."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semira.apps.arrays import on_host
from semira.apps.named import Named
from semira.kernels import array_module


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SageResult(Named):
    """Embeddings, by `sage_embedding`.

    Attributes
    ----------
    kept : array of float32, shape (n, columns)
        Of the device (NumPy's, or CuPy's on ``cuda``), which exports DLPack; NumPy's too if the
        device had no room for it.
    device : str
    batches : int
    """

    kept: Any
    device: str
    batches: int

    def __repr__(self) -> str:
        n, width = self.kept.shape
        return f"SageResult({n} vertices, {width} columns on {self.device})"

    @property
    def embedding(self) -> NDArray[np.float32]:
        """The embeddings on the host, a row for each vertex."""
        return on_host(self.kept)

    def facts(self) -> dict[str, Any]:
        """Return counts, and how far the lengths of the rows are from 1."""
        with array_module(self.device) as xp:
            rows = xp.asarray(self.kept) if self.kept.size else xp.zeros((0, 1))
            lengths = xp.sqrt((rows * rows).sum(axis=1, dtype=xp.float64))
            zeros = int((lengths == 0).sum())
            off = xp.abs(lengths - 1) * (lengths > 0)
            error = float(off.max()) if len(rows) else 0.0
        n, width = self.kept.shape
        return {
            "vertices": n,
            "columns": width,
            "batches": self.batches,
            "zero_rows": zeros,
            "length_error": error,
        }

    def columns(self) -> dict[str, NDArray[np.generic]]:
        """Return a column for each of the embedding, after the vertex."""
        columns = {f"e{c}": column for c, column in enumerate(self.embedding.T)}
        return {"vertex": np.arange(len(self.kept)), **columns}
