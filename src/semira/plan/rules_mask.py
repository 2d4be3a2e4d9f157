"""What follows from the mask and from algebra: mask order, early exit, structure only."""

from __future__ import annotations

from typing import Any

from semira.base.dtypes import BOOL
from semira.base.errors import PlanError
from semira.contract import PRODUCTS, Capabilities, Reason, Statement
from semira.ops import TypedMonoid, TypedSemiring
from semira.plan.reasons import Code, reason
from semira.plan.rules_storage import pinned_method, walked_format

#: Operands of the multiplication that are values of a matrix, by operation.
_MATRIX_SIDES = {"vxm": ("b",), "mxv": ("a",), "mxm": ("a", "b")}
#: Operands that are values of the driving vector.
_VECTOR_SIDE = {"vxm": "a", "mxv": "b"}

#: Methods that work on one output position at a time, and can leave it.
BY_ROW = frozenset({"pull", "dot"})


def choose_mask_order(statement: Statement, method: str, capabilities: Capabilities) -> str:
    """Return when `method` looks at the mask: ``before``, ``after`` or ``none``."""
    if statement.mask is None:
        return "none"
    if statement.hints.mask_order is not None:
        return statement.hints.mask_order
    return "before" if _can_test_first(method, capabilities) else "after"


def mask_order_obstacle(statement: Statement, method: str, capabilities: Capabilities) -> str:
    """Say why `method` cannot follow the pinned mask order; empty if it can."""
    pinned = statement.hints.mask_order
    if pinned is None:
        return ""
    if statement.mask is None:
        return f"there is no mask to look at {pinned} multiplying"
    if statement.op == "mxm" and method in BY_ROW and pinned == "after":
        return f"{method} computes only what the mask names, so it looks at the mask before"
    if pinned == "before" and not _can_test_first(method, capabilities):
        return f"{method} on {capabilities.name} cannot test the mask before it writes"
    return ""


def _can_test_first(method: str, capabilities: Capabilities) -> bool:
    return method in BY_ROW or capabilities.masked_push


def mask_reason(statement: Statement, method: str, order: str) -> Reason:
    """Return the reason for the mask order of one method."""
    if order == "none":
        return reason(Code.NO_MASK)
    if order == "before":
        return reason(Code.MASK_BEFORE if method in BY_ROW else Code.MASK_TESTED, method)
    why = "it cannot test before it writes" if statement.hints.mask_order is None else "pinned"
    return reason(Code.MASK_AFTER, method, f": {why}")


def choose_early_exit(statement: Statement, capabilities: Capabilities) -> tuple[bool, Reason]:
    """Return whether rows are left early, and why.

    Raises PlanError if it is demanded, but the monoid has no terminal value or the backend cannot
    stop.
    """
    monoid, pinned = statement.operator.monoid, statement.hints.early_exit
    obstacle = ""
    if not monoid.exits_early:
        obstacle = f"{monoid!r} needs every operand: it has no terminal value"
    elif not capabilities.early_exit:
        obstacle = f"the kernels of {capabilities.name} cannot leave a row"
    if pinned and obstacle:
        raise PlanError(
            f"{statement.op}: early_exit=True is impossible: {obstacle}; choose False or None"
        )
    if obstacle or pinned is False:
        return False, reason(Code.NO_EXIT, obstacle or "early_exit=False is pinned")
    named = statement.mask is not None and not statement.mask.complement
    method = "dot" if statement.op == "mxm" and named else "pull"
    if monoid.is_any:
        return True, reason(Code.EXIT_AT_FIRST, method, repr(monoid))
    return True, reason(Code.EXIT_AT_TERMINAL, method, repr(monoid), str(monoid.terminal))


def stops_at_first(semiring: TypedSemiring) -> bool:
    """Return whether a row that exits early is expected to do so at its first operand.

    True for ``any``, where every product is the terminal value, and for BOOL, where it is one
    of two. ``min`` over numbers has a terminal value that real data does not reach.
    """
    monoid: TypedMonoid = semiring.monoid
    if monoid.is_any:
        return True
    if monoid.terminal is None:
        return False
    is_always_one = semiring.binaryop.name == "pair" and monoid.terminal == 1
    return is_always_one or monoid.type is BOOL


def choose_structure_only(statement: Statement) -> tuple[bool, Reason]:
    """Return whether the matrix values stay unread, and why.

    Raises PlanError if it is demanded, but the multiplication reads the values.
    """
    multiply, pinned = statement.operator.binaryop, statement.hints.structure_only
    is_read = any(getattr(multiply, f"reads_{side}") for side in _MATRIX_SIDES[statement.op])
    if pinned and is_read:
        raise PlanError(
            f"{statement.op}: structure_only=True is impossible: {multiply!r} reads the values of "
            "the matrix; choose False or None, or a multiplication that ignores them, such as pair"
        )
    if pinned is False:
        return False, reason(Code.READS_MATRIX, "structure_only=False is pinned")
    if is_read:
        return False, reason(Code.READS_MATRIX, f"{multiply!r} needs them")
    return True, reason(Code.STRUCTURE_ONLY, repr(multiply))


def reads_operand_values(statement: Statement) -> bool:
    """Return whether the multiplication reads the values of the driving vector."""
    return bool(getattr(statement.operator.binaryop, f"reads_{_VECTOR_SIDE[statement.op]}"))


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
