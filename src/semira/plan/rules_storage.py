"""Storage: which orientation of a matrix a method walks, and how outputs are kept."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from semira.contract import (
    COLUMNS,
    Capabilities,
    MethodRow,
    Reason,
    Statement,
    method_names,
    row_of,
    row_with_alias,
)
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

#: Methods of ``mxm`` that make the result row by row, and how work on the left operand's entries is
#: shared out.
ROW_WISE = ("dense", "hash")
SHARES = "workers take equal shares of the entries"
_COLUMNS_WALKED = "the left one's, which add to the rows of the result; nothing is transposed"

#: Pins of which some values ask for a method; of ``balance`` the operands decide which do.
ALIASES = ("merge", "intersect")

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


def pinned_method(statement: Statement) -> tuple[MethodRow | None, str]:
    """Return the row of the method that a caller pinned, and the pin; None: a core method.

    ``matrix_storage`` with the name of a method is another way to write ``method``, and so are the
    aliases of its row.
    """
    return next(_pinned_methods(statement), (None, ""))


def _pinned_methods(statement: Statement) -> Iterator[tuple[MethodRow, str]]:
    """Yield the row that each pin asks for, and the pin."""
    op, hints = statement.op, statement.hints
    for pin in ("method", "matrix_storage"):
        row = row_of(op, getattr(hints, pin))
        if row is not None and (pin == "method" or row.keeps != ()):
            yield row, f"{pin}={row.name!r}"
    for pin in ALIASES:
        row = row_with_alias(op, pin, getattr(hints, pin))
        if row is not None:
            yield row, f"{pin}={getattr(hints, pin)!r}"


def part_of_core(statement: Statement, method: str) -> Statement:
    """Return a statement as a core method sees it that stays beside a pinned one: without the pin.

    For other methods it is the statement itself.
    """
    row, _ = pinned_method(statement)
    if row is None or method not in row.beside:
        return statement
    hints = replace(statement.hints, method=None, parameters=())
    if hints.matrix_storage == row.name:
        hints = replace(hints, matrix_storage=None)
    return replace(statement, hints=hints)


def walked_format(statement: Statement) -> str:
    """Return what is walked in the place of compressed rows, or ``compressed``.

    Rows of the left operand of ``mxm`` that a pinned orientation rules out leave its columns.

    Examples
    --------
    >>> from semira.contract import Arg, Hints, Statement
    >>> args = Arg(1), Arg(2)
    >>> walked_format(Statement("mxm", 0, args, hints=Hints(matrix_storage="csc")))
    'columns'
    """
    row, _ = pinned_method(statement)
    if row is not None:
        return row.name
    if statement.op == "mxm" and statement.hints.matrix_storage == left_columns(statement):
        return COLUMNS
    return "compressed"


def left_columns(statement: Statement) -> str:
    """Return the stored orientation that has the columns of a product's left operand."""
    return "csr" if statement.args[0].transposed else "csc"


def parameters_of(statement: Statement) -> tuple[tuple[str, Any], ...]:
    """Return the parameters of a pinned method: as they are pinned, else their defaults."""
    row, _ = pinned_method(statement)
    if row is None:
        return ()
    given = dict(given_parameters(statement, row))
    return tuple((name, given.get(name, values[0])) for name, values in row.parameters.items())


def given_parameters(statement: Statement, row: MethodRow) -> Iterator[tuple[str, Any]]:
    """Yield the parameters that are pinned beside a method, those by other pins first."""
    for pin in dict.fromkeys(pin for pin, _ in row.aliases):
        value = getattr(statement.hints, pin)
        if value is not None:
            yield from row.aliases.get((pin, value), {pin: value}).items()
    yield from statement.hints.parameters


def format_reason(statement: Statement, *, chosen: bool = False) -> Reason:
    """Return the reason for a format that is not ``compressed``: it was pinned or `chosen`."""
    row, pin = pinned_method(statement)
    if row is None:
        pin = f"matrix_storage={statement.hints.matrix_storage!r}"
        return reason(Code.FORMAT_WALKED, COLUMNS, _COLUMNS_WALKED, f"{pin} is pinned")
    why = "by the features of the matrix it costs least" if chosen else f"{pin} is pinned"
    return reason(Code.FORMAT_WALKED, row.name, row.walks, why)


