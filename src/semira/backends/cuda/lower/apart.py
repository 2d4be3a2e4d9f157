"""Statements that are launches of their own, and cannot stand in the one kernel of a program."""

from __future__ import annotations

from semira.contract import Loop, Program, Statement, walk_statements


def lists_products(statement: Statement) -> bool:
    """Return whether a product is a push that writes all products down before it adds any up."""
    plan = statement.plan
    return plan is not None and any(method.lists_products for method in plan.methods)


def stands_apart(program: Program, item: Statement | Loop) -> bool:
    """Return whether a statement, or one inside of a loop, takes several launches.

    Those that write a matrix do, and products that list what they add up.
    """
    return any(
        program.slots[statement.out].kind == "matrix" or lists_products(statement)
        for statement in walk_statements((item,))
    )
