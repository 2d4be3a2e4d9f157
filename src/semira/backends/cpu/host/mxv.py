"""mxv and vxm: push scatters the rows of the frontier, pull looks operands up row by row."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from types import ModuleType
from typing import Any

import numpy as np

from semira.backends.cpu import cache, recycled, threads, workspace
from semira.backends.cpu.codegen import Header
from semira.backends.cpu.compressed import EVERYWHERE, Array, Compressed, Valued
from semira.backends.cpu.host.update import define_accumulate
from semira.backends.cpu.masks import UNMASKED, VectorMask
from semira.backends.cpu.storage import (
    SPARSE_SHARE,
    CpuMatrix,
    CpuVector,
    bitmap_vector,
    settled,
    sparse_vector,
)
from semira.base.dtypes import DataType
from semira.base.recent import Recent
from semira.contract import Statement
from semira.formats import index_dtype
from semira.ops import TypedMonoid, TypedOp
from semira.ops.meaning import cast_array

#: From this share of marked positions on, scanning the marks beats sorting the list of them.
_SCAN_SHARE = 64

#: A vector with more than 1 / this of its entries present pulls, where no plan says better.
_PULL_SHARE = 10

DUMMY = np.zeros(1, np.int32)


@dataclass(frozen=True, slots=True, eq=False)
class Product:
    """One matrix-vector product, orientation and operand order resolved."""

    add: TypedMonoid
    multiply: TypedOp
    #: The vector is the left operand of the multiplication (vxm).
    vector_first: bool
    #: The orientation that the method walks.
    edges: Compressed
    vector: CpuVector
    #: Length of the result.
    size: int

    @property
    def reads_edges(self) -> bool:
        """Whether values of the matrix matter."""
        return self.multiply.reads_b if self.vector_first else self.multiply.reads_a

    @property
    def reads_vector(self) -> bool:
        """Whether values of the vector matter."""
        return self.multiply.reads_a if self.vector_first else self.multiply.reads_b

    def iso_value(self) -> Any:
        """Return the one value that every entry of the result has, or None if they may differ."""
        edge = (self.edges.values, self.edges.iso)
        x = (self.vector.values, self.vector.iso)
        a, b = (x, edge) if self.vector_first else (edge, x)
        return iso_product(self.add, self.multiply, a, b)

    def edge_values(self, held: Valued | None = None) -> tuple[Array, int]:
        """Return the matrix values in the compute dtype, with their stride; of `held` if given."""
        if not self.reads_edges:
            return EVERYWHERE, 0
        held = self.edges if held is None else held
        return held.values_as(edge_dtype(self)), held.stride

    def vector_values(self, values: Array) -> Array:
        """Return vector values in the compute dtype."""
        if not self.reads_vector:
            return EVERYWHERE
        cast: Array = cast_array(values, vector_dtype(self).array_dtype)
        return cast

    def frontier_values(self) -> tuple[Array, int]:
        """Return the values of the vector's entries in the compute dtype, with their stride."""
        if not self.reads_vector:
            return EVERYWHERE, 0
        values, stride = self.vector.entry_values()
        return self.vector_values(values), stride


def edge_dtype(product: Any) -> DataType:
    """Return the dtype in which a product reads values of the matrix."""
    multiply: TypedOp = product.multiply
    return multiply.type2 if product.vector_first else multiply.type


def vector_dtype(product: Any) -> DataType:
    """Return the dtype in which a product reads values of the vector."""
    multiply: TypedOp = product.multiply
    return multiply.type if product.vector_first else multiply.type2


def iso_product(
    add: TypedMonoid, multiply: TypedOp, a: tuple[Array, bool], b: tuple[Array, bool]
) -> Any:
    """Return the one value of every entry of a product, or None if values may differ.

    Operands are given as values and whether they are iso. Adding equal values up changes nothing
    if the monoid is idempotent, and adding ones up if two of them make one.
    """
    if multiply.is_positional:
        return None
    if not (multiply.reads_a or multiply.reads_b):
        return _constant(add, multiply)
    if not add.is_idempotent:
        return None
    if (multiply.reads_a and not a[1]) or (multiply.reads_b and not b[1]):
        return None
    left, right = (
        cast_array(given[0][:1], dtype.array_dtype)[0] if reads else dtype.scalar(1)
        for given, dtype, reads in (
            (a, multiply.type, multiply.reads_a), (b, multiply.type2, multiply.reads_b),
        )
    )  # fmt: skip
    return multiply.scalar_function(left, right, 0, 0, 0)


