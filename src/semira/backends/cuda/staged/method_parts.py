"""What a method's folder brings to products of matrices, in the core's place.

Products of two sparse matrices by launches of its own: its ``cuda`` module has ``ROOT``, the kernel
file that its text calls, ``text(program, statement)``, which returns the C++ of the launches, and
``multiply(job)``, which returns the result before it is written, and what tells how many products
there were. Dot products, one for each entry of a mask, or their sum: `DotText`. Products with a
full matrix: `FullText` and `FullLaunch`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from semira.backends.cuda.runtime.parts import Buffer
from semira.contract import Statement, part_of, row_of, row_with_alias


def own_part(statement: Statement, *, sparse: bool = True) -> ModuleType | None:
    """Return what multiplies in the core's place; None if the core does.

    With a right operand that is not `sparse`, other ways of sharing work out are the core's.
    """
    if statement.op != "mxm":
        return None
    walked = "compressed" if statement.plan is None else statement.plan.methods[0].storage
    row = row_of("mxm", walked)
    if row is None and walked == "compressed" and sparse:
        row = row_with_alias("mxm", "balance", statement.hints.balance)
    return None if row is None or row.fused else part_of(row.name, "cuda")


@dataclass(frozen=True, slots=True)
class DotText:
    """Kernels of dot products as text."""

    statement: Statement
    #: Whether sums may end early, and whether the mask's values are left unread.
    exits: str
    structural: str
    semiring: str
    #: That every such kernel has behind its own.
    parameters: str
    #: Declarations, with the operands ``a``, ``b`` (its columns) and ``mask``.
    lines: list[str]
    #: What is called with each dot product.
    emit: str
    #: Lines behind the products.
    after: tuple[str, ...]


def dots_part(statement: Statement) -> ModuleType | None:
    """Return what makes dot products in the core's place; None if the core does.

    It has ``dot_kernels(text)``, which returns C++ for a `DotText`, and
    ``dot_launches(job, a, b)``, which returns the launches of these kernels.
    """
    plan = statement.plan
    row = None if plan is None else row_of(statement.op, plan.methods[0].storage)
    if row is None or "dot" not in row.instead_of:
        return None
    return part_of(row.name, "cuda")


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
