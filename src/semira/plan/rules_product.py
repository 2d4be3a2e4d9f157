"""Dot products or row by row: what a masked product of matrices takes either way."""

from __future__ import annotations

from semira.contract import (
    SEARCH_AMONG_MERGES,
    SEARCH_LOOKS,
    Capabilities,
    Compare,
    Const,
    Count,
    Method,
    Reason,
    Rule,
    Statement,
)
from semira.plan.expressions import ZERO, both, plus, times
from semira.plan.policy import MASKED_PRODUCT, WORTH_COUNTING
from semira.plan.reasons import Code, reason
from semira.plan.rules_direction import PULL
from semira.plan.rules_storage import walked_format

DOT = "dot"


def has_choice(
    statement: Statement, methods: tuple[Method, ...], capabilities: Capabilities
) -> bool:
    """Return whether counts decide between dot products and rows: the first two of `methods`."""
    is_open = statement.op == "mxm" and statement.hints.method is None
    is_dot = methods[0].name == DOT and len(methods) > 1 and methods[1].name != PULL
    return is_open and capabilities.counts_products and is_dot


def product_rule() -> Rule:
    """Return the rule that yields 0 for dot products and 1 for rows.

    Notes
    -----
    Dot products look at each entry of the mask and, for each, at a column of B, or search the
    column for every entry of A's row, whichever is cheaper. Row by row, every pair of entries in
    the rows that the mask names is multiplied, unless a search says that the mask forbids it.
    The first test needs sizes alone, by mean lengths; counting starts behind it.

    Examples
    --------
    >>> from semira.plan.expressions import rule_text
    >>> rule_text(product_rule())
    'open_rows * (cols + nnz) > 4.1943e+06 * cols and 16 * frontier_edges < open_rows + open_edges'
    """
    entries, cols = Count("open_rows"), Count("cols")
    expected = times(entries, plus(cols, Count("nnz")))
    is_much = Compare(">", expected, times(Const(WORTH_COUNTING.value), cols))
    by_rows = times(Const(MASKED_PRODUCT.value), Count("frontier_edges"))
    return both(is_much, Compare("<", by_rows, plus(entries, Count("open_edges"))))


def product_choice(
    statement: Statement, methods: tuple[Method, ...], capabilities: Capabilities
) -> tuple[Rule, list[Reason]]:
    """Return the rule between the methods of an ``mxm``, and why."""
    first = methods[0].name
    if has_choice(statement, methods, capabilities):
        other = methods[1].name
        figures = (WORTH_COUNTING.value, MASKED_PRODUCT.value)
        return product_rule(), [
            reason(Code.MXM_MASKED_DOT), reason(Code.MXM_COUNTED, other, *figures)
        ]  # fmt: skip
    if first == DOT:
        return ZERO, [reason(Code.MXM_MASKED_DOT)]
    why = {
        "dense": "no table to probe, and the row is cleared entry by entry",
        "hash": "its size follows the row's entries, not the number of columns",
    }
    return ZERO, [reason(Code.MXM_ROW_WISE, first, why[first])]


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
