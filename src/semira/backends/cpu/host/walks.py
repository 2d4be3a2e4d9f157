"""mxv and vxm, by methods of the backend and by what those with folders make of a matrix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from semira.backends.companions import Kind
from semira.backends.cpu.host.mxv import Into, Lines, Product, empty_vector, product_of, pull, push
from semira.backends.cpu.host.update import Result
from semira.backends.cpu.masks import VectorMask, vector_mask
from semira.backends.cpu.storage import CpuMatrix, CpuVector
from semira.backends.interpreter import MaskData
from semira.contract import Method, Statement, part_of
from semira.formats import MatrixArrays

__all__ = ["Lines", "Walk", "compute", "pull_lines"]


@dataclass(frozen=True, slots=True, eq=False)
class Walk:
    """A product with a vector, as the folder of a method gets it."""

    #: Operators, vector and size of the result. Its ``edges`` are the lines that a pull walks, or
    #: (without ``NEEDS_LINES``) whichever orientation there is.
    product: Product
    matrix: CpuMatrix
    #: With the parameters of the pin.
    method: Method
    #: Whether lines are columns of the matrix as it is stored.
    by_columns: bool
    #: What to look at before multiplying.
    mask: VectorMask | None

    def need(self, kind: Kind) -> Any:
        """Return what is kept with the matrix; made the first time, of the `lines`.

        ``kind.make`` is called with the orientation, the variant, and this object.
        """
        variant = self.method.parameters
        return self.product.edges.companions.need(kind, self.product.edges, variant, self)

    def lines(self) -> MatrixArrays:
        """Return the lines as arrays: rows of a csr, or columns of a csc."""
        return self.matrix.arrays_of(self.product.edges, by_columns=self.by_columns)


def _walked(
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


def pull_lines(
    product: Product, lines: Lines, mask: VectorMask | None, *, may_exit: bool
) -> tuple[CpuVector, int]:
    """Return the product row by row, and the matrix entries read."""
    return pull(product, mask, may_exit=may_exit, lines=lines)


def compute(
    statement: Statement, method: Method, args: list[Any], mask: MaskData | None, out: CpuVector
) -> tuple[Result, int]:
    """Return the product and the matrix entries read."""
    if method.storage != "compressed":
        return _walked(statement, method, args, mask, out)
    product, name = product_of(statement, method.name, args, out.size)
    if product.vector.nvals == 0 or product.edges.nvals == 0:
        return Result(empty_vector(out.size, product.add.type), exact=True), 0
    test = vector_mask(mask, out.size) if method.mask_order != "after" else None
    exact = mask is None or method.mask_order != "after"
    may_exit = method.early_exit or method.name == "direct"
    if name == "push":
        result, touched = push(product, test)
        return Result(result, exact), touched
    if method.operand_reuse and mask is not None and not product.reads_vector:
        product = Product(
            product.add, product.multiply, product.vector_first, product.edges, mask.data, out.size
        )
    into = _into(statement, product, mask, out)
    result, touched = pull(product, test, may_exit=may_exit, into=into)
    return Result(result, exact, accumulated=into is not None), touched


def _into(
    statement: Statement, product: Product, mask: MaskData | None, out: CpuVector
) -> Into | None:
    """Return where pull can accumulate on the way, or None."""
    if statement.accum is None or mask is not None or out.storage != "full":
        return None
    return Into(statement.accum, out) if product.iso_value() is None else None
