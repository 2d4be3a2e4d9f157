"""Products that stand by themselves, weighed by what the host knows before it launches them.

A program that chooses between push and pull when it runs has both in one kernel, and counts edges
first: on a GPU 2 us of 10, and up to half of the speed of a push. Where the host knows how many
entries the vector has, it takes the average degree for each of them and launches one way.
"""

from __future__ import annotations

from dataclasses import dataclass

from semira.contract import Capabilities, Const, Program, Rule, Statement
from semira.plan.chooser import plan_program
from semira.plan.expressions import fold
from semira.plan.products import requested_policy, situation_beforehand, weighs_ways
from semira.plan.reuse import DRIVER
from semira.plan.rules_direction import PULL, PUSH, WHOLE, beforehand_rule

#: What a product may be settled to, in the order of what `beforehand_rule` yields.
WAYS = (PUSH, PULL, WHOLE)


@dataclass(frozen=True, slots=True)
class Beforehand:
    """A product whose way may be settled before it runs."""

    #: Slots.
    vector: int
    matrix: int
    out: int
    #: Yields an index into `WAYS`; asks for no count that takes a look at the operands.
    rule: Rule

    def way(self, frontier: int, n: int, rows: int, nnz: int) -> str:
        """Return the way for a vector of `frontier` of `n` entries, and a matrix of `nnz`.

        Examples
        --------
        >>> from semira.plan.policy import POLICIES
        >>> from semira.plan.rules_direction import Situation
        >>> rule = beforehand_rule(POLICIES["auto"], Situation(
        ...     False, False, False, many_threads=True, alone=True, beforehand=True))
        >>> weighed = Beforehand(0, 1, 2, rule)
        >>> weighed.way(10, 1000, 1000, 10_000_000), weighed.way(900, 1000, 1000, 10_000_000)
        ('push', 'pull')
        """
        counts = {
            "frontier": frontier, "n": n, "rows": rows, "nnz": nnz, "previous_frontier": -1,
        }  # fmt: skip
        decided = fold(self.rule, counts, 0)
        assert isinstance(decided, Const)
        return WAYS[int(decided.value)]


def weighed_beforehand(program: Program, capabilities: Capabilities) -> Beforehand | None:
    """Return how a program may be settled before it runs; None if the choice is left to it.

    Of one product without a mask, on a device where a choice costs something.
    """
    (item,) = program.body if len(program.body) == 1 else (None,)
    is_open = isinstance(item, Statement) and item.op in DRIVER and item.mask is None
    if not capabilities.choice_costs or not is_open:
        return None
    planned = plan_program(program, capabilities).body[0]
    assert isinstance(planned, Statement)
    assert planned.plan is not None
    if not weighs_ways(planned, [method.name for method in planned.plan.methods]):
        return None
    pull = planned.plan.methods[WAYS.index(PULL)]
    situation = situation_beforehand(
        planned, may_leave=pull.early_exit, many_threads=capabilities.many_threads
    )
    rule = beforehand_rule(requested_policy(planned, None), situation)
    at = DRIVER[planned.op]
    return Beforehand(planned.args[at].slot, planned.args[1 - at].slot, planned.out, rule)
