"""reduce to a scalar, and by rows."""

from __future__ import annotations

from functools import lru_cache
from types import ModuleType
from typing import Any

import numpy as np

from semira.backends.cpu import cache, threads
from semira.backends.cpu.codegen import Header
from semira.backends.cpu.compressed import Array
from semira.backends.cpu.host import mxv
from semira.backends.cpu.host.update import Result
from semira.backends.cpu.storage import CpuMatrix, CpuVector
from semira.backends.interpreter import MaskData
from semira.contract import Statement
from semira.formats import ScalarArrays
from semira.ops import TypedMonoid
from semira.ops.meaning import cast_array
from semira.ops.registry import binary

#: NumPy's reductions of the same meaning: vectorised, pairwise for floats, nothing to compile.
#: fmin and fmax let a NaN lose, as min and max do here.
_UFUNCS = {
    "plus": np.add, "times": np.multiply, "min": np.fmin, "max": np.fmax,
    "lor": np.logical_or, "land": np.logical_and, "lxor": np.logical_xor,
    "band": np.bitwise_and, "bor": np.bitwise_or, "bxor": np.bitwise_xor,
}  # fmt: skip

_ON_BOOL = {"plus": "lor", "times": "land", "min": "land", "max": "lor"}


def reduce(statement: Statement, args: list[Any], _mask: MaskData | None, _out: Any) -> Result:
    """Fold all entries; empty, or the identity if asked, without entries."""
    monoid: TypedMonoid = statement.operator
    x = args[0]
    stored = x if isinstance(x, CpuVector) else x.any_orientation()
    if stored.nvals == 0:
        value = monoid.identity if statement.param("identity") else None
        return Result(ScalarArrays(monoid.type, value))
    if isinstance(stored, CpuVector):
        values, stride = _summands(monoid, stored)
    else:
        values, stride = stored.values, stored.stride
    values = cast_array(values, monoid.type.array_dtype)
    if monoid.is_any or (stride == 0 and monoid.is_idempotent):
        return Result(ScalarArrays(monoid.type, values[0]))
    if stride == 0:
        values = np.broadcast_to(values, stored.nvals)
    return Result(ScalarArrays(monoid.type, fold(monoid, values)))


def _summands(monoid: TypedMonoid, vector: CpuVector) -> tuple[Array, int]:
    """Return values to fold, and their stride; the identity may stand where no entry is."""
    if vector.present is None or monoid.is_any or monoid.identity is None:
        return vector.entry_values()
    values = cast_array(vector.values, monoid.type.array_dtype)
    return np.where(vector.present, values, monoid.type.scalar(monoid.identity)), 1


def ufunc_of(monoid: TypedMonoid) -> Any:
    """Return NumPy's function of the same meaning, None if there is none."""
    is_bool = monoid.type.array_dtype.kind == "b"
    name = _ON_BOOL.get(monoid.name, monoid.name) if is_bool else monoid.name
    ufunc = _UFUNCS.get(name) if monoid.op.parent is binary.get(monoid.name) else None
    return None if ufunc in {np.logical_or, np.logical_and} and not is_bool else ufunc


def fold(monoid: TypedMonoid, values: Array) -> Any:
    """Return the monoid over at least one value of its dtype."""
    dtype, scalar = monoid.type.array_dtype, monoid.type.scalar
    ufunc = ufunc_of(monoid)
    if ufunc is not None:

        def part_of(_part: int, lo: int, hi: int) -> Any:
            with np.errstate(all="ignore"):
                return ufunc.reduce(values[lo:hi], dtype=dtype)
    else:
        kernels = _fold_kernels(monoid)
        values = np.ascontiguousarray(values)

        def part_of(_part: int, lo: int, hi: int) -> Any:
            return kernels.fold(lo, hi, values)

    bounds = threads.pass_bounds(len(values))
    total, *others = threads.run_chunks(part_of, bounds)
    for other in others:
        total = monoid.op.scalar_function(scalar(total), scalar(other), 0, 0, 0)
    return scalar(total)


@lru_cache(cache.KEPT_BY_HOST)
def _fold_kernels(monoid: TypedMonoid) -> ModuleType:
    header = Header()
    header.flags["EXIT_TERMINAL"] = monoid.terminal is not None
    if monoid.terminal is not None:
        header.constant("TERMINAL", monoid.type, monoid.terminal)
    header.function("add", ("a", "b"), monoid.op, {})
    return cache.load("reduce", header, monoid.name)


def reduce_rows(statement: Statement, args: list[Any], _mask: MaskData | None, out: Any) -> Result:
    """w_i = the monoid over row i: a product with a vector whose values are not read.

    Columns of a matrix that is held by rows only are summed by scattering: nothing is transposed.
    """
    monoid: TypedMonoid = statement.operator
    matrix: CpuMatrix = args[0]
    transposed = statement.args[0].transposed
    resident = matrix.csc if transposed else matrix.csr
    first = binary["first"].typed(monoid.type)
    scatters = resident is None and not matrix.symmetric
    stored = matrix.any_orientation() if scatters else matrix.oriented(by_columns=transposed)
    everything = CpuVector(
        stored.nmajor if scatters else stored.nminor, monoid.type, "full",
        np.ones(1, monoid.type.array_dtype), iso=True,
    )  # fmt: skip
    if stored.nvals == 0:
        return Result(mxv.empty_vector(out.size, monoid.type))
    product = mxv.Product(monoid, first, False, stored, everything, out.size)
    if scatters:
        return Result(mxv.push(product, None)[0])
    return Result(mxv.pull(product, None, may_exit=True)[0])
