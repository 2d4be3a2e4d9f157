"""Which vectors of a Program are of one size, whatever is bound to them."""

from __future__ import annotations

from semira.contract import Program, Statement, walk_statements

#: Operations all of whose vectors are of one size.
_ALIKE = frozenset({"apply", "copy", "ewise_add", "ewise_mult", "ewise_union", "select"})


def equal_sizes(program: Program) -> dict[int, int]:
    """Return a class for each vector slot: vectors of a class have the same size.

    Examples
    --------
    >>> from semira.base.dtypes import FP32
    >>> from semira.contract import Arg, Slot
    >>> vectors = tuple(Slot("vector", FP32) for _ in range(3))
    >>> sizes = equal_sizes(Program(vectors, (Statement("copy", 0, (Arg(2),)),)))
    >>> sizes[0] == sizes[2], sizes[0] == sizes[1]
    (True, False)
    """
    is_vector = [slot.kind == "vector" for slot in program.slots]
    parents = list(range(len(program.slots)))

    def root(slot: int) -> int:
        while parents[slot] != slot:
            slot = parents[slot]
        return slot

    def unite(slots: list[int]) -> None:
        vectors = [slot for slot in slots if is_vector[slot]]
        for other in vectors[1:]:
            parents[root(other)] = root(vectors[0])

    for statement in walk_statements(program.body):
        unite(_alike(statement))
    for number, slot in enumerate(program.slots):
        for length in slot.shape or ():
            if isinstance(length, tuple):
                unite([number, length[0]])
    return {slot: root(slot) for slot in range(len(parents)) if is_vector[slot]}


def _alike(statement: Statement) -> list[int]:
    """Return slots of a statement; those of them that are vectors are of one size."""
    found = [statement.out]
    if statement.mask is not None and not statement.param("submask"):
        found.append(statement.mask.slot)
    whole = all(spec.kind == "all" for spec in statement.indices)
    if statement.op in _ALIKE or (statement.op == "assign" and whole):
        found += [arg.slot for arg in statement.args]
    if statement.op == "gather":
        found.append(statement.args[1].slot)
    return found
