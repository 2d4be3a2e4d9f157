"""Storage: which orientation of a matrix a method walks, and how outputs are kept."""

from __future__ import annotations

from semira.contract import COLUMNS, Capabilities, Reason, Statement
from semira.plan.reasons import Code, reason

_FLIPPED = {"csr": "csc", "csc": "csr"}

#: Orientation of each matrix operand that a method walks, before transposition.
WALKS = {
    ("vxm", "push"): ("csr",),
    ("vxm", "pull"): ("csc",),
    ("mxv", "push"): ("csc",),
    ("mxv", "pull"): ("csr",),
    ("mxm", "dot"): ("csr", "csc"),
    ("mxm", "hash"): ("csr", "csr"),
    ("mxm", "dense"): ("csr", "csr"),
    ("mxm", "pull"): ("csr", "csc"),
}

#: Formats beside compressed lines: the method that walks each, how it shares its work out and why,
#: and what it walks in words.
FORMATS = {
    "coo": ("push", "edges", "a worker for each entry of the matrix", "its entries one by one"),
    **{
        name: ("pull", "thread", "neighbours read neighbouring words of their rows", words)
        for name, words in (
            ("ell", "rows padded to the width of the longest"),
            ("ellr", "rows padded to the width of the longest, with their lengths"),
            ("pell", "rows padded to the width of the longest, rounded up to a multiple of 4"),
            ("sell", "slices of rows, each padded to the width of its longest"),
        )
    },
    "dense": ("pull", "warp", "neighbours read neighbouring positions of a row", "every position"),
}

#: The same of ``mxm``, whose right operand then has every entry: formats of the left one.
_ROW_WISE = ("dense", "hash")
_MATRIX_FORMATS = {
    "coo": ("edges", "workers take equal shares of the entries", "the left one's entries by rows"),
    COLUMNS: (
        "edges",
        "workers take equal shares of the entries",
        "the left one's, which add to the rows of the result; nothing is transposed",
    ),
    **{
        name: ("rows", "neighbouring rows are read together", f"the left one's {FORMATS[name][3]}")
        for name in ("ell", "ellr", "pell", "sell")
    },
}

#: Which arguments of a product are matrices.
MATRIX_ARGS = {"vxm": (1,), "mxv": (0,), "mxm": (0, 1)}


def walked_orientations(statement: Statement, method: str) -> tuple[str, ...]:
    """Return the stored orientation of each matrix operand that `method` walks.

    Examples
    --------
    >>> from semira.contract import Arg, Statement
    >>> walked_orientations(Statement("vxm", 0, (Arg(0), Arg(1, transposed=True))), "push")
    ('csc',)
    """
    args = (statement.args[position] for position in MATRIX_ARGS[statement.op])
    return tuple(
        _FLIPPED[walks] if arg.transposed else walks
        for arg, walks in zip(args, WALKS[statement.op, method], strict=True)
    )


def walked_format(statement: Statement) -> str:
    """Return what a pin has walked in the place of compressed rows, or ``compressed``.

    Rows of the left operand of ``mxm`` that a pinned orientation rules out leave its columns.

    Examples
    --------
    >>> from semira.contract import Arg, Hints, Statement
    >>> args = Arg(1), Arg(2)
    >>> walked_format(Statement("mxm", 0, args, hints=Hints(matrix_storage="csc")))
    'columns'
    """
    pinned = statement.hints.matrix_storage
    if pinned in FORMATS:
        return pinned
    if statement.op == "mxm" and pinned == left_columns(statement):
        return COLUMNS
    return "compressed"


def left_columns(statement: Statement) -> str:
    """Return the stored orientation that has the columns of a product's left operand."""
    return "csr" if statement.args[0].transposed else "csc"


def format_reason(statement: Statement, walked: str) -> Reason:
    """Return the reason for a format that is not ``compressed``."""
    words = _MATRIX_FORMATS[walked][2] if statement.op == "mxm" else FORMATS[walked][3]
    return reason(Code.FORMAT_WALKED, walked, words)


def format_balance(statement: Statement, walked: str) -> tuple[str, str]:
    """Return how work on a format is shared out, and why."""
    if statement.op == "mxm":
        return _MATRIX_FORMATS[walked][:2]
    return FORMATS[walked][1:3]


def format_orientation(statement: Statement, walked: str, method: str) -> str:
    """Return the orientation whose lines or entries a format has; ``none``: any."""
    orientations = walked_orientations(statement, method)
    if walked == COLUMNS:
        return left_columns(statement)
    if statement.op == "mxm":
        return orientations[0]
    return "none" if walked == "coo" else orientations[-1]


def storage_obstacle(statement: Statement, method: str, capabilities: Capabilities) -> str:
    """Say why the pinned matrix storage rules `method` out; empty if it does not."""
    pinned = statement.hints.matrix_storage
    if pinned in (None, "both"):
        return ""
    walked = walked_format(statement)
    if walked != "compressed":
        return _format_obstacle(statement, method, walked, capabilities)
    needed = sorted(set(walked_orientations(statement, method)) - {pinned})
    if not needed:
        return ""
    return (
        f"{method} walks {' and '.join(needed)}, and matrix_storage={pinned!r} is pinned "
        "(by the call, or by a matrix with memory='lean'; matrix_storage='both' transposes)"
    )


def _format_obstacle(
    statement: Statement, method: str, walked: str, capabilities: Capabilities
) -> str:
    is_matrix, pinned = statement.op == "mxm", statement.hints.matrix_storage
    methods = _ROW_WISE if is_matrix else FORMATS[walked][:1]
    if is_matrix and walked not in _MATRIX_FORMATS:
        return (
            f"matrix_storage={pinned!r} is for products with a vector (without the pin mxm reads a "
            "matrix that has every entry by position)"
        )
    if walked not in capabilities.storages:
        return f"{capabilities.name} cannot walk {walked}"
    if method not in methods:
        alone = " and ".join(methods) + " alone walk" + "s" * (len(methods) == 1)
        return f"matrix_storage={pinned!r} is pinned, which {alone}"
    balance = format_balance(statement, walked)[0]
    if statement.hints.balance not in (None, balance):
        return f"matrix_storage={pinned!r} shares its work by {balance!r}"
    if is_matrix and statement.hints.mask_order == "before":
        return f"matrix_storage={pinned!r} of mxm multiplies before it looks at the mask"
    return ""


def choose_out_storage(statement: Statement) -> tuple[str, Reason]:
    """Return the storage of the output and why."""
    pinned = statement.hints.vector_storage
    if pinned is None:
        return "auto", reason(Code.VECTOR_STORAGE_FREE)
    return pinned, reason(Code.VECTOR_STORAGE_PINNED, pinned)
