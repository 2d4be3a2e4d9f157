"""Whether the order in which operands are added up shows in the result."""

from __future__ import annotations

from typing import Any

from semira.contract import PRODUCTS, Capabilities, Statement
from semira.ops import TypedMonoid
from semira.plan.rules_merge import keeps_order
from semira.plan.rules_storage import walked_format


def monoid_of(statement: Statement) -> TypedMonoid | None:
    """Return the monoid that adds up any number of operands, None if there is none."""
    operator: Any = statement.operator
    if statement.op in PRODUCTS:
        return operator.monoid  # type: ignore[no-any-return]
    if statement.op == "scatter":
        return statement.param("dup")  # type: ignore[no-any-return]
    return operator if statement.op in ("reduce", "reduce_rows") else None


def needs_order(statement: Statement) -> bool:
    """Return whether a deterministic statement has to add up in a fixed order.

    Floating-point numbers are rounded at every step, ``any`` picks, and a Python function need not
    be as associative as its author says.
    """
    monoid = monoid_of(statement)
    if not statement.hints.deterministic or monoid is None:
        return False
    is_exact = monoid.type.kind in "BIU" and monoid.op.parent.user is None
    return monoid.is_any or not is_exact


def order_obstacle(statement: Statement, name: str, capabilities: Capabilities) -> str:
    """Say why method `name` cannot add up in a fixed order; empty if it can, or need not."""
    is_unordered = (statement.op, name) in capabilities.unordered and not keeps_order(statement)
    is_unordered |= (statement.op, walked_format(statement)) in capabilities.unordered
    if needs_order(statement) and is_unordered:
        return (
            f"{name} on {capabilities.name} adds up as its threads come, and deterministic=True "
            "asks for a fixed order"
        )
    return ""
