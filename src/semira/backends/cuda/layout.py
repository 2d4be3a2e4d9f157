"""The table a launch is given: one struct of 8-byte fields, declared in C++, filled in Python."""

from __future__ import annotations

from dataclasses import dataclass, field

#: 8-byte words of each struct of ``kernels/common`` that may stand in a table.
WORDS = {
    "Control": 10,
    "VectorDescriptor": 8,
    "MatrixDescriptor": 16,
    "ScalarDescriptor": 3,
    "RegionDescriptor": 5,
    "PlaneDescriptor": 3,
    "QueueDescriptor": 2,
    "PartialsDescriptor": 2,
    "CarriesDescriptor": 3,
    "Counters": 7,
}

#: Copies of the counters of a statement: written, read and zeroed in turn.
TURNS = 3


@dataclass(slots=True)
class TableLayout:
    """Fields in order of declaration.

    Attributes
    ----------
    offsets : dict
        First word of each field.
    size : int
        Words of the whole table.
    """

    offsets: dict[str, int] = field(default_factory=dict)
    size: int = 0
    _lines: list[str] = field(default_factory=list)

    def add(self, name: str, struct: str, copies: int = 1) -> None:
        """Append a field, once."""
        if name in self.offsets:
            return
        self.offsets[name] = self.size
        self.size += WORDS[struct] * copies
        suffix = f"[{copies}]" if copies > 1 else ""
        self._lines.append(f"  {struct} {name}{suffix};")

    def declaration(self) -> str:
        """Return the struct, and the check that both sides agree about its size."""
        lines = "\n".join(self._lines)
        return (
            f"struct Table {{\n{lines}\n}};\n"
            f'static_assert(sizeof(Table) == {8 * self.size}, "host and device disagree");\n'
        )
