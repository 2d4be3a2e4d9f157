"""What an execution reports: the rows of a trace and the outcome of a loop."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


class TraceRow(NamedTuple):
    """One matrix product that ran.

    Attributes
    ----------
    iteration : int
        0-based iteration of the innermost loop; 0 outside of loops.
    op : str
        ``mxv``, ``vxm`` or ``mxm``.
    method : str
        Chosen method (``push``, ``pull``, ``dot``, ...).
    direction : str, derived
        ``push`` or ``pull``: what the method is, of products of matrices as well.
    frontier : int
        Entries of the driving operand.
    touched : int
        Matrix entries read (with early exit: those really read).
    produced : int
        Entries of the result before accumulation.
    """

    iteration: int
    op: str
    method: str
    frontier: int
    touched: int
    produced: int

    @property
    def direction(self) -> str:
        """Whether entries of the driving operand were expanded, or positions gathered theirs."""
        return "pull" if self.method in ("pull", "dot") else "push"


class Work(NamedTuple):
    """What devices were made to do.

    Attributes
    ----------
    synchronisations : int
        Times the host waited for a device.
    launches : int
        Kernels started.
    bytes_allocated : int
        Device memory asked for, whatever was given back since.
    """

    synchronisations: int = 0
    launches: int = 0
    bytes_allocated: int = 0


@dataclass(frozen=True, slots=True)
class LoopReport:
    """How a loop ended.

    Attributes
    ----------
    iterations : int
        Bodies completed.
    stopped_by : {"condition", "limit"}
    """

    iterations: int
    stopped_by: str
