"""How the two lists of a dot product of matrices meet."""

from __future__ import annotations

from semira.contract import SEARCH_AMONG_MERGES, SEARCH_LOOKS, Capabilities, Reason, Statement
from semira.plan.reasons import Code, reason
from semira.plan.rules_product import DOT


def intersection_obstacle(statement: Statement, name: str, capabilities: Capabilities) -> str:
    """Say why a method cannot let lists meet as it is pinned; empty if it can."""
    wanted = statement.hints.intersect
    if wanted is None:
        return ""
    if name != DOT:
        return f"intersect={wanted!r} is pinned, and {name} has no two lists that meet"
    if wanted not in capabilities.intersections:
        return f"{name} on {capabilities.name} cannot let lists meet by {wanted!r}"
    if wanted == "bitmap" and not has_bits(statement):
        return (
            f"bits say that an entry is there, not where, and {statement.operator.binaryop} reads "
            "the values of the left operand"
        )
    return ""


def has_bits(statement: Statement) -> bool:
    """Return whether a bit is all that is asked of an entry of the left operand."""
    return not statement.operator.binaryop.reads_a


def intersection_reasons(statement: Statement, capabilities: Capabilities) -> list[Reason]:
    """Return how lists meet, if the backend chooses between ways."""
    wanted = statement.hints.intersect
    if wanted is not None:
        return [reason(Code.LISTS_PINNED, wanted)]
    if not capabilities.intersections:
        return []
    # A merge counts for both lists, a search for so many looks for each entry of the shorter one.
    return [reason(Code.LISTS_MEET, SEARCH_AMONG_MERGES - 1, SEARCH_LOOKS - 1)]
