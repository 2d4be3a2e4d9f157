"""What a method's folder writes its part of a kernel with: names of C++ objects, and a writer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from semira.backends.cuda.lower.context import Made
from semira.ops import TypedSemiring


@dataclass(frozen=True, slots=True)
class _Walk:
    """What pulls and pushes have in common."""

    #: What is walked.
    made: Made
    #: Appends lines of C++ to the kernel. All threads of the grid run them.
    emit: Callable[..., None]

    @property
    def lines(self) -> str:
        """The C++ variable that holds what is walked."""
        return f"m{self.made.label}"


@dataclass(frozen=True, slots=True)
class PullWalk(_Walk):
    """A pull: each row of the result gathers its operands.

    ``team`` names the threads, ``gather`` what reads the operands (kernels/vxm/pull.cuh).
    """

    #: Whether a row may be left at the monoid's terminal value.
    exits: bool
    #: Length of the result.
    rows: str
    #: Object that says which rows are open: ``allows(row)``.
    mask: str
    #: Plane for the result, empty before.
    target: str
    #: Object that counts the edges of the result's entries, where ``kCounted`` says so.
    degrees: str
    #: Pointer to what counts entries of the result and of the matrix that are read.
    counters: str
    #: What is computed.
    semiring: TypedSemiring

    def call(self, function: str, *flags: bool | str) -> None:
        """Append a call with all of these in the order of `kernels/vxm/pull.cuh`.

        Whether rows may be left is its first template argument; `flags` are the next: whether
        something holds, or a name of C++.
        """
        texts = (flag if isinstance(flag, str) else str(flag).lower() for flag in flags)
        given = ", ".join((str(self.exits).lower(), *texts))
        self.emit(
            f"{function}<{given}>(team, gather, {self.lines}, {self.rows}, {self.mask}, "
            f"{self.target}, {self.degrees}, {self.counters});"
        )


@dataclass(frozen=True, slots=True)
class PushWalk(_Walk):
    """A push: entries of the vector scatter their products; ``team`` names the threads."""

    #: The vector.
    driver: str
    #: Object that multiplies, looks at the mask, and adds to the result (kernels/vxm/push.cuh).
    scatter: str
