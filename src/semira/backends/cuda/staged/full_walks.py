"""What a method's folder multiplies a full matrix with: names of C++ objects, and a launch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from semira.backends.cuda.runtime.parts import Buffer
from semira.contract import Statement, part_of


@dataclass(frozen=True, slots=True)
class FullText:
    """A kernel of sparse times full as text."""

    #: Semiring, and the types of both operands' values.
    types: str
    #: Type of the left operand's values.
    a_type: str
    #: Whether sums may end early.
    exits: str
    #: Parameters that every such kernel has.
    given: str
    #: Declarations; the last one is ``product``, a SparseTimesFull (kernels/mxm/spmm.cuh).
    lines: list[str]


@dataclass(frozen=True, slots=True)
class FullLaunch:
    """A launch of such a kernel."""

    #: Takes the kernel's name, how many threads it has work for, and arguments.
    start: Callable[..., None]
    #: Arguments for the parameters that every such kernel has.
    given: tuple[Any, ...]
    #: Number of each row among those that have entries; None: all have.
    line_of: Buffer | None
    #: Of the result.
    nrows: int
    ncols: int
    #: Bytes of its values.
    itemsize: int


def full_part(statement: Statement) -> ModuleType | None:
    """Return what multiplies a full matrix in the core's place; None if the core does."""
    if statement.plan is None:
        return None
    name = statement.plan.methods[0].storage
    if name in ("compressed", "columns"):
        return None
    part = part_of(name, "cuda")
    return part if hasattr(part, "full_kernel") else None
