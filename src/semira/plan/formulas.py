"""Statements as lines of algebra."""

from __future__ import annotations

from collections.abc import Mapping

from semira.contract import Program, Statement

#: First letters of slots by their kinds.
_LETTERS = {"matrix": "m", "vector": "v", "scalar": "x", "index": "i"}


def formula(statement: Statement, program: Program, names: Mapping[int, str] | None = None) -> str:
    """Return a statement of a program.

    A slot without a name in `names` has a letter for its kind, and its number.
    """
    kinds = enumerate(slot.kind for slot in program.slots)
    letters = {at: f"{_LETTERS[kind]}{at}" for at, kind in kinds}
    return formula_with(statement, {**letters, **(names or {})})


def formula_with(statement: Statement, names: Mapping[int, str]) -> str:
    """Return a statement with names for its slots."""
    left, flags = names[statement.out], []
    if statement.mask is not None:
        name = names[statement.mask.slot]
        sign, kind = "~" * statement.mask.complement, "S" if statement.mask.structural else "V"
        flags.append(f"{sign}{name}.{kind}")
    if statement.replace:
        flags.append("replace")
    if flags:
        left += f"<{', '.join(flags)}>"
    sign = f"{statement.accum.name}=" if statement.accum is not None else "="
    operands = [names[arg.slot] + (".T" if arg.transposed else "") for arg in statement.args]
    name = statement.operator.name if statement.operator is not None else ""
    if len(operands) == 2 and name:
        right = f"{operands[0]} {name} {operands[1]}"
    else:
        right = f"{name or statement.op}({', '.join(operands)})"
    return f"{statement.op}: {left} {sign} {right}"
