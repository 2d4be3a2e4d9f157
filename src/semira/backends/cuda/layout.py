"""The table a launch is given: one struct of 8-byte fields, declared in C++, filled in Python.

The table is the kernel's parameter and does not change while it runs. What a launch writes for
itself (barrier, stop word, counters) lies in device memory, zero between launches.
"""

from __future__ import annotations

from dataclasses import dataclass, field

#: 8-byte words of each struct of ``kernels/common`` that may stand in a table.
WORDS = {
    "Control": 7, "VectorDescriptor": 8, "MatrixDescriptor": 27, "EntriesDescriptor": 5,
    "ScalarDescriptor": 3, "RegionDescriptor": 5, "PlaneDescriptor": 3, "QueueDescriptor": 2,
    "PartialsDescriptor": 2, "CarriesDescriptor": 3, "HandedDescriptor": 1, "Counters": 8,
}  # fmt: skip

#: 8-byte words of `Progress` (kernels/common/control.cuh), and where its stop word lies.
PROGRESS_WORDS = 5
STOP_WORD = 1

#: Where the start of a RegionDescriptor lies.
START = 2

#: Bytes of a table that may be a kernel's parameter (of 32,764 that parameters may take).
MOST_PARAMETER_BYTES = 32_000

#: Copies of the counters of a statement: written, read and zeroed in turn.
TURNS = 3


@dataclass(slots=True)
class TableLayout:
    """Fields in order of declaration."""

    #: First word of each field.
    offsets: dict[str, int] = field(default_factory=dict)
    #: Words of the whole table.
    size: int = 0
    #: First word of each statement's counters, and of other state, in the memory that a launch
    #: writes.
    counters: dict[str, int] = field(default_factory=dict)
    #: Words of that memory.
    state_size: int = PROGRESS_WORDS
    _lines: list[str] = field(default_factory=list)

    @property
    def is_parameter(self) -> bool:
        """Whether the kernel takes it by value; one that is too long lies in device memory."""
        return 8 * self.size <= MOST_PARAMETER_BYTES

    def add(self, name: str, struct: str, words: int | None = None) -> None:
        """Append a field, once; `words` of a struct that is not one of `WORDS`."""
        self._append(name, f"{struct} {name}", WORDS[struct] if words is None else words)

    def add_counters(self, name: str) -> None:
        """Append a pointer to a statement's counters, once."""
        if name not in self.counters:
            self._append(name, f"Counters* {name}", 1)
            self.counters[name] = self.state_size
            self.state_size += TURNS * WORDS["Counters"]

    def add_state(self, name: str, struct: str, words: int) -> None:
        """Append a pointer to memory that a launch writes and finds zero, aligned to 16 bytes."""
        self._append(name, f"{struct}* {name}", 1)
        self.state_size += self.state_size % 2
        self.counters[name] = self.state_size
        self.state_size += words

    def _append(self, name: str, declared: str, words: int) -> None:
        if name not in self.offsets:
            self.offsets[name] = self.size
            self.size += words
            self._lines.append(f"  {declared};")

    def declaration(self) -> str:
        """Return the struct, and the check that both sides agree about its size."""
        lines = "\n".join(self._lines)
        return (
            f"struct Table {{\n{lines}\n}};\n"
            f'static_assert(sizeof(Table) == {8 * self.size}, "host and device disagree");\n'
        )
