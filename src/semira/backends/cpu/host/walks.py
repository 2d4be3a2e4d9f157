"""mxv and vxm by what methods with folders make of a matrix, and pulls of lines of any layout."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

from semira.backends.companions import Kind
from semira.backends.cpu import threads
from semira.backends.cpu.companions import Valued
from semira.backends.cpu.compressed import Array
from semira.backends.cpu.host.mxv import (
    DUMMY,
    Operand,
    Product,
    edge_dtype,
    empty_vector,
    kernel_of,
    looked_up,
    pull_bounds,
)
from semira.backends.cpu.host.update import Result
from semira.backends.cpu.masks import UNMASKED, VectorMask, vector_mask
from semira.backends.cpu.storage import CpuMatrix, CpuVector
from semira.backends.interpreter import MaskData
from semira.contract import Method, Statement, part_of
from semira.formats import MatrixArrays


@dataclass(frozen=True, slots=True, eq=False)
class Walk:
    """A product with a vector, as the folder of a method gets it.

    Attributes
    ----------
    product : Product
        Operators, vector and size of the result. Its ``edges`` are the lines that a pull walks, or
        (without ``NEEDS_LINES``) whichever orientation there is.
    matrix : CpuMatrix
    method : Method
        With the parameters of the pin.
    by_columns : bool
        Whether lines are columns of the matrix as it is stored.
    mask : VectorMask or None
        What to look at before multiplying.
    """

    product: Product
    matrix: CpuMatrix
    method: Method
    by_columns: bool
    mask: VectorMask | None

    def need(self, kind: Kind) -> Any:
        """Return what is kept with the matrix; made the first time, of the `lines`.

        ``kind.make`` is called with the orientation, the variant, and this object.
        """
        variant = self.method.parameters
        return self.product.edges.companions.need(kind, self.product.edges, variant, self)

    def lines(self) -> MatrixArrays:
        """Return the lines as arrays: rows of a csr, or columns of a csc."""
        edges, orientation = self.product.edges, "csc" if self.by_columns else "csr"
        shape = (self.matrix.nrows, self.matrix.ncols)
        return MatrixArrays(
            *shape,
            self.matrix.dtype,
            orientation,
            edges.indptr,
            edges.indices,
            edges.values,
            edges.iso,
        )


def compute(
    statement: Statement, method: Method, args: list[Any], mask: MaskData | None, out: CpuVector
) -> tuple[Result, int]:
    """Return the product and the matrix entries read."""
    vector_first = statement.op == "vxm"
    at = 1 if vector_first else 0
    matrix: CpuMatrix = args[at]
    vector: CpuVector = args[1 - at]
    # Whether the vector's positions are the stored matrix' rows.
    from_rows = vector_first != statement.args[at].transposed
    by_columns = from_rows if method.name == "pull" else not from_rows
    part = part_of(method.storage, "cpu")
    needs = part.NEEDS_LINES
    edges = matrix.oriented(by_columns=by_columns) if needs else matrix.any_orientation()
    add, multiply = statement.operator.monoid, statement.operator.binaryop
    product = Product(add, multiply, vector_first, edges, vector, out.size)
    if vector.nvals == 0 or edges.nvals == 0:
        return Result(empty_vector(out.size, add.type), exact=True), 0
    exact = mask is None or method.mask_order != "after"
    test = vector_mask(mask, out.size) if exact else None
    if method.operand_reuse and mask is not None and not product.reads_vector:
        product = Product(add, multiply, vector_first, edges, mask.data, out.size)
    result, touched = part.multiply(Walk(product, matrix, method, by_columns, test))
    return Result(result, exact), touched


def pull_bounds_of(product: Product, rows: Array | None) -> list[int]:
    """Return lines between which threads share the entries out about equally."""
    return pull_bounds(product.edges, rows)


@dataclass(frozen=True, slots=True, eq=False)
class Lines:
    """Lines as a kernel that pulls walks them.

    Attributes
    ----------
    template : str
    flag : (str, bool)
        What it knows of their layout.
    places : tuple
        Arguments that say where entries lie.
    held : Valued
        Their values.
    bounds : callable
        Takes the product and the lines that are listed, or None for all; returns those between
        which threads share out about equally.
    """

    template: str
    flag: tuple[str, bool]
    places: tuple[Any, ...]
    held: Valued
    bounds: Callable[[Product, Array | None], list[int]] = pull_bounds_of


def pull_lines(
    product: Product, lines: Lines, mask: VectorMask | None, *, may_exit: bool
) -> tuple[CpuVector, int]:
    """Return the product row by row, and the matrix entries read."""
    vector, add = product.vector, product.add
    iso = product.iso_value()
    rows = None if mask is None else mask.writable
    flags = (
        ("MASKED", mask is not None and rows is None),
        ("LISTED", rows is not None),
        ("FULL", vector.storage == "full"),
        lines.flag,
        ("ISO_RESULT", iso is not None),
        ("EXIT_FIRST", may_exit and (add.is_any or iso is not None)),
        ("EXIT_TERMINAL", may_exit and iso is None and not add.is_any and add.terminal is not None),
    )
    kernels: ModuleType = kernel_of(lines.template, product, flags)
    length = product.size if rows is None else len(rows)
    present = np.zeros(length, np.bool_)
    values = DUMMY if iso is not None else np.zeros(length, add.type.array_dtype)
    tests = UNMASKED if mask is None or rows is not None else mask.open()
    operand = Operand(product)
    edge_values, e_stride = DUMMY, 0
    if product.reads_edges:
        edge_values, e_stride = lines.held.values_as(edge_dtype(product)), lines.held.stride

    def look_up(part: int, lo: int, hi: int) -> tuple[int, int]:
        del part
        found: tuple[int, int] = kernels.pull(
            lo, hi, DUMMY if rows is None else rows, *lines.places, edge_values, e_stride,
            operand.present, operand.values, operand.stride, *tests, present, values,
        )  # fmt: skip
        return found

    parts = threads.run_chunks(look_up, lines.bounds(product, rows))
    operand.close()
    if mask is not None:
        mask.close()
    num, work = sum(part[0] for part in parts), sum(part[1] for part in parts)
    return looked_up(product, rows, present, values, num, iso), work
