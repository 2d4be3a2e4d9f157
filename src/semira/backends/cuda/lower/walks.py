"""What a method's folder writes its part of a kernel with: names of C++ objects, and a writer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from semira.backends.cuda.lower.context import Made


@dataclass(frozen=True, slots=True)
class _Walk:
    """What pulls and pushes have in common.

    Attributes
    ----------
    made : Made
        What is walked.
    emit : callable
        Appends lines of C++ to the kernel. All threads of the grid run them.
    """

    made: Made
    emit: Callable[..., None]

    @property
    def lines(self) -> str:
        """The C++ variable that holds what is walked."""
        return f"m{self.made.label}"


@dataclass(frozen=True, slots=True)
class PullWalk(_Walk):
    """A pull: each row of the result gathers its operands.

    ``team`` names the threads, ``gather`` what reads the operands (kernels/vxm/pull.cuh).

    Attributes
    ----------
    exits : bool
        Whether a row may be left at the monoid's terminal value.
    rows : str
        Length of the result.
    mask : str
        Object that says which rows are open: ``allows(row)``.
    target : str
        Plane for the result, empty before.
    degrees : str
        Object that counts the edges of the result's entries, where ``kCounted`` says so.
    counters : str
        Pointer to what counts entries of the result and of the matrix that are read.
    counts : bool
        Whether each sum is the number of entries that meet.
    """

    exits: bool
    rows: str
    mask: str
    target: str
    degrees: str
    counters: str
    counts: bool = False

    def call(self, function: str, *flags: bool) -> None:
        """Append a call with all of these in the order of `kernels/vxm/pull.cuh`.

        Whether rows may be left is its first template argument; `flags` are the next.
        """
        given = ", ".join(str(flag).lower() for flag in (self.exits, *flags))
        self.emit(
            f"{function}<{given}>(team, gather, {self.lines}, {self.rows}, {self.mask}, "
            f"{self.target}, {self.degrees}, {self.counters});"
        )


@dataclass(frozen=True, slots=True)
class PushWalk(_Walk):
    """A push: entries of the vector scatter their products; ``team`` names the threads.

    Attributes
    ----------
    driver : str
        The vector.
    scatter : str
        Object that multiplies, looks at the mask, and adds to the result (kernels/vxm/push.cuh).
    """

    driver: str
    scatter: str
