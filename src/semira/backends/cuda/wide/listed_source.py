"""The kernel of an operator over entries whose positions stand in lists."""

from __future__ import annotations

from semira.backends.cuda.jit.operators import operator_name, operator_struct
from semira.base.dtypes import DataType
from semira.ops import TypedOp

#: File of the template, and the kernel.
ROOT, KERNEL = "matrix/listed.cuh", "semira_listed"


def listed_source(op: TypedOp, dtype: DataType, bound: DataType | None, *, left: bool) -> str:
    """Return the source of a kernel that applies `op` to values of `dtype`.

    `bound` is the dtype of the thunk or other operand, None without one; the left one if `left`.
    """
    name = operator_name(op)
    call = f"{name}::apply({_arguments(op, name, bound, left)})"
    return (
        f"{operator_struct(op)}"
        f'extern "C" __global__ void {KERNEL}(const void* values, long long stride,\n'
        "    const long long* rows, const long long* columns, const void* other, long long n,\n"
        "    void* out) {\n"
        f"  const auto call = [=]({dtype.cuda_type} a, long long i, long long j) {{\n"
        f"    return {call};\n"
        "  };\n"
        f"  using A = {dtype.cuda_type};\n"
        f"  map_listed<{name}::R, A>(call, values, stride, rows, columns, n, out);\n"
        "}\n"
    )


def _arguments(op: TypedOp, name: str, bound: DataType | None, left: bool) -> str:
    """Return what an operator is called with at entry (i, j)."""
    value = f"cast<{name}::T>(a)"
    if bound is None:
        return f"{value}, i, j"
    cell = f"*static_cast<const {bound.cuda_type}*>(other)"
    if op.opclass != "BinaryOp":
        return f"{value}, i, j, cast<{name}::Thunk>({cell})"
    other = f"cast<{name}::T>({cell})"
    # Both operands have the entry at (i, j): k is the column of the first, the row of the second.
    k = "i" if op.parent.name.startswith("second") else "j"
    pair = f"{other}, {value}" if left else f"{value}, {other}"
    return f"{pair}, i, {k}, j"
