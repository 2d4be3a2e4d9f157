"""The namespace ``semira.op``: every operator, whatever its class.

Their names for type checkers are in ``op.pyi``.
"""

from __future__ import annotations

from typing import Any

from semira.base.errors import InvalidValue
from semira.frontend.aggregators import find_aggregator
from semira.frontend.kinds import AGGREGATORS
from semira.frontend.namespaces import ALL_CLASSES, install
from semira.ops.registry import find_operator, near_operator

__getattr__, __dir__ = install(__name__, *ALL_CLASSES)


def from_string(text: str) -> Any:
    """Return the operator a string names: the first class that has it, aggregators last.

    Raises
    ------
    InvalidValue
        No class has.
    """
    for opclass in ALL_CLASSES:
        try:
            return find_operator(opclass, text)
        except (InvalidValue, KeyError):
            continue
    try:
        return find_aggregator(text)
    except InvalidValue:
        hint = near_operator(text, *ALL_CLASSES, others=AGGREGATORS) or "; see dir(semira.op)"
        raise InvalidValue(f"Unknown op string: {text!r}{hint}") from None
