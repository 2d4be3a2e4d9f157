"""Counts for `explain`, taken from the operands on the host."""

from __future__ import annotations

from typing import Any

import numpy as np

from semira.backends.registry import backend_for
from semira.contract import Hints
from semira.engine.calls import Call, Literal, Lowering
from semira.engine.values import Value, common_device
from semira.formats import MatrixArrays, VectorArrays
from semira.plan import explain_statement, plan_program


def explain_call(
    template: Any,
    out: Value,
    args: tuple[Any, ...],
    mask: tuple[Value, bool, bool] | None,
    hints: Hints,
) -> Any:
    """Return the explanation of one operation; nothing is computed.

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
    device = common_device(call.values())
    planned = plan_program(program, backend_for(device).capabilities())
    statement: Any = planned.body[0]
    return explain_statement(statement, _counts(call))


def _counts(call: Call) -> dict[str, float]:
    """Return the figures of `contract.rule.COUNTS` for a product, exactly."""
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
    rows_of_right = np.bincount(right.to_coo()[0], minlength=right.nrows)
    products = int(rows_of_right[left.to_coo()[1]].sum())
    mask_entries = -1 if call.mask is None else _arrays(call.mask[0]).nvals
    return {
        "n": left.ncols,
        "rows": left.nrows,
        "nnz": right.nvals,
        "frontier": left.nvals,
        "frontier_edges": products,
        "open_rows": mask_entries,
        "open_edges": products,
        "previous_frontier": -1,
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
