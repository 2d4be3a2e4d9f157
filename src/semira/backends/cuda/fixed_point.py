"""Fixed points of products by min or max, in one launch without barriers (decision 40)."""

from __future__ import annotations

import ctypes
import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from semira.backends.cuda.jit.accumulation import accumulation
from semira.backends.cuda.jit.compile import named
from semira.backends.cuda.jit.operators import (
    monoid_struct,
    operator_struct,
    semiring_name,
    semiring_struct,
)
from semira.backends.cuda.runtime.device import Runtime
from semira.backends.cuda.runtime.kernel import Kernel
from semira.backends.cuda.runtime.objects import CudaMatrix, CudaVector
from semira.backends.cuda.runtime.primitives import Module, address, module_of
from semira.backends.cuda.runtime.transfer import put_vector
from semira.backends.cuda.runtime.waiting import SLEEP_S, SPIN_S, Interrupt
from semira.base.dtypes import DataType
from semira.formats import VectorArrays
from semira.ops import TypedSemiring

#: File of the templates, and the kernels.
ROOT = "fixed_point/free_running.cuh"
OPEN, RUN, CLOSE = "fixed_point_open", "fixed_point_run", "fixed_point_close"

#: Threads of a block of the launch without barriers (docs/decisions/0040).
THREADS = 256

#: Words of FixedControl (kernels/fixed_point/free_running.cuh); where `longest` lies, and how a
#: launch ended that has nothing open.
CONTROL_WORDS, LONGEST, DONE = 34, 32, 2

#: Blocks of a multiprocessor, the first of which fits with the waiting bits of its range.
BLOCKS = (4, 2, 1)

#: Rounds of a block before it gives up, by the size of the vector.
ROUNDS_EACH, ROUNDS = 4, 4096


@dataclass(slots=True)
class FixedPoints:
    """What was compiled, and how many blocks launches may have; of one backend."""

    blocks: int | None = None
    kernels: dict[tuple[str, str, int], Kernel] = field(default_factory=dict)

    def kernel(self, runtime: Runtime, source: str, offset: str, shared: int) -> Kernel:
        """Return the kernel that runs freely, with so much shared memory."""
        key = source, offset, shared
        if key not in self.kernels:
            code = runtime.compile(source, named("fixed_point", source), offset, ROOT)
            self.kernels[key] = runtime.load(
                code, named("fixed_point", source), RUN, THREADS, shared
            )
        return self.kernels[key]


def fixed_point(
    runtime: Runtime, kept: FixedPoints, vector: CudaVector, matrix: CudaMatrix,
    semiring: TypedSemiring, width: float, *, transposed: bool,
) -> tuple[CudaVector, int] | None:  # fmt: skip
    """Return the fixed point of ``w = w (+) w (+).(*) A`` from a vector, and the most rounds.

    None if there is no kernel, or if it gave up: values that never settle. The vector has the
    semiring's dtype and is not modified; `width` is that of the window, 0: none. Raises OutOfMemory
    if there is no room for the result.
    """
    if not has_kernel(semiring, matrix.dtype) or vector.size == 0:
        return None
    orientation = "csc" if transposed else "csr"
    matrix.need(orientation)
    offset = matrix.c_offset
    source = fixed_point_source(semiring, matrix.dtype)
    words = -(-vector.size // 32)
    layout = _layout(runtime, kept, source, offset, words)
    if layout is None:
        return None
    kernel, blocks, each = layout
    made = put_vector(runtime, VectorArrays.empty(vector.size, vector.dtype))
    dirty, nearest = runtime.allocate(4 * words), runtime.allocate(8 * blocks)
    control = runtime.zeroed(8 * CONTROL_WORDS)
    parts = [*matrix.orientations[orientation], 0 if matrix.iso else 1, *made.planes[0][:2]]
    pointers = [part if isinstance(part, int) else address(part) for part in parts]
    most = ROUNDS_EACH * vector.size + ROUNDS
    described = np.array(
        [*pointers, *map(address, (dirty, nearest, control)), vector.size, each, most, 0], np.int64
    )
    described[-1:] = np.array([width], np.float64).view(np.int64)
    problem = runtime.upload(described)
    module = module_of(runtime, ROOT, "fixed_point", source)
    first, second = vector.planes[0], vector.planes[-1]
    module.launch(
        offset, OPEN, vector.size, problem, first[0], first[1], second[0], second[1],
        vector.state, blocks,
    )  # fmt: skip
    with Interrupt() as interrupt:
        _launch(runtime, module, kernel, blocks, problem)
        _wait(runtime, control, interrupt)
    found = runtime.download(control, np.int64, CONTROL_WORDS)
    if int(found[0]) != DONE:
        made.release()
        return None
    module.launch(offset, CLOSE, vector.size, problem, made.state)
    return made, int(found[LONGEST])


def _layout(
    runtime: Runtime, kept: FixedPoints, source: str, offset: str, words: int
) -> tuple[Kernel, int, int] | None:
    """Return kernel, blocks and words of a block's range such that all are resident; or None."""
    for per_multiprocessor in BLOCKS:
        most = per_multiprocessor * runtime.multiprocessors
        if kept.blocks is not None:
            most = min(most, kept.blocks)
        blocks = max(2, min(most, words + 1))
        each = -(-words // (blocks - 1))
        # Powers of two: few variants are loaded.
        shared = 1 << max(7, (4 * each - 1).bit_length())
        kernel = kept.kernel(runtime, source, offset, shared)
        if kernel.fitting * runtime.multiprocessors >= blocks:
            return kernel, blocks, each
    return None


def _launch(runtime: Runtime, module: Module, kernel: Kernel, blocks: int, problem: Any) -> None:
    value = ctypes.c_int64(address(problem))
    place = ctypes.c_int64(ctypes.addressof(value))
    started = runtime.mark()
    runtime.launch(kernel, blocks, THREADS, ctypes.addressof(place), kernel.shared)
    if started is not None:
        runtime.note_launch(
            started, kernel.name, kernel.loaded, module, blocks, THREADS, kernel.shared
        )


def _wait(runtime: Runtime, control: Any, interrupt: Interrupt) -> None:
    """Wait for the launch; Ctrl-C makes it give up, and is raised by `Interrupt`."""
    runtime.statistics.synchronisations += 1
    started, is_told = time.perf_counter(), False
    while not runtime.is_idle():
        if interrupt.seen and not is_told:
            stop = runtime.pinned(1)
            stop[0] = 1
            runtime.poke(control, 0, stop)
            is_told = True
        if time.perf_counter() - started > SPIN_S:
            time.sleep(SLEEP_S)
    if is_told:
        runtime.side_stream.sync()


def has_kernel(semiring: TypedSemiring, matrix: DataType) -> bool:
    """Return whether the hardware takes the better one of two values at one place."""
    plain = matrix.kind in "BIUF" and semiring.monoid.type.kind in "IUF"
    return plain and accumulation(semiring.monoid).method in ("least", "greatest")


def fixed_point_source(semiring: TypedSemiring, matrix: DataType) -> str:
    """Return the source of the three kernels of a semiring and a dtype of matrices."""
    name = semiring_name(semiring, vector_first=True)
    structs = dict.fromkeys(
        (
            operator_struct(semiring.monoid.op), operator_struct(semiring.binaryop),
            monoid_struct(semiring.monoid), semiring_struct(semiring, vector_first=True),
        )
    )  # fmt: skip
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