def exit_flags(add: TypedMonoid, iso: Any, may_exit: bool) -> tuple[tuple[str, bool], ...]:
    """Return whether kernels end a sum at its first term, and at a terminal value."""
    first = may_exit and (add.is_any or iso is not None)
    last = may_exit and iso is None and not add.is_any and add.terminal is not None
    return ("EXIT_FIRST", first), ("EXIT_TERMINAL", last)


@lru_cache(cache.KEPT_BY_HOST)
def _constant(add: TypedMonoid, multiply: TypedOp) -> Any:
    """Return what any sum is of what an operator that reads neither operand gives, if it is one."""
    ones = multiply.type.scalar(1), multiply.type2.scalar(1)
    value = multiply.scalar_function(*ones, 0, 0, 0)
    if add.is_idempotent or add.op.scalar_function(value, value, 0, 0, 0) == value:
        return value
    return None


@dataclass(frozen=True, slots=True, eq=False)
class Into:
    """An output with an entry at every position that takes the product by an accumulator."""

    accum: TypedOp
    out: CpuVector


_kernels: Recent[tuple[Any, ...], ModuleType] = Recent(cache.KEPT_BY_HOST)


def kernel_of(
    template: str, product: Product, flags: tuple[tuple[str, int], ...], into: Into | None = None
) -> ModuleType:
    """Return the kernels of a template for the operators of `product`; flags may be numbers."""
    target = None if into is None else (into.accum, into.out.dtype)
    key = (template, product.add, product.multiply, product.vector_first, flags, target)
    found = _kernels.get(key)
    if found is None:
        found = _kernels[key] = _make_kernel(template, product, dict(flags), into)
    return found


def _make_kernel(
    template: str, product: Product, flags: dict[str, Any], into: Into | None
) -> ModuleType:
    header = Header(flags=flags)
    if into is not None:
        flags["INTO"] = True
        define_accumulate(header, into.accum, product.add.type, into.out.dtype)
    if flags["ISO_RESULT"]:
        return cache.load(template, header, "structure")
    flags["READS_E"], flags["READS_X"] = product.reads_edges, product.reads_vector
    if flags.get("EXIT_TERMINAL"):
        header.constant("TERMINAL", product.add.type, product.add.terminal)
    zero, out, k = "np.int64(0)", "np.int64(out)", "np.int64(k)"
    given = {"a": "edge", "b": "x", "i": out, "k": k, "j": zero}
    if product.vector_first:
        given = {"a": "x", "b": "edge", "i": zero, "k": k, "j": out}
    header.function(
        "multiply", ("edge", "x", "out", "k"), product.multiply, given, product.add.type
    )
    header.function("add", ("a", "b"), product.add.op, {})
    return cache.load(template, header, f"{product.add.name}_{product.multiply.name}")


def product_of(
    statement: Statement, method_name: str, args: list[Any], size: int
) -> tuple[Product, str]:
    """Return the product that a statement asks for, and the method (``direct`` resolved)."""
    vector_first = statement.op == "vxm"
    vector: CpuVector = args[0 if vector_first else 1]
    if method_name == "direct":
        method_name = "pull" if vector.nvals * _PULL_SHARE > vector.size else "push"
    edges, semiring = edges_of(statement, method_name, args), statement.operator
    found = Product(semiring.monoid, semiring.binaryop, vector_first, edges, vector, size)
    return found, method_name


def edges_of(statement: Statement, method_name: str, args: list[Any]) -> Compressed:
    """Return the orientation of a product's matrix that ``push`` or ``pull`` walks."""
    at = 1 if statement.op == "vxm" else 0
    # vxm pushes along rows and pulls along columns; mxv the other way round.
    by_columns = (at == 1) == statement.args[at].transposed
    matrix: CpuMatrix = args[at]
    return matrix.oriented(by_columns=by_columns == (method_name == "push"))


def empty_vector(size: int, dtype: DataType) -> CpuVector:
    """Return a vector without entries."""
    return sparse_vector(
        size, dtype, np.empty(0, index_dtype(size)), np.empty(0, dtype.array_dtype)
    )


def push(product: Product, mask: VectorMask | None) -> tuple[CpuVector, int]:
    """Return the product by scattering, and the matrix entries read."""
    iso = product.iso_value()
    flags = (("MASKED", mask is not None), ("ISO_RESULT", iso is not None))
    kernels, edges = kernel_of("push", product, flags), product.edges
    frontier = product.vector.entry_indices()
    values, x_stride = (EVERYWHERE, 0) if iso is not None else product.frontier_values()
    given = (frontier, values, x_stride, edges.indptr, edges.indices, *product.edge_values())
    bounds = _push_bounds(edges, frontier)
    return scattered(product, mask, kernels, kernels.push, given, bounds, frontier.dtype, iso)


