"""Operators that look at positions, where those are renumbered.

A kernel that sees renumbered positions would compute with the wrong ones. A multiplication that
returns a position depends on one operand's entry alone (``i`` and ``k`` on the first, ``k`` and
``j`` on the second): that operand takes its positions as values, and the multiplication becomes
``first`` or ``second``. Which operand, and what the statement becomes, is decided here.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

from semira.base.errors import NotImplementedException
from semira.contract import Statement
from semira.ops import TypedOp
from semira.ops.registry import binary

POSITIONS = frozenset("ikj")


@cache
def names_in(text: str) -> frozenset[str]:
    """Return the names an expression uses."""
    return frozenset(node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name))


def looks_at_positions(op: TypedOp) -> bool:
    """Whether an operator's result depends on where an entry stands."""
    return not names_in(op.python).isdisjoint(POSITIONS)


def the_position(op: TypedOp) -> str:
    """Return the one position that an operator of two entries is a function of.

    Raises NotImplementedException if it reads values as well, or several positions.
    """
    names = names_in(op.python) & POSITIONS
    if op.reads_a or op.reads_b or len(names) != 1:
        raise NotImplementedException(
            f"{op} of values and positions on a matrix with a dimension of 2**31 or more (or a "
            "hypersparse one); multiply with an operator on values alone or on one position"
        )
    return str(next(iter(names)))


def _taking(statement: Statement, side: str) -> Statement:
    """Return the product with ``first`` or ``second`` as its multiplication."""
    semiring = statement.operator
    taking = binary[side].typed(semiring.binaryop.return_type)
    plan = statement.plan
    if plan is not None:
        # The methods were chosen for a multiplication that reads no values.
        methods = tuple(
            replace(method, structure_only=False, operand_reuse=False) for method in plan.methods
        )
        plan = replace(plan, methods=methods)
    return replace(statement, operator=replace(semiring, binaryop=taking), plan=plan)


def product(statement: Statement) -> tuple[Statement, int, str] | None:
    """Return a product without positions in its multiplication; None if there are none.

    With it come the number of the operand that holds positions as values, and what the operator
    calls row and column of that operand's entries: ``ik`` or ``kj``. A vector of ``mxv`` stands in
    column 0, one of ``vxm`` in row 0: only the matrix takes positions.
    """
    op = statement.operator.binaryop
    if not looks_at_positions(op):
        return None
    position = the_position(op)
    takes_second = position == "j" if statement.op == "mxm" else statement.op == "vxm"
    side, names = ("second", "kj") if takes_second else ("first", "ik")
    return _taking(statement, side), int(takes_second), names


def pair_names(op: TypedOp) -> str:
    """Return what an element-wise operator calls row and column of its entries.

    Both entries stand at (i, j): k is the column of the first, the row of the second.
    """
    the_position(op)
    return "kj" if op.parent.name.startswith("second") else "ik"


@cache
def _function(text: str) -> Callable[[Any, Any, Any], Any]:
    """Return an expression in positions as a function of arrays of any library."""
    made: Callable[[Any, Any, Any], Any] = eval(f"lambda i, k, j: ({text})", {})  # noqa: S307
    return made


def values_at(op: TypedOp, names: str, rows: Any, cols: Any) -> Any:
    """Return the results of a built-in operator on positions, one per entry, as 64-bit integers.

    It reads no values and one position. `names` are "ik" or "kj"; `rows` and `cols` say where each
    entry stands, with 64 bits.
    """
    zero = rows * 0
    here: dict[str, Any] = {"i": zero, "k": zero, "j": zero} | {names[0]: rows, names[1]: cols}
    return _function(op.python)(here["i"], here["k"], here["j"])


def join_and_meet(statement: Statement) -> tuple[Statement, Statement]:
    """Return an element-wise statement as ``first`` on the union and on the intersection."""
    first = binary["first"].typed(statement.operator.return_type)
    meet = replace(statement, op="ewise_mult", operator=first, args=statement.args[:2])
    return replace(meet, op="ewise_add"), meet
