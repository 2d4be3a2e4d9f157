"""Objects of huge shapes: ordinary ones over lists of positions (see `renumbering`).

A side of 2**31 positions or more is renumbered, and so is one of a hypersparse matrix: nothing may
be allocated per position there. No kernel knows of it.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cmp_to_key
from typing import Any

import numpy as np

from semira.backends import interpreter
from semira.backends.cpu.compressed import Array, Compressed, offsets_from_counts
from semira.backends.cpu.exchange import from_arrays, to_arrays
from semira.backends.cpu.host.apply import at_positions, call_of
from semira.backends.cpu.host.mxv import empty_vector
from semira.backends.cpu.host.reduce import ufunc_of
from semira.backends.cpu.kernelset import CpuKernels
from semira.backends.cpu.storage import (
    CpuMatrix,
    CpuVector,
    copy_vector,
    empty_matrix,
    matrix_of,
    shape_of,
    sparse_vector,
)
from semira.backends.interpreter import Cell, Interpreted, MaskData, Produced
from semira.backends.renumbering import exchange
from semira.backends.renumbering.objects import WideObject
from semira.backends.renumbering.programs import HugeKernels
from semira.backends.renumbering.rearrangements import rearrange as rearrange_in
from semira.base.dtypes import DataType
from semira.base.memory import repeated
from semira.contract import Method, Program, Statement
from semira.contract.backend import Binding, Outcome
from semira.contract.rearrange import Rearranged, Rearrangement
from semira.formats import ScalarArrays, index_dtype, is_hypersparse
from semira.formats.build import radix_order
from semira.formats.index import WIDE
from semira.ops import TypedMonoid, TypedOp
from semira.ops.meaning import cast_array
from semira.ops.registry import binary

_KERNELS = CpuKernels()


class _Store:
    """Vectors, matrices and scalars of this backend; see `renumbering.objects.Store`."""

    name, library = "cpu", np

    def lists(self, shape: tuple[int, ...], nvals: int) -> tuple[bool, ...]:
        if len(shape) == 1:
            return (shape[0] >= WIDE,)
        return tuple(is_hypersparse(side, nvals) for side in shape)

    def describe(self, thing: Any) -> tuple[tuple[int, ...], DataType]:
        return shape_of(thing), thing.dtype

    def nvals(self, thing: Any) -> int:
        return int(thing.nvals)

    def places(self, thing: Any) -> tuple[Array, ...]:
        if isinstance(thing, CpuVector):
            return (thing.entry_indices().astype(np.int64, copy=False),)
        rows = thing.rows()
        return tuple(at.astype(np.int64) for at in (rows.entry_majors(), rows.indices))

    def values(self, thing: Any) -> Array:
        values, is_single = _held(thing)
        return repeated(values, thing.nvals) if is_single else values

    def moved(
        self, thing: Any, shape: tuple[int, ...], places: tuple[Array, ...], entries: Array | None
    ) -> Any:
        """Return an object with entries of `thing` at other places."""
        values, is_single = _held(thing)
        if not is_single and entries is not None:
            values = values[entries]
        return _made(shape, places, values, thing.dtype, iso=is_single)

    def valued(self, thing: Any, values: Array, dtype: DataType) -> Any:
        values = np.ascontiguousarray(values, dtype.array_dtype)
        if isinstance(thing, CpuMatrix):
            return matrix_of(thing.rows().replaced(values, iso=False), dtype)
        return sparse_vector(thing.size, dtype, thing.entry_indices(), values)

    def empty(self, shape: tuple[int, ...], dtype: DataType) -> Any:
        if len(shape) == 1:
            return empty_vector(shape[0], dtype)
        return empty_matrix(shape[0], shape[1], dtype)

    def duplicate(self, thing: Any) -> Any:
        return copy_vector(thing) if isinstance(thing, CpuVector) else thing

    def applied(
        self, op: TypedOp, thing: Any, places: tuple[Array, ...], bound: Any, *, left: bool
    ) -> Array:
        """Return an operator's results for entries that stand at `places`."""
        other = None if bound is None else ScalarArrays(bound[1], bound[0])
        rows, cols = places
        return at_positions(self.values(thing), rows, cols, call_of(op, other, left=left))

    def order(self, keys: Array) -> Array:
        return radix_order(keys, int(keys.max(initial=0)).bit_length())

    def scanned(self, monoid: TypedMonoid, values: Array, dtype: DataType, heads: Array) -> Array:
        del dtype
        return scanned(monoid, values, heads)

    def ranked(
        self,
        before: TypedOp,
        values: Array,
        dtype: DataType,
        starts: Array,
        lengths: Array,
        longest: int,
    ) -> Array:
        """Return an order by a comparison, line by line."""
        del dtype, longest
        return ranked(before, values, starts, lengths)

    def scalar(self, binding: Any) -> Any:
        return binding.value if isinstance(binding, ScalarArrays) else binding

    def upload(self, array: Any) -> Array:
        made: Array = np.asarray(array)
        return made

    def download(self, array: Array) -> Any:
        return array

    def put(self, arrays: Any) -> Any:
        return from_arrays(arrays)

    def get(self, thing: Any) -> Any:
        return to_arrays(thing)

    def need(self, matrix: CpuMatrix, orientation: str) -> None:
        matrix.oriented(by_columns=orientation == "csc")

    def take(self, thing: Any, made: Any) -> None:
        raise NotImplementedError

    def run(self, program: Program, bindings: list[Any]) -> tuple[Outcome, Any]:
        (statement,) = program.body
        assert isinstance(statement, Statement)
        cells = [
            Cell("cpu", slot.kind, given)
            if isinstance(given, (CpuVector, CpuMatrix, ScalarArrays))
            else given
            for slot, given in zip(program.slots, bindings, strict=True)
        ]
        outcome = interpreter.execute(Interpreted(program), cells, _KERNELS, "cpu")
        return outcome, cells[statement.out].data


