"""The cpu backend: the eight calls over NumPy arrays and Numba kernels."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from semira.backends import interpreter
from semira.backends.cpu import array_kernels, huge
from semira.backends.cpu.exchange import from_arrays, to_arrays
from semira.backends.cpu.huge import STORE
from semira.backends.cpu.kernelset import CpuKernels
from semira.backends.cpu.loops import native
from semira.backends.cpu.storage import CpuMatrix, CpuVector, copy_vector, settled
from semira.backends.interpreter import Cell, Interpreted
from semira.backends.renumbering import exchange
from semira.backends.renumbering.objects import WideObject
from semira.base.errors import InvalidValue, Panic
from semira.contract import Capabilities, Program
from semira.contract.array_kernels import KernelText, Launch
from semira.contract.backend import Arrays, Binding, Outcome
from semira.contract.rearrange import Rearranged, Rearrangement
from semira.formats import MatrixArrays, ScalarArrays, VectorArrays

_METHODS = frozenset(
    {("mxv", "push"), ("mxv", "pull"), ("vxm", "push"), ("vxm", "pull")}
    | {("mxm", name) for name in ("dot", "hash", "dense", "pull")}
)

#: Asked for whenever an object goes.
_KINDS = {VectorArrays: "vector", MatrixArrays: "matrix", ScalarArrays: "scalar"}

#: What a cell holds.
_Data = ScalarArrays | CpuVector | CpuMatrix | WideObject

_VECTOR_LAYOUTS = ("sparse", "bitmap", "full")

_KERNELS = CpuKernels()


class CpuBackend:
    """Runs Programs on the processor; results are there when a call returns."""

    name = "cpu"
    #: Of the class: objects that are dropped when the interpreter ends ask, after globals are gone.
    _capabilities = Capabilities(
        "cpu", _METHODS, parts="cpu", walks_columns=True, reads_full=True, compiled_loops=True
    )

    def capabilities(self) -> Capabilities:
        """Return what the backend can do: every method."""
        return self._capabilities

    def put(self, arrays: Arrays) -> Cell:
        """Take arrays over; see `exchange.from_arrays` for what is shared."""
        is_huge = exchange.is_huge(STORE, arrays)
        data = exchange.from_arrays(STORE, arrays) if is_huge else from_arrays(arrays)  # type: ignore[arg-type]
        return Cell("cpu", _KINDS[arrays.__class__], data)

    def get(self, handle: Cell) -> Arrays:
        """Return an object's arrays, read-only and shared where they never change."""
        data = _living(handle)
        if isinstance(data, WideObject):
            return exchange.to_arrays(STORE, data)
        return to_arrays(data)

    def convert(self, handle: Cell, layout: str) -> Cell:
        """Return a copy for ``"copy"``; else make a layout resident and return the handle.

        Raises InvalidValue if the object has no such layout, or is not full.
        """
        data = _living(handle)
        if layout == "copy":
            return Cell(self.name, handle.kind, _copied(data))
        if isinstance(data, WideObject):
            exchange.converted(STORE, data, layout)
        elif isinstance(data, CpuMatrix) and layout in ("csr", "csc"):
            data.oriented(by_columns=layout == "csc")
        elif isinstance(data, CpuVector) and layout in _VECTOR_LAYOUTS:
            handle.data = settled(data, layout)
            if layout == "full" and handle.data.storage != "full":
                raise InvalidValue(f"{data.nvals} of {data.size} entries are there: not full")
        else:
            raise InvalidValue(f"a {handle.kind} has no layout {layout!r}")
        return handle

    def prepare(self, program: Program) -> Interpreted:
        """Return the Program: kernels are loaded when a statement first needs them."""
        return Interpreted(program, native.native_loops(program))

    def execute(self, executable: Interpreted, bindings: list[Binding]) -> Outcome:
        """Run a program; small iterations of its loops natively."""
        # A plain loop: every execution asks.
        for given in bindings:
            if given.__class__ is Cell and given.data.__class__ is WideObject:
                return huge.execute(executable, bindings)
        return interpreter.execute(executable, bindings, _KERNELS, self.name)

    def rearrange(
        self, handle: Cell, request: Rearrangement, *, transposed: bool
    ) -> list[Rearranged]:
        """Return what is made of an object's entries; see `contract.rearrange`."""
        _living(handle)
        return huge.rearrange(handle, request, transposed=transposed)

    def run_kernel(self, text: KernelText, launch: Launch) -> Any:
        """Run a kernel over arrays; return what may run it again, see `array_kernels.again`."""
        return array_kernels.run(text, launch)

    def bind_kernel(self, text: KernelText, launch: Launch) -> Callable[[], Any]:
        """Return what runs a kernel over arrays, looked up once."""
        return array_kernels.bind(text, launch)

    def synchronise(self) -> None:
        """Nothing is ever pending."""

    def release(self, handle: Cell) -> None:
        """Drop the arrays."""
        handle.data = None


def _living(handle: Cell) -> _Data:
    if handle.data is None:
        raise Panic(f"a released {handle.kind} was used")
    data: _Data = handle.data
    return data


def _copied(data: _Data) -> _Data:
    if isinstance(data, CpuVector):
        return copy_vector(data)
    if isinstance(data, (CpuMatrix, WideObject)):
        return dataclasses.replace(data)
    return data


def open_backend() -> CpuBackend:
    """Return the cpu backend."""
    return CpuBackend()
