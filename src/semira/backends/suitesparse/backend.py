"""The suitesparse backend: the eight calls over python-graphblas."""

from __future__ import annotations

from semira.backends import interpreter
from semira.backends.interpreter import Cell, Interpreted
from semira.backends.suitesparse.kernels import SuiteSparseKernels
from semira.backends.suitesparse.objects import from_arrays, library, to_arrays, translated
from semira.base.dtypes import DataType
from semira.base.errors import NotImplementedException, Panic
from semira.contract import Capabilities, Program
from semira.contract.backend import Arrays, Binding, Outcome
from semira.formats import ScalarArrays

#: One per family: SuiteSparse chooses its own way of running a product.
_METHODS = frozenset({("mxv", "pull"), ("vxm", "pull"), ("mxm", "hash")})
_KERNELS = SuiteSparseKernels()


class SuiteSparseBackend:
    """Statements run as single calls of SuiteSparse:GraphBLAS; loops through the interpreter."""

    name = "suitesparse"

    def capabilities(self) -> Capabilities:
        """Return what the backend can do: one method per product."""
        return Capabilities(
            self.name, _METHODS, early_exit=False, masked_push=False, compiled_loops=True
        )

    def put(self, arrays: Arrays) -> Cell:
        """Build the object; raises NotImplementedException if its dtype is user-defined."""
        _check_dtype(arrays.dtype)
        kind = "scalar" if isinstance(arrays, ScalarArrays) else ""
        with translated():
            data = from_arrays(arrays)
        return Cell(self.name, kind or ("vector", "matrix")[data.ndim - 1], data)

    def get(self, handle: Cell) -> Arrays:
        """Copy an object to the host."""
        if handle.data is None:
            raise Panic(f"a released {handle.kind} was read")
        with translated():
            return to_arrays(handle.data)

    def convert(self, handle: Cell, layout: str) -> Cell:
        """Return a copy for ``"copy"``; SuiteSparse chooses its layouts by itself."""
        if layout != "copy":
            return handle
        is_scalar = isinstance(handle.data, ScalarArrays)
        return Cell(self.name, handle.kind, handle.data if is_scalar else handle.data.dup())

    def prepare(self, program: Program) -> Interpreted:
        """Return the Program: it is interpreted as it stands.

        Raises NotImplementedException if a slot has a user-defined dtype.
        """
        for slot in program.slots:
            _check_dtype(slot.dtype)
        return Interpreted(program)

    def execute(self, executable: Interpreted, bindings: list[Binding]) -> Outcome:
        """Interpret the Program."""
        return interpreter.execute(executable, bindings, _KERNELS, self.name)

    def synchronise(self) -> None:
        """Every statement waits for its output."""

    def release(self, handle: Cell) -> None:
        """Drop the object."""
        handle.data = None


def _check_dtype(dtype: DataType) -> None:
    if dtype.kind == "V":
        raise NotImplementedException(
            f"the user-defined dtype {dtype} is not on the suitesparse backend; use device='cpu', "
            "or keep each field in an object of its own"
        )


def open_backend() -> SuiteSparseBackend:
    """Return the backend; raises DeviceUnavailable if python-graphblas is not installed."""
    library()
    return SuiteSparseBackend()
