"""What a traced run did: its products, their plans, and which method ran when."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

from semira.contract import PRODUCTS, lost_rows
from semira.contract.program import Loop, walk_statements

if TYPE_CHECKING:
    from semira.contract import Program, TraceRow
    from semira.engine.trace import Trace
    from semira.plan import Explanation, ProgramPhases


#: Why shortest paths on short rows on a GPU tell of no product.
SETTLED = "asynchronous shortest paths have none; --algorithm bellman_ford has"

#: Runs of equal methods shown before the rest is summed up.
_SHOWN = 8


@dataclass(frozen=True, slots=True)
class PlanFacts:
    """The products of a run."""

    #: One for each different product, in the order of their first run. What only looked at the
    #: graph beforehand is left out: products of a kind that `rows` does not have.
    explanations: tuple[Explanation, ...]
    #: Every product that ran, as the result of the algorithm tells it.
    rows: Sequence[TraceRow]
    #: Each different program with a loop.
    loops: tuple[Program, ...] = ()

    @property
    def touched(self) -> int:
        """Matrix entries read by the products of `rows`."""
        return sum(row.touched for row in self.rows)

    @property
    def lost(self) -> int:
        """Products before those of `rows`, which there was no room for."""
        return lost_rows(self.rows)

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
            "lost": self.lost,
        }

    def line(self) -> str:
        """Return which method ran how often, in order, on one line; and what is not known."""
        line = methods_line(self.rows)
        return f"{line} (after {self.lost:,} products whose rows are lost)" if self.lost else line


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


def plan_facts(
    trace: Trace, rows: Sequence[TraceRow], plan_for: Callable[[Program], Program] | None = None
) -> PlanFacts:
    """Return the products of traced programs, each once, together with the rows of the run.

    The facts are of what `plan_for` returns: a program as it would be planned otherwise.
    """
    from semira.plan import explain_statement

    programs = trace.programs if plan_for is None else [*map(plan_for, trace.programs)]
    found: dict[str, Explanation] = {}
    ran = set(PRODUCTS)
    if not lost_rows(rows):
        ran &= {row.op for row in rows}
    for program in programs:
        for statement in walk_statements(program.body):
            if statement.op in ran and statement.plan is not None:
                explanation = explain_statement(statement)
                found.setdefault(str(explanation), explanation)
    with_loops = (p for p in programs if any(isinstance(item, Loop) for item in p.body))
    return PlanFacts(tuple(found.values()), rows, tuple(dict.fromkeys(with_loops)))


def phases_of(loops: Sequence[Program], device: str) -> list[ProgramPhases]:
    """Return what a device makes of programs; nothing where it runs statements one by one."""
    from semira.engine.explain import explain_program

    found = (explain_program(program, device) for program in loops)
    return [phases for phases in found if phases.steps is not None]
