"""Statements on small objects: from handles to the output with as little Python as possible.

What does not depend on the bindings is decided once, when a Program of one statement is prepared.
A run then calls the same kernels as `host`, in one piece, on arrays by position, and gives the
output new arrays: nothing is written in place, so nothing can be torn or need undoing. A case
that is not small and plain is left to the interpreter.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from semira.contract import Program, Statement
from semira.contract.backend import Outcome

#: Runs the statement on bindings; None: nothing was done, let the interpreter do it.
Direct = Callable[[list[Any]], "Outcome | None"]

#: Tests set it to False to send everything through the interpreter.
ENABLED = True

#: Longest vector, and most rows and columns, that count as small: above, work by position would
#: cost more than the Python it saves.
SMALL = 1024

#: Most entries of a small matrix.
SMALL_ENTRIES = 8192

#: Operation to ``direct.<module>.<function>(program, statement) -> Direct or None``.
_MAKERS = {
    "apply": ("vectors", "apply"),
    "assign": ("vectors", "assign"),
    "ewise_add": ("vectors", "ewise"),
    "ewise_mult": ("vectors", "ewise"),
    "mxm": ("matrices", "product"),
    "mxv": ("products", "product"),
    "nvals": ("scalars", "nvals"),
    "reduce": ("scalars", "reduce"),
    "vxm": ("products", "product"),
}


def direct_of(program: Program) -> Direct | None:
    """Return the direct way to run a Program, None if it has none."""
    if len(program.body) != 1 or not isinstance(program.body[0], Statement):
        return None
    statement = program.body[0]
    plan = statement.plan
    if statement.op not in _MAKERS or plan is None or plan.out_storage != "auto":
        return None
    if statement.param("new") or statement.param("submask"):
        return None
    module, function = _MAKERS[statement.op]
    found = importlib.import_module(f"{__name__}.{module}")
    made: Direct | None = getattr(found, function)(program, statement)
    return made
