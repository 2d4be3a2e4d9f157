"""Lists of products on the cpu, and the three ways to merge one.

What chapter 4 of C. Yang's thesis (2019) compares on a GPU: a scatter without a sort, where any
of the products that meet will do; a radix sort, of as many bits as the rows have; a merge sort.
Both sorts are stable, so sums are made in the order of the frontier, whatever the threads do.
Where all results have one value, positions alone are moved.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np

from semira.backends.cpu import threads, workspace
from semira.backends.cpu.compressed import EVERYWHERE, Array
from semira.backends.cpu.host.mxv import DUMMY, Product, collected, edge_offsets, kernel_of
from semira.backends.cpu.host.walks import Walk
from semira.backends.cpu.storage import CpuVector, sparse_vector
from semira.formats import index_dtype

#: It walks the lines of the frontier.
NEEDS_LINES = True

_LISTS = "semira.methods.sorted_push.kernels:lists"

#: Bits of a radix sort's digit: the counts of one stay in the first cache.
DIGIT_BITS = 11


def multiply(walk: Walk) -> tuple[CpuVector, int]:
    """Return the product by a list that is merged as pinned, and the matrix entries read.

    Takes memory for every product: an index each, and a value each unless there is only one.
    """
    product, merge = walk.product, dict(walk.method.parameters)["merge"]
    iso = product.iso_value()
    kernels = kernel_of(_LISTS, product, (("ISO_RESULT", iso is not None),))
    keys, values = _listed(kernels, product, iso)
    size, dtype = product.size, product.add.type
    if merge == "scatter":
        mark = workspace.marks(size)
        acc = DUMMY if iso is not None else workspace.buffer(dtype.array_dtype, size)
        num = int(kernels.scatter_listed(keys, values, mark, acc))
        return collected(size, dtype, num, mark, acc, None, iso), len(keys)
    if merge == "radix":
        keys, values = sorted_by_digits(kernels, keys, values, size)
    else:
        # Of keys of 32 bits and more NumPy's stable sort merges runs.
        order = np.argsort(keys, kind="stable")
        keys, values = keys[order], values if iso is not None else values[order]
    found = np.empty_like(keys)
    sums = DUMMY if iso is not None else np.empty_like(values)
    num = int(kernels.fold_runs(keys, values, found, sums))
    found = found[:num].astype(index_dtype(size), copy=True)
    sums = sums[:num].copy() if iso is None else np.array([iso], dtype.array_dtype)
    return sparse_vector(size, dtype, found, sums, iso=iso is not None), len(keys)


def _listed(kernels: ModuleType, product: Product, iso: Any) -> tuple[Array, Array]:
    """Return the position of every product, in the order of the frontier, and its value."""
    frontier, edges = product.vector.entry_indices(), product.edges
    x_values, x_stride = (EVERYWHERE, 0) if iso is not None else product.frontier_values()
    edge_values, e_stride = product.edge_values()
    offsets = edge_offsets(edges, frontier)
    count = int(offsets[-1])
    keys = np.empty(count, edges.indices.dtype)
    values = DUMMY if iso is not None else np.empty(count, product.add.type.array_dtype)

    def write(_part: int, lo: int, hi: int) -> None:
        kernels.list_products(
            lo, hi, int(offsets[lo]), frontier, x_values, x_stride, edges.indptr, edges.indices,
            edge_values, e_stride, keys, values,
        )  # fmt: skip

    threads.run_chunks(write, threads.bounds_by_work(offsets, threads.num_chunks(count)))
    return keys, values


def sorted_by_digits(
    kernels: ModuleType, keys: Array, values: Array, size: int
) -> tuple[Array, Array]:
    """Return keys below `size` in order, and the values that go with them; equal keys keep theirs.

    Costs O(len(keys) log(size) / `DIGIT_BITS`), and as much memory again. Both arrays are written.
    """
    others = np.empty_like(keys), np.empty_like(values)
    starts = np.empty(1 << DIGIT_BITS, np.int64)
    for shift in range(0, max(size - 1, 1).bit_length(), DIGIT_BITS):
        kernels.count_digits(keys, shift, starts)
        kernels.move_by_digit(keys, values, shift, starts, *others)
        (keys, values), others = others, (keys, values)
    return keys, values
