"""Statements on matrices of huge shapes: nothing may be allocated per row or column.

A `WideMatrix` lists the rows and columns in use and holds an ordinary matrix over them. Operands
are brought to common lists, the ordinary code runs on the small problem, and its result stands for
positions on the lists again: O(entries log entries) on top of the ordinary work, no kernel of its
own. Operators that look at positions take them from the lists (`host.wide_positions`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from semira.backends.cpu.exchange import expanded
from semira.backends.cpu.host import wide_positions
from semira.backends.cpu.host.update import Result
from semira.backends.cpu.host.wide import narrowed_vector, widened
from semira.backends.cpu.host.wide_assign import assign
from semira.backends.cpu.host.wide_lists import (
    as_wide,
    renumbered,
    settled_matrix,
)
from semira.backends.cpu.storage import (
    CpuMatrix,
    CpuVector,
    WideMatrix,
    empty_matrix,
    sparse_vector,
    to_sparse,
)
from semira.backends.interpreter import KernelSet, MaskData, Produced
from semira.backends.renumbering.lists import checked, joined_ids, located
from semira.base.dtypes import INT64
from semira.base.errors import NotImplementedException, OutOfMemory
from semira.contract import Arg, Method, Statement
from semira.formats import ScalarArrays, index_dtype
from semira.formats.index import WIDE

DIRECT = Method("direct")


def _fits(operands: list[Any]) -> bool:
    """Whether some matrix is ordinary and none too large to be made so."""
    matrices = [x for x in operands if isinstance(x, (CpuMatrix, WideMatrix))]
    if any(max(x.nrows, x.ncols) >= WIDE for x in matrices):
        return False
    return any(type(x) is CpuMatrix for x in matrices)


def _opened(x: Any) -> Any:
    return expanded(x) if type(x) is WideMatrix else x


def _opened_mask(mask: MaskData | None) -> MaskData | None:
    return None if mask is None else replace(mask, data=_opened(mask.data))


def compute(
    kernels: KernelSet, statement: Statement, args: list[Any], mask: MaskData | None, out: Any
) -> Produced:
    """Return the result of a statement on huge matrices, before accumulation.

    Raises
    ------
    OutOfMemory
        The result would have an entry per row or column.
    NotImplementedException
        An operator of values and positions at once.
    """
    # An assign into a huge matrix stays one, however small the operand.
    written = statement.op == "assign" and type(out) is WideMatrix
    if not written and _fits([*args, *([] if mask is None else [mask.data])]):
        args = [_opened(arg) for arg in args]
        return kernels.compute(statement, DIRECT, args, _opened_mask(mask), _opened(out))
    operation: Callable[..., Produced] = _OPERATIONS.get(statement.op, _unary)
    return operation(kernels, statement, args, mask, out)


def finish(
    kernels: KernelSet, statement: Statement, result: Result, mask: MaskData | None, out: Any
) -> CpuMatrix | WideMatrix:
    """Return a matrix output's new data; see `KernelSet.finish`."""
    if _fits([result.data, *([] if mask is None else [mask.data])]):
        data = replace(result, data=_opened(result.data))
        made: CpuMatrix = kernels.finish(statement, data, _opened_mask(mask), _opened(out), None)
        return made
    new, old = as_wide(result.data), as_wide(out)
    rows, cols = joined_ids(np, new.row_ids, old.row_ids), joined_ids(np, new.col_ids, old.col_ids)
    small = kernels.finish(
        statement,
        replace(result, data=renumbered(new, rows, cols)),
        _narrowed_mask(mask, rows, cols),
        renumbered(old, rows, cols),
        None,
    )
    return settled_matrix(WideMatrix(out.nrows, out.ncols, out.dtype, rows, cols, small))


def count(name: str, statement: Statement, args: list[Any], out: Any) -> float:
    """Return a bound for one of `contract.rule.COUNTS`; every method costs the same here."""
    vector = args[1 if statement.op == "mxv" else 0]
    matrix = args[0 if statement.op == "mxv" else 1]
    bounds = {"n": vector, "rows": out, "open_rows": out}
    if name == "block":
        # Too many vectors for anything to be weighed.
        return float("inf")
    if name in bounds:
        given = bounds[name]
        return float(given.size if isinstance(given, CpuVector) else given.nrows)
    return float(vector.nvals if name == "frontier" else matrix.nvals)


def _narrowed_mask(mask: MaskData | None, rows: Any, cols: Any) -> MaskData | None:
    """Return a mask over the listed positions alone: nothing else is written."""
    if mask is None:
        return None
    if isinstance(mask.data, CpuVector):
        return replace(mask, data=narrowed_vector(mask.data, rows))
    return replace(mask, data=renumbered(as_wide(mask.data), rows, cols))


def _plain(statement: Statement) -> Statement:
    """Return the statement with its transposes taken care of, and nothing to accumulate yet."""
    return replace(statement, args=tuple(Arg(arg.slot) for arg in statement.args), accum=None)


