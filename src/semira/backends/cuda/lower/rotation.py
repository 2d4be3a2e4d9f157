"""Which statements at the head of a loop's body may run at the end of the iteration before.

A body that begins with a sum over a vector waits for it at once: a pass and a barrier for one
number. The vectors that it reads were written at the end of the iteration before, by statements
that already have each position in a register. If the head leaves nothing behind but temporaries,
it may run there, and once before the loop: the last iteration then computes it in vain.
"""

from __future__ import annotations

from dataclasses import dataclass

from semira.backends.cuda.lower.uses import slots_in
from semira.contract import Loop, Program, Statement

#: Statements that work position by position, cannot fail and read no scalar of their own.
_POINTWISE = frozenset({"ewise_mult", "ewise_add", "apply", "select", "copy"})


@dataclass(frozen=True, slots=True)
class Rotation:
    """How a body is cut: the head, the rest up to ``tail``, and what only writes scalars.

    An iteration runs the rest, the head for the next iteration, and the tail.
    """

    #: Positions in the body.
    head: int
    tail: int


def rotation_of(program: Program, loop: Loop, uses: dict[int, set[int]]) -> Rotation | None:
    """Return how a loop may be rotated; None if it may not, or would gain nothing.

    `uses` has the numbers of the statements that name a slot.
    """
    if len(loop.bodies) != 1:
        return None
    (body,) = loop.bodies
    if any(isinstance(item, Loop) for item in body):
        return None
    statements = [item for item in body if isinstance(item, Statement)]
    tail = len(statements)
    while tail and program.slots[statements[tail - 1].out].kind == "scalar":
        tail -= 1
    head = 0
    while head < tail and _may_move(statements[head], program):
        head += 1
    # What follows the last sum gains nothing by moving.
    while head and statements[head - 1].op != "reduce":
        head -= 1
    made = {each.out for each in statements[:head]}
    rest = statements[head:]
    inside = sum(len(uses[slot]) for slot in made)
    named = sum(len(made.intersection(slots_in((each,)))) for each in statements)
    kept_apart = (
        # Nobody outside of the loop sees what the head makes, nobody else makes it, ...
        inside == named
        and len(made) == head
        and not made & {each.out for each in rest}
        # ... and what comes after the head of the next iteration does not look at it.
        and not any(made.intersection(slots_in((each,))) for each in statements[tail:])
        and not made & {loop.limit, *loop.conditions}
    )
    return Rotation(head, tail) if head and kept_apart else None


def _may_move(statement: Statement, program: Program) -> bool:
    """Whether it computes a temporary, position by position or as a sum, of vectors alone."""
    is_sum = statement.op == "reduce" and not (statement.plan and statement.plan.ordered)
    plain = statement.mask is None and statement.accum is None and not statement.indices
    return (
        (is_sum or statement.op in _POINTWISE)
        and plain
        and program.slots[statement.out].role == "temp"
        and all(program.slots[arg.slot].kind == "vector" for arg in statement.args)
    )
