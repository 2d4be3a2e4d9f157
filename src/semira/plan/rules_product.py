"""Dot products or row by row: what a masked product of matrices takes either way."""

from __future__ import annotations

from semira.contract import Capabilities, Compare, Const, Count, Method, Reason, Rule, Statement
from semira.plan.expressions import ZERO, both, plus, times
from semira.plan.policy import MASKED_PRODUCT, WORTH_COUNTING
from semira.plan.reasons import Code, reason
from semira.plan.rules_direction import PULL

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
