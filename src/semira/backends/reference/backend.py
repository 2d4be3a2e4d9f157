"""The reference backend: the eight calls over dictionaries."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np

from semira.backends import interpreter
from semira.backends.interpreter import Cell, Interpreted, MaskData, Produced, Undo
from semira.backends.reference import operations
from semira.backends.reference.objects import Entries, Position, from_arrays, to_arrays
from semira.base.errors import Panic
from semira.contract import SEARCH_LOOKS, SHARED, Capabilities, Method, Program, Slot, Statement
from semira.contract.array_kernels import KernelText, Launch
from semira.contract.backend import Arrays, Binding, Outcome

_METHODS = frozenset(
    {("mxv", "push"), ("mxv", "pull"), ("vxm", "push"), ("vxm", "pull")}
    | {("mxm", name) for name in ("dot", "hash", "dense", "pull")}
)
# It has no storage, so every one is the same to it.
_CAPABILITIES = Capabilities("reference", _METHODS, parts="any", walks_columns=True)


class ReferenceBackend:
    """Slow and obvious; what it computes is what an operation means."""

    name = "reference"

    def capabilities(self) -> Capabilities:
        """Return what the backend can do: every method, all with the same result."""
        return _CAPABILITIES

    def put(self, arrays: Arrays) -> Cell:
        """Copy arrays into entries."""
        entries = from_arrays(arrays)
        return Cell(self.name, ("scalar", "vector", "matrix")[len(entries.shape)], entries)

    def get(self, handle: Cell) -> Arrays:
        """Return the arrays of an object."""
        if handle.data is None:
            raise Panic(f"a released {handle.kind} was read")
        return to_arrays(handle.data)

    def convert(self, handle: Cell, layout: str) -> Cell:
        """Return a copy for ``"copy"``; every other layout is this one."""
        if layout != "copy":
            return handle
        data = handle.data
        return Cell(self.name, handle.kind, Entries(data.shape, data.dtype, dict(data.items)))

    def prepare(self, program: Program) -> Interpreted:
        """Return the Program: it is interpreted as it stands."""
        return Interpreted(program)

    def execute(self, executable: Interpreted, bindings: list[Binding]) -> Outcome:
        """Interpret the Program."""
        with np.errstate(all="ignore"):
            return interpreter.execute(executable, bindings, _KERNELS, self.name)

    def run_kernel(self, text: KernelText, launch: Launch) -> None:
        """Run a kernel over arrays."""
        run_array_kernel(text, launch)

    def synchronise(self) -> None:
        """Nothing is ever pending."""

    def release(self, handle: Cell) -> None:
        """Drop the entries."""
        handle.data = None


class _Kernels:
    """The interpreter's hooks on `Entries`."""

    def scalar(self, arrays: Any) -> Entries:
        return from_arrays(arrays)

    def empty(self, slot: Slot, shape: Position) -> Entries:
        return Entries(shape, slot.dtype)

    def shape(self, data: Entries) -> Position:
        return data.shape

    def nvals(self, data: Entries) -> int:
        return len(data.items)

    def counts(
        self, name: str, statement: Statement, args: list[Any], mask: MaskData | None, out: Any
    ) -> float:
        """Count by looking at every entry of the matrix."""
        if statement.op == "mxm":
            if mask is not None and not mask.complement:
                return _named_count(name, statement, args, mask)
            return _block_count(name, statement, args, mask, out)
        vector, edges = _edges(statement, args)
        if name == "n":
            return int(vector.shape[0])
        if name == "rows":
            return int(out.shape[0])
        if name == "nnz":
            return len(edges)
        if name == "frontier":
            return len(vector.items)
        if name == "frontier_edges":
            return sum((source,) in vector.items for source, _ in edges)
        if name == "open_rows":
            return _num_open(mask, out)
        if name == "open_edges":
            return sum(_allowed(mask, (target,)) for _, target in edges)
        raise Panic(f"unknown count {name!r}")

    def compute(
        self, statement: Statement, method: Method, args: list[Any], mask: MaskData | None, out: Any
    ) -> Produced:
        """Compute without looking at the mask; `touched` is what the method would read."""
        operands = [
            given.transposed() if arg.transposed else given
            for arg, given in zip(statement.args, args, strict=False)
        ]
        operands += args[len(statement.args) :]
        if statement.op == "assign":
            result = operations.assign(statement, operands, out, mask)
        else:
            result = operations.run(statement, operands, out)
        if statement.op == "assign" and statement.param("submask"):
            result = _submasked(statement, operands, mask, out, result)
        touched = 0
        if statement.op == "mxm":
            touched = _meetings(operands[0], operands[1])
        elif method.name == "push":
            touched = int(self.counts("frontier_edges", statement, args, mask, out))
        elif method.name == "pull":
            touched = int(self.counts("open_edges", statement, args, mask, out))
        return Produced(result, touched)

    def finish(
        self,
        statement: Statement,
        result: Entries,
        mask: MaskData | None,
        out: Entries,
        journal: list[Undo] | None,
    ) -> Entries:
        """Accumulate, mask, replace, cast: ``Z = accum(out, T)``; ``out<mask> = Z``."""
        del journal
        if statement.op == "assign":
            if statement.param("submask"):
                return result
            z = result.items
        elif statement.accum is None:
            z = result.cast(out.dtype).items
        else:
            z = dict(out.items)
            for at, value in result.items.items():
                z[at] = operations.accumulate(statement.accum, out.items.get(at), value, out)
        if mask is None:
            return Entries(out.shape, out.dtype, dict(z))
        kept = {
            at: value
            for at, value in out.items.items()
            if not statement.replace and not _allowed(mask, at)
        }
        written = {at: value for at, value in z.items() if _allowed(mask, at)}
        return Entries(out.shape, out.dtype, kept | written)


