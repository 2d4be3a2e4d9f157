"""Whether the order in which operands are added up shows in the result."""

from __future__ import annotations

from typing import Any

from semira.contract import PRODUCTS, Capabilities, Statement
from semira.ops import TypedMonoid, TypedSemiring
from semira.plan.rules_storage import pinned_method, walked_format

#: Monoids that keep one of their operands, and multiplications that do.
_CHOOSING = ("min", "max", "any")
_HANDED_ON = ("first", "second", "any")


def monoid_of(statement: Statement) -> TypedMonoid | None:
    """Return the monoid that adds up any number of operands, None if there is none."""
    operator: Any = statement.operator
    if statement.op in PRODUCTS:
        return operator.monoid  # type: ignore[no-any-return]
    if statement.op == "scatter":
        return statement.param("dup")  # type: ignore[no-any-return]
    return operator if statement.op in ("reduce", "reduce_rows", "mode_rows") else None


def needs_order(statement: Statement) -> bool:
    """Return whether a deterministic statement has to add up in a fixed order.

    Floating-point numbers are rounded at every step, ``any`` picks (but among the ones of ``pair``,
    which are all the same), and a Python function need not be as associative as its author says.
    """
    monoid = monoid_of(statement)
    if not statement.hints.deterministic or monoid is None:
        return False
    if monoid.is_any and statement.op in PRODUCTS and statement.operator.binaryop.name == "pair":
        return False
    is_exact = monoid.type.kind in "BIU" and monoid.op.parent.user is None
    return monoid.is_any or not is_exact


def may_be_fused(operator: TypedSemiring) -> bool:
    """Return whether kernels that add in the same order may still differ in the last bit.

    A compiler may add the product of two numbers in one step, rounded once, in one kernel and not
    in another. Whole numbers, the least and the greatest, and operands that are handed on as they
    are leave it nothing to choose.
    """
    add, multiply = operator.monoid, operator.binaryop.parent
    if add.type.kind in "BIU":
        return False
    if add.op.parent.user is None and add.parent.name in _CHOOSING:
        return False
    return multiply.user is not None or multiply.name not in _HANDED_ON


def order_obstacle(statement: Statement, name: str, capabilities: Capabilities) -> str:
    """Say why method `name` cannot add up in a fixed order; empty if it can, or need not."""
    row, _ = pinned_method(statement)
    if row is not None and row.unordered is not None:
        is_unordered = capabilities.name in row.unordered(statement)
    else:
        ways = (statement.op, name), (statement.op, walked_format(statement))
        is_unordered = not capabilities.unordered.isdisjoint(ways)
    if needs_order(statement) and is_unordered:
        return (
            f"{name} on {capabilities.name} adds up as its threads come, and deterministic=True "
            "asks for a fixed order"
        )
    return ""
