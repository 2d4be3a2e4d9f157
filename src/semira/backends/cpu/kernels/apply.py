"""One operator on every entry; `bound` is a bound operand or a thunk."""

from semira.backends.cpu.kernels.slots import LISTED, VALUES, call, kernel


@kernel
def entries(lo, hi, indices, values, bound, out):
    """Entries of a vector: listed positions, or every one."""
    for q in range(lo, hi):
        i = indices[q] if LISTED else q
        a = values[q] if VALUES else 0
        out[q] = call(a, i, 0, bound)


@kernel
def rows(lo, hi, indptr, indices, values, bound, out):
    """Entries of a matrix by rows."""
    for i in range(lo, hi):
        for p in range(indptr[i], indptr[i + 1]):
            a = values[p] if VALUES else 0
            out[p] = call(a, i, indices[p], bound)