def _operand(statement: Statement, args: list[Any], at: int) -> WideMatrix:
    given = as_wide(args[at])
    return given.transposed() if statement.args[at].transposed else given


def _back(produced: Produced, rows: Any, cols: Any, out: Any) -> Produced:
    """Return a result over the lists `rows` (and `cols`) numbered back."""
    result = produced.data
    data = result.data
    if isinstance(data, CpuVector):
        data = widened(data, rows, out.size)
    elif isinstance(data, CpuMatrix):
        data = WideMatrix(out.nrows, out.ncols, data.dtype, rows, cols, data)
    return Produced(replace(result, data=data, shared=False), produced.touched)


def _unary(
    kernels: KernelSet, statement: Statement, args: list[Any], mask: MaskData | None, out: Any
) -> Produced:
    """apply, select, select_k, copy, reduce, reduce_rows, nvals: entry by entry, row by row."""
    del mask
    at = next(at for at, arg in enumerate(args) if isinstance(arg, (CpuMatrix, WideMatrix)))
    x = _operand(statement, args, at)
    placed = wide_positions.unary(statement, args, x)
    if placed is not None:
        return Produced(Result(placed))
    given = [x.small if number == at else arg for number, arg in enumerate(args)]
    small_out: Any = out
    if isinstance(out, CpuVector):
        small_out = _short(len(x.row_ids), out)
    elif not isinstance(out, ScalarArrays):
        small_out = empty_matrix(len(x.row_ids), len(x.col_ids), out.dtype)
    produced = kernels.compute(_plain(statement), DIRECT, given, None, small_out)
    return _back(produced, x.row_ids, x.col_ids, out)


def _short(size: int, like: CpuVector) -> CpuVector:
    return sparse_vector(
        size, like.dtype, np.empty(0, index_dtype(size)), np.empty(0, like.dtype.array_dtype)
    )


def _mode(
    kernels: KernelSet, statement: Statement, args: list[Any], mask: MaskData | None, out: Any
) -> Produced:
    """mode_rows: keys are looked up at the columns in use, preferred ones at the rows."""
    del mask
    x = _operand(statement, args, 0)
    if statement.param("draws"):
        raise NotImplementedException(
            "mode_rowwise with a seed draws by row number, which the cpu backend has for fewer "
            f"than 2**31 rows and columns alone; this matrix has shape ({out.size}, "
            f"{args[1].size}): leave the seed out"
        )
    ends = (x.col_ids, x.row_ids)
    vectors = [narrowed_vector(u, ids) for u, ids in zip(args[1:], ends, strict=False)]
    small_out = _short(len(x.row_ids), out)
    produced = kernels.compute(_plain(statement), DIRECT, [x.small, *vectors], None, small_out)
    return _back(produced, x.row_ids, x.col_ids, out)


def _mxm(
    kernels: KernelSet, statement: Statement, args: list[Any], mask: MaskData | None, out: Any
) -> Produced:
    """Return a product of matrices: columns of A meet rows of B only where both are in use."""
    a, b = _operand(statement, args, 0), _operand(statement, args, 1)
    statement, a, b = wide_positions.product(_plain(statement), a, b)
    inner = np.intersect1d(a.col_ids, b.row_ids, assume_unique=True)
    produced = kernels.compute(
        statement,
        DIRECT,
        [renumbered(a, a.row_ids, inner), renumbered(b, inner, b.col_ids)],
        _narrowed_mask(mask, a.row_ids, b.col_ids),
        empty_matrix(len(a.row_ids), len(b.col_ids), out.dtype),
    )
    return _back(produced, a.row_ids, b.col_ids, out)


def _mxv(
    kernels: KernelSet, statement: Statement, args: list[Any], mask: MaskData | None, out: Any
) -> Produced:
    """Return a product with a vector: looked up at the columns (rows) in use."""
    at = 0 if statement.op == "mxv" else 1
    matrix = _operand(statement, args, at)
    statement, matrix = wide_positions.vector_product(_plain(statement), matrix)
    ends = (matrix.row_ids, matrix.col_ids) if at == 0 else (matrix.col_ids, matrix.row_ids)
    vector = narrowed_vector(args[1 - at], ends[1])
    produced = kernels.compute(
        statement,
        DIRECT,
        [matrix.small, vector] if at == 0 else [vector, matrix.small],
        _narrowed_mask(mask, ends[0], None),
        _short(len(ends[0]), out),
    )
    return _back(produced, ends[0], None, out)


