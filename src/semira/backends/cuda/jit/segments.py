"""Source of the kernels that scan, and order, values along segments of entries."""

from __future__ import annotations

from semira.backends.cuda.jit.operators import (
    monoid_name,
    monoid_struct,
    operator_name,
    operator_struct,
)
from semira.base.dtypes import DataType
from semira.ops import TypedMonoid, TypedOp

#: File of the templates.
ROOT = "matrix/segments.cuh"


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
