"""The text of a loop's kernel, in the language of `semira.backends.cpu.compiler`.

A vector has three arrays: which positions have an entry (``p``), values by position (``x``) and a
list of positions (``l``), which is kept while ``c`` says so; ``n`` counts the entries and ``z`` is
the size. A statement first puts its result into a list of its own (``tl``, ``tn``), with marks
``tp`` and values by position, and then changes its output: operands may be outputs as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from semira.backends.cpu.codegen import Header
from semira.backends.cpu.host.update import define_accumulate
from semira.base.dtypes import DataType
from semira.contract import Loop, Mask, Program, Slot, Statement

#: Words at the beginning of the state: iterations done, most iterations, work until the host is
#: asked, most work of an iteration.
DONE, LIMIT, BUDGET, MOST, ROWS, WORDS = 0, 1, 2, 3, 4, 5

#: Why a kernel ends: it did all iterations, the condition is false, an iteration is too much work
#: for it, a statement fails, it has worked for long.
LIMITED, ENDED, LARGE, FAILED, LONG = range(5)

#: Columns of a row of the trace.
ROW = ("iteration", "product", "method", "frontier", "touched", "produced", "time")


class UnsupportedLoopError(Exception):
    """A loop has a statement that is not written natively."""


class UnsureError(Exception):
    """A scalar may lose its value in the loop: `slot`."""

    def __init__(self, slot: int) -> None:
        super().__init__(slot)
        self.slot = slot


@dataclass(frozen=True, slots=True)
class ProductUse:
    """A product of the loop, and which orientations of its matrix it walks."""

    statement: Statement
    number: int
    #: Slots.
    matrix: int
    vector: int
    push_by_columns: bool


@dataclass(slots=True)
class Source:
    """The kernel of a loop."""

    program: Program
    loop: Loop
    text: str = ""
    #: What each argument is, as `frames.Frame` looks it up: ``("state",)``, ``("p", slot)``, ...
    arguments: list[tuple[Any, ...]] = field(default_factory=list)
    #: Where in the state a number of a slot or product stands.
    words: dict[tuple[str, int], int] = field(default_factory=dict)
    products: list[ProductUse] = field(default_factory=list)
    #: Slots.
    vectors: list[int] = field(default_factory=list)
    scalars: list[int] = field(default_factory=list)
    #: Slots that statements write.
    written: set[int] = field(default_factory=set)
    #: Temporaries of an iteration: nobody reads them before or after it.
    born: set[int] = field(default_factory=set)
    #: Scalars that must hold a value when the kernel starts.
    sure: list[int] = field(default_factory=list)
    #: A statement may find an index out of bounds or an empty scalar.
    may_fail: bool = False
    #: It has loops inside.
    is_nested: bool = False


class Lines:
    """Lines of a function, indented as blocks are opened."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.depth = 1

    def add(self, *lines: str) -> None:
        """Write lines."""
        self.lines += ["    " * self.depth + line for line in lines]

    @contextmanager
    def block(self, *heads: str) -> Iterator[None]:
        """Write nested headers; lines go into the innermost."""
        for head in heads:
            self.add(head)
            self.depth += 1
        yield
        self.depth -= len(heads)


@dataclass(slots=True)
class Scope:
    """What the writers of statements share."""

    source: Source
    #: Functions of operators.
    header: Header
    out: Lines
    #: Scalars that may be empty. All others hold a value when the kernel starts, and keep one.
    unsure: set[int]
    #: The number of the iteration that is written.
    turn: str = "done"
    #: Values of results by position, one array for each dtype: by name.
    temporaries: dict[str, DataType] = field(default_factory=dict)
    #: Statements written.
    count: int = 0

    def slot(self, number: int) -> Slot:
        """Return a slot of the program."""
        return self.source.program.slots[number]

    def vector(self, number: int) -> int:
        """Note that a slot is a vector of the kernel; return it."""
        slot = self.slot(number)
        if slot.kind != "vector" or slot.dtype.kind == "V":
            raise UnsupportedLoopError(f"slot {number} is no vector of numbers")
        if number not in self.source.vectors:
            self.source.vectors.append(number)
        return number

    def scalar(self, number: int) -> int:
        """Note that a slot is a scalar of the kernel; return it."""
        slot = self.slot(number)
        if slot.kind != "scalar" or slot.dtype.kind == "V":
            raise UnsupportedLoopError(f"slot {number} is no number")
        if number not in self.source.scalars:
            self.source.scalars.append(number)
        return number

    def values(self, dtype: DataType) -> str:
        """Return the array for values of a result, by position."""
        name = f"t_{dtype.tag}"
        self.temporaries[name] = dtype
        return name

    def allowed(self, mask: Mask | None, at: str = "i") -> str:
        """Return whether a position may be written."""
        if mask is None:
            return "True"
        m = self.vector(mask.slot)
        test = f"p{m}[{at}]" if mask.structural else f"(p{m}[{at}] and x{m}[{at}] != 0)"
        return f"not {test}" if mask.complement else test

    @contextmanager
    def entries(self, v: int) -> Iterator[None]:
        """Open a loop over the entries of a vector, at positions ``i``."""
        with self.out.block(f"for q in range(n{v} if c{v} else z{v}):"):
            self.out.add(f"i = np.int64(l{v}[q]) if c{v} else q")
            with self.out.block(f"if c{v} or p{v}[i]:"):
                yield
        # Positions without an entry are passed by, eight in the time of an entry.
        self.out.add(f"work += n{v} if c{v} else n{v} + (z{v} >> 3)")

    def put(self, mask: Mask | None, values: str, value: str) -> None:
        """Write a result for position ``i``, which has none yet."""
        with self.out.block(f"if {self.allowed(mask)}:"):
            self.out.add(f"{values}[i] = {value}", "tp[i] = True", "tl[tn] = i", "tn += 1")

    def listed(self, v: int) -> None:
        """Count another entry of a vector, at position ``i``."""
        with self.out.block(f"if c{v}:"):
            self.out.add(f"l{v}[n{v}] = i")
        self.out.add(f"n{v} += 1")

    def fail(self) -> None:
        """End the kernel: the interpreter repeats what it did, and meets the error."""
        self.source.may_fail = True
        self.out.add("failed = True")


