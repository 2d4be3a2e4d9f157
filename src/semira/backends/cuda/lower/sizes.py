"""Which sizes have to agree in a Program, and which of its vectors are of one size.

Sizes are sides of objects: the one of a vector, the rows and the columns of a matrix, the length of
a region. `agreements` says which of a statement are equal; `runtime.shapes` checks it before a
launch, and `equal_sizes` draws from it what follows for vectors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from semira.contract import Program, Slot, Statement, walk_statements

#: A side: a slot and which of its dimensions; -1 and a number that is known.
Side = tuple[int, int]

#: A side, or its length.
S = TypeVar("S")


def agreements(
    statement: Statement, shape: Callable[[int, bool], Sequence[S]], count: Callable[[int], S]
) -> Iterator[tuple[str, Sequence[S], Sequence[S]]]:
    """Yield what has to have the same shape in a statement: what it is, its shape, the other one.

    `shape` gives the sides of a slot as it is used, none of a scalar, which fits every shape;
    `count` the length of a region. Not of ``diag``, whose lengths are differences.
    """
    op, out = statement.op, shape(statement.out, False)
    given = [shape(arg.slot, arg.transposed) for arg in statement.args]
    masked = out
    if op == "mxm":
        inner = given[1][:1]
        yield "operand", given[0], (*out[:1], *inner)
        yield "operand", given[1], (*inner, *out[1:])
    elif op in ("vxm", "mxv"):
        vector, (along, across) = given if op == "vxm" else (given[1], given[0][::-1])
        yield "vector", vector, (along,)
        yield "output", out, (across,)
    elif op == "extract":
        yield "output", out, _kept(statement, given[0], count)
    elif op == "assign":
        cut = _kept(statement, out, count)
        yield "operand", given[0], cut
        masked = cut if statement.param("submask") else out
    elif op == "gather":
        yield "output", out, given[1]
    elif op == "scatter":
        yield "index vector", given[1], given[0]
    elif op in ("reduce_rows", "mode_rows"):
        yield "output", out, given[0][:1]
        yield from (("vector of keys", each, given[0][1:]) for each in given[1:2])
        yield from (("vector of preferred keys", each, out) for each in given[2:])
    elif op != "diag":
        yield from (("operand", each, out) for each in given)
    if statement.mask is not None:
        yield "mask", shape(statement.mask.slot, False), masked


def _kept(statement: Statement, sides: Sequence[S], count: Callable[[int], S]) -> Sequence[S]:
    """Return the sides of what a statement's indices cut out of an object."""
    if not statement.indices:
        return sides
    pairs = [p for p in zip(statement.indices, sides, strict=True) if p[0].kind != "one"]
    return tuple(side if spec.slot is None else count(spec.slot) for spec, side in pairs)


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

    A product whose result drives it needs a square matrix:

    >>> slots = (*vectors, Slot("matrix", FP32))
    >>> square = Statement("vxm", 0, (Arg(0), Arg(3)))
    >>> other = Statement("mxv", 1, (Arg(3), Arg(2)))
    >>> len(set(equal_sizes(Program(slots, (other,))).values()))
    3
    >>> len(set(equal_sizes(Program(slots, (square, other))).values()))
    1
    """
    sides = _Sides(program.slots)
    for statement in walk_statements(program.body):
        for _, first, second in agreements(statement, sides.shape, lambda slot: (slot, 0)):
            if first and second:
                for one, other in zip(first, second, strict=True):
                    sides.unite(one, other)
    for number, slot in enumerate(program.slots):
        for axis, part in enumerate(slot.shape or ()):
            sides.unite((number, axis), (-1, part) if isinstance(part, int) else part)
    classes: dict[Side, int] = {}
    return {
        number: classes.setdefault(sides.root((number, 0)), number)
        for number, slot in enumerate(program.slots)
        if slot.kind == "vector"
    }


@dataclass(slots=True)
class _Sides:
    """Sides that are known to be equal, as a forest."""

    slots: tuple[Slot, ...]
    parents: dict[Side, Side] = field(default_factory=dict)

    def root(self, side: Side) -> Side:
        """Return what stands for all sides equal to this one."""
        while (above := self.parents.get(side, side)) != side:
            side = above
        return side

    def unite(self, first: Side, second: Side) -> None:
        self.parents[self.root(second)] = self.root(first)

    def shape(self, slot: int, transposed: bool) -> list[Side]:
        """Return the sides of an operand as it is used."""
        count = {"scalar": 0, "matrix": 2}.get(self.slots[slot].kind, 1)
        sides = [(slot, axis) for axis in range(count)]
        return sides[::-1] if transposed else sides