def _ewise(
    kernels: KernelSet, statement: Statement, args: list[Any], mask: MaskData | None, out: Any
) -> Produced:
    del mask
    a, b = _operand(statement, args, 0), _operand(statement, args, 1)
    rows, cols = joined_ids(np, a.row_ids, b.row_ids), joined_ids(np, a.col_ids, b.col_ids)

    def pair(step: Statement, left: WideMatrix, right: WideMatrix) -> WideMatrix:
        both = [renumbered(left, rows, cols), renumbered(right, rows, cols)]
        small_out = empty_matrix(len(rows), len(cols), out.dtype)
        produced = kernels.compute(step, DIRECT, [*both, *args[2:]], None, small_out)
        data: WideMatrix = _back(produced, rows, cols, out).data.data
        return data

    return Produced(Result(wide_positions.pairing(_plain(statement), a, b, pair)))


def _by_value(kernels: KernelSet, statement: Statement, vector: CpuVector, out: Any) -> Produced:
    """Return true entries at the columns that the values name, which are numbered before."""
    values = checked(vector.entry_values()[0][: vector.nvals], out.ncols, "one_hot value")
    columns, numbers = np.unique(values, return_inverse=True)
    short = CpuVector(vector.nvals, INT64, "full", numbers.astype(np.int64), iso=vector.iso)
    small_out = empty_matrix(vector.nvals, len(columns), out.dtype)
    produced = kernels.compute(statement, DIRECT, [short], None, small_out)
    assert vector.indices is not None
    return _back(produced, vector.indices.astype(np.int64), columns.astype(np.int64), out)


def _diag(
    kernels: KernelSet, statement: Statement, args: list[Any], mask: MaskData | None, out: Any
) -> Produced:
    """Return the k-th diagonal, entry by entry."""
    del mask
    k = int(statement.param("k", 0))
    down, right = max(-k, 0), max(k, 0)
    if isinstance(args[0], CpuVector):
        if args[0].indices is None and args[0].size >= WIDE:
            raise OutOfMemory(
                f"a diagonal of {args[0].size} entries (limit: fewer than 2**31); "
                "use a vector without an entry at every position"
            )
        vector = to_sparse(args[0])
        assert vector.indices is not None
        if statement.param("by_value"):
            return _by_value(kernels, statement, vector, out)
        count = vector.nvals
        zero = replace(statement, params=(("k", 0),))
        short = CpuVector(count, vector.dtype, "full", vector.values, iso=vector.iso)
        produced = kernels.compute(
            zero, DIRECT, [short], None, empty_matrix(count, count, out.dtype)
        )
        ids = vector.indices.astype(np.int64)
        return _back(produced, ids + down, ids + right, out)
    x = _operand(statement, args, 0)
    stored = x.small.rows()
    rows = x.row_ids[stored.entry_majors()].astype(np.int64)
    here = np.flatnonzero(x.col_ids[stored.indices] - rows == k)
    values = stored.values if stored.iso else stored.values[here]
    indices = (rows[here] - down).astype(index_dtype(out.size), copy=False)
    return Produced(Result(sparse_vector(out.size, x.dtype, indices, values, iso=stored.iso)))


def _extract(
    kernels: KernelSet, statement: Statement, args: list[Any], mask: MaskData | None, out: Any
) -> Produced:
    """Return a region: of each axis only the listed positions that the indices name."""
    del mask
    x = _operand(statement, args, 0)
    row_numbers, row_places = located(np, args[1], x.row_ids, x.nrows)
    col_numbers, col_places = located(np, args[2], x.col_ids, x.ncols)
    numbers = row_numbers
    small_out: Any = out
    if isinstance(out, CpuVector):
        numbers = col_numbers if statement.indices[0].kind == "one" else row_numbers
        small_out = _short(len(numbers), out)
    elif not isinstance(out, ScalarArrays):
        small_out = empty_matrix(len(row_numbers), len(col_numbers), out.dtype)
    produced = kernels.compute(
        _plain(statement), DIRECT, [x.small, row_places, col_places], None, small_out
    )
    return _back(produced, numbers, col_numbers, out)


def _assign(
    kernels: KernelSet, statement: Statement, args: list[Any], mask: MaskData | None, out: Any
) -> Produced:
    x = args[0]
    if isinstance(x, (CpuMatrix, WideMatrix)):
        x = _operand(statement, args, 0)
    plain = replace(_plain(statement), accum=statement.accum)
    problem = assign(plain, x, args[1:], mask, as_wide(out))
    produced = kernels.compute(problem.statement, DIRECT, problem.args, problem.mask, problem.out)
    small = kernels.finish(problem.statement, produced.data, problem.mask, problem.out, None)
    made = WideMatrix(out.nrows, out.ncols, out.dtype, problem.rows, problem.cols, small)
    return Produced(Result(settled_matrix(made), final=True))


_OPERATIONS: dict[str, Callable[..., Produced]] = {
    "mxm": _mxm,
    "mxv": _mxv,
    "vxm": _mxv,
    "mode_rows": _mode,
    "ewise_add": _ewise,
    "ewise_mult": _ewise,
    "ewise_union": _ewise,
    "diag": _diag,
    "extract": _extract,
    "assign": _assign,
}