def multiplies_first(statement: Statement) -> bool:
    """Return whether what is walked is multiplied before anybody looks at the mask."""
    row, _ = pinned_method(statement)
    return walked_format(statement) == COLUMNS if row is None else row.masks_late


def format_balance(statement: Statement) -> tuple[str, str]:
    """Return how work on a format is shared out, and why."""
    row, _ = pinned_method(statement)
    return ("edges", SHARES) if row is None else (row.balance, row.because)


def format_orientation(statement: Statement, method: str) -> str:
    """Return the orientation whose lines or entries what is walked has; ``none``: any."""
    row, _ = pinned_method(statement)
    orientations = walked_orientations(statement, method)
    if row is None:
        is_columns = walked_format(statement) == COLUMNS
        return left_columns(statement) if is_columns else orientations[-1]
    if statement.op == "mxm":
        return orientations[0]
    return orientations[-1] if row.is_oriented else "none"


def storage_obstacle(statement: Statement, method: str, capabilities: Capabilities) -> str:
    """Say why a pinned method or matrix storage rules the core `method` out; empty if not."""
    row, pin = pinned_method(statement)
    if row is not None:
        obstacle = _row_obstacle(statement, method, row, pin, capabilities)
        # What walks the arrays of the matrix needs the orientation that the core would.
        return obstacle if obstacle or row.keeps != () else _lines_obstacle(statement, method)
    if statement.hints.matrix_storage in method_names():
        return (
            f"matrix_storage={statement.hints.matrix_storage!r} is for products with a vector "
            "(without the pin mxm reads a matrix that has every entry by position)"
        )
    if walked_format(statement) == COLUMNS:
        return _columns_obstacle(statement, method, capabilities)
    return _lines_obstacle(statement, method)


def _lines_obstacle(statement: Statement, method: str) -> str:
    pinned = statement.hints.matrix_storage
    needed = sorted(set(walked_orientations(statement, method)) - {pinned})
    if pinned in (None, "both") or not needed:
        return ""
    return (
        f"{method} walks {' and '.join(needed)}, and matrix_storage={pinned!r} is pinned "
        "(by the call, or by a matrix with memory='lean'; matrix_storage='both' transposes)"
    )


def _columns_obstacle(statement: Statement, method: str, capabilities: Capabilities) -> str:
    pinned = statement.hints.matrix_storage
    if not capabilities.walks_columns:
        return f"{capabilities.name} cannot walk {COLUMNS}"
    if method not in ROW_WISE:
        return f"matrix_storage={pinned!r} is pinned, which {' and '.join(ROW_WISE)} alone walk"
    if statement.hints.balance not in (None, "edges"):
        return f"matrix_storage={pinned!r} shares its work by 'edges'"
    if statement.hints.mask_order == "before":
        return f"matrix_storage={pinned!r} of mxm multiplies before it looks at the mask"
    return ""


def _row_obstacle(
    statement: Statement, method: str, row: MethodRow, pin: str, capabilities: Capabilities
) -> str:
    # The reference runs any.
    is_on = not row.only_on or capabilities.parts in (*row.only_on, "any")
    if not capabilities.runs(row.name) or not is_on:
        return f"{capabilities.name} cannot run {pin}"
    others = [other for found, other in _pinned_methods(statement) if found is not row]
    if others:
        return f"{pin} and {others[0]} name two methods"
    if method not in row.instead_of:
        alone = " and ".join(row.instead_of) + " alone walk" + "s" * (len(row.instead_of) == 1)
        return f"{pin} is pinned, which {alone}"
    if statement.hints.balance not in (None, row.balance):
        return f"{pin} shares its work by {row.balance!r}"
    if row.masks_late and statement.hints.mask_order == "before":
        return f"{pin} of {statement.op} multiplies before it looks at the mask"
    return row.obstacle(statement)


def choose_out_storage(statement: Statement) -> tuple[str, Reason]:
    """Return the storage of the output and why."""
    pinned = statement.hints.vector_storage
    if pinned is None:
        return "auto", reason(Code.VECTOR_STORAGE_FREE)
    return pinned, reason(Code.VECTOR_STORAGE_PINNED, pinned)
