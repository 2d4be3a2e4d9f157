"""Checking what a caller pinned: known values, and on which operations they mean something."""

from __future__ import annotations

from semira.base.errors import PlanError
from semira.contract import (
    CORE_METHODS,
    PRODUCTS,
    VARIANTS,
    WORDS,
    Hints,
    Slot,
    Statement,
    alias_values,
    format_names,
    method_names,
    row_of,
)
from semira.plan.policy import policy_named
from semira.plan.rules_storage import ALIASES, given_parameters

#: Values each pin may take (None always leaves the choice to the planner).
VALUES: dict[str, tuple[object, ...]] = {
    **WORDS,
    "early_exit": (False, True),
    "structure_only": (False, True),
    "operand_reuse": (False, True),
    "deterministic": (False, True),
    **dict.fromkeys(VARIANTS, (False, True)),
}

_VECTOR_PRODUCTS = ("vxm", "mxv")

#: Operations on which each pin has a meaning; `vector_storage` goes by the output instead, and
#: `deterministic` is kept by whatever adds nothing up.
MEANT_FOR: dict[str, tuple[str, ...]] = {
    "direction": PRODUCTS,
    "policy": PRODUCTS,
    "switch_point": PRODUCTS,
    "matrix_storage": PRODUCTS,
    "method": PRODUCTS,
    "balance": PRODUCTS,
    "merge": _VECTOR_PRODUCTS,
    "intersect": ("mxm",),
    "queue": _VECTOR_PRODUCTS,
    "mask_order": PRODUCTS,
    "early_exit": PRODUCTS,
    "structure_only": PRODUCTS,
    "operand_reuse": _VECTOR_PRODUCTS,
    **dict.fromkeys(VARIANTS, _VECTOR_PRODUCTS),
}


def values_of(pin: str, op: str) -> tuple[object, ...]:
    """Return the values that a pin of `VALUES` may take on an operation.

    Examples
    --------
    >>> values_of("method", "mxm")[:6]
    ('dot', 'dense', 'hash', 'pull', 'b2sr', 'coo')
    """
    if pin == "matrix_storage":
        return (*VALUES[pin], *format_names())
    if pin in ALIASES:
        return (*VALUES[pin], *alias_values(pin))
    if pin != "method" or op not in CORE_METHODS:
        return VALUES[pin]
    folders = (name for name in method_names() if row_of(op, name) is not None)
    return tuple(dict.fromkeys((*CORE_METHODS[op], *folders)))


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

    Raises PlanError if a value is unknown, or the pin means nothing for this operation.
    """
    for name, value in pinned(statement.hints).items():
        if name == "method" and statement.op not in PRODUCTS:
            _check_meaning(statement, name, value, out)
        if name in VALUES and value not in values_of(name, statement.op):
            choices = ", ".join(map(repr, values_of(name, statement.op)))
            raise PlanError(f"{statement.op}: {name}={value!r} is unknown; choose one of {choices}")
        # Forbidding a shortcut is honoured wherever there is none.
        if value is not False:
            _check_meaning(statement, name, value, out)
    fault = parameter_fault(statement)
    if fault:
        raise PlanError(f"{statement.op}: {fault}")
    if statement.hints.policy is not None:
        policy_named(statement.hints.policy)
    point = statement.hints.switch_point
    if point is not None and not 0 < point <= 1:
        raise PlanError(
            f"{statement.op}: switch_point={point!r} is outside (0, 1]; "
            "give the share at which push becomes pull"
        )


def parameter_fault(statement: Statement) -> str:
    """Say which parameter the pinned method does not take; empty if it takes all."""
    given, method = statement.hints.parameters, statement.hints.method
    row = row_of(statement.op, method)
    known = {}
    if row is not None:
        given, known = tuple(given_parameters(statement, row)), row.parameters
    for name, value in given:
        if name not in known:
            return (
                f"{name}={value!r} is no parameter of method={method!r}, which has "
                f"{', '.join(known) or 'none'}"
            )
        if value not in known[name]:
            choices = ", ".join(map(repr, known[name]))
            return f"{name}={value!r} of method={method!r} is unknown; choose one of {choices}"
    return ""


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
