"""The end of a statement that writes a small vector: accumulate, mask, replace, cast."""

from __future__ import annotations

from typing import Any

import numpy as np

from semira.backends.cpu.compressed import EVERYWHERE, Array
from semira.backends.cpu.host.update import Update
from semira.backends.cpu.masks import UNMASKED
from semira.backends.cpu.storage import (
    SPARSE_SHARE,
    CpuVector,
    bitmap_vector,
    sparse_vector,
    to_dense,
)
from semira.base.dtypes import DataType
from semira.contract import Program, Statement
from semira.formats import index_dtype
from semira.ops.meaning import cast_array

#: A mask as kernels test it: presence, truth, complement.
Tests = tuple[Array, Array, bool]


class Ending:
    """What becomes of the output, as far as the statement alone tells.

    Parameters
    ----------
    program : Program
    statement : Statement
    source : DataType
        Of the result.
    exact : bool
        The result has no entries outside of the mask.
    """

    __slots__ = (
        "_flags", "_kernels", "_source", "_statement", "_target", "_tests_result", "_union",
        "complement", "exact", "mask", "replace", "structural",
    )  # fmt: skip

    def __init__(
        self, program: Program, statement: Statement, source: DataType, *, exact: bool
    ) -> None:
        mask = statement.mask
        self.mask = None if mask is None else mask.slot
        self.structural = mask is not None and mask.structural
        self.complement = mask is not None and mask.complement
        self.exact = exact or mask is None
        self.replace = statement.replace and mask is not None
        self._statement = statement
        self._source = source
        self._target = program.slots[statement.out].dtype
        self._union = statement.accum is not None
        # A union inside the mask needs no test, if what the mask lets through is not deleted.
        self._tests_result = mask is not None and not (exact and self._union and not self.replace)
        self._flags = {
            "MASKED": self._tests_result,
            "UNION": self._union,
            "REPLACE": self.replace,
            "REGION": False,
            "SUBMASK": False,
        }
        self._kernels: Any = None

    def tests(self, bindings: list[Any], size: int) -> Tests:
        """Return the mask as arrays by position."""
        if self.mask is None:
            return UNMASKED
        vector: CpuVector = bindings[self.mask].data
        if vector.indices is not None:
            may = np.zeros(size, np.bool_)
            may[vector.indices] = True if self.structural else vector.values != 0
            return may, may, self.complement
        present = vector.present
        if self.structural:
            may = np.ones(size, np.bool_) if present is None else present
            return may, may, self.complement
        truth = vector.values if vector.values.dtype == np.bool_ else vector.values != 0
        if len(truth) != size:
            truth = np.full(size, truth[0])
        return (truth if present is None else present), truth, self.complement

    def takes_over(self, out: CpuVector) -> bool:
        """Return whether the result simply becomes the output."""
        if self.mask is not None and not self.exact:
            return False
        if self._union or not (self.mask is None or self.replace):
            return out.nvals == 0
        return True

    def finished(self, out: CpuVector, result: CpuVector, tests: Tests) -> CpuVector:
        """Return the output's new data; `result` is not sparse, its arrays are not shared."""
        if self.takes_over(out):
            if self._source is not self._target:
                result.values = cast_array(result.values, self._target.array_dtype)
                result.dtype = self._target
            return _settled(result)
        if self._kernels is None:
            self._kernels = self._make_kernels(out, result)
        size = out.size
        old = to_dense(out) if out.indices is not None else out
        present = np.zeros(size, np.bool_)
        values = np.zeros(size, self._target.array_dtype)
        num = self._kernels.dense(
            0, size, *result.presence(), result.values, result.stride,
            *(tests if self._tests_result else UNMASKED), EVERYWHERE,
            *old.presence(), old.values, old.stride, present, values,
        )  # fmt: skip
        return _settled(bitmap_vector(self._target, present, values, int(num)))

    def _make_kernels(self, out: CpuVector, result: CpuVector) -> Any:
        update = Update(
            out, result, None, self.complement, self._statement.accum, self._union, self.replace,
            None, False,
        )  # fmt: skip
        return update.kernels(self._source, self._flags)


def _settled(vector: CpuVector) -> CpuVector:
    """Return a vector by position as a list if it has few entries."""
    present, num = vector.present, vector.nvals
    if present is None or num * SPARSE_SHARE > vector.size:
        return vector
    indices = np.flatnonzero(present).astype(index_dtype(vector.size), copy=False)
    return sparse_vector(vector.size, vector.dtype, indices, vector.values[indices])


def by_position(vector: CpuVector, *, values: bool = True) -> CpuVector:
    """Return a small vector as a bitmap or full vector; its `values` may not matter."""
    indices = vector.indices
    if indices is None:
        return vector
    present = np.zeros(vector.size, np.bool_)
    present[indices] = True
    stored = vector.values
    if values and not vector.iso:
        stored = np.zeros(vector.size, stored.dtype)
        stored[indices] = vector.values
    return CpuVector(
        vector.size, vector.dtype, "bitmap", stored, None, present, None, values and vector.iso
    )
