"""What the analyses of a body share: slots that statements name, and launches of their own."""

from __future__ import annotations

from collections.abc import Iterator

from semira.contract import Loop, Program, Statement, row_of, walk_statements


def reads_of(statement: Statement) -> set[int]:
    """Return the slots of a statement's operands and mask."""
    masks = [] if statement.mask is None else [statement.mask.slot]
    return {*(arg.slot for arg in statement.args), *masks}


def slots_in(body: tuple[Statement | Loop, ...]) -> Iterator[int]:
    """Yield the slots that statements and heads of loops name, as often as they do."""
    for item in body:
        if isinstance(item, Loop):
            yield from (item.limit, *(slot for slot in item.conditions if slot is not None))
            for inner in item.bodies:
                yield from slots_in(inner)
            continue
        yield from (item.out, *(arg.slot for arg in item.args))
        yield from (spec.slot for spec in item.indices if spec.slot is not None)
        if item.mask is not None:
            yield item.mask.slot


def uses_of(program: Program) -> dict[int, set[int]]:
    """Return, for each slot, the numbers of the statements that name it."""
    uses: dict[int, set[int]] = {}
    for number, statement in enumerate(walk_statements(program.body)):
        for slot in {*slots_in((statement,))}:
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


def brings_launches(statement: Statement) -> bool:
    """Return whether the method of a product brings launches of its own."""
    if statement.plan is None:
        return False
    rows = (row_of(statement.op, method.storage) for method in statement.plan.methods)
    return any(row is not None and not row.fused for row in rows)


def stands_apart(program: Program, item: Statement | Loop) -> bool:
    """Return whether a statement, or one inside of a loop, takes several launches.

    Those that write a matrix do, and products whose method brings launches of its own.
    """
    return any(
        program.slots[statement.out].kind == "matrix" or brings_launches(statement)
        for statement in walk_statements((item,))
    )
