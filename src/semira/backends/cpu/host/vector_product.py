"""``mxv`` and ``vxm``: what one of the plan's methods is computed by."""

from __future__ import annotations

from typing import Any

from semira.backends.cpu.host import walks
from semira.backends.cpu.host.mxv import Into, Product, empty_vector, product_of, pull, push
from semira.backends.cpu.host.update import Result
from semira.backends.cpu.masks import vector_mask
from semira.backends.cpu.storage import CpuVector
from semira.backends.interpreter import MaskData
from semira.contract import Method, Statement


def compute(
    statement: Statement, method: Method, args: list[Any], mask: MaskData | None, out: CpuVector
) -> tuple[Result, int]:
    """Return the product and the matrix entries read."""
    if method.storage != "compressed":
        return walks.compute(statement, method, args, mask, out)
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