def scattered(
    product: Product, mask: VectorMask | None, kernels: ModuleType, kernel: Callable[..., Any],
    given: tuple[Any, ...], bounds: list[int], index: Any, iso: Any,
) -> tuple[CpuVector, int]:  # fmt: skip
    """Return what chunks of a kernel scatter into buffers of the result's size, and its work.

    `given` are its arguments behind the borders of a chunk; `index` is the dtype of positions, and
    `iso` what `Product.iso_value` returns.
    """
    size, dtype = product.size, product.add.type
    tests = UNMASKED if mask is None else mask.open()

    def scatter(_part: int, lo: int, hi: int) -> tuple[Any, ...]:
        mark = workspace.marks(size)
        acc = DUMMY if iso is not None else workspace.buffer(dtype.array_dtype, size)
        touched = workspace.buffer(index, size)
        num, work = kernel(lo, hi, *given, *tests, mark, acc, touched)
        return num, work, mark, acc, touched

    parts = threads.run_chunks(scatter, bounds)
    if mask is not None:
        mask.close()
    num, work, mark, acc, touched = _merged(kernels, parts, size)
    return collected(size, dtype, num, mark, acc, touched, iso), work


def edge_offsets(edges: Compressed, frontier: Array) -> Array:
    """Return how many edges the vertices before each one have, and all of them."""
    offsets = np.zeros(len(frontier) + 1, np.int64)
    np.cumsum(edges.degrees()[frontier], out=offsets[1:])
    return offsets


def _push_bounds(edges: Compressed, frontier: Array) -> list[int]:
    """Return chunks of the frontier: as many as there are threads, for each needs buffers."""
    chunks = 1
    if len(frontier) * 64 >= threads.PARALLEL_ENTRIES:
        offsets = edge_offsets(edges, frontier)
        chunks = min(threads.num_chunks(int(offsets[-1])), threads.num_threads())
        if chunks > 1:
            return threads.bounds_by_work(offsets, chunks)
    return [0, len(frontier)]


def _merged(kernels: ModuleType, parts: list[tuple[Any, ...]], size: int) -> tuple[Any, ...]:
    """Fold the buffers of all chunks into the first, in the order of the chunks."""
    num, work, mark, acc, touched = parts[0]
    if len(parts) == 1:
        return num, work, mark, acc, touched
    many = sum(part[0] for part in parts) * 8 > size
    for other in parts[1:]:
        num_other, work_other, other_mark, other_acc, other_touched = other
        work += work_other
        if many:
            bounds = threads.pass_bounds(size)

            def merge(_part: int, lo: int, hi: int, other: tuple[Any, ...] = other) -> int:
                return int(kernels.merge_range(lo, hi, other[2], other[3], mark, acc))

            num = sum(threads.run_chunks(merge, bounds))
        else:
            num = kernels.merge_touched(
                num_other, other_touched, other_mark, other_acc, num, touched, mark, acc
            )
        workspace.give_marks(other_mark)
        workspace.give_buffer(other_touched)
        if other_acc is not DUMMY:
            workspace.give_buffer(other_acc)
    if many:
        # The list is incomplete: let the marks be scanned.
        workspace.give_buffer(touched)
        touched = None
    return num, work, mark, acc, touched


def collected(
    size: int, dtype: DataType, num: int, mark: Array, acc: Array, touched: Array | None, iso: Any
) -> CpuVector:
    """Make a vector of the marked positions; clean the buffers or make them part of it."""
    if num * SPARSE_SHARE > size:
        if touched is not None:
            workspace.give_buffer(touched)
        values = _repeated(iso, size, dtype) if iso is not None else acc
        return bitmap_vector(dtype, mark, values, num)
    if touched is None or num * _SCAN_SHARE > size:
        indices = np.flatnonzero(mark).astype(index_dtype(size), copy=False)
    else:
        indices = np.sort(touched[:num])
    mark[indices] = False
    workspace.give_marks(mark)
    if touched is not None:
        workspace.give_buffer(touched)
    if iso is not None:
        return sparse_vector(size, dtype, indices, np.array([iso], dtype.array_dtype), iso=True)
    result = sparse_vector(size, dtype, indices, acc[indices])
    workspace.give_buffer(acc)
    return result


def _repeated(value: Any, size: int, dtype: DataType) -> Array:
    values = np.empty(size, dtype.array_dtype)
    values.fill(value)
    return values


