"""Kronecker products: each entry of the result from one of either operand, where offsets say."""

from __future__ import annotations

import numpy as np

from semira.backends.companions import Companions
from semira.backends.cuda.jit.operators import operator_name, operator_struct
from semira.backends.cuda.runtime.companion_kinds import ENTRY_ROWS
from semira.backends.cuda.runtime.device import Runtime
from semira.backends.cuda.runtime.objects import CudaMatrix
from semira.backends.cuda.runtime.primitives import OFFSET_BYTES, address, module_of, offset_type_of
from semira.backends.cuda.runtime.room import require
from semira.backends.cuda.runtime.transfer import put_matrix
from semira.base.dtypes import DataType
from semira.formats import MatrixArrays
from semira.ops import TypedOp

#: File of the template, and the kernel.
ROOT, KERNEL = "matrix/kronecker.cuh", "semira_kronecker"

_ENTRIES = ("indptr", "indices", "values", "rows")


def kronecker_source(op: TypedOp, left: DataType, right: DataType) -> str:
    """Return the source of the kernel that pairs entries of these dtypes by `op`."""
    parameters = ",\n    ".join(
        f"{', '.join(f'void* {name}_{part}' for part in _ENTRIES)}, long long {name}_nrows, "
        f"long long {name}_most, long long {name}_stride"
        for name in "ab"
    )
    declared = "".join(
        f"  const Entries<{dtype.cuda_type}> {name}(EntriesDescriptor{{"
        f"{', '.join(f'{name}_{part}' for part in (*_ENTRIES, 'nrows', 'most', 'stride'))}}});\n"
        for name, dtype in (("a", left), ("b", right))
    )
    asks_column = str(op.name.startswith("first")).lower()
    return (
        f"{operator_struct(op)}"
        f'extern "C" __global__ void {KERNEL}(\n    {parameters},\n'
        "    long long columns_of_b, Offset* indptr, Index* indices, Index* rows, void* values) {\n"
        f"{declared}"
        f"  kronecker<{operator_name(op)}, {asks_column}>(\n"
        "      a, b, a_nrows, b_nrows, columns_of_b, Written{indptr, indices, rows, values});\n"
        "}\n"
    )


def kronecker(
    runtime: Runtime, sides: tuple[tuple[CudaMatrix, bool], tuple[CudaMatrix, bool]], op: TypedOp
) -> CudaMatrix:
    """Return the Kronecker product of two matrices; waits where their sizes are not known.

    Each of `sides` comes with whether it is transposed. Raises OutOfMemory if the result does not
    fit; nothing was allocated for it.
    """
    (a, _), (b, _) = sides
    shapes = [_shape(*side) for side in sides]
    shape = (shapes[0][0] * shapes[1][0], shapes[0][1] * shapes[1][1])
    count, dtype = a.nvals * b.nvals, op.return_type
    if count == 0:
        return put_matrix(runtime, MatrixArrays.empty(*shape, dtype))
    kind = "long long" if a.is_wide or b.is_wide else offset_type_of(count)
    widths = (OFFSET_BYTES[kind] * (shape[0] + 1), 4 * count, 4 * count, dtype.itemsize * count)
    require(runtime, sum(widths), f"a Kronecker product of {count} entries")
    given = [word for side in sides for word in _words(*side, is_wide=kind != "int")]
    indptr, indices, rows, values = (runtime.allocate(width) for width in widths)
    source = kronecker_source(op, a.dtype, b.dtype)
    module_of(runtime, ROOT, "kronecker", source).launch(
        kind, KERNEL, max(count, shape[0] + 1), *given, shapes[1][1], indptr, indices, rows, values
    )
    offset_type = np.dtype(np.int32 if kind == "int" else np.int64)
    return CudaMatrix(
        runtime, *shape, count, dtype, False, None, {"csr": (indptr, indices, values)}, offset_type,
        companions=Companions({(ENTRY_ROWS, "csr"): rows}),
    )  # fmt: skip


def _shape(matrix: CudaMatrix, transposed: bool) -> tuple[int, int]:
    return matrix.sides("csc" if transposed else "csr")


def _words(matrix: CudaMatrix, transposed: bool, *, is_wide: bool) -> list[int]:
    """Return the words of an EntriesDescriptor of a matrix, or of its transpose."""
    if is_wide:
        matrix.widen()
    orientation = "csc" if transposed else "csr"
    matrix.need(orientation)
    parts = (*matrix.orientations[orientation], matrix.entry_rows(orientation))
    nrows = _shape(matrix, transposed)[0]
    return [*map(address, parts), nrows, matrix.most, 0 if matrix.iso else 1]
