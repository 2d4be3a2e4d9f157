"""Statements that are launches of their own, and cannot stand in the one kernel of a program."""

from __future__ import annotations

from semira.contract import Loop, Program, Statement, row_of, walk_statements


def brings_launches(statement: Statement) -> bool:
    """Return whether the method of a product brings launches of its own."""
    if statement.plan is None:
        return False
    rows = (row_of(statement.op, method.storage) for method in statement.plan.methods)
    return any(row is not None and not row.fused for row in rows)


def stands_apart(program: Program, item: Statement | Loop) -> bool:
    """Return whether a statement, or one inside of a loop, takes several launches.

    Those that write a matrix do, and products whose method brings launches of its own.
    """
    return any(
        program.slots[statement.out].kind == "matrix" or brings_launches(statement)
        for statement in walk_statements((item,))
    )
