"""Source of kernels over entries: an operator at listed positions; scans and orders of segments."""

from __future__ import annotations

from semira.backends.cuda.jit.operators import (
    monoid_name,
    monoid_struct,
    operator_name,
    operator_struct,
)
from semira.base.dtypes import DataType
from semira.ops import TypedMonoid, TypedOp

#: Files of the templates.
LISTED, SEGMENTS = "matrix/listed.cuh", "matrix/segments.cuh"


def scan_source(monoid: TypedMonoid, dtype: DataType) -> str:
    """Return the source of the three kernels that scan values of `dtype` along segments."""
    add, held = monoid_name(monoid), dtype.cuda_type
    items = f"const {held}* items, const bool* heads, long long n"
    tiles = f"{monoid.type.cuda_type}* values, bool* fresh"
    return (
        f"{operator_struct(monoid.op)}{monoid_struct(monoid)}"
        f'extern "C" __global__ void __launch_bounds__(kScanThreads)\n'
        f"    semira_runs_tiles({items}, {tiles}) {{\n"
        f"  fold_run_tiles<{add}>(items, heads, n, values, fresh);\n}}\n"
        f'extern "C" __global__ void __launch_bounds__(kScanThreads)\n'
        f"    semira_runs_sums({tiles}, long long tiles) {{\n"
        f"  scan_run_tiles<{add}>(values, fresh, tiles);\n}}\n"
        f'extern "C" __global__ void __launch_bounds__(kScanThreads)\n'
        f"    semira_runs_items({items}, {tiles}, {monoid.type.cuda_type}* out) {{\n"
        f"  const KeepRuns<{monoid.type.cuda_type}> keep{{out}};\n"
        f"  scan_run_items<{add}>(items, heads, n, values, fresh, keep);\n}}\n"
    )


def order_source(op: TypedOp, dtype: DataType) -> str:
    """Return the source of the kernel that merges runs of values of `dtype`."""
    parameters = (
        f"const {dtype.cuda_type}* values, const long long* starts, const long long* lengths,\n"
        "    const long long* from, long long width, long long n, long long* to"
    )
    return (
        f"{operator_struct(op)}"
        f'extern "C" __global__ void semira_merge_runs({parameters}) {{\n'
        f"  merge_runs<{operator_name(op)}>(values, starts, lengths, from, width, n, to);\n}}\n"
    )


def listed_source(op: TypedOp, dtype: DataType, bound: DataType | None, *, left: bool) -> str:
    """Return the source of a kernel that applies `op` to values of `dtype`.

    `bound` is the dtype of the thunk or other operand, None without one; the left one if `left`.
    """
    name = operator_name(op)
    call = f"{name}::apply({_arguments(op, name, bound, left)})"
    return (
        f"{operator_struct(op)}"
        f'extern "C" __global__ void semira_listed(const void* values, long long stride,\n'
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