def pull_bounds(product: Product, rows: Array | None) -> list[int]:
    """Return the borders of chunks of rows: of all, by their entries, or of those listed."""
    edges = product.edges
    if rows is None:
        return threads.bounds_by_work(edges.indptr, threads.num_chunks(edges.nvals))
    mean_degree = edges.nvals // max(1, edges.nmajor)
    return threads.even_bounds(len(rows), threads.num_chunks(len(rows) * (1 + mean_degree)))


@dataclass(slots=True, eq=False)
class Lines:
    """Lines as a kernel that pulls walks them."""

    template: str
    #: What it knows of their layout.
    flag: tuple[str, bool]
    #: Arguments that say where entries lie.
    places: tuple[Any, ...]
    #: Their values.
    held: Valued
    #: Takes the product and the lines that are listed, or None for all; returns those between which
    #: threads share out about equally.
    bounds: Callable[[Product, Array | None], list[int]] = pull_bounds


def pull(
    product: Product,
    mask: VectorMask | None,
    *,
    may_exit: bool,
    into: Into | None = None,
    lines: Lines | None = None,
) -> tuple[CpuVector, int]:
    """Return the product row by row (or `into` with it), and the matrix entries read.

    `lines` are walked in place of the edges.
    """
    edges, vector, add = product.edges, product.vector, product.add
    iso = product.iso_value()
    rows = None if mask is None else mask.writable
    old: tuple[Any, ...] = (EVERYWHERE, 0) if lines is None else ()
    if lines is None:
        lines = Lines("pull", ("INTO", into is not None), (edges.indptr, edges.indices), edges)
    flags = (
        ("MASKED", mask is not None and rows is None),
        ("LISTED", rows is not None),
        ("FULL", vector.storage == "full"),
        lines.flag,
        ("ISO_RESULT", iso is not None),
        *exit_flags(add, iso, may_exit),
    )
    kernels = kernel_of(lines.template, product, flags, into)
    length = product.size if rows is None else len(rows)
    if into is None:
        present = np.zeros(length, np.bool_)
        values = DUMMY if iso is not None else np.zeros(length, add.type.array_dtype)
    else:
        old, present = (into.out.values, into.out.stride), EVERYWHERE
        values = recycled.empty(length, into.out.dtype.array_dtype)
    tests = UNMASKED if mask is None or rows is not None else mask.open()
    operand = Operand(product)
    places, values_of_edges = lines.places, product.edge_values(lines.held)

    def look_up(_part: int, lo: int, hi: int) -> tuple[int, int]:
        found: tuple[int, int] = kernels.pull(
            lo, hi, DUMMY if rows is None else rows, *places, *values_of_edges,
            operand.present, operand.values, operand.stride, *tests, *old, present, values,
        )  # fmt: skip
        return found

    parts = threads.run_chunks(look_up, lines.bounds(product, rows))
    operand.close()
    if mask is not None:
        mask.close()
    num, work = parts[0] if len(parts) == 1 else map(sum, zip(*parts, strict=True))
    if into is not None:
        return CpuVector(length, into.out.dtype, "full", values), work
    return looked_up(product, rows, present, values, num, iso), work


class Operand:
    """The vector operand as a pull kernel reads it: dense presence and values."""

    def __init__(self, product: Product) -> None:
        vector = product.vector
        self.listed = vector.indices
        self.stride = vector.stride if product.reads_vector else 0
        values = product.vector_values(vector.values)
        self.borrowed: Array | None = None
        if self.listed is None:
            self.present = EVERYWHERE if vector.present is None else vector.present
            self.values = values
            return
        self.present = workspace.marks(vector.size)
        self.present[self.listed] = True
        self.values = values
        if self.stride:
            self.borrowed = self.values = workspace.buffer(values.dtype, vector.size)
            self.values[self.listed] = values

    def close(self) -> None:
        """Clean what was borrowed."""
        if self.listed is not None:
            self.present[self.listed] = False
            workspace.give_marks(self.present)
        if self.borrowed is not None:
            workspace.give_buffer(self.borrowed)


def looked_up(
    product: Product, rows: Array | None, present: Array, values: Array, num: int, iso: Any
) -> CpuVector:
    """Make a vector of what pull found."""
    size, dtype = product.size, product.add.type
    if rows is not None or num * SPARSE_SHARE <= size:
        if rows is not None:
            indices = rows[present]
        else:
            indices = np.flatnonzero(present).astype(index_dtype(size), copy=False)
        if iso is not None:
            return sparse_vector(size, dtype, indices, np.array([iso], dtype.array_dtype), iso=True)
        return settled(sparse_vector(size, dtype, indices, values[present]))
    if iso is not None:
        values = _repeated(iso, size, dtype)
    return bitmap_vector(dtype, present, values, num)
