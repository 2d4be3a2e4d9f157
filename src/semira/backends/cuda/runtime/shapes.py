"""Do the objects bound to a Program fit together? Kernels index without looking."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from semira.backends.cuda.runtime.objects import CudaMatrix, CudaVector
from semira.base.errors import DimensionMismatch
from semira.contract import Program, Statement, walk_statements


def check_shapes(program: Program, things: list[Any]) -> None:
    """Check every statement's operands against each other.

    Raises DimensionMismatch if two sizes that must agree do not; the message names the statement
    and both.
    """
    for number, statement in enumerate(walk_statements(program.body)):
        if isinstance(things[statement.out], CudaMatrix):
            _check_matrix(number, statement, things)
            continue
        if statement.op in ("vxm", "mxv"):
            _check_product(number, statement, things)
        elif statement.op in _CHECKS:
            _CHECKS[statement.op](number, statement, things)
        else:
            _check_alike(number, statement, things)
        if statement.mask is not None:
            mask, wanted = things[statement.mask.slot], things[statement.out].size
            if statement.op == "assign" and statement.param("submask"):
                wanted = _region_sizes(statement, things, things[statement.out])[0]
            _require(number, statement, "mask", mask.size, wanted)


def _check_product(number: int, statement: Statement, things: list[Any]) -> None:
    vector, matrix = statement.args if statement.op == "vxm" else statement.args[::-1]
    is_turned = (statement.op == "mxv") != matrix.transposed
    along, across = _shape(things[matrix.slot], transposed=is_turned)
    _require(number, statement, "vector", things[vector.slot].size, along)
    _require(number, statement, "output", things[statement.out].size, across)


def _check_alike(number: int, statement: Statement, things: list[Any]) -> None:
    out = things[statement.out]
    if not isinstance(out, CudaVector):
        return
    for arg in statement.args:
        if isinstance(things[arg.slot], CudaVector):
            _require(number, statement, "operand", things[arg.slot].size, out.size)


def _shape(thing: Any, *, transposed: bool = False) -> tuple[int, ...]:
    """Return a matrix' shape as it is used, a vector's, or () for a scalar."""
    if not isinstance(thing, (CudaMatrix, CudaVector)):
        return ()
    return thing.shape[::-1] if transposed else thing.shape


def _check_matrix(number: int, statement: Statement, things: list[Any]) -> None:
    """Check a statement that writes a matrix."""
    out = _shape(things[statement.out])
    shapes = [_shape(things[arg.slot], transposed=arg.transposed) for arg in statement.args]
    shapes = [shape for shape in shapes if shape]
    wanted = [out] * len(shapes)
    masked: tuple[int, ...] = out
    if statement.op == "mxm":
        inner = shapes[1][0]
        wanted = [(out[0], inner), (inner, out[1])]
    elif statement.param("by_value"):
        wanted = [out[:1]]
    elif statement.op == "diag":
        wanted = [(out[0] - abs(int(statement.param("k", 0))),)]
    elif statement.op == "extract":
        wanted = shapes
        sizes = tuple(_region_sizes(statement, things, things[statement.args[0].slot]))
        _require(number, statement, "output", out, sizes)
    elif statement.op == "assign":
        sizes = tuple(_region_sizes(statement, things, things[statement.out], is_written=True))
        wanted = [sizes] * len(shapes)
        masked = sizes if statement.param("submask") else out
    for shape, expected in zip(shapes, wanted, strict=True):
        _require(number, statement, "operand", shape, expected)
    if statement.mask is not None:
        _require(number, statement, "mask", _shape(things[statement.mask.slot]), masked)


def _region_sizes(
    statement: Statement, things: list[Any], indexed: Any, *, is_written: bool = False
) -> list[int]:
    """Return the length of the region along each axis that it keeps."""
    lengths = [*indexed.shape]
    if not is_written and isinstance(indexed, CudaMatrix) and statement.args[0].transposed:
        lengths.reverse()
    if not statement.indices:
        return lengths
    return [
        length if spec.slot is None else things[spec.slot].count
        for spec, length in zip(statement.indices, lengths, strict=True)
        if spec.kind != "one"
    ]


def _check_extract(number: int, statement: Statement, things: list[Any]) -> None:
    out = things[statement.out]
    if isinstance(out, CudaVector):
        sizes = _region_sizes(statement, things, things[statement.args[0].slot])
        _require(number, statement, "output", out.size, sizes[0])


def _check_assign(number: int, statement: Statement, things: list[Any]) -> None:
    given = things[statement.args[0].slot]
    if isinstance(given, CudaVector):
        size = things[statement.out].size
        spec = statement.indices[0] if statement.indices else None
        wanted = size if spec is None or spec.slot is None else things[spec.slot].count
        _require(number, statement, "operand", given.size, wanted)


def _check_gather(number: int, statement: Statement, things: list[Any]) -> None:
    _require(number, statement, "output", things[statement.out].size, _size(statement, things, 1))


def _check_scatter(number: int, statement: Statement, things: list[Any]) -> None:
    first, second = _size(statement, things, 0), _size(statement, things, 1)
    _require(number, statement, "index vector", second, first)


def _size(statement: Statement, things: list[Any], which: int) -> int:
    return int(things[statement.args[which].slot].size)


def _check_reduce_rows(number: int, statement: Statement, things: list[Any]) -> None:
    (arg,) = statement.args
    matrix = things[arg.slot]
    rows = matrix.ncols if arg.transposed else matrix.nrows
    _require(number, statement, "output", things[statement.out].size, rows)


def _check_mode_rows(number: int, statement: Statement, things: list[Any]) -> None:
    _check_reduce_rows(number, replace(statement, args=statement.args[:1]), things)
    matrix = things[statement.args[0].slot]
    columns = matrix.nrows if statement.args[0].transposed else matrix.ncols
    _require(number, statement, "vector of keys", _size(statement, things, 1), columns)
    if statement.param("prefers"):
        wanted = things[statement.out].size
        _require(number, statement, "vector of preferred keys", _size(statement, things, 2), wanted)


def _check_diag(number: int, statement: Statement, things: list[Any]) -> None:
    (arg,) = statement.args
    matrix, k = things[arg.slot], int(statement.param("k", 0))
    shape = _shape(matrix, transposed=arg.transposed)
    length = max(0, min(shape[0] - max(-k, 0), shape[1] - max(k, 0)))
    _require(number, statement, "output", things[statement.out].size, length)


_CHECKS = {
    "assign": _check_assign, "diag": _check_diag, "extract": _check_extract,
    "gather": _check_gather, "mode_rows": _check_mode_rows, "reduce_rows": _check_reduce_rows,
    "scatter": _check_scatter,
}  # fmt: skip


def _require(number: int, statement: Statement, what: str, found: Any, wanted: Any) -> None:
    if found != wanted:
        raise DimensionMismatch(
            f"statement {number} ({statement.op}): the {what} has size {found}, not {wanted}"
        )
