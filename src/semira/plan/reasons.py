"""Why a plan is what it is: reasons, and the sentence of each."""

from __future__ import annotations

from enum import Enum, unique

from semira.contract import Reason


@unique
class Code(Enum):
    """The reasons: a sentence each, whose braces the figures fill."""

    ONE_WAY = "{0} has one method"
    ITERATION_DECIDES = (
        "policy {0}: from push to pull when {1} > {2:.6g} * {3}{4}; "
        "back when {5} < {6:.6g} * {7}{8}"
    )
    DIRECTION_PINNED = "the direction {0} is pinned"
    ONLY_METHOD = "{0} is the only admissible method"
    LEFT_OUT = "{0} is not admissible: {1}"
    SWITCH_POINT_PINNED = "the switch point {0:.6g} is pinned"
    SLOW_LOOKS = (
        "a pull that may leave rows early counts for {0:,.0f} entries before its first look, and "
        "a look for {1:.6g}"
    )
    SLOW_START = (
        "a pull of the rows that a mask leaves open counts for {0:,.0f} entries before its first"
    )
    QUICK_READS = (
        "a pull reads whole rows in the order in which they lie: an entry counts for {0:.3g}"
    )
    LATE_PUSH = "in no loop, a push counts for {0:,.0f} entries before its first"
    SLOW_PUSH = "in no loop, the first {0:,.0f} entries of a push count twice"
    SETTLED = (
        "in no loop, and the host knows how many entries the vector has: with the average degree "
        "of each, {0} is the cheaper way"
    )
    AVERAGE_DEGREE = (
        "summing the frontier's degrees is not cheap on {0}: the average degree stands for them"
    )
    VECTOR_STORAGE_PINNED = "the output is kept {0}: vector_storage is pinned"
    VECTOR_STORAGE_FREE = "the output's storage follows its number of entries"
    FORMAT_WALKED = "the matrix is walked as {0}, {1}: {2}"
    COST_WEIGHED = "{0} is taken each time that it costs less than push and pull"
    MASK_BEFORE = "{0} looks at the mask before multiplying: closed positions cost nothing"
    MASK_TESTED = "{0} tests the mask before it writes: edges to closed positions end there"
    MASK_AFTER = "{0} looks at the mask after multiplying{1}"
    NO_MASK = "there is no mask: every position is open"
    EXIT_AT_FIRST = "{0} leaves a row at the first operand: for {1} any one will do"
    EXIT_AT_TERMINAL = "{0} leaves a row when {1} has reached its terminal value {2}"
    NO_EXIT = "no early exit: {0}"
    WHOLE_ROWS = "no early exit: rows are so short that leaving them takes longer"
    STRUCTURE_ONLY = "{0} ignores the values of the matrix: they are not loaded"
    READS_MATRIX = "the values of the matrix are loaded: {0}"
    REUSE_PROVEN = "pull reads the mask in the operand's place: the loop proves it may"
    REUSE_ASSERTED = "pull reads the mask in the operand's place: the caller asserts it may"
    NO_REUSE = "the operand itself is read: {0}"
    MXM_MASKED_DOT = "the mask names the few results wanted: one dot product for each"
    MXM_ROW_WISE = "row by row with a {0} accumulator: {1}"
    BLOCK_DECIDES = (
        "{0} pushes; where the left operand is a block (at most {1} rows, {2} times as many "
        "columns), push and pull are weighed"
    )
    BLOCK_NAMED = (
        "where the result is a block (at most {0} rows, {1} times as many columns) and the mask "
        "names one of it for each column and {2} rows or more, columns are pulled{3}"
    )
    MXM_COUNTED = (
        "{0} instead where dot products look at more than {1:,.0f} entries, by mean lengths, and "
        "by count at more than {2:g} for each pair that is multiplied row by row"
    )
    LISTS_MEET = (
        "the shorter list of a dot product is walked, and the longer one searched; in a product of "
        "which only the sum is asked they are merged, unless one is more than {0} times as long "
        "as the other, or {1} times where lines of the operands differ much in length"
    )
    LISTS_PINNED = "the two lists of a dot product meet by {0}: intersect is pinned"
    FULL_OPERANDS = "an operand that has every entry is read where it lies instead"
    FULL_RIGHT = (
        "the right operand has every entry: its values are read where they lie, and sums need no "
        "table"
    )
    FULL_LEFT = (
        "the left operand has every entry: its values are read where they lie, for the entries of "
        "each column of the right one"
    )
    FULL_BOTH = (
        "both operands have every entry: tiles of them are multiplied where there are enough for "
        "all multiprocessors, else their values are read where they lie"
    )
    METHOD_PINNED = "the method {0} is pinned"
    BALANCE = "work is shared out by {0}: {1}"
    VARIANT = "{0}"
    QUEUE_PINNED = "places in the result's list are asked for {0}: queue is pinned"
    FIXED_ORDER = "operands are added up in the same order in every run: deterministic is set"


def reason(code: Code, *figures: float | str) -> Reason:
    """Return the reason `code` with its figures."""
    return Reason(code, figures)


def sentence(given: Reason) -> str:
    """Return `given` in words.

    Examples
    --------
    >>> sentence(reason(Code.DIRECTION_PINNED, "push"))
    'the direction push is pinned'
    """
    return str(given.code.value).format(*given.figures)
