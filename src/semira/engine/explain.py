"""Counts for `explain`, taken from the operands on the host."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from semira.backends.registry import capabilities_of, preview_of
from semira.base.errors import NotImplementedException
from semira.contract import (
    COSTED,
    PRODUCTS,
    SEARCH_LOOKS,
    SHARED,
    Hints,
    Loop,
    Method,
    Plan,
    Program,
    Statement,
    row_of,
    walk_statements,
)
from semira.engine import run, warm
from semira.engine.calls import Call, Literal, LoopCall, Lowering
from semira.engine.loops import ConditionValue, recorded_loop
from semira.engine.values import Value, common_device
from semira.engine.ways import cheaper_methods, way_of
from semira.formats import MatrixArrays, VectorArrays
from semira.plan import (
    Explanation,
    Facts,
    ProgramPhases,
    explain_statement,
    plan_program,
    weighed_beforehand,
)


def explain_call(
    template: Any,
    out: Value,
    args: tuple[Any, ...],
    mask: tuple[Value, bool, bool] | None,
    hints: Hints,
    device: str | None = None,
) -> Any:
    """Return the explanation of one operation; nothing is computed.

    `device` need not be in this machine; None: where the operands are. Raises PlanError if a pinned
    choice cannot be met.
    """
    call = Call(
        template.op, out, args, template.operator, mask,
        regions=template.regions, params=template.params, hints=hints,
    )  # fmt: skip
    lowering = Lowering()
    body = (lowering.statement(call),)
    program = lowering.program(body)
    chosen = device or common_device(call.values())
    methods = cheaper_methods(_matrices(lowering.bound), chosen) if COSTED else ()
    # As it would run on what its slots are bound to.
    capabilities, bound = capabilities_of(chosen), lowering.bound
    weighed = None if methods else weighed_beforehand(program, capabilities)
    facts = Facts(way="" if weighed is None else way_of(weighed, bound), methods=methods)
    planned = plan_program(program, capabilities, facts=facts)
    statement: Any = planned.body[0]
    kept = _kept(call, statement.plan, chosen)
    found = replace(explain_statement(statement, _counts(call)), kept=kept)
    try:
        phases = explain_program(planned, chosen, _sides(enumerate(lowering.bound)))
    except NotImplementedException:
        # The plan is one thing; that the device has no kernel for it, it says when it is asked to.
        return found
    return replace(found, phases=phases) if phases.is_one_kernel else found


def _kept(call: Call, plan: Plan, device: str) -> dict[str, int]:
    """Return the bytes of what the methods of a plan read beside the arrays, if it is there."""
    here = (value for value, _ in call.args if isinstance(value, Value) and value.where == device)
    held = {name: size for value in here for name, size in value.memory_usage().items() if size}
    # Some devices put the orientation before the name.
    names = {name.rpartition(".")[2]: size for name, size in held.items()}
    wanted = (name for method in plan.methods for name in _companions(call.op, method))
    return {name: names[name] for name in wanted if name in names}


def _companions(op: str, method: Method) -> Iterator[str]:
    """Yield names of what a method may read beside the arrays of the matrix."""
    row = row_of(op, method.storage)
    if row is not None:
        yield from (row.name,) if row.keeps is None else row.keeps
    for variant in method.variants:
        yield variant.name


def _matrices(bound: list[Any]) -> dict[Value, int]:
    return {given: slot for slot, given in enumerate(bound) if isinstance(given, Value)}


def explain_loop(
    step: Callable[[], Any],
    condition_value: ConditionValue,
    max_iterations: Any,
    device: str | None,
    names: Mapping[Value, str],
) -> ProgramPhases:
    """Return the phases of a loop over `step`, and the plans of its products; it is not run.

    The first arguments are those of `engine.loops.repeat_body`. The device need not be in this
    machine; None: where the objects are. `names` says what they are called. Raises RecordError if
    the body cannot be recorded.
    """
    call = recorded_loop(step, condition_value, max_iterations)
    reading = warm.read_loop(call)
    chosen = device or warm.Asked(reading.bound, reading.numbers).device
    program, facts = run.loop_program(call, reading)
    planned = plan_program(program, capabilities_of(chosen), facts=facts)
    found = explain_program(planned, chosen, _sides(enumerate(reading.bound)))
    return replace(found, names=_names(reading.bound, names), products=_products(call, planned))


def _names(bound: list[Any], names: Mapping[Value, str]) -> dict[int, str]:
    """Return what slots are called: objects by their names, numbers as they are."""
    found = {}
    for slot, given in enumerate(bound):
        if isinstance(given, Value) and given in names:
            found[slot] = names[given]
        elif isinstance(given, (np.number, np.bool_)):
            found[slot] = str(given)
    return found


def _sides(bound: Iterable[tuple[int, Any]]) -> dict[int, int]:
    """Return the longest side of each object."""
    return {slot: max(x.shape) for slot, x in bound if isinstance(x, Value) and x.shape}


def _products(loop: LoopCall, planned: Program) -> dict[int, Explanation]:
    """Return the plans of the products of a loop, by the numbers of their statements."""
    calls = list(_calls(loop))
    written = {call.out for call in calls}
    pairs = zip(calls, walk_statements(planned.body), strict=True)
    return {
        number: explain_statement(statement, _steady_counts(call, written))
        for number, (call, statement) in enumerate(pairs)
        if call.op in PRODUCTS
    }


def _calls(loop: LoopCall) -> Iterator[Call]:
    for body in loop.bodies:
        for item in body:
            if isinstance(item, Call):
                yield item
            else:
                yield from _calls(item)


def plan_for(program: Program, device: str, pins: Mapping[str, Any] | None = None) -> Program:
    """Return a program that ran as it would be planned for another device.

    What was known of its objects when it was prepared is known there too; all its products take
    `pins` in place of those they ran with. Raises DeviceUnavailable if there is no such device; one
    that shares phases need not be in this machine.
    """
    facts = run.facts_of(program)
    if pins:
        facts = replace(facts, way="")
        program = replace(program, body=_pinned(program.body, Hints(**pins)))
    return plan_program(program, capabilities_of(device), facts=facts)


def _pinned(body: tuple[Statement | Loop, ...], hints: Hints) -> tuple[Statement | Loop, ...]:

    def pinned(item: Statement | Loop) -> Statement | Loop:
        if isinstance(item, Loop):
            return replace(item, bodies=tuple(_pinned(each, hints) for each in item.bodies))
        return replace(item, hints=hints) if item.op in PRODUCTS else item

    return tuple(pinned(item) for item in body)


def explain_program(
    program: Program, device: str, sides: Mapping[int, int] | None = None
) -> ProgramPhases:
    """Return which statements of a planned program run together on a device, and why.

    Parameters
    ----------
    program : Program
        As `tracing` has it, or from `plan_for`.
    device : str
        It need not be in this machine.
    sides : mapping of int to int, optional
        The longest side of what a slot is bound to. None: no object is huge.

    Examples
    --------
    >>> import semira as gb
    >>> with gb.tracing() as traced:
    ...     w = gb.Vector.from_dense([1.0, 2.0]).apply("abs").new()
    >>> print(explain_program(traced.programs[-1], "cpu"))
    statements
      0  apply: v1 = abs(v0)
    one by one: the device runs each by itself, so no statements share a phase
    """
    preview = preview_of(device)
    return ProgramPhases(program, None if preview is None else preview.phases_of(program, sides))


def _counts(call: Call) -> dict[str, float]:
    """Return the figures of `contract.rule.COUNTS` for a product, exactly, and its ``lines``."""
    if call.op == "mxm":
        left, right = _transposed(call.args[0]), _transposed(call.args[1])
        counts: dict[str, float] = {
            "lines": len(np.unique(left.to_coo()[0])), "cols": right.ncols, "frontier": left.nvals,
            "previous_frontier": -1, "block": left.nrows, "shared": max(1, min(left.nrows, SHARED)),
        }  # fmt: skip
        if call.mask is not None and not call.mask[2]:
            return counts | _named_counts(left, right, _arrays(call.mask[0]))
        return counts | _block_counts(call, left, right)
    if call.op not in ("mxv", "vxm"):
        return {}
    at = 0 if call.op == "mxv" else 1
    matrix, vector = _transposed(call.args[at]), _arrays(call.args[1 - at][0])
    rows, cols, _ = matrix.to_coo()
    source, target = (cols, rows) if call.op == "mxv" else (rows, cols)
    degrees = np.bincount(source, minlength=vector.size)
    feeding = np.bincount(target, minlength=call.out.shape[0])
    open_rows = _open_rows(call)
    return {
        "n": vector.size,
        "rows": call.out.shape[0],
        "nnz": matrix.nvals,
        "frontier": vector.nvals,
        "frontier_edges": int(degrees[vector.entry_indices()].sum()),
        "open_rows": int(open_rows.sum()),
        "open_edges": int(feeding[open_rows].sum()),
        "previous_frontier": -1,
    }


def _steady_counts(call: Call, written: set[Value]) -> dict[str, float]:
    """Return the counts of a product in a loop that are the same in every iteration.

    Sizes, and the entries of matrices that the loop does not write.
    """
    if call.op == "mxm":
        return _steady_matrix_counts(call, written)
    at = 0 if call.op == "mxv" else 1
    matrix, vector = call.args[at][0], call.args[1 - at][0]
    assert isinstance(vector, Value)
    entries = _steady_entries(matrix, written)
    known = {"n": vector.shape[0], "rows": call.out.shape[0], "nnz": entries}
    return {name: count for name, count in known.items() if count is not None}


def _steady_matrix_counts(call: Call, written: set[Value]) -> dict[str, float]:
    """Return the same of a product of matrices; see `_named_counts` and `_block_counts`."""
    (left, left_turned), (right, right_turned) = call.args
    assert isinstance(left, Value)
    assert isinstance(right, Value)
    rows, inner = left.shape[::-1] if left_turned else left.shape
    cols = right.shape[0 if right_turned else 1]
    known: dict[str, float | None] = {
        "cols": cols, "block": rows, "shared": max(1, min(rows, SHARED)),
        "frontier": _steady_entries(left, written),
    }  # fmt: skip
    entries = _steady_entries(right, written)
    if call.mask is not None and not call.mask[2]:
        named = _steady_entries(call.mask[0], written)
        known |= {"n": inner, "rows": rows, "nnz": entries, "open_rows": named}
    else:
        driven = None if entries is None else rows * entries
        known |= {"n": rows * inner, "rows": rows * cols, "nnz": driven}
    return {name: count for name, count in known.items() if count is not None}


def _steady_entries(value: Value | Literal, written: set[Value]) -> int | None:
    """Return the number of entries of what the loop does not write; may wait for the device."""
    if not isinstance(value, Value) or value in written or value.recording is not None:
        return None
    known = value.known_nvals()
    known = value.count_entries() if known is None else known
    return int(value.read().nvals) if known is None else known


def _named_counts(left: MatrixArrays, right: MatrixArrays, mask: MatrixArrays) -> dict[str, float]:
    """Return what the rules under a plain mask name; see `plan.rules_product`."""
    rows_of_right = np.bincount(right.to_coo()[0], minlength=right.nrows)
    rows, inner, _ = left.to_coo()
    at, columns, _ = mask.to_coo()
    of_columns = np.bincount(right.to_coo()[1], minlength=right.ncols)[columns]
    searches = SEARCH_LOOKS * np.bincount(rows, minlength=left.nrows)[at]
    return {
        "n": left.ncols,
        "rows": left.nrows,
        "nnz": right.nvals,
        "frontier_edges": int(rows_of_right[inner[np.isin(rows, at)]].sum()),
        "open_rows": mask.nvals,
        "open_edges": float(np.minimum(of_columns, searches).sum()),
    }


def _block_counts(call: Call, left: MatrixArrays, right: MatrixArrays) -> dict[str, float]:
    """Return what the rule between push and pull names: the sums over the rows of `left`."""
    block, (sources, targets, _) = left.nrows, right.to_coo()
    leading = np.bincount(sources, minlength=right.nrows)
    feeding = np.bincount(targets, minlength=right.ncols)
    open_rows, open_edges = block * right.ncols, block * right.nvals
    if call.mask is not None:
        value, structural, _ = call.mask
        _, columns, values = _arrays(value).to_coo()
        named = columns if structural else columns[np.asarray(values, bool)]
        open_rows, open_edges = open_rows - len(named), open_edges - int(feeding[named].sum())
    return {
        "n": block * left.ncols,
        "rows": block * right.ncols,
        "nnz": block * right.nvals,
        "frontier_edges": int(leading[left.to_coo()[1]].sum()),
        "open_rows": open_rows,
        "open_edges": open_edges,
    }


def _arrays(value: Value | Literal) -> Any:
    assert isinstance(value, Value)
    return value.read()


def _transposed(arg: tuple[Any, bool]) -> MatrixArrays:
    arrays: MatrixArrays = _arrays(arg[0])
    return arrays.flipped() if arg[1] else arrays


def _open_rows(call: Call) -> Any:
    inside = np.zeros(call.out.shape[0], bool)
    if call.mask is None:
        return ~inside
    value, structural, complement = call.mask
    mask: VectorArrays = _arrays(value)
    indices = mask.entry_indices()
    inside[indices if structural else indices[mask.entry_values().astype(bool)]] = True
    return ~inside if complement else inside
