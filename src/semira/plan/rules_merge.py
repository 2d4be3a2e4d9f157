"""How a push makes one list of the lists of its frontier: what a pinned way asks for."""

from __future__ import annotations

from semira.contract import Capabilities, Statement
from semira.plan.rules_storage import walked_format

#: Ways that bring the products into one order, whatever the threads did.
_SORTED = frozenset({"radix", "sort"})


def lists_products(statement: Statement) -> bool:
    """Return whether the pinned way writes all products down before it adds any up."""
    return statement.hints.merge not in (None, "atomics")


def keeps_order(statement: Statement) -> bool:
    """Return whether the pinned way adds up in the same order in every run: both sorts do."""
    return statement.hints.merge in _SORTED


def merge_obstacle(statement: Statement, name: str, capabilities: Capabilities) -> str:
    """Say why method `name` cannot merge as it is pinned; empty if it can."""
    merge = statement.hints.merge
    if merge is None:
        return ""
    if name != "push":
        return f"{name} has no lists to merge by {merge}: it works row by row"
    if merge not in capabilities.merges:
        return f"push on {capabilities.name} cannot merge by {merge!r}"
    balance = statement.hints.balance
    if merge != "atomics" and balance not in (None, "edges"):
        return f"push merging by {merge} shares its work by 'edges' only"
    if merge != "atomics" and statement.hints.queue is not None:
        return f"push merging by {merge} has no queue"
    if merge != "atomics" and walked_format(statement) != "compressed":
        return f"push merging by {merge} walks compressed lines only"
    return _scatter_obstacle(statement) if merge == "scatter" else ""


def _scatter_obstacle(statement: Statement) -> str:
    """Say why one product may not stand for all that meet it; empty if it may.

    Any of them may for ``any``. For an idempotent monoid one may if all are equal.
    """
    monoid = statement.operator.monoid
    if monoid.is_any or (monoid.is_idempotent and statement.operator.has_equal_products):
        return ""
    return (
        f"scatter keeps one of the products that meet, and {statement.operator!r} has to add "
        "them up; radix, sort and atomics do"
    )
