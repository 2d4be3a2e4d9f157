"""Methods that are chosen without a pin, by what they cost beside the core's."""

from __future__ import annotations

from dataclasses import replace

from semira.contract import (
    Capabilities,
    Choose,
    Compare,
    Const,
    Count,
    MethodRow,
    Reason,
    Rule,
    Statement,
    rows_with_cost,
)
from semira.plan.reasons import Code, reason

#: What a product with a vector touches, either way; the cheaper one is what the core takes.
_PUSHED, _PULLED = Count("frontier_edges"), Count("open_edges")


def is_free(statement: Statement) -> bool:
    """Return whether no pin says what is walked, or how lists meet."""
    hints = statement.hints
    pins = (hints.method, hints.merge, hints.intersect, hints.queue, hints.balance)
    return all(pin is None for pin in pins) and hints.matrix_storage in (None, "both")


def with_method(statement: Statement, name: str) -> Statement:
    """Return the statement with a method pinned."""
    return replace(statement, hints=replace(statement.hints, method=name))


def weighed_rows(statement: Statement, capabilities: Capabilities) -> list[MethodRow]:
    """Return the methods whose cost is a rule over counts, which may take this product's pull."""
    if statement.op == "mxm" or not is_free(statement):
        return []
    return [
        row
        for op, row in rows_with_cost()
        if op == statement.op
        and isinstance(row.cost, Rule)
        and capabilities.runs(row.name)
        and not row.obstacle(statement)
    ]


def weighed_rule(
    core: Rule, rows: list[MethodRow], names: tuple[str, ...]
) -> tuple[Rule, list[Reason]]:
    """Return the rule between core methods and those of `rows`, which follow them, and why."""
    best: Rule = _PULLED
    if len(names) > 1:
        best = Choose(Compare("<", _PUSHED, _PULLED), _PUSHED, _PULLED)
    rule, reasons = core, []
    for at, row in enumerate(rows):
        assert isinstance(row.cost, Rule)
        rule = Choose(Compare("<", row.cost, best), Const(float(len(names) + at)), rule)
        best = Choose(Compare("<", row.cost, best), row.cost, best)
        reasons.append(reason(Code.COST_WEIGHED, row.name))
    return rule, reasons
