"""The cuda backend: the contract's eight calls."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

from semira.backends.cuda import array_kernels
from semira.backends.cuda.build import build, export, joined
from semira.backends.cuda.fixed_point import FixedPoints, fixed_point
from semira.backends.cuda.hosted import HostedExecutable, execute_hosted, is_hosted, prepare_hosted
from semira.backends.cuda.jit.compile import can_be_quick, expect, named
from semira.backends.cuda.lower import LaunchShape, lower_program
from semira.backends.cuda.lower.context import check_dtype
from semira.backends.cuda.own_launches import OwnExecutable, execute_own, is_own, prepare_own
from semira.backends.cuda.preview import phases_of
from semira.backends.cuda.rearrange.kronecker import kronecker
from semira.backends.cuda.runtime.bundle import put_together
from semira.backends.cuda.runtime.copies import COPIES
from semira.backends.cuda.runtime.device import Runtime, Statistics
from semira.backends.cuda.runtime.executable import CudaExecutable
from semira.backends.cuda.runtime.free_memory import free_bytes
from semira.backends.cuda.runtime.kernel_choice import MANY
from semira.backends.cuda.runtime.launch import execute
from semira.backends.cuda.runtime.objects import CudaMatrix, CudaObject, CudaVector, check_alive
from semira.backends.cuda.runtime.primitives import array_library
from semira.backends.cuda.runtime.profile import Profile
from semira.backends.cuda.runtime.scalars import CudaScalar
from semira.backends.cuda.runtime.transfer import (
    get_scalar,
    get_vector,
    put_matrix,
    put_scalar,
    put_vector,
)
from semira.backends.cuda.staged import (
    StagedExecutable,
    execute_staged,
    is_staged,
    is_summed,
    prepare_staged,
)
from semira.backends.cuda.wide.store import CudaStore
from semira.backends.renumbering import exchange
from semira.backends.renumbering.objects import WideObject
from semira.backends.renumbering.programs import run_program
from semira.backends.renumbering.rearrangements import rearrange
from semira.base import locks
from semira.base.errors import InvalidValue, NotImplementedException
from semira.contract import COLUMNS, INTERSECTIONS, Backend, Capabilities, Preview, Program
from semira.contract.array_kernels import KernelText, Launch
from semira.contract.backend import Arrays, Binding, Outcome
from semira.contract.rearrange import Rearranged, Rearrangement
from semira.formats import RawArrays, ScalarArrays, VectorArrays
from semira.ops import TypedOp, TypedSemiring

_is_finalizing = sys.is_finalizing

#: What the backend hands out.
Handle = CudaObject | WideObject

#: What it prepares programs to.
Prepared = CudaExecutable | StagedExecutable | OwnExecutable | HostedExecutable

_DIRECT = (
    "ewise_add", "ewise_mult", "apply", "select", "assign", "copy", "reduce", "nvals", "extract",
    "gather", "scatter", "reduce_rows", "mode_rows", "diag", "select_k",
)  # fmt: skip

#: What its kernels can do; known without a GPU.
CAPABILITIES = Capabilities(
    "cuda",
    frozenset(
        {(op, method) for op in ("vxm", "mxv") for method in ("push", "pull")}
        | {(op, "direct") for op in _DIRECT}
        | {("mxm", "dot"), ("mxm", "hash"), ("mxm", "pull")}
    ),
    balances=frozenset(
        {("push", balance) for balance in ("edges", "thread", "warp", "block", "positions")}
        | {("pull", balance) for balance in ("edges", "rows", "thread", "warp", "block")}
        | {("hash", balance) for balance in ("edges", "rows", "thread", "pieces")}
    ),
    queues=frozenset({("push", "global"), ("push", "block")}),
    parts="cuda",
    walks_columns=True,
    unordered=frozenset({("vxm", "push"), ("mxv", "push"), ("mxm", COLUMNS)}),
    intersections=frozenset(INTERSECTIONS),
    own_memory=True,
    solo=True,
    many_threads=True,
    choice_costs=True,
    counts_products=True,
    reads_full=True,
)


#: How it would run programs, which needs neither GPU nor compiler.
PREVIEW = Preview(CAPABILITIES, phases_of)


class CudaBackend:
    """GraphBLAS on one NVIDIA GPU."""

    name = "cuda"

    def __init__(self) -> None:
        self.runtime = Runtime()
        #: Blocks of every launch; None: as many as fit and are worth it. A testing aid.
        self.blocks: int | None = None
        #: Block size and occupancy of programs prepared from now on; None: by what they do.
        self.shape: LaunchShape | None = None
        #: What objects with a side of 2**31 or more are made of.
        self.store = CudaStore(self, self.runtime)  # type: ignore[arg-type]
        self._fixed_points = FixedPoints()
        self._lock = locks.rlock()

    def capabilities(self) -> Capabilities:
        """Return what the backend can do."""
        return CAPABILITIES

    def expect(self, algorithm: str, dtype: str, entries: int) -> None:
        """Note which algorithm runs next; see `DeviceBackend.expect`."""
        expect(algorithm, dtype, is_small=entries < MANY)

    def describe(self) -> dict[str, str]:
        """Return the names of GPU and driver, for records of measurements."""
        return self.runtime.describe()

    def statistics(self) -> Statistics:
        """Return how often the host waited, launched, uploaded and compiled so far."""
        return replace(self.runtime.statistics)

    @contextmanager
    def profiled(self) -> Iterator[Profile]:
        """Measure every launch inside of the block by events; read after the block has waited."""
        profile = self.runtime.open_profile()
        try:
            yield profile
            # Not `synchronise`, which counts: the block's own waits are what callers look at.
            self.runtime.stream.sync()
        finally:
            self.runtime.profile = None

    def array_module(self) -> Any:
        """Return CuPy: what checks results on the device, by other means than the kernels here."""
        return array_library()

    def put(self, arrays: Arrays | RawArrays) -> Handle:
        """Copy arrays to the device; raw ones are checked and built there.

        Raises NotImplementedException for values of more than 1,024 bytes, and OutOfMemory if they
        do not fit.
        """
        with self._lock:
            self.runtime.check_process()
            if isinstance(arrays, RawArrays):
                return build(self.runtime, arrays)
            check_dtype(arrays.dtype)
            if isinstance(arrays, ScalarArrays):
                return put_scalar(self.runtime, arrays)
            if exchange.is_huge(self.store, arrays):
                with self.store.stream():
                    return exchange.from_arrays(self.store, arrays)
            if isinstance(arrays, VectorArrays):
                vector = put_vector(self.runtime, arrays)
                # Here alone: elsewhere somebody fills it himself.
                vector.is_new = not arrays.nvals
                return vector
            return put_matrix(self.runtime, arrays)

    def put_all(self, listed: Sequence[Arrays]) -> list[Handle]:
        """Copy several new objects to the device, small ones in one copy; raises as `put` does."""
        with self._lock:
            self.runtime.check_process()
            together = put_together(self.runtime, listed)
            return [self.put(arrays) for arrays in listed] if together is None else together

    def get(self, handle: Handle) -> Arrays:
        """Copy an object to the host; waits for the device."""
        with self._lock:
            self.runtime.check_process()
            if isinstance(handle, WideObject):
                with self.store.stream():
                    return exchange.to_arrays(self.store, handle)
            check_alive(handle)
            if isinstance(handle, CudaVector):
                return get_vector(handle)
            if isinstance(handle, CudaMatrix):
                return handle.download()
            return get_scalar(handle)

    def export(self, handle: Handle, layout: str, **options: Any) -> RawArrays:
        """Return an object's entries as CuPy arrays, ordered with CuPy's current stream.

        `options` are those of `build.export`.
        """
        with self._lock:
            self.runtime.check_process()
            if isinstance(handle, CudaScalar):
                raise InvalidValue("a scalar has no arrays; read its value")
            if isinstance(handle, WideObject):
                raise NotImplementedException(
                    f"a {handle.kind} with a side from 2**31 on has no arrays to share on the GPU; "
                    "leave `device` out, which copies them to the host"
                )
            check_alive(handle)
            return export(self.runtime, handle, layout, **options)

    def convert(self, handle: Handle, layout: str) -> Handle:
        """Return a copy, or make an orientation of a matrix resident.

        Vectors hold every storage at once: ``sparse``, ``bitmap`` and ``full`` are always there.
        """
        with self._lock:
            self.runtime.check_process()
            if isinstance(handle, WideObject):
                return exchange.converted(self.store, handle, layout)
            check_alive(handle)
            if layout == "copy":
                return handle.duplicate()
            if isinstance(handle, CudaMatrix) and layout in ("csr", "csc"):
                handle.need(layout)
                return handle
            if isinstance(handle, CudaVector) and layout in ("sparse", "bitmap", "full"):
                return handle
            raise InvalidValue(f"a {handle.kind} has no layout {layout!r}")

    def prepare(self, program: Program) -> Prepared:
        """Lower and compile a planned Program.

        Raises NotImplementedException if a statement has no kernel on this backend, or the values
        of a slot are too large. Raises JitError if the compiler refuses; the message names the
        kernel.
        """
        for slot in program.slots:
            check_dtype(slot.dtype)
        if is_hosted(program) and not is_summed(program):
            return prepare_hosted(program, self.prepare, is_summed)
        if is_staged(program):
            with self._lock:
                self.runtime.check_process()
                return prepare_staged(self.runtime, program)
        if is_own(program):
            with self._lock:
                self.runtime.check_process()
                return prepare_own(self.runtime, program, self.prepare)
        lowered = lower_program(program, self.shape)
        executable = CudaExecutable(program, lowered, named("program", lowered.source))
        with self._lock:
            self.runtime.check_process()
            # Whether a quick kernel will do depends on the operands of the first run.
            if not can_be_quick(lowered.source):
                executable.kernels.get(self.runtime, ("int", lowered.shape), is_small=False)
        return executable

    def execute(self, executable: Prepared, bindings: list[Binding]) -> Outcome:
        """Run a prepared Program: one launch; one wait if it holds a loop.

        A statement that writes a matrix takes a few launches and waits for sizes, and so does a
        product whose method brings its own, or one with an object of 2**31 positions a side or more
        (`renumbering`); the host runs loops around such statements.
        """
        with self._lock:
            self.runtime.check_process()
            return self._dispatch(executable, bindings)

    def _dispatch(self, executable: Prepared, bindings: list[Binding]) -> Outcome:
        """Run a prepared Program; the lock is held."""
        is_wide = WideObject in map(type, bindings)
        if executable.__class__ is CudaExecutable and not is_wide:
            try:
                return execute(self.runtime, executable, bindings, self.blocks)
            finally:
                for slot in executable.lowered.outputs:
                    bindings[slot].is_new = False
        try:
            if is_wide:
                with self.store.stream():
                    return run_program(self.store, executable.program, bindings)
            return self._in_pieces(executable, bindings)
        finally:
            for thing in bindings:
                if thing.__class__ is CudaVector:
                    thing.is_new = False

    def _in_pieces(self, executable: Prepared, bindings: list[Binding]) -> Outcome:
        if isinstance(executable, HostedExecutable):
            return execute_hosted(self.runtime, executable, bindings, self._dispatch)
        if isinstance(executable, StagedExecutable):
            return execute_staged(self.runtime, executable, bindings)
        assert isinstance(executable, OwnExecutable)
        return execute_own(self.runtime, executable, bindings, self._dispatch)

    def rearrange(
        self, handle: Handle, request: Rearrangement, *, transposed: bool
    ) -> list[Rearranged]:
        """Return what is made of an object's entries; see `contract.rearrange`."""
        with self._lock:
            self.runtime.check_process()
            if not isinstance(handle, WideObject):
                check_alive(handle)
            with self.store.stream():
                return rearrange(self.store, handle, request, transposed=transposed)

    def kronecker(
        self, left: tuple[Handle, bool], right: tuple[Handle, bool], operator: TypedOp
    ) -> Rearranged:
        """Return the Kronecker product of two matrices; see `contract.rearrange`."""
        with self._lock:
            self.runtime.check_process()
            for handle, _ in (left, right):
                check_alive(handle)  # type: ignore[arg-type]
            made = kronecker(self.runtime, (left, right), operator)  # type: ignore[arg-type]
            return Rearranged(made, made.shape, made.dtype)

    def fixed_point(
        self, vector: Handle, matrix: tuple[Handle, bool], semiring: TypedSemiring, width: float
    ) -> tuple[Rearranged, int] | None:
        """Return the fixed point reached from a vector; see `engine.rearranging.fixed_point`."""
        handle, transposed = matrix
        if isinstance(vector, WideObject) or isinstance(handle, WideObject):
            return None
        with self._lock:
            self.runtime.check_process()
            check_alive(vector)
            check_alive(handle)
            assert isinstance(vector, CudaVector)
            assert isinstance(handle, CudaMatrix)
            self._fixed_points.blocks = self.blocks
            found = fixed_point(
                self.runtime, self._fixed_points, vector, handle, semiring, width,
                transposed=transposed,
            )  # fmt: skip
            if found is None:
                return None
            made, rounds = found
            return Rearranged(made, made.shape, made.dtype), rounds

    def arrays(self) -> AbstractContextManager[Any]:
        """Give a block CuPy, which works on the stream and in the memory of objects.

        What the caller's stream did before comes first; what it does afterwards waits.
        """
        self.runtime.check_process()
        return joined(self.runtime)

    @property
    def block_memory(self) -> int:
        """Bytes of shared memory that a block may ask for."""
        return int(self.runtime.device.properties.max_shared_memory_per_block_optin)

    def run_kernel(self, text: KernelText, launch: Launch) -> None:
        """Start a kernel over arrays."""
        with self._lock:
            self.runtime.check_process()
            array_kernels.run(self.runtime, text, launch)

    def run_kernel_loop(
        self,
        state: Any,
        launches: Sequence[tuple[KernelText, Launch]],
        before: Sequence[tuple[KernelText, Launch]],
        most_blocks: int | None,
    ) -> None:
        """Run kernels over arrays in turn, until one of them says that it is done."""
        with self._lock:
            self.runtime.check_process()
            array_kernels.run_loop(self.runtime, state, launches, before, most_blocks)

    def copies(self) -> dict[str, Callable[[Handle], Any]]:
        """Return what makes each copy that a matrix keeps beside its rows, for measurements.

        They are made as a pin asks for them, whether or not they pay. Of one that is of no use, or
        for which memory is short, the matrix keeps nothing.
        """
        return {name: partial(self._keep, make) for name, make in COPIES.items()}

    def _keep(self, make: Callable[[CudaMatrix], Any], handle: CudaMatrix) -> None:
        with self._lock:
            self.runtime.check_process()
            check_alive(handle)
            make(handle)

    def free_bytes(self) -> int:
        """Return the bytes that can still be allocated on the GPU."""
        with self._lock:
            self.runtime.check_process()
            return free_bytes(self.runtime)

    def synchronise(self) -> None:
        """Wait until everything submitted has run."""
        self.runtime.synchronise()

    def release(self, handle: Handle) -> None:
        """Give the memory of `handle` back; at the interpreter's end the driver does it."""
        if _is_finalizing():
            return
        with self._lock:
            held = handle.small if isinstance(handle, WideObject) else handle
            held.release()


def open_backend() -> Backend:
    """Open device 0.

    Raises DeviceUnavailable if cuda.core, the driver or the GPU is missing; the message says what
    to install.
    """
    return CudaBackend()  # type: ignore[return-value]


__all__ = ["CudaBackend", "CudaMatrix", "CudaScalar", "CudaVector", "open_backend"]
