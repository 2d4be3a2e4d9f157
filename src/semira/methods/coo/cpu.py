"""Entries on the cpu: workers take equal shares, whatever the vector has."""

from __future__ import annotations

from semira.backends.cpu import threads
from semira.backends.cpu.host.mxv import Operand, kernel_of, scattered
from semira.backends.cpu.host.times_full import FullWalk
from semira.backends.cpu.host.walks import Walk
from semira.backends.cpu.storage import CpuVector

#: Entries may lie in any order.
NEEDS_LINES = False

_PUSH = "push+semira.methods.coo.kernels:push"
_TIMES_FULL = "spmm+semira.methods.coo.kernels:times_full"


def multiply(walk: Walk) -> tuple[CpuVector, int]:
    """Return the product by looking at every entry, and how many there are."""
    product, mask = walk.product, walk.mask
    edges, iso = product.edges, product.iso_value()
    flags = (
        ("MASKED", mask is not None),
        ("ISO_RESULT", iso is not None),
        ("FULL", product.vector.storage == "full"),
    )
    kernels = kernel_of(_PUSH, product, flags)
    sources, targets = edges.kept_majors(), edges.indices
    # The vector stands at the lines of the orientation that a push walks.
    if (edges is walk.matrix.csc) != walk.by_columns:
        sources, targets = targets, sources
    operand = Operand(product)
    given = (
        sources, targets, *product.edge_values(), operand.present, operand.values, operand.stride,
    )  # fmt: skip
    # Each chunk needs buffers of the result's size.
    chunks = min(threads.num_chunks(edges.nvals), threads.num_threads())
    bounds = threads.even_bounds(edges.nvals, chunks)
    found = scattered(
        product, mask, kernels, kernels.push_entries, given, bounds, targets.dtype, iso
    )
    operand.close()
    return found


def times_full(walk: FullWalk) -> None:
    """Multiply a full matrix: chunks of entries end where rows do."""
    a, b, out = walk.a, walk.b, walk.out
    values, stride = walk.values_of(a)
    rows, kernels = a.kept_majors(), walk.kernels(_TIMES_FULL)

    def multiply_share(_part: int, lo: int, hi: int) -> None:
        kernels.by_entry(
            int(a.indptr[lo]), int(a.indptr[hi]), rows, a.indices, values, stride,
            b.values, b.step_k, b.step_j, out.indptr, out.nminor, out.values,
        )  # fmt: skip

    threads.run_chunks(multiply_share, walk.bounds())