def _held(thing: CpuVector | CpuMatrix) -> tuple[Array, bool]:
    """Return the values of entries by rows, and whether one stands for all."""
    if isinstance(thing, CpuVector):
        values, stride = thing.entry_values()
        return values, stride == 0
    rows = thing.rows()
    return rows.values, rows.iso


def _made(
    shape: tuple[int, ...], places: tuple[Array, ...], values: Array, dtype: DataType, *, iso: bool
) -> CpuVector | CpuMatrix:
    """Return an object of entries by row, then column."""
    indices = places[-1].astype(index_dtype(*shape), copy=False)
    if len(shape) == 1:
        return sparse_vector(shape[0], dtype, indices, values, iso=iso)
    nrows, ncols = shape
    counts = np.zeros(nrows + 1, np.int64)
    counts[1:] = np.bincount(places[0], minlength=nrows)
    return matrix_of(
        Compressed(nrows, ncols, offsets_from_counts(counts), indices, values, iso), dtype
    )


STORE = _Store()


class _Kernels(HugeKernels):
    """Statements some of whose objects are huge."""

    def compute(
        self, statement: Statement, method: Method, args: list[Any], mask: MaskData | None, out: Any
    ) -> Produced:
        """Return the output's new data.

        Beside an ordinary matrix a hypersparse one with sides below 2**31 is made ordinary.
        """
        if self._fits(statement, args, mask, out):
            args, out = [_opened(arg) for arg in args], _opened(out)
            mask = None if mask is None else replace(mask, data=_opened(mask.data))
        lean = getattr(out, "lean", None)
        made = super().compute(statement, method, args, mask, out)
        if lean is not None:
            made.data = _kept_lean(made.data, lean)
        return made

    def _fits(self, statement: Statement, args: list[Any], mask: MaskData | None, out: Any) -> bool:
        """Whether an ordinary matrix takes part, and no object with a side from 2**31 on."""
        if statement.op == "assign" and isinstance(out, WideObject):
            # It stays one, however small the operand.
            return False
        named = [*args[: len(statement.args)], *([] if mask is None else [mask.data])]
        if not any(isinstance(x, CpuMatrix) for x in named):
            return False
        return all(max(self.shape(x), default=0) < WIDE for x in (*named, out))


