"""Kernels of a build that dtypes or operators enter."""

from __future__ import annotations

from typing import Any

from semira.backends.cuda.jit.operators import operator_name, operator_struct
from semira.backends.cuda.jit.render import BUILD
from semira.backends.cuda.runtime.device import Runtime
from semira.backends.cuda.runtime.primitives import module_of
from semira.base.dtypes import DataType
from semira.ops import TypedOp

#: Bytes of the largest value that lanes can pass to one another.
_SHUFFLED = 8


class Generated:
    """Kernels by their source, compiled when they are first asked for."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime

    def cast(self, given: DataType, wanted: DataType, values: Any, count: int, out: Any) -> None:
        """Write values of one dtype as those of another."""
        module = module_of(self._runtime, BUILD, "cast", cast_source(given, wanted))
        module.launch("int", "semira_cast", count, values, count, out)

    def fold(self, op: TypedOp, dtype: DataType, runs: int, count: int, *arguments: Any) -> None:
        """Fold runs of values; `arguments` are values, order, starts and the memory to fill."""
        module = module_of(self._runtime, BUILD, "fold", fold_source(op, dtype))
        values, order, starts, out = arguments
        module.launch("int", "semira_fold", runs, values, order, starts, runs, count, out)


def cast_source(given: DataType, wanted: DataType) -> str:
    """Return the kernel that casts values."""
    return (
        'extern "C" __global__ void semira_cast(const void* in, long long n, void* out) {\n'
        f"  cast_values<{wanted.cuda_type}, {given.cuda_type}>(in, n, out);\n}}\n"
    )


def fold_source(op: TypedOp, dtype: DataType) -> str:
    """Return the kernel that folds values of `dtype` with an operator.

    Long runs are shared out if the operator is a monoid's, and so may be regrouped.
    """
    regroups = getattr(op.parent, "monoid", None) is not None and op.type.itemsize <= _SHUFFLED
    return (
        f"{operator_struct(op)}"
        'extern "C" __global__ void semira_fold(const void* values, const long long* order,\n'
        "    const long long* starts, long long runs, long long n, void* out) {\n"
        f"  fold_runs<{operator_name(op)}, {str(regroups).lower()}, {dtype.cuda_type}>(\n"
        "      values, order, starts, runs, n, out);\n}\n"
    )
