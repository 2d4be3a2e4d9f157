"""What a traced run did: its products, their plans, and which method ran when."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

from semira.contract import PRODUCTS

if TYPE_CHECKING:
    from semira.contract import TraceRow
    from semira.engine.trace import Trace
    from semira.plan import Explanation


#: Runs of equal methods shown before the rest is summed up.
_SHOWN = 8


@dataclass(frozen=True, slots=True)
class PlanFacts:
    """The products of a run.

    Attributes
    ----------
    explanations : tuple of Explanation
        One for each different product, in the order of their first run.
    rows : tuple of TraceRow
        Every product that ran, as the result of the algorithm tells it.
    """

    explanations: tuple[Explanation, ...]
    rows: Sequence[TraceRow]

    @property
    def touched(self) -> int:
        """Matrix entries read by all products."""
        return sum(row.touched for row in self.rows)

    def record(self) -> dict[str, Any]:
        """Return the facts for JSON; as long as the number of changes of method."""
        return {
            "products": [
                {
                    "formula": each.formula,
                    "policy": each.plan.policy,
                    "methods": [method.name for method in each.plan.methods],
                }
                for each in self.explanations
            ],
            "ran": [
                {"op": op, "method": method, "times": times}
                for op, method, times in runs_of_methods(self.rows)
            ],
            "touched": self.touched,
        }

    def line(self) -> str:
        """Return which method ran how often, in order, on one line."""
        return methods_line(self.rows)


def runs_of_methods(rows: Sequence[TraceRow]) -> list[tuple[str, str, int]]:
    """Return (op, method, times) of consecutive equal choices."""
    grouped = groupby(rows, key=lambda row: (row.op, row.method))
    return [(op, method, sum(1 for _ in group)) for (op, method), group in grouped]


def methods_line(rows: Sequence[TraceRow]) -> str:
    """Return the choices on one line, such as ``push x2, pull x3, push``; "" for no product."""
    runs = [
        (method, sum(1 for _ in group)) for method, group in groupby(row.method for row in rows)
    ]
    parts = [_times(*run) for run in runs[:_SHOWN]]
    if len(runs) > _SHOWN:
        totals: Counter[str] = Counter()
        for method, times in runs[_SHOWN:]:
            totals[method] += times
        parts.append(f"then {' and '.join(_times(*total) for total in totals.items())} in turn")
    return ", ".join(parts)


def _times(method: str, times: int) -> str:
    return f"{method} x{times}" if times > 1 else method


def plan_facts(trace: Trace, rows: Sequence[TraceRow]) -> PlanFacts:
    """Return the products of traced programs, each once, together with the rows of the run."""
    from semira.contract.program import walk_statements
    from semira.plan import explain_statement

    found: dict[str, Explanation] = {}
    for program in trace.programs:
        for statement in walk_statements(program.body):
            if statement.op in PRODUCTS and statement.plan is not None:
                explanation = explain_statement(statement)
                found.setdefault(str(explanation), explanation)
    return PlanFacts(tuple(found.values()), rows)
