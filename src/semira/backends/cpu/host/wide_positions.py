"""Operators on positions, for matrices whose rows and columns are renumbered.

`renumbering.positions` says which operand of a multiplication takes its positions as values. Unary
and index-unary operators are handed the positions as lists.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from semira.backends.cpu.compressed import Array, Compressed
from semira.backends.cpu.host import apply, select
from semira.backends.cpu.host.assign import rows_from_coo
from semira.backends.cpu.masks import thunk_of
from semira.backends.cpu.storage import CpuMatrix, WideMatrix, matrix_of
from semira.backends.renumbering import positions
from semira.contract import Statement
from semira.ops import TypedOp

#: Runs an element-wise statement on two huge matrices.
Pair = Callable[[Statement, WideMatrix, WideMatrix], WideMatrix]


def _places(matrix: WideMatrix) -> tuple[Compressed, Array, Array]:
    """Return the matrix by rows, and the row and column where each entry stands."""
    stored = matrix.small.rows()
    rows = matrix.row_ids[stored.entry_majors()].astype(np.int64, copy=False)
    return stored, rows, matrix.col_ids[stored.indices].astype(np.int64, copy=False)


def unary(statement: Statement, args: list[Any], x: WideMatrix) -> WideMatrix | None:
    """Return apply or select of an operator that looks at positions; None for all else."""
    op = statement.operator
    if statement.op not in ("apply", "select") or not positions.looks_at_positions(op):
        return None
    stored, rows, cols = _places(x)
    if statement.op == "apply":
        call = apply.resolved(statement, args)[2]
        values = apply.at_positions(stored, rows, cols, call)
        return _with_values(x, stored, values, op)
    kept = select.at_positions(op, x.dtype, stored, rows, cols, thunk_of(op, args[1]))
    values = stored.values if stored.iso else stored.values[kept]
    small = rows_from_coo(
        (x.small.nrows, x.small.ncols), stored.entry_majors()[kept], stored.indices[kept],
        values, x.dtype, iso=stored.iso,
    )  # fmt: skip
    return replace(x, small=small)


def _with_values(x: WideMatrix, stored: Compressed, values: Array, op: TypedOp) -> WideMatrix:
    small: CpuMatrix = matrix_of(stored.replaced(values, iso=False), op.return_type)
    return replace(x, dtype=op.return_type, small=small)


def _as_values(x: WideMatrix, op: TypedOp, names: str) -> WideMatrix:
    """Return `x` with the results of `op` as values; rows and columns are called `names`."""
    stored, rows, cols = _places(x)
    values = positions.values_at(op, names, rows, cols)
    return _with_values(x, stored, np.asarray(values, op.return_type.array_dtype), op)


def product(
    statement: Statement, a: WideMatrix, b: WideMatrix
) -> tuple[Statement, WideMatrix, WideMatrix]:
    """Return a product of matrices without positions in its multiplication."""
    taking = positions.product(statement)
    if taking is None:
        return statement, a, b
    op = statement.operator.binaryop
    if taking.which == 1:
        return taking.statement, a, _as_values(b, op, taking.names)
    return taking.statement, _as_values(a, op, taking.names), b


def vector_product(statement: Statement, matrix: WideMatrix) -> tuple[Statement, WideMatrix]:
    """Return a product with a vector (in column 0, or row 0) likewise."""
    taking = positions.product(statement)
    if taking is None:
        return statement, matrix
    return taking.statement, _as_values(matrix, statement.operator.binaryop, taking.names)


def pairing(statement: Statement, a: WideMatrix, b: WideMatrix, pair: Pair) -> WideMatrix:
    """Return an element-wise result, by `pair`, without positions in its operator."""
    op = statement.operator
    if not positions.looks_at_positions(op):
        return pair(statement, a, b)
    names = positions.pair_names(op)
    join, meet = positions.join_and_meet(statement)
    if statement.op == "ewise_union":
        return pair(join, _as_values(a, op, names), _as_values(b, op, names))
    both = pair(meet, _as_values(a, op, names), b)
    return both if statement.op == "ewise_mult" else pair(join, pair(join, both, a), b)
