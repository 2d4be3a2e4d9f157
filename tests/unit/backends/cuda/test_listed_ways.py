"""The list of kernels has products by themselves in every way that they may go."""

from __future__ import annotations

from tests.helpers.kernels import listed_lines, listed_programs
from tests.helpers.program_text import from_line, to_line

from semira.contract import Statement
from semira.plan import Facts
from semira.plan.beforehand import WAYS
from semira.plan.reasons import Code


def test_every_way_is_listed() -> None:
    found: dict[str, set[tuple[str, ...]]] = {}
    for planned in listed_programs():
        (item, *more) = planned.body
        if not more and isinstance(item, Statement) and item.op in ("vxm", "mxv"):
            assert item.plan is not None
            names = tuple(method.name for method in item.plan.methods)
            reads_whole = any(each.code == Code.WHOLE_ROWS for each in item.plan.reasons)
            ways = found.setdefault(to_line(planned, Facts()), set())
            ways.add(("whole",) if reads_whole else names)
    open_ones = [ways for ways in found.values() if ("push", "pull") in ways and len(ways) > 1]
    assert len(open_ones) > 50
    assert {("push", "pull"), *((way,) for way in WAYS)} in open_ones
    # Who reads whole rows anyway has one pull.
    assert {("push", "pull"), ("push",), ("pull",)} in open_ones


def test_a_line_keeps_no_way() -> None:
    line = next(line for line in sorted(listed_lines()) if '"mxv"' in line)
    program, facts = from_line(line)
    assert to_line(program, Facts(facts.empty, facts.present, way="push")) == line
