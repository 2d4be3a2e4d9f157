"""Which vectors of a Program are of one size, whatever is bound to them.

Sizes are sides of objects: the one of a vector, the rows and the columns of a matrix, the length of
a region. The statements say which are equal, and `runtime.shapes` checks it before a launch. (Those
that write matrices are not lowered here.)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from semira.contract import Arg, Program, Slot, Statement, walk_statements

#: A side: a slot and which of its dimensions; -1 and a number that is known.
Side = tuple[int, int]

#: Operations all of whose objects have one shape.
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
        sides.learn(statement)
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

    def all_equal(self, first: Sequence[Side], second: Sequence[Side]) -> None:
        """Note that two shapes are equal; a scalar fits every shape."""
        if first and second:
            for one, other in zip(first, second, strict=True):
                self.unite(one, other)

    def shape(self, arg: Arg) -> list[Side]:
        """Return the sides of an operand as it is used."""
        count = {"scalar": 0, "matrix": 2}.get(self.slots[arg.slot].kind, 1)
        sides = [(arg.slot, axis) for axis in range(count)]
        return sides[::-1] if arg.transposed else sides

    def region(self, statement: Statement, sides: Sequence[Side]) -> Iterator[Side]:
        """Yield the sides of what a statement's indices cut out of an object."""
        if not statement.indices:
            yield from sides
            return
        for spec, side in zip(statement.indices, sides, strict=True):
            if spec.kind != "one":
                yield side if spec.slot is None else (spec.slot, 0)

    def learn(self, statement: Statement) -> None:
        out = self.shape(Arg(statement.out))
        shapes = [self.shape(arg) for arg in statement.args]
        masked = out
        if statement.op in _ALIKE:
            for shape in shapes:
                self.all_equal(out, shape)
        elif statement.op in ("vxm", "mxv"):
            self._learn_product(out, *shapes)
        elif statement.op == "extract":
            self.all_equal(out, list(self.region(statement, shapes[0])))
        elif statement.op == "assign":
            cut = list(self.region(statement, out))
            self.all_equal(cut, shapes[0])
            masked = cut if statement.param("submask") else out
        elif statement.op in ("gather", "scatter"):
            self.all_equal(out if statement.op == "gather" else shapes[0], shapes[1])
        elif statement.op == "reduce_rows":
            self.all_equal(out, shapes[0][:1])
        elif statement.op == "mode_rows":
            self._learn_mode(out, *shapes)
        if statement.mask is not None:
            self.all_equal(masked, self.shape(Arg(statement.mask.slot)))

    def _learn_mode(self, out: list[Side], matrix: list[Side], *vectors: list[Side]) -> None:
        """Note that keys belong to columns, and preferred ones, if there are any, to rows."""
        self.all_equal([*out, *vectors[0]], matrix)
        for other in vectors[1:]:
            self.all_equal(out, other)

    def _learn_product(self, out: list[Side], left: list[Side], right: list[Side]) -> None:
        """Note that inner sides are equal, and the outer ones those of the result."""
        self.unite(left[-1], right[0])
        self.all_equal(out, [*left[:-1], *right[1:]])
