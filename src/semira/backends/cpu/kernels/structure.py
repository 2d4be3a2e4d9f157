"""Moving entries without looking at operators: transposing and gathering rows."""

import numpy as np

from semira.backends.cpu.kernels.slots import LISTED, VALUES, kernel


@kernel
def count_entries(places, indptr):
    """Return the entries of the runs that are listed, or of those that are marked."""
    num = np.int64(0)
    for q in range(np.uint64(len(places))):
        i = np.uint64(places[q]) if LISTED else q
        entries = np.int64(indptr[i + np.uint64(1)]) - np.int64(indptr[i])
        num += entries if LISTED or places[q] else 0
    return num


@kernel
def count(lo, hi, indptr, indices, counts):
    """Count entries by minor index."""
    for p in range(indptr[lo], indptr[hi]):
        counts[indices[p]] += 1


@kernel
def place(lo, hi, indptr, indices, values, ends, out_indices, out_values):
    """Deal the rows' entries out; `ends` holds where the next entry of each minor index goes."""
    for i in range(lo, hi):
        for p in range(indptr[i], indptr[i + 1]):
            j = indices[p]
            q = ends[j]
            ends[j] = q + 1
            out_indices[q] = i
            if VALUES:
                out_values[q] = values[p]


@kernel
def gather_rows(lo, hi, rows, indptr, indices, values, out_indptr, out_indices, out_values):
    """Copy row ``rows[q]`` to row `q`, as many entries as there is room for."""
    for q in range(lo, hi):
        p = indptr[rows[q]]
        for to in range(out_indptr[q], out_indptr[q + 1]):
            out_indices[to] = indices[p]
            if VALUES:
                out_values[to] = values[p]
            p += 1
