"""What a method's folder makes dot products with, one for each entry of a mask, or their sum."""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType

from semira.contract import Statement, part_of, row_of


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