def _opened(x: Any) -> Any:
    if not isinstance(x, WideObject):
        return x
    return from_arrays(exchange.to_arrays(STORE, x).ordinary())  # type: ignore[union-attr]


def _kept_lean(x: Any, lean: str) -> Any:
    if isinstance(x, WideObject):
        return replace(x, small=x.small.kept_lean(lean))
    return x.kept_lean(lean)


def execute(executable: Interpreted, bindings: list[Binding]) -> Outcome:
    """Run a program on objects some of which are huge, statement by statement."""
    return interpreter.execute(executable, bindings, _Kernels(STORE), "cpu")


def rearrange(handle: Cell, request: Rearrangement, *, transposed: bool) -> list[Rearranged]:
    """Return what is made of an object's entries."""
    found = rearrange_in(STORE, handle.data, request, transposed=transposed)
    kinds = {1: "vector", 2: "matrix"}
    return [replace(x, handle=Cell("cpu", kinds[len(x.shape)], x.handle)) for x in found]


#: Lines with more entries are scanned one at a time: there are few of them.
LONG_LINE = 4096


def scanned(monoid: TypedMonoid, values: Array, heads: Array) -> Array:
    """Return the running results of a monoid; a head starts anew.

    From left to right within a line, so floating-point results are those of a loop. An operator
    that is a Python function is called once per entry.
    """
    values = np.array(cast_array(values, monoid.return_type.array_dtype))
    starts = np.flatnonzero(heads)
    ends = np.append(starts[1:], len(values))[: len(starts)]
    function = np.equal if monoid.op.parent is binary["eq"] else ufunc_of(monoid)
    with np.errstate(all="ignore"):
        if function is None:
            _scan_by_calls(values, starts, ends, monoid.op.scalar_function)
        else:
            lengths = ends - starts
            is_long = lengths > LONG_LINE
            for start, end in zip(starts[is_long].tolist(), ends[is_long].tolist(), strict=True):
                values[start:end] = function.accumulate(values[start:end])
            _scan_short(values, starts[~is_long], lengths[~is_long], function)
    return values


def _scan_short(values: Array, starts: Array, lengths: Array, function: Any) -> None:
    """Scan many lines side by side: step p does the entry at place p of all that have one."""
    order = np.argsort(lengths, kind="stable")
    starts, lengths = starts[order], lengths[order]
    for place in range(1, int(lengths.max(initial=0))):
        at = starts[np.searchsorted(lengths, place, side="right") :] + place
        values[at] = function(values[at - 1], values[at])


def _scan_by_calls(values: Array, starts: Array, ends: Array, function: Any) -> None:
    for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
        for at in range(start + 1, end):
            values[at] = function(values[at - 1], values[at], 0, 0, 0)


def ranked(before: TypedOp, values: Array, starts: Array, lengths: Array) -> Array:
    """Return the entries of each line sorted by a comparison, one call per pair.

    `starts` and `lengths` tell, for each value, of its line.
    """
    less, values = before.scalar_function, values.astype(before.type.array_dtype, copy=False)

    def compare(a: int, b: int) -> int:
        if less(values[a], values[b], 0, 0, 0):
            return -1
        return 1 if less(values[b], values[a], 0, 0, 0) else 0

    order = np.arange(len(values))
    firsts = np.flatnonzero(starts == order)
    for start, length in zip(firsts.tolist(), lengths[firsts].tolist(), strict=True):
        order[start : start + length] = sorted(
            range(start, start + length), key=cmp_to_key(compare)
        )
    return order
