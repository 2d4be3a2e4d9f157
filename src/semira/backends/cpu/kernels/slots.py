"""Names that a template leaves open, so that editors and linters can read the templates.

`semira.backends.cpu.codegen` drops the import of this module when it renders a template, puts
definitions in its place, and folds every ``if`` over one of the flags.
"""

from __future__ import annotations

from typing import Any


def kernel(function: Any) -> Any:
    """Mark an entry point: compiled without the GIL, kept in the disk cache."""
    return function


def helper(function: Any) -> Any:
    """Mark a function that only kernels of the same module call."""
    return function


def _slot(*args: Any) -> Any:
    raise NotImplementedError("a slot of a template was called; render the template first")


#: Product of a matrix entry and a vector entry: ``multiply(edge, x, out, k)``; in mxm
#: ``multiply(a, b, i, k, j)``.
multiply = _slot
#: The monoid: ``add(left, right)``.
add = _slot
#: Element-wise: ``combine(a, b, i, j)``; entries of one side; a bound or index-unary operator.
combine = _slot
only_a = _slot
only_b = _slot
call = _slot
#: Whether select keeps an entry: ``keep(a, i, j, thunk)``.
keep = _slot
#: ``accumulate(old, t)`` in the output's dtype, and `t` cast to it.
accumulate = _slot
store = _slot

#: Random number of a key in a row: ``draw(key, row, seed)``.
draw = _slot

#: Value that ends a reduction.
TERMINAL: Any = None

#: Whether the values of the matrix (E) and of the vector (X), or of A and B, are loaded.
READS_E = READS_X = READS_A = READS_B = False
#: All entries of the result share one value: only the pattern is computed.
ISO_RESULT = False
#: A mask is tested in the kernel.
MASKED = False
#: The operand has an entry at every position.
FULL = False
#: Every entry of the operand (of A, of B) has the one value that is stored.
ISO_A = ISO_B = False
#: The operand lacks an entry at some positions; where the kernel updates, A is the output, and E is
#: a dense matrix.
GAPS_A = GAPS_B = GAPS_E = False
#: The result goes into an output with an entry at every position, by its accumulator.
INTO = False
#: The length of each padded line is kept.
LENGTHS = False
#: Positions come from a list instead of a range.
LISTED = False
#: Stop a row at the first entry, or at the terminal value.
EXIT_FIRST = EXIT_TERMINAL = False
#: The product of any two entries is one, and sums count them.
COUNTS = False
#: Union (else intersection).
UNION = False
#: Entries outside of the mask are dropped.
REPLACE = False
#: Only positions inside a region may change; the mask speaks of the region alone.
REGION = SUBMASK = False
#: Entries of the output that the result lacks are deleted.
DELETES = False
#: The accumulator is a table of slots found by hashing.
HASHED = False
#: Entries carry values of their own.
VALUES = False
#: The object is a vector: its positions are rows of column 0.
VECTOR = False
