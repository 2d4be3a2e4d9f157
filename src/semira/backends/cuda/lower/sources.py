"""What position-by-position statements read: operands, sources and masks as C++ objects.

Each has two views: over planes, in a phase of its own, or over cells, which hold one position of
the planes that neighbouring statements share (kernels/ewise/cells.cuh).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Operand:
    """A plane that is read or written at the position of the result."""

    #: ``v3``: the entries of the vector in slot 3; else a workspace.
    name: str
    #: C++ type of its values.
    ctype: str

    @property
    def is_vector(self) -> bool:
        """Whether it is no workspace."""
        return self.name.startswith("v")

    @property
    def place(self) -> str:
        """The C++ object of the plane."""
        return f"{self.name}.here" if self.is_vector else self.name

    @property
    def cell(self) -> str:
        """The C++ variable of one position of it."""
        return f"c_{self.name}"


@dataclass(frozen=True, slots=True)
class Driver:
    """A plane outside of whose entries a phase changes nothing."""

    operand: Operand
    #: C++ condition under which the plane has a list of its entries.
    listed: str
    #: C++ expression of their number.
    nvals: str

    @classmethod
    def of_vector(cls, operand: Operand) -> Driver:
        """Return a vector as a driver."""
        return cls(operand, f"{operand.name}.listed", f"{operand.name}.nvals")


#: An operand's C++ type and object.
View = Callable[[Operand], tuple[str, str]]


def as_plane(operand: Operand) -> tuple[str, str]:
    """View an operand as a whole."""
    return f"Plane<{operand.ctype}>", operand.place


def as_cell(operand: Operand) -> tuple[str, str]:
    """View one position of an operand."""
    return f"Cell<{operand.ctype}>", operand.cell


@dataclass(frozen=True, slots=True)
class Source:
    """What a statement computes at a position."""

    #: C++ template.
    head: str
    #: Its arguments before those of the operands.
    types: tuple[str, ...] = ()
    #: Read at the position itself.
    operands: tuple[Operand, ...] = ()
    #: Type and object of what else it holds; an empty type is not a template argument.
    extras: tuple[tuple[str, str], ...] = ()
    #: Planes it reads at other positions.
    elsewhere: frozenset[str] = frozenset()
    #: Slots of the scalars it reads.
    scalars: frozenset[int] = frozenset()
    #: Names of operands each of which holds every position with a result.
    support: frozenset[str] = frozenset()

    def text(self, view: View = as_plane) -> str:
        """Return the C++ object."""
        seen = [view(operand) for operand in self.operands]
        types = [*self.types, *(kind for kind, _ in seen), *(kind for kind, _ in self.extras)]
        objects = [*(name for _, name in seen), *(name for _, name in self.extras)]
        return f"{self.head}<{', '.join(filter(None, types))}>{{{', '.join(objects)}}}"

    @property
    def reads(self) -> set[str]:
        """Names of all planes it reads."""
        return {operand.name for operand in self.operands} | self.elsewhere


@dataclass(frozen=True, slots=True)
class Masking:
    """A mask over an operand."""

    operand: Operand
    structural: bool
    complement: bool

    def text(self, view: View = as_plane) -> str:
        """Return the C++ object."""
        flags = f"{str(self.structural).lower()}, {str(self.complement).lower()}"
        if view is as_cell:
            return f"CellMask<{self.operand.ctype}, {flags}>{{{self.operand.cell}}}"
        return f"Mask<{self.operand.ctype}, {flags}>({self.operand.place})"
