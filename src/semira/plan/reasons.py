"""Why a plan is what it is: numbered reasons, and the sentence of each."""

from __future__ import annotations

from enum import IntEnum, unique

from semira.contract import Reason


@unique
class Code(IntEnum):
    """Numbers of the reasons; they are stored in plans, so a number is never reused."""

    ONE_WAY = 1
    ITERATION_DECIDES = 2
    DIRECTION_PINNED = 3
    ONLY_METHOD = 4
    LEFT_OUT = 5
    SWITCH_POINT_PINNED = 6
    AVERAGE_DEGREE = 7
    SLOW_LOOKS = 8
    QUICK_READS = 9
    MATRIX_STORAGE_PINNED = 10
    VECTOR_STORAGE_PINNED = 11
    VECTOR_STORAGE_FREE = 12
    FORMAT_WALKED = 13
    SLOW_START = 14
    LATE_PUSH = 15
    SETTLED = 16
    SLOW_PUSH = 17
    COST_WEIGHED = 18
    MASK_BEFORE = 20
    MASK_AFTER = 21
    NO_MASK = 22
    MASK_TESTED = 23
    EXIT_AT_FIRST = 30
    EXIT_AT_TERMINAL = 31
    NO_EXIT = 32
    WHOLE_ROWS = 33
    STRUCTURE_ONLY = 40
    READS_MATRIX = 41
    REUSE_PROVEN = 50
    REUSE_ASSERTED = 51
    NO_REUSE = 52
    MXM_MASKED_DOT = 60
    MXM_ROW_WISE = 61
    METHOD_PINNED = 62
    MXM_COUNTED = 63
    BLOCK_DECIDES = 64
    LISTS_MEET = 65
    LISTS_PINNED = 66
    BLOCK_NAMED = 67
    FULL_OPERANDS = 68
    FULL_RIGHT = 69
    BALANCE = 70
    VARIANT = 71
    QUEUE_PINNED = 74
    FIXED_ORDER = 80
    FULL_LEFT = 81
    FULL_BOTH = 82


#: One sentence per code; the figures of the reason fill the braces.
SENTENCES: dict[int, str] = {
    Code.ONE_WAY: "{0} has one method",
    Code.ITERATION_DECIDES: (
        "policy {0}: from push to pull when {1} > {2:.6g} * {3}{4}; "
        "back when {5} < {6:.6g} * {7}{8}"
    ),
    Code.DIRECTION_PINNED: "the direction {0} is pinned",
    Code.ONLY_METHOD: "{0} is the only admissible method",
    Code.LEFT_OUT: "{0} is not admissible: {1}",
    Code.SWITCH_POINT_PINNED: "the switch point {0:.6g} is pinned",
    Code.SLOW_LOOKS: (
        "a pull that may leave rows early counts for {0:,.0f} entries before its first look, and "
        "a look for {1:.6g}"
    ),
    Code.SLOW_START: (
        "a pull of the rows that a mask leaves open counts for {0:,.0f} entries before its first"
    ),
    Code.QUICK_READS: (
        "a pull reads whole rows in the order in which they lie: an entry counts for {0:.3g}"
    ),
    Code.LATE_PUSH: "in no loop, a push counts for {0:,.0f} entries before its first",
    Code.SLOW_PUSH: "in no loop, the first {0:,.0f} entries of a push count twice",
    Code.SETTLED: (
        "in no loop, and the host knows how many entries the vector has: with the average degree "
        "of each, {0} is the cheaper way"
    ),
    Code.AVERAGE_DEGREE: (
        "summing the frontier's degrees is not cheap on {0}: the average degree stands for them"
    ),
    Code.MATRIX_STORAGE_PINNED: "the matrix keeps {0} only: matrix_storage is pinned",
    Code.VECTOR_STORAGE_PINNED: "the output is kept {0}: vector_storage is pinned",
    Code.VECTOR_STORAGE_FREE: "the output's storage follows its number of entries",
    Code.FORMAT_WALKED: "the matrix is walked as {0}, {1}: {2}",
    Code.COST_WEIGHED: "{0} is taken each time that it costs less than push and pull",
    Code.MASK_BEFORE: "{0} looks at the mask before multiplying: closed positions cost nothing",
    Code.MASK_TESTED: "{0} tests the mask before it writes: edges to closed positions end there",
    Code.MASK_AFTER: "{0} looks at the mask after multiplying{1}",
    Code.NO_MASK: "there is no mask: every position is open",
    Code.EXIT_AT_FIRST: "{0} leaves a row at the first operand: for {1} any one will do",
    Code.EXIT_AT_TERMINAL: "{0} leaves a row when {1} has reached its terminal value {2}",
    Code.NO_EXIT: "no early exit: {0}",
    Code.WHOLE_ROWS: "no early exit: rows are so short that leaving them takes longer",
    Code.STRUCTURE_ONLY: "{0} ignores the values of the matrix: they are not loaded",
    Code.READS_MATRIX: "the values of the matrix are loaded: {0}",
    Code.REUSE_PROVEN: "pull reads the mask in the operand's place: the loop proves it may",
    Code.REUSE_ASSERTED: "pull reads the mask in the operand's place: the caller asserts it may",
    Code.NO_REUSE: "the operand itself is read: {0}",
    Code.MXM_MASKED_DOT: "the mask names the few results wanted: one dot product for each",
    Code.MXM_ROW_WISE: "row by row with a {0} accumulator: {1}",
    Code.BLOCK_DECIDES: (
        "{0} pushes; where the left operand is a block (at most {1} rows, {2} times as many "
        "columns), push and pull are weighed"
    ),
    Code.BLOCK_NAMED: (
        "where the result is a block (at most {0} rows, {1} times as many columns) and the mask "
        "names one of it for each column and {2} rows or more, columns are pulled{3}"
    ),
    Code.MXM_COUNTED: (
        "{0} instead where dot products look at more than {1:,.0f} entries, by mean lengths, and "
        "by count at more than {2:g} for each pair that is multiplied row by row"
    ),
    Code.LISTS_MEET: (
        "the shorter list of a dot product is walked, and the longer one searched; in a product of "
        "which only the sum is asked they are merged, unless one is more than {0} times as long "
        "as the other, or {1} times where lines of the operands differ much in length"
    ),
    Code.LISTS_PINNED: "the two lists of a dot product meet by {0}: intersect is pinned",
    Code.FULL_OPERANDS: "an operand that has every entry is read where it lies instead",
    Code.FULL_RIGHT: (
        "the right operand has every entry: its values are read where they lie, and sums need no "
        "table"
    ),
    Code.FULL_LEFT: (
        "the left operand has every entry: its values are read where they lie, for the entries of "
        "each column of the right one"
    ),
    Code.FULL_BOTH: (
        "both operands have every entry: tiles of them are multiplied where there are enough for "
        "all multiprocessors, else their values are read where they lie"
    ),
    Code.METHOD_PINNED: "the method {0} is pinned",
    Code.BALANCE: "work is shared out by {0}: {1}",
    Code.VARIANT: "{0}",
    Code.QUEUE_PINNED: "places in the result's list are asked for {0}: queue is pinned",
    Code.FIXED_ORDER: "operands are added up in the same order in every run: deterministic is set",
}


def reason(code: Code, *figures: float | str) -> Reason:
    """Return the reason `code` with its figures."""
    return Reason(int(code), figures)


def sentence(given: Reason) -> str:
    """Return `given` in words.

    Examples
    --------
    >>> sentence(reason(Code.DIRECTION_PINNED, "push"))
    'the direction push is pinned'
    """
    return SENTENCES[given.code].format(*given.figures)
