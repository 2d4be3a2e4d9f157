"""Which slots statements name, and which of those they read: what the analyses of a body share."""

from __future__ import annotations

from semira.contract import Program, Statement, walk_statements


def reads_of(statement: Statement) -> set[int]:
    """Return the slots of a statement's operands and mask."""
    masks = [] if statement.mask is None else [statement.mask.slot]
    return {*(arg.slot for arg in statement.args), *masks}


def slots_of(statement: Statement) -> set[int]:
    """Return the slots that a statement names: its output, operands, mask and index lists."""
    indices = [spec.slot for spec in statement.indices if spec.slot is not None]
    return {statement.out, *reads_of(statement), *indices}


def uses_of(program: Program) -> dict[int, set[int]]:
    """Return, for each slot, the numbers of the statements that name it."""
    uses: dict[int, set[int]] = {}
    for number, statement in enumerate(walk_statements(program.body)):
        for slot in slots_of(statement):
            uses.setdefault(slot, set()).add(number)
    return uses


def list_readers_of(program: Program) -> frozenset[int]:
    """Return the vectors whose entries may drive a statement: operands and plain masks."""
    found: set[int] = set()
    for statement in walk_statements(program.body):
        found.update(arg.slot for arg in statement.args)
        if statement.mask is not None and not statement.mask.complement:
            found.add(statement.mask.slot)
    return frozenset(found)
