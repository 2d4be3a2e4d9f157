"""Notes of a lowering: its phases and barriers in order, and why each stands there."""

from __future__ import annotations

from dataclasses import dataclass, field

from semira.contract import Barrier, Cause, Part, Phase, Step, Why


@dataclass(slots=True)
class Notes:
    """What a lowering has written so far."""

    #: Of the body that is being written.
    steps: list[Step] = field(default_factory=list)
    #: Of its loop, those that are complete.
    bodies: list[tuple[Step, ...]] = field(default_factory=list)

    def phase(self, statement: int, role: str) -> None:
        """Note a phase of one statement."""
        self.steps.append(Phase((Part(statement, role),)))

    def barrier(self, cause: Cause, *, conditional: bool = False) -> None:
        """Note a barrier."""
        self.steps.append(Barrier(cause, conditional))


def clash(
    reads: set[str], writes: set[str], read: set[str] | frozenset[str],
    written: set[str] | frozenset[str],
) -> tuple[Why, str] | None:  # fmt: skip
    """Return why accesses have to wait for earlier ones, and for which plane; None: they need not.

    Examples
    --------
    >>> clash({"v1"}, {"v2"}, {"v2"}, {"v3"})
    (<Why.WRITES_READ: 2>, 'v2')
    """
    for why, names in (
        (Why.READS_WRITTEN, reads & written),
        (Why.WRITES_WRITTEN, writes & written),
        (Why.WRITES_READ, writes & read),
    ):
        if names:
            return why, min(names)
    return None
