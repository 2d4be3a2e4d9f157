"""Statements that may share a phase by position: which may join, and what they touch.

A group waits to be written out (fusion.py) until something needs its results elsewhere, so that it
may also pass over a product that touches none of its vectors.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from semira.backends.cuda.lower.members import Member, Reset, Send, Write
from semira.backends.cuda.lower.sources import Driver
from semira.contract import Cause, Why

#: Bytes of the largest values that statements share a phase over; cells lie in registers.
LARGEST_SHARED = 16


@dataclass(slots=True)
class Group:
    """Statements that share a phase."""

    #: Class of equal sizes its vectors belong to.
    axis: int
    #: C++ expression of that size.
    size: str
    driver: Driver | None = None
    members: list[Member] = field(default_factory=list)
    #: Planes all of whose entries the driver has.
    within: set[str] = field(default_factory=set)
    #: Planes whose values are positions, or the program ends behind the phase -> class of the sizes
    #: that they are below.
    valid: dict[str, int] = field(default_factory=dict)

    @property
    def writes(self) -> set[str]:
        """Names of planes that change."""
        found = {m.written.name for m in self.members if m.written is not None}
        found |= {name for name, send in self.sends.items() for name in (name, send.plane)}
        return found | {m.operand.name for m in self.members if isinstance(m, Reset)}

    @property
    def sends(self) -> dict[str, Send]:
        """By vector that is accumulated into by atomics: the first that sends to it."""
        found: dict[str, Send] = {}
        for member in self.members:
            if isinstance(member, Send):
                found.setdefault(member.out.name, member)
        return found

    @property
    def elsewhere(self) -> set[str]:
        """Names of planes read at other positions."""
        return {name for member in self.members for name in member.elsewhere}

    @property
    def reads(self) -> set[str]:
        """Names of planes read."""
        return {op.name for member in self.members for op in member.operands} | self.elsewhere

    @property
    def scalars(self) -> set[int]:
        """Slots of scalars read."""
        writes = (member for member in self.members if isinstance(member, Write))
        return {slot for member in writes for slot in member.source.scalars}

    def refusal(self, member: Member, axis: int, itemsize: int) -> Cause | None:
        """Return why a statement may not follow in the same phase; None if it may."""
        written = {member.written.name} if member.written is not None else set()
        named = {operand.name for operand in member.operands} | member.elsewhere | written
        tests: tuple[tuple[Why, set[str]], ...] = (
            # Complete only when all have sent theirs.
            (Why.READS_SENT, named & self.sends.keys()),
            (Why.SENDS_USED, self._in_the_way_of(member)),
            (Why.READS_ELSEWHERE, set(member.elsewhere & self.writes)),
            (Why.WRITES_READ_ELSEWHERE, self.elsewhere & written),
        )
        for why, names in tests:
            if names:
                return Cause(why, member.number, min(names))
        if axis != self.axis:
            return Cause(Why.OTHER_SIZE, member.number)
        if itemsize > LARGEST_SHARED:
            return Cause(Why.TOO_WIDE, member.number)
        if self.driver is not None and not member.bounds() & self.within:
            return Cause(Why.OUTSIDE_OF_DRIVER, member.number, self.driver.operand.name)
        return None

    def _in_the_way_of(self, member: Member) -> set[str]:
        """Return the vector a statement sends to, if the group uses it in another way."""
        if not isinstance(member, Send):
            return set()
        sent, name = self.sends.get(member.out.name), member.out.name
        if sent is not None:
            return set() if sent.op == member.op else {name}
        return {name} & (self.reads | self.writes)

    def toucher(self, name: str) -> int:
        """Return the first statement that touches a plane."""
        plane = name.removesuffix(".spare")
        for member in self.members:
            named = {each.name for each in member.operands} | member.elsewhere
            if isinstance(member, Send):
                named |= {member.out.name, member.plane}
            if plane in named or (member.written is not None and plane == member.written.name):
                return member.number
        raise KeyError(name)

    def append(self, member: Member) -> None:
        """Add a statement that was admitted."""
        self.members.append(member)
        if member.written is not None:
            self.valid.pop(member.written.name, None)
        if self.driver is not None and isinstance(member, Write) and member.replaces_all:
            self.within.add(member.out.name)
