"""Operators on positions, for matrices whose rows and columns are renumbered.

A kernel that sees renumbered positions would compute with the wrong ones. A multiplication that
returns a position depends on one operand's entry alone (``i`` and ``k`` on the first, ``k`` and
``j`` on the second): that operand takes its positions as values, and the multiplication becomes
``first`` or ``second``. Unary and index-unary operators are handed the positions as lists.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from semira.backends.cpu.codegen import names_in
from semira.backends.cpu.host import apply, select
from semira.backends.cpu.host.assign import rows_from_coo
from semira.backends.cpu.masks import thunk_of
from semira.backends.cpu.storage import Array, Compressed, CpuMatrix, WideMatrix, matrix_of
from semira.base.errors import NotImplementedException
from semira.contract import Statement
from semira.ops import TypedOp
from semira.ops.registry import binary

#: Runs an element-wise statement on two huge matrices.
Pair = Callable[[Statement, WideMatrix, WideMatrix], WideMatrix]


def _places(matrix: WideMatrix) -> tuple[Compressed, Array, Array]:
    """Return the matrix by rows, and the row and column where each entry stands."""
    stored = matrix.small.rows()
    rows = matrix.row_ids[stored.entry_majors()].astype(np.int64, copy=False)
    return stored, rows, matrix.col_ids[stored.indices].astype(np.int64, copy=False)


def _looks_at_positions(op: TypedOp) -> bool:
    return not names_in(op.python).isdisjoint(("i", "j", "k"))


def unary(statement: Statement, args: list[Any], x: WideMatrix) -> WideMatrix | None:
    """Return apply or select of an operator that looks at positions; None for all else."""
    op = statement.operator
    if statement.op not in ("apply", "select") or not _looks_at_positions(op):
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


def _check(op: TypedOp) -> str:
    """Return the one position that a multiplication is a function of."""
    names = names_in(op.python) & {"i", "k", "j"}
    if op.reads_a or op.reads_b or len(names) != 1:
        raise NotImplementedException(
            f"{op} of values and positions on a matrix with a dimension of 2**31 or more (or a "
            "hypersparse one); multiply with an operator on values alone or on one position"
        )
    return str(next(iter(names)))


def _as_values(x: WideMatrix, op: TypedOp, names: str) -> WideMatrix:
    """Return `x` with the results of `op` as values; rows and columns are called `names`."""
    stored, rows, cols = _places(x)
    zero = np.zeros(stored.nvals, np.int64)
    here = {"i": zero, "k": zero, "j": zero} | {names[0]: rows, names[1]: cols}
    values = op.scalar_function(0, 0, here["i"], here["k"], here["j"])
    return _with_values(x, stored, np.asarray(values, op.return_type.array_dtype), op)


def _taking(statement: Statement, side: str) -> Statement:
    """Return the statement with ``first`` or ``second`` as its multiplication."""
    semiring = statement.operator
    taking = binary[side].typed(semiring.binaryop.return_type)
    return replace(statement, operator=replace(semiring, binaryop=taking))


def product(
    statement: Statement, a: WideMatrix, b: WideMatrix
) -> tuple[Statement, WideMatrix, WideMatrix]:
    """Return a product of matrices without positions in its multiplication."""
    op = statement.operator.binaryop
    if not _looks_at_positions(op):
        return statement, a, b
    if _check(op) == "j":
        return _taking(statement, "second"), a, _as_values(b, op, "kj")
    return _taking(statement, "first"), _as_values(a, op, "ik"), b


def vector_product(statement: Statement, matrix: WideMatrix) -> tuple[Statement, WideMatrix]:
    """Return a product with a vector (in column 0, or row 0) likewise."""
    op = statement.operator.binaryop
    if not _looks_at_positions(op):
        return statement, matrix
    _check(op)
    if statement.op == "mxv":
        return _taking(statement, "first"), _as_values(matrix, op, "ik")
    return _taking(statement, "second"), _as_values(matrix, op, "kj")


def pairing(statement: Statement, a: WideMatrix, b: WideMatrix, pair: Pair) -> WideMatrix:
    """Return an element-wise result, by `pair`, without positions in its operator."""
    op = statement.operator
    if not _looks_at_positions(op):
        return pair(statement, a, b)
    _check(op)
    # Both entries stand at (i, j): k is the column of the first, the row of the second.
    names = "kj" if op.parent.name.startswith("second") else "ik"
    first = binary["first"].typed(op.return_type)
    meet = replace(statement, op="ewise_mult", operator=first, args=statement.args[:2])
    join = replace(meet, op="ewise_add")
    if statement.op == "ewise_union":
        return pair(join, _as_values(a, op, names), _as_values(b, op, names))
    both = pair(meet, _as_values(a, op, names), b)
    return both if statement.op == "ewise_mult" else pair(join, pair(join, both, a), b)
