"""How the two lists of a dot product of matrices meet."""

from __future__ import annotations

from semira.contract import SEARCH_AMONG_MERGES, SEARCH_LOOKS, Capabilities, Reason, Statement
from semira.plan.reasons import Code, reason
from semira.plan.rules_product import DOT
from semira.plan.rules_storage import walked_format


def intersection_obstacle(statement: Statement, name: str, capabilities: Capabilities) -> str:
    """Say why a method cannot let lists meet as it is pinned; empty if it can."""
    wanted = statement.hints.intersect
    if wanted is None:
        return ""
    if name != DOT:
        return f"intersect={wanted!r} is pinned, and {name} has no two lists that meet"
    if wanted == pinned_intersection(statement) and wanted not in capabilities.intersections:
        return f"{name} on {capabilities.name} cannot let lists meet by {wanted!r}"
    return ""


def pinned_intersection(statement: Statement) -> str:
    """Return how lists meet, if that is pinned and no method with a folder has it; else ""."""
    wanted = statement.hints.intersect
    return wanted if wanted is not None and walked_format(statement) == "compressed" else ""


def intersection_reasons(statement: Statement, capabilities: Capabilities) -> list[Reason]:
    """Return how lists meet, if the backend chooses between ways."""
    wanted = pinned_intersection(statement)
    if wanted:
        return [reason(Code.LISTS_PINNED, wanted)]
    if not capabilities.intersections or walked_format(statement) != "compressed":
        return []
    # A merge reads both lists; a search costs a few reads for each entry of the shorter one.
    return [reason(Code.LISTS_MEET, SEARCH_AMONG_MERGES - 1, SEARCH_LOOKS - 1)]
