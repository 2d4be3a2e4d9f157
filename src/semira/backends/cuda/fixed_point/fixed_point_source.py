"""The kernels of a fixed point, as text: lines that call the templates."""

from __future__ import annotations

from semira.backends.cuda.jit.accumulation import accumulation
from semira.backends.cuda.jit.operators import (
    monoid_struct,
    operator_struct,
    semiring_name,
    semiring_struct,
)
from semira.base.dtypes import DataType
from semira.ops import TypedSemiring

#: File of the templates, and the kernels.
ROOT = "fixed_point/free_running.cuh"
OPEN, RUN, CLOSE = "fixed_point_open", "fixed_point_run", "fixed_point_close"

#: Threads of a block of the launch without barriers (docs/decisions/0040).
THREADS = 256


def has_kernel(semiring: TypedSemiring, matrix: DataType) -> bool:
    """Return whether the hardware takes the better one of two values at one place."""
    plain = matrix.kind in "BIUF" and semiring.monoid.type.kind in "IUF"
    return plain and accumulation(semiring.monoid).method in ("least", "greatest")


def fixed_point_source(semiring: TypedSemiring, matrix: DataType) -> str:
    """Return the source of the three kernels of a semiring and a dtype of matrices."""
    name = semiring_name(semiring, vector_first=True)
    structs = dict.fromkeys(
        (
            operator_struct(semiring.monoid.op),
            operator_struct(semiring.binaryop),
            monoid_struct(semiring.monoid),
            semiring_struct(semiring, vector_first=True),
        )
    )
    given = "const FixedProblem* problem"
    before = (
        "const void* from_first, const unsigned* first, const void* from_second, "
        "const unsigned* second, const VectorState* state, long long blocks"
    )
    return (
        f"{''.join(structs)}"
        f'extern "C" __global__ void {OPEN}({given}, {before}) {{\n'
        f"  open_values<{name}::Add>(*problem, from_first, first, from_second, second, state,\n"
        "                           blocks);\n}\n"
        f'extern "C" __global__ void __launch_bounds__({THREADS}, 4) {RUN}({given}) {{\n'
        "  const FixedProblem p = *problem;\n"
        f"  run_freely<{name}, {matrix.cuda_type}>(p);\n}}\n"
        f'extern "C" __global__ void {CLOSE}({given}, VectorState* state) {{\n'
        f"  close_values<{name}::Add>(*problem, state);\n}}\n"
    )
