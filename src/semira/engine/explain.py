"""Counts for `explain`, taken from the operands on the host."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from semira.backends.registry import backend_for, preview_of
from semira.base.errors import NotImplementedException
from semira.contract import SEARCH_LOOKS, SHARED, Capabilities, Hints, Program
from semira.engine import run, warm
from semira.engine.calls import Call, Literal, Lowering
from semira.engine.loops import recorded_loop
from semira.engine.values import Value, common_device
from semira.formats import MatrixArrays, VectorArrays
from semira.plan import ProgramPhases, explain_statement, plan_program


def explain_call(
    template: Any,
    out: Value,
    args: tuple[Any, ...],
    mask: tuple[Value, bool, bool] | None,
    hints: Hints,
    device: str | None = None,
) -> Any:
    """Return the explanation of one operation; nothing is computed.

    `device` need not be in this machine; None: where the operands are.

    Raises
    ------
    PlanError
        A pinned choice cannot be met.
    """
    call = Call(
        template.op, out, args, template.operator, mask,
        regions=template.regions, params=template.params, hints=hints,
    )  # fmt: skip
    lowering = Lowering()
    body = (lowering.statement(call),)
    program = lowering.program(body)
    chosen = device or common_device(call.values())
    planned = plan_program(program, _able(chosen))
    statement: Any = planned.body[0]
    found = explain_statement(statement, _counts(call))
    try:
        phases = explain_program(planned, chosen)
    except NotImplementedException:
        # The plan is one thing; that the device has no kernel for it, it says when it is asked to.
        return found
    return found if phases.steps is None else replace(found, phases=phases)


def explain_loop(
    step: Callable[[], Any],
    condition_value: Callable[[Any], Value | None],
    max_iterations: Any,
    device: str | None,
) -> ProgramPhases:
    """Return the phases of a loop over `step`; it is recorded, not run.

    Raises
    ------
    RecordError
        The body cannot be recorded.
    """
    call = recorded_loop(step, condition_value, max_iterations)
    reading = warm.read_loop(call)
    chosen = device or warm.Asked(reading.bound, reading.numbers).device
    program, facts = run.loop_program(call, reading)
    return explain_program(plan_program(program, _able(chosen), facts=facts), chosen)


def plan_for(program: Program, device: str) -> Program:
    """Return a program that ran as it would be planned for another device.

    What was known of its objects when it was prepared is known there too.

    Raises
    ------
    DeviceUnavailable
        There is no such device; one that shares phases need not be in this machine.
    """
    return plan_program(program, _able(device), facts=run.facts_of(program))


def explain_program(program: Program, device: str) -> ProgramPhases:
    """Return which statements of a planned program share a phase on a device, and why.

    Parameters
    ----------
    program : Program
        As `tracing` has it, or from `plan_for`.
    device : str
        It need not be in this machine.

    Examples
    --------
    >>> import semira as gb
    >>> with gb.tracing() as traced:
    ...     w = gb.Vector.from_dense([1.0, 2.0]).apply("abs").new()
    >>> print(explain_program(traced.programs[-1], "cpu"))
    statements
      0  apply: v1 = abs(v0)
    one by one: no statements share a phase
    """
    preview = preview_of(device)
    return ProgramPhases(program, None if preview is None else preview.phases_of(program))


def _able(device: str) -> Capabilities:
    """Return what a device can do; if that is known without it, it may be absent."""
    preview = preview_of(device)
    return backend_for(device).capabilities() if preview is None else preview.capabilities


def _counts(call: Call) -> dict[str, float]:
    """Return the figures of `contract.rule.COUNTS` for a product, exactly, and its ``lines``."""
    if call.op == "mxm":
        return _matrix_counts(call)
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


def _matrix_counts(call: Call) -> dict[str, float]:
    left, right = _transposed(call.args[0]), _transposed(call.args[1])
    if call.mask is not None and not call.mask[2]:
        return _named_counts(left, right, _arrays(call.mask[0]))
    return _block_counts(call, left, right)


def _named_counts(left: MatrixArrays, right: MatrixArrays, mask: MatrixArrays) -> dict[str, float]:
    """Return what the rules under a plain mask name; see `plan.rules_product`."""
    rows_of_right = np.bincount(right.to_coo()[0], minlength=right.nrows)
    rows, inner, _ = left.to_coo()
    at, columns, _ = mask.to_coo()
    of_columns = np.bincount(right.to_coo()[1], minlength=right.ncols)[columns]
    searches = SEARCH_LOOKS * np.bincount(rows, minlength=left.nrows)[at]
    return {
        "lines": len(np.unique(rows)),
        "n": left.ncols,
        "rows": left.nrows,
        "cols": right.ncols,
        "nnz": right.nvals,
        "frontier": left.nvals,
        "frontier_edges": int(rows_of_right[inner[np.isin(rows, at)]].sum()),
        "open_rows": mask.nvals,
        "open_edges": float(np.minimum(of_columns, searches).sum()),
        "previous_frontier": -1,
        "block": left.nrows,
        "shared": max(1, min(left.nrows, SHARED)),
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
        "lines": len(np.unique(left.to_coo()[0])),
        "n": block * left.ncols,
        "rows": block * right.ncols,
        "cols": right.ncols,
        "nnz": block * right.nvals,
        "frontier": left.nvals,
        "frontier_edges": int(leading[left.to_coo()[1]].sum()),
        "open_rows": open_rows,
        "open_edges": open_edges,
        "previous_frontier": -1,
        "block": block,
        "shared": max(1, min(block, SHARED)),
    }


def _arrays(value: Value | Literal) -> Any:
    assert isinstance(value, Value)
    return value.read()


def _transposed(arg: tuple[Any, bool]) -> MatrixArrays:
    arrays: MatrixArrays = _arrays(arg[0])
    return arrays.flipped() if arg[1] else arrays


def _open_rows(call: Call) -> Any:
    """Return which output positions the mask lets through."""
    inside = np.zeros(call.out.shape[0], bool)
    if call.mask is None:
        return ~inside
    value, structural, complement = call.mask
    mask: VectorArrays = _arrays(value)
    indices = mask.entry_indices()
    inside[indices if structural else indices[mask.entry_values().astype(bool)]] = True
    return ~inside if complement else inside
