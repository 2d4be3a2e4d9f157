"""Folding values that no NumPy reduction folds."""

from semira.backends.cpu.kernels.slots import EXIT_TERMINAL, TERMINAL, add, kernel


@kernel
def fold(lo, hi, values):
    total = values[lo]
    for p in range(lo + 1, hi):
        if EXIT_TERMINAL and total == TERMINAL:
            break
        total = add(total, values[p])
    return total