def clear(scope: Scope, v: int) -> None:
    """Remove all entries of a vector."""
    with scope.out.block(f"if c{v}:", f"for q in range(n{v}):"):
        scope.out.add(f"p{v}[l{v}[q]] = False")
    with scope.out.block("else:", f"for i in range(z{v}):"):
        scope.out.add(f"p{v}[i] = False")
    scope.out.add(f"n{v} = np.int64(0)", f"c{v} = True")


def remove(scope: Scope, v: int, test: str, within: int | None = None) -> None:
    """Remove the entries at positions ``i`` where a test is true.

    `within` is a vector without whose entries the test is false.
    """
    out = scope.out
    with out.block(f"if c{v}:"):
        out.add("kept = np.int64(0)")
        with out.block(f"for q in range(n{v}):"):
            out.add(f"i = np.int64(l{v}[q])")
            with out.block(f"if {test}:"):
                out.add(f"p{v}[i] = False")
            with out.block("else:"):
                out.add(f"l{v}[kept] = i", "kept += 1")
        out.add(f"work += n{v}", f"n{v} = kept")
    with out.block("else:"):
        if within is not None and within != v:
            with scope.entries(within), out.block(f"if p{v}[i] and {test}:"):
                out.add(f"p{v}[i] = False", f"n{v} -= 1")
            return
        with out.block(f"for i in range(z{v}):", f"if p{v}[i] and {test}:"):
            out.add(f"p{v}[i] = False", f"n{v} -= 1")
        out.add(f"work += z{v} >> 3")


def finish(scope: Scope, statement: Statement, dtype: DataType, *, covers: bool = False) -> None:
    """Change the output: accumulate, mask, replace. The result is inside of the mask already.

    `covers`: it has an entry wherever the mask lets through.
    """
    v, out, mask = scope.vector(statement.out), scope.out, statement.mask
    scope.source.written.add(v)
    target, name = scope.slot(v).dtype, f"into{scope.count}"
    accum = statement.accum
    replaces = statement.replace and mask is not None
    values = scope.values(dtype)
    scope.header.expression(f"store{name}", ("t",), scope.header.cast(dtype, target, "t"))
    if statement.param("new") or (accum is None and (mask is None or replaces)):
        clear(scope, v)
        # It has no entries, and is a list.
        with out.block("for q in range(tn):"):
            out.add("i = np.int64(tl[q])", "tp[i] = False", f"p{v}[i] = True", f"l{v}[q] = i")
            out.add(f"x{v}[i] = store{name}({values}[i])")
        out.add(f"n{v} = tn", "work += tn")
        return
    if replaces:
        remove(scope, v, f"not ({scope.allowed(mask)})")
    elif accum is None and not covers:
        assert mask is not None
        within = None if mask.complement else mask.slot
        remove(scope, v, f"{scope.allowed(mask)} and not tp[i]", within)
    if accum is not None:
        define_accumulate(scope.header, accum, dtype, target, name)
    with out.block("for q in range(tn):"):
        out.add("i = np.int64(tl[q])", "tp[i] = False")
        with out.block(f"if p{v}[i]:"):
            merged = f"{name}(x{v}[i], {values}[i])" if accum else f"store{name}({values}[i])"
            out.add(f"x{v}[i] = {merged}")
        with out.block("else:"):
            out.add(f"p{v}[i] = True", f"x{v}[i] = store{name}({values}[i])")
            scope.listed(v)
    out.add("work += tn")
