"""What the members of a group do at a position: writes, sums, checks, and emptying a workspace."""

from __future__ import annotations

from dataclasses import dataclass

from semira.backends.cuda.lower.sources import Masking, Operand, Source, as_cell

NO_ACCUM = "NoAccum"


@dataclass(frozen=True, slots=True)
class Write:
    """``out<mask, replace> accum= source``."""

    #: Of the statement.
    number: int
    #: Tells the writes of one statement apart.
    suffix: str
    out: Operand
    source: Source
    mask: Masking | None = None
    #: C++ struct.
    accum: str = NO_ACCUM
    #: Entries outside of the mask are deleted.
    replace: bool = False

    by_warp = False

    @property
    def role(self) -> str:
        """What the statement does here: all of it, or what follows after other phases."""
        return {"f": "merge", "p": "prune"}.get(self.suffix, "whole")

    @property
    def replaces_all(self) -> bool:
        """Whether nothing of the old output survives."""
        return self.accum == NO_ACCUM and (self.mask is None or self.replace)

    @property
    def operands(self) -> list[Operand]:
        """What is read before the write, at its position."""
        masks = [] if self.mask is None else [self.mask.operand]
        return [*self.source.operands, *masks]

    @property
    def valued(self) -> set[str]:
        """Operands whose values are read, not only their presence."""
        names = {operand.name for operand in self.source.operands}
        if self.mask is not None and not self.mask.structural:
            names.add(self.mask.operand.name)
        return names | ({self.out.name} if self.accum != NO_ACCUM else set())

    @property
    def elsewhere(self) -> frozenset[str]:
        """Planes read at other positions."""
        return self.source.elsewhere

    @property
    def written(self) -> Operand | None:
        """The operand that changes."""
        return self.out

    def bounds(self) -> set[str]:
        """Return planes each of which holds every position that can change or get an entry."""
        if self.replace and not self.replaces_all:
            return set()
        found: set[str] = set()
        if self.mask is not None and not self.mask.complement:
            found.add(self.mask.operand.name)
        if self.replaces_all or self.accum != NO_ACCUM:
            found |= self.source.support
        return found

    def lines(self) -> list[str]:
        """Return what happens at a position."""
        mask = "NoMask{}" if self.mask is None else self.mask.text(as_cell)
        flags = f"{self.accum}, {str(self.replace).lower()}"
        return [f"update<{flags}>(i, {self.out.cell}, {self.source.text(as_cell)}, {mask});"]


@dataclass(frozen=True, slots=True)
class Look:
    """What only looks at one operand."""

    number: int
    operand: Operand

    role = "look"
    elsewhere = frozenset[str]()
    written = None
    by_warp = False

    @property
    def operands(self) -> list[Operand]:
        """What is read."""
        return [self.operand]

    @property
    def valued(self) -> set[str]:
        """Operands whose values are read, not only their presence."""
        return {self.operand.name}

    def bounds(self) -> set[str]:
        """Return what holds every position that counts."""
        return {self.operand.name}

    def lines(self) -> list[str]:
        """Return what happens at a position."""
        return []


@dataclass(frozen=True, slots=True)
class Sum(Look):
    """One addend of a reduction; the block's sum goes to its partials."""

    monoid: str
    partials: str
    turn: str

    role = "sum"

    def lines(self) -> list[str]:
        """Return what happens at a position."""
        cell, total = self.operand.cell, f"sum{self.number}"
        value = f"cast<{self.monoid}::T>({cell}.values.value)"
        return [f"merge<{self.monoid}>({total}, has_{total}, {value}, {cell}.present);"]


@dataclass(frozen=True, slots=True)
class Check(Look):
    """Counts the positions of an index vector that are not below `size`.

    One that `rides` shares the phase of the statement that uses the positions, which leaves out
    those that are bad; the program ends behind the next barrier.
    """

    size: str
    counters: str
    turn: str
    rides: bool = False

    role = "check"

    def lines(self) -> list[str]:
        """Return what happens at a position."""
        test = f"is_bad_position({self.operand.cell}, {self.size}, control)"
        return [f"if ({test}) ++bad{self.number};"]

    def ending(self, counted: str) -> list[str]:
        """Return the lines that end the program behind a barrier if a position was bad."""
        return [
            f"if ({counted}.queued != 0) {{",
            f"  journal.bad_index(team, {self.number});",
            "  return;",
            "}",
        ]


@dataclass(frozen=True, slots=True)
class Reset(Look):
    """Empties a workspace that the group has read; nothing happens until it is stored."""

    identity: str

    role = "reset"

    @property
    def valued(self) -> set[str]:
        """Operands whose values are read: where an entry was is enough."""
        return set()


@dataclass(frozen=True, slots=True)
class Send:
    """``out[places] accum= source`` by atomics; without places each value has its own position."""

    #: Of the statement.
    number: int
    #: The vector that is accumulated into; the group neither reads nor writes it otherwise.
    out: Operand
    source: Source
    #: Index vector; positions that are not there are left out.
    places: Operand | None
    #: C++ structs.
    monoid: str
    op: str
    #: Where values go if `out` lacks entries.
    plane: str

    role = "whole"
    written = None

    @property
    def by_warp(self) -> bool:
        """Whether all lanes of a warp take part: those that go to one place send one value."""
        return self.places is not None

    @property
    def operands(self) -> list[Operand]:
        """What is read, at its position."""
        return [*self.source.operands, *([] if self.places is None else [self.places])]

    @property
    def valued(self) -> set[str]:
        """Operands whose values are read, not only their presence."""
        return {operand.name for operand in self.operands}

    @property
    def elsewhere(self) -> frozenset[str]:
        """Planes read at other positions."""
        return self.source.elsewhere

    def bounds(self) -> set[str]:
        """Return planes each of which holds every position that sends something."""
        places = set() if self.places is None else {self.places.name}
        return places | self.source.support

    def lines(self) -> list[str]:
        """Return what happens at a position."""
        out, source = self.out.name, self.source.text(as_cell)
        target = f"to_{out}, whole_{out}"
        if self.places is None:
            return [f"send_here<{self.monoid}>({target}, i, {source});"]
        place = f"{self.places.cell}, {out}.size"
        return [f"send_there<{self.monoid}>({target}, live, i, {place}, {source});"]


@dataclass(slots=True)
class Stored:
    """A vector that a group changes."""

    slot: int
    operand: Operand
    #: Whether the group makes all of its entries anew.
    replaced: bool
    counters: str
    turn: str
    #: Products it drives, and the object that counts their edges.
    degrees: tuple[tuple[int, str], ...]

    @property
    def changes(self) -> str:
        """Variable of what a thread changed."""
        return f"changes_{self.operand.name}"

    @property
    def sums(self) -> str:
        """Variable of the vector's counters."""
        return f"sums_{self.operand.name}"


Member = Write | Sum | Check | Reset | Send
