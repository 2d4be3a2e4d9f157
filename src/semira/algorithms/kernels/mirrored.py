"""Whether a matrix is its own transpose."""

import numpy as np

from semira.kernels import kernel


@kernel
def compare_mirrored(low, high, indptr, indices, values, place, differs):
    """Compare the entries of rows, in order, with those that columns have next.

    At first `place` has the begin of each row; at the end `differs` says whether one was different.
    """
    for _ in range(low, high):
        i = np.int64(0)
        while i < len(place) and differs[0] == 0:
            for p in range(indptr[i], indptr[i + 1]):
                j = np.int64(indices[p])
                other = place[j]
                if (
                    other >= np.int64(indptr[j + 1])
                    or np.int64(indices[other]) != i
                    or values[other] != values[p]
                ):
                    differs[0] = 1
                    break
                place[j] = other + 1
            i += 1
