"""What a fused lasso returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import semira as gb
from semira.apps.arrays import on_host
from semira.apps.named import Named
from semira.base.locks import cached_property
from semira.kernels import array_module


@dataclass(frozen=True, eq=False, repr=False)
class FusedLasso(Named):
    """A fitted value for each vertex, and how far from the best one it can be.

    Attributes
    ----------
    solver, reason : str
        Which solver ran, and why.
    iterations : int
        Maximum flows of ``"cuts"``, steps of ``"primal_dual"``.
    objective : float
        ``0.5 |x - y|^2 + lambda1 |x|_1 + lambda2 sum of w_ij |x_i - x_j|``.
    gap : float
        What `objective` exceeds that of a dual solution by: no other x is better by more. 0 where
        rounding makes it negative.
    relative_gap : float
        `gap` over `objective`.
    converged : bool
        Whether ``gap <= tolerance * objective``.
    """

    solver: str
    reason: str
    iterations: int
    objective: float
    gap: float
    relative_gap: float
    converged: bool
    _device: str
    _x: Any
    _y: Any

    @cached_property
    def x(self) -> gb.Vector:
        """The fitted values. FP64, shape (n,)."""
        with gb.device(self._device), array_module(self._device):
            return gb.Vector.from_dense(self._x)

    @property
    def levels(self) -> int:
        """Number of different values."""
        return len(np.unique(self.to_array()))

    def to_array(self) -> NDArray[np.float64]:
        """Return the fitted values as an array on the host."""
        return self._host(self._x)

    def facts(self) -> dict[str, Any]:
        """Return the objective and its proof, and counts."""
        return {
            "solver": self.solver,
            "reason": self.reason,
            "iterations": self.iterations,
            "objective": self.objective,
            "relative_gap": self.relative_gap,
            "converged": self.converged,
            "levels": self.levels,
            "zeros": int(np.count_nonzero(self.to_array() == 0)),
        }

    def columns(self) -> dict[str, NDArray[np.generic]]:
        """Return columns with a row for each vertex: what was given, and what was fitted."""
        x = self.to_array()
        return {"vertex": np.arange(len(x)), "given": self._host(self._y), "fitted": x}

    def __repr__(self) -> str:
        return (
            f"FusedLasso of {len(self._x)} vertices: {self.solver}, objective "
            f"{self.objective:.6g}, relative gap {self.relative_gap:.1e}"
        )

    def _host(self, array: Any) -> NDArray[np.float64]:
        with array_module(self._device):
            return on_host(array)
