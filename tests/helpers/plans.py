"""Programs and counts for planner tests."""

from __future__ import annotations

from semira.base.dtypes import BOOL, INT64, lookup_dtype
from semira.contract import (
    Arg,
    Capabilities,
    Hints,
    IndexSpec,
    Loop,
    Mask,
    Plan,
    Program,
    Slot,
    Statement,
)
from semira.ops.registry import semiring
from semira.plan import Facts, Policy, plan_program

FAMILIES = {"vxm": ("push", "pull"), "mxv": ("push", "pull"), "mxm": ("dot", "hash", "dense")}
EVERY_METHOD = frozenset((op, name) for op, names in FAMILIES.items() for name in names)
ABLE = Capabilities("able", EVERY_METHOD)

#: Slots of `bfs_slots`.
A, LEVEL, FRONTIER, DEPTH, COUNT, MORE, LIMIT, OTHER, B = range(9)
VISITED = Mask(LEVEL, structural=True, complement=True)
REACHED = Mask(FRONTIER, structural=True, complement=False)
ALL = (IndexSpec("all"),)
#: What an engine knows when `level` is new and `depth` is a number.
FRESH = Facts(empty=frozenset({LEVEL}), present=frozenset({DEPTH}))


def bfs_slots() -> tuple[Slot, ...]:
    vector, scalar = "vector", "scalar"
    return (
        Slot("matrix", BOOL),
        Slot(vector, INT64, "inout"),
        Slot(vector, BOOL, "inout"),
        Slot(scalar, INT64, "inout"),
        Slot(scalar, INT64, "temp"),
        Slot(scalar, BOOL, "temp"),
        Slot(scalar, INT64),
        Slot(vector, BOOL, "inout"),
        Slot("matrix", BOOL, "inout"),
    )


def product(
    op: str = "vxm", operator: str = "any_pair[BOOL]", *, transposed: bool = False, **fields
) -> Statement:
    """Return ``frontier<~level.S, replace> = frontier operator A`` with `fields` changed."""
    name, _, dtype = operator.partition("[")
    matrix, vector = Arg(A, transposed), Arg(FRONTIER)
    args = {"vxm": (vector, matrix), "mxv": (matrix, vector), "mxm": (matrix, Arg(B))}[op]
    given = {"mask": VISITED, "replace": True, "out": FRONTIER} | fields
    if op == "mxm":
        given = {"mask": None, "out": B} | fields
    typed = semiring[name][lookup_dtype(dtype.rstrip("]"))]
    return Statement(op, given.pop("out"), args, typed, **given)


def mark(**fields) -> Statement:
    """Return ``level(frontier.S) << depth`` with `fields` changed."""
    return Statement(
        **{"op": "assign", "out": LEVEL, "args": (Arg(DEPTH),), "mask": REACHED, "indices": ALL}
        | fields
    )


def step_depth() -> Statement:
    return Statement("apply", DEPTH, (Arg(DEPTH),))


def count_frontier() -> Statement:
    return Statement("nvals", COUNT, (Arg(FRONTIER),))


def bfs_body() -> tuple[Statement, ...]:
    return mark(), step_depth(), product(), count_frontier()


def loop(*body: Statement | Loop) -> Loop:
    return Loop((body,), (MORE,), LIMIT, explicit_limit=False)


def program(*body: Statement | Loop) -> Program:
    return Program(bfs_slots(), body)


def plan_of(
    statement: Statement,
    capabilities: Capabilities = ABLE,
    policy: str | Policy | None = None,
    hints: Hints | None = None,
) -> Plan:
    """Return the plan of a statement outside of loops."""
    from dataclasses import replace

    given = statement if hints is None else replace(statement, hints=hints)
    (planned,) = plan_program(program(given), capabilities, policy).body
    return planned.plan


def numbers(**changed: float) -> dict[str, float]:
    """Return counts of a first product on a graph of 1,000 vertices and 10,000 edges."""
    return {
        "n": 1000,
        "rows": 1000,
        "nnz": 10_000,
        "frontier": 1,
        "frontier_edges": 10,
        "open_rows": 999,
        "open_edges": 9990,
        "previous_frontier": -1,
    } | changed
