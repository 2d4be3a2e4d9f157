"""Storage: which orientation of a matrix a method walks, and how outputs are kept."""

from __future__ import annotations

from semira.contract import Capabilities, Reason, Statement
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
            ("sell", "slices of rows, each padded to the width of its longest"),
        )
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
    """Return the pinned format beside compressed lines, or ``compressed``."""
    pinned = statement.hints.matrix_storage
    return pinned if pinned in FORMATS else "compressed"


def format_reason(walked: str) -> Reason:
    """Return the reason for a format that is not ``compressed``."""
    return reason(Code.FORMAT_WALKED, walked, FORMATS[walked][3])


def storage_obstacle(statement: Statement, method: str, capabilities: Capabilities) -> str:
    """Say why the pinned matrix storage rules `method` out; empty if it does not."""
    pinned = statement.hints.matrix_storage
    if pinned in (None, "both"):
        return ""
    if pinned in FORMATS:
        return _format_obstacle(statement, method, pinned, capabilities)
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
    walks, balance, _, _ = FORMATS[walked]
    if walked not in capabilities.storages:
        return f"{capabilities.name} cannot walk {walked}"
    if method != walks:
        return f"matrix_storage={walked!r} is pinned, which {walks} alone walks"
    if statement.hints.balance not in (None, balance):
        return f"matrix_storage={walked!r} shares its work by {balance!r}"
    return ""


def choose_out_storage(statement: Statement) -> tuple[str, Reason]:
    """Return the storage of the output and why."""
    pinned = statement.hints.vector_storage
    if pinned is None:
        return "auto", reason(Code.VECTOR_STORAGE_FREE)
    return pinned, reason(Code.VECTOR_STORAGE_PINNED, pinned)
