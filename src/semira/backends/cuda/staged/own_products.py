"""Products of two sparse matrices that a method's folder multiplies with launches of its own.

Its ``cuda`` module has ``ROOT``, the kernel file that its text calls, and two functions:
``text(program, statement)`` returns the C++ of the launches, and ``multiply(job)`` the result
before it is written, and what tells how many products there were.
"""

from __future__ import annotations

from types import ModuleType

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
