"""What a method's folder makes dot products with, one for each entry of a mask, or their sum."""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType

from semira.contract import Statement, part_of, row_of


@dataclass(frozen=True, slots=True)
class DotText:
    """Kernels of dot products as text.

    Attributes
    ----------
    statement : Statement
    exits, structural : str
        Whether sums may end early, and whether the mask's values are left unread.
    semiring : str
    parameters : str
        That every such kernel has behind its own.
    lines : list of str
        Declarations, with the operands ``a``, ``b`` (its columns) and ``mask``.
    emit : str
        What is called with each dot product.
    after : tuple of str
        Lines behind the products.
    """

    statement: Statement
    exits: str
    structural: str
    semiring: str
    parameters: str
    lines: list[str]
    emit: str
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
