"""Checking what a caller pinned: known values, and on which operations they mean something."""

from __future__ import annotations

from semira.base.errors import PlanError
from semira.contract import INTERSECTIONS, MERGES, PRODUCTS, Hints, Slot, Statement
from semira.plan.policy import policy_named

#: Values each pin may take (None always leaves the choice to the planner).
VALUES: dict[str, tuple[object, ...]] = {
    "direction": ("push", "pull"),
    "vector_storage": ("sparse", "bitmap", "full"),
    "matrix_storage": ("csr", "csc", "both", "coo", "ell", "ellr", "pell", "sell", "dense"),
    "method": ("dot", "hash", "dense", "pull"),
    "balance": ("edges", "rows", "thread", "warp", "block", "positions", "pieces"),
    "merge": MERGES,
    "intersect": INTERSECTIONS,
    "queue": ("global", "block"),
    "mask_order": ("before", "after"),
    "early_exit": (False, True),
    "structure_only": (False, True),
    "operand_reuse": (False, True),
    "deterministic": (False, True),
    "hot_columns": (False, True),
    "diagonals": (False, True),
}

_VECTOR_PRODUCTS = ("vxm", "mxv")

#: Operations on which each pin has a meaning; `vector_storage` goes by the output instead, and
#: `deterministic` is kept by whatever adds nothing up.
MEANT_FOR: dict[str, tuple[str, ...]] = {
    "direction": PRODUCTS,
    "policy": PRODUCTS,
    "switch_point": PRODUCTS,
    "matrix_storage": PRODUCTS,
    "method": ("mxm",),
    "balance": PRODUCTS,
    "merge": _VECTOR_PRODUCTS,
    "intersect": ("mxm",),
    "queue": _VECTOR_PRODUCTS,
    "mask_order": PRODUCTS,
    "early_exit": PRODUCTS,
    "structure_only": PRODUCTS,
    "operand_reuse": _VECTOR_PRODUCTS,
    "hot_columns": _VECTOR_PRODUCTS,
    "diagonals": _VECTOR_PRODUCTS,
}


def pinned(hints: Hints) -> dict[str, object]:
    """Return the pins that are set, by name.

    Examples
    --------
    >>> from semira.contract import PRODUCTS, Hints
    >>> pinned(Hints(direction="push"))
    {'direction': 'push'}
    """
    names = (*VALUES, "policy", "switch_point")
    return {name: getattr(hints, name) for name in names if getattr(hints, name) is not None}


def check_pins(statement: Statement, out: Slot) -> None:
    """Check the pins of one statement by themselves.

    Raises
    ------
    PlanError
        A value is unknown, or the pin means nothing for this operation.
    """
    for name, value in pinned(statement.hints).items():
        if name in VALUES and value not in VALUES[name]:
            choices = ", ".join(map(repr, VALUES[name]))
            raise PlanError(f"{statement.op}: {name}={value!r} is unknown; choose one of {choices}")
        # Forbidding a shortcut is honoured wherever there is none.
        if value is not False:
            _check_meaning(statement, name, value, out)
    if statement.hints.policy is not None:
        policy_named(statement.hints.policy)
    point = statement.hints.switch_point
    if point is not None and not 0 < point <= 1:
        raise PlanError(
            f"{statement.op}: switch_point={point!r} is outside (0, 1]; "
            "give the share at which push becomes pull"
        )


def _check_meaning(statement: Statement, name: str, value: object, out: Slot) -> None:
    if name == "vector_storage":
        if out.kind != "vector":
            raise PlanError(
                f"{statement.op}: vector_storage={value!r} is impossible: the output is a "
                f"{out.kind}; leave the pin out"
            )
        return
    meant = MEANT_FOR.get(name)
    if meant is not None and statement.op not in meant:
        raise PlanError(
            f"{statement.op}: {name}={value!r} is impossible: it is a choice of "
            f"{', '.join(meant)} only; leave the pin out"
        )