_KERNELS = _Kernels()


def _meetings(left: Entries, right: Entries) -> int:
    """Return how many multiplications a product of matrices takes."""
    lengths = Counter(k for k, _ in right.items)
    return sum(lengths[k] for _, k in left.items)


def _edges(statement: Statement, args: list[Any]) -> tuple[Entries, list[tuple[int, int]]]:
    """Return the driving vector and each matrix entry as (position it reads, row it feeds)."""
    at = 0 if statement.op == "mxv" else 1
    matrix, vector = args[at], args[1 - at]
    pairs = list(matrix.items)
    if statement.args[at].transposed != (statement.op == "mxv"):
        pairs = [(j, i) for i, j in pairs]
    return vector, pairs


def _factors(statement: Statement, args: list[Any]) -> tuple[Entries, Entries]:
    """Return both operands of a product of matrices as they are multiplied."""
    left, right = (
        given.transposed() if arg.transposed else given
        for arg, given in zip(statement.args, args, strict=False)
    )
    return left, right


def _named_count(name: str, statement: Statement, args: list[Any], mask: MaskData) -> float:
    """Return a count of a product under a plain mask; see `plan.rules_product`."""
    left, right = _factors(statement, args)
    named = list(mask.data.items)
    rows, columns = Counter(i for i, _ in left.items), Counter(j for _, j in right.items)
    block = left.shape[0]
    counts = {
        "block": block,
        "shared": max(1, min(block, SHARED)),
        "cols": right.shape[1],
        "nnz": len(right.items),
        "open_rows": len(named),
        "open_edges": sum(min(columns[j], SEARCH_LOOKS * rows[i]) for i, j in named),
    }
    if name in counts:
        return float(counts[name])
    if name == "frontier_edges":
        lengths, met = Counter(k for k, _ in right.items), {i for i, _ in named}
        return float(sum(lengths[k] for i, k in left.items if i in met))
    raise Panic(f"unknown count {name!r}")


def _block_count(
    name: str, statement: Statement, args: list[Any], mask: MaskData | None, out: Any
) -> float:
    """Return a count of a product of matrices: of all rows of the left one together."""
    left, right = _factors(statement, args)
    rows, (nrows, ncols) = left.shape[0], out.shape
    plain = {
        "block": rows,
        "shared": max(1, min(rows, SHARED)),
        "n": rows * left.shape[1],
        "rows": nrows * ncols,
        "cols": ncols,
        "nnz": rows * len(right.items),
        "frontier": len(left.items),
    }
    if name in plain:
        return float(plain[name])
    if name == "frontier_edges":
        return _meetings(left, right)
    if name == "open_rows":
        return float(_num_open(mask, out))
    if name == "open_edges":
        return float(_open_edges(mask, nrows, right))
    raise Panic(f"unknown count {name!r}")


def _open_edges(mask: MaskData | None, nrows: int, right: Entries) -> int:
    """Return the entries of the right matrix in the columns of all positions that are open."""
    every = nrows * len(right.items)
    if mask is None:
        return every
    lengths = Counter(j for _, j in right.items)
    named = sum(lengths[j] for _, j in _named(mask))
    return every - named if mask.complement else named


def _allowed(mask: MaskData | None, at: Position) -> bool:
    if mask is None:
        return True
    here = at in mask.data.items and (mask.structural or bool(mask.data.items[at]))
    return here != mask.complement


def _num_open(mask: MaskData | None, out: Entries) -> int:
    size: int = math.prod(out.shape)
    if mask is None:
        return size
    num_set = len(_named(mask))
    return size - num_set if mask.complement else num_set


def _named(mask: MaskData) -> list[Position]:
    """Return the positions that a mask names, complemented or not."""
    return [at for at, value in mask.data.items.items() if mask.structural or bool(value)]


def _submasked(
    statement: Statement, args: list[Any], mask: MaskData | None, out: Entries, result: Entries
) -> Entries:
    """Apply a mask that has the shape of the region; outside of it nothing changes."""
    items = dict(out.items)
    for at, inside in dict(operations.region_of(statement, args, out, mask)).items():
        if _allowed(mask, inside):
            items.pop(at, None)
            if at in result.items:
                items[at] = result.items[at]
        elif statement.replace:
            items.pop(at, None)
    return Entries(out.shape, out.dtype, items)


def open_backend() -> ReferenceBackend:
    """Return the reference backend."""
    return ReferenceBackend()


def run_array_kernel(text: KernelText, launch: Launch) -> None:
    """Call the function of a kernel over all of its items."""
    needed = launch.on_host()
    scratch = [np.zeros(each.length, each.dtype) for each in needed]
    for array, each in zip(scratch, needed, strict=True):
        array[:] = 0 if each.fill is None else each.fill
    if launch.stops:
        # Ctrl-C ends Python functions by itself.
        scratch.append(np.zeros(1, np.int64))
    # Integers wrap, as they do in compiled kernels.
    with np.errstate(all="ignore"):
        getattr(text.module(), text.name)(0, launch.items, *launch.arguments, *scratch)
