"""Push or pull: a policy becomes a rule over counts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce

from semira.contract import Choose, Compare, Const, Count, Previous, Reason, Rule
from semira.plan.expressions import ONE, ZERO, Ratio, both, compare, either, times
from semira.plan.policy import (
    BLOCK_ROWS,
    BLOCK_SHARE,
    MASKED_PRODUCT,
    WORTH_COUNTING,
    Policy,
    Switch,
)
from semira.plan.reasons import Code, reason

PUSH, PULL = "push", "pull"

#: A pull that reads rows to their ends although it might leave them.
WHOLE = "whole"

#: Index of each method where both are admissible: what a direction rule yields.
DIRECTIONS = (PUSH, PULL)

_IS_TREND = {
    "rising": Compare(">", Count("frontier"), Count("previous_frontier")),
    "falling": Compare("<", Count("frontier"), Count("previous_frontier")),
}
_TREND_TEXT = {"": "", "rising": " and rising", "falling": " and falling"}


@dataclass(frozen=True, slots=True)
class Situation:
    """What a direction rule depends on, besides the policy."""

    #: Pull skips the rows that the mask closes; else every row is open.
    masked: bool
    #: Pull leaves a row at the first operand it meets.
    stops_at_first: bool
    #: The degrees of the frontier may be summed; else the average degree stands for them.
    cheap_degrees: bool
    #: Several vectors are driven together: a look at the matrix when pulling serves many.
    shared: bool = False
    #: A vector is driven by a device of so many threads that looks at a row, one after the other,
    #: take longer than pushing as many entries, as does calling all of them; and that whole rows
    #: are read sooner than as many entries are pushed.
    many_threads: bool = False
    #: The product stands by itself, not in a loop.
    alone: bool = False
    #: It is weighed before it is launched, so that a pull may be of either kind: one that leaves
    #: rows, or one that reads them to their ends although it might.
    beforehand: bool = False

    @property
    def is_open(self) -> bool:
        """Whether the numbers count that a policy has for products alone with all rows."""
        return self.alone and not self.masked

    @property
    def slow_looks(self) -> bool:
        """Whether a policy's `look` and `start` count."""
        return self.stops_at_first and self.many_threads

    @property
    def quick_reads(self) -> bool:
        """Whether a policy's `read` counts."""
        return self.many_threads and not self.stops_at_first

    @property
    def reads_here_and_there(self) -> bool:
        """Whether a policy's `here_and_there` counts."""
        return self.quick_reads and self.masked


@dataclass(frozen=True, slots=True)
class _Amount:
    """The least of `bounds`; never below `floor`, which needs fewer counts, or none."""

    bounds: tuple[Ratio, ...]
    floor: Ratio | None = None


def _measures(policy: Policy, situation: Situation) -> dict[str, _Amount]:
    """Return every measure of `policy.MEASURES` as ratios of counts."""
    names = ("frontier", "n", "nnz", "rows", "frontier_edges", "open_rows", "open_edges")
    count = {name: Ratio(Count(name)) for name in names}
    average_push = count["frontier"] * count["nnz"] / count["n"]
    if not situation.cheap_degrees:
        count["frontier_edges"] = average_push
    if not situation.masked:
        count["open_rows"], count["open_edges"] = count["rows"], count["nnz"]
    average_pull = count["open_rows"] * count["nnz"] / count["rows"]
    scan, look = Ratio(Const(policy.scan.value)) * count["rows"], Ratio(ONE)
    if situation.slow_looks:
        start, each = policy.numbers_of_looks(alone=situation.is_open)
        scan, look = scan + Ratio(Const(start.value)), Ratio(Const(each.value))
    if situation.reads_here_and_there:
        scan = scan + Ratio(Const(policy.here_and_there.value))
    # Vectors of a block share looks at the matrix.
    share = Ratio(ONE, Count("shared")) if situation.shared else Ratio(ONE)
    read = Ratio(Const(policy.read.value if situation.quick_reads else 1.0))
    cost = [scan + read * count["open_edges"] * share]
    if situation.stops_at_first:
        # A share frontier_edges / nnz of all entries leads into the frontier: a row needs
        # nnz / frontier_edges looks, on average, to meet one, and has nnz / rows entries.
        # Neither asks for open_edges, which costs a pass over the open rows.
        looks = count["open_rows"] * count["nnz"] / count["frontier_edges"]
        cost = [scan + look * looks * share, scan + look * average_pull * share]
    floor = scan if policy.scan.value else None
    if weighs_whole_rows(policy, situation):
        # Which may cost less than the floor of the others.
        cost, floor = [*cost, _whole_rows(policy, count)], None
    amounts = {name: _Amount((ratio,)) for name, ratio in count.items()}
    if situation.quick_reads and situation.is_open and policy.alone_push.value:
        late, slow = (Ratio(Const(each.value)) for each in (policy.alone_push, policy.alone_slow))
        pushed = count["frontier_edges"] + late
        bounds = (pushed + count["frontier_edges"], pushed + slow)
        amounts["frontier_edges"] = _Amount(bounds if policy.alone_slow.value else (pushed,), late)
    return amounts | {
        "~frontier_edges": _Amount((average_push,)),
        "~open_edges": _Amount((average_pull,)),
        "pull_cost": _Amount(tuple(cost), floor=floor),
    }


def weighs_whole_rows(policy: Policy, situation: Situation) -> bool:
    """Return whether a pull that may leave rows is weighed against one that does not."""
    return situation.beforehand and situation.slow_looks and bool(policy.alone_push.value)


def _whole_rows(policy: Policy, count: dict[str, Ratio]) -> Ratio:
    """Return the cost of a pull that reads all rows to their ends, beside one that leaves them.

    That a push begins later than it is taken off here: no side of the rule has to be raised.
    """
    late = policy.alone_push.value / policy.to_pull.fraction.value
    scan, read = Ratio(Const(policy.scan.value)), Ratio(Const(policy.read.value))
    return scan * count["rows"] + read * count["nnz"] + Ratio(Const(-late))


def _crossing(sign: str, switch: Switch, measures: dict[str, _Amount]) -> Rule:
    """Return the rule ``measure sign fraction * against``, with its trend."""
    measure, against = measures[switch.measure], measures[switch.against]
    fraction = switch.fraction.value
    # Above (below) the least of several bounds is above (below) any (all) of them, and the least
    # of several measures is above (below) a bound if all (any) of them are.
    any_of, all_of = (either, both) if sign == ">" else (both, either)
    rule = reduce(
        all_of,
        [
            reduce(any_of, [compare(sign, left, fraction, bound) for bound in against.bounds])
            for left in measure.bounds
        ],
    )
    if against.floor is not None:
        # The floor decides small frontiers without counting what the mask lets through.
        guard = compare(sign, measure.bounds[0], fraction, against.floor)
        rule = both(guard, rule) if sign == ">" else either(guard, rule)
    if measure.floor is not None and sign == ">":
        # A matrix so small that nobody has to know what a push would touch.
        known = [compare(sign, measure.floor, fraction, bound) for bound in against.bounds]
        for test in known:
            rule = either(test, rule)
    return both(_IS_TREND[switch.trend], rule) if switch.trend else rule


def direction_rule(policy: Policy, situation: Situation, pull: Const = ONE) -> Rule:
    """Return the rule that yields 0 for push and `pull` for pull.

    Parameters
    ----------
    pull : Const
        Index of the method that pulls.

    Notes
    -----
    The first product starts from push. From push, the policy's `to_pull` decides; from pull,
    its `to_push`. The rule asks for cheap counts first; ``and`` and ``or`` stop at the side
    that decides.

    Examples
    --------
    >>> from semira.plan.expressions import rule_text
    >>> from semira.plan.policy import POLICIES
    >>> rule_text(direction_rule(POLICIES["ligra"], Situation(True, True, True)))
    '(if previous == 1 then (if frontier_edges < 0.05 * nnz then 0 else 1) else
    frontier_edges > 0.05 * nnz)'
    """
    measures = _measures(policy, situation)
    to_push = _crossing("<", policy.to_push, measures)
    to_pull = _crossing(">", policy.to_pull, measures)
    if pull != ONE:
        to_pull = Choose(to_pull, pull, ZERO)
    return Choose(Compare("==", Previous(), pull), Choose(to_push, ZERO, pull), to_pull)


def beforehand_rule(policy: Policy, situation: Situation) -> Rule:
    """Return the rule that yields 0 for push, 1 for pull and 2 for a pull that reads whole rows.

    The last only where looks are slow and the policy has a number for it: elsewhere a pull that
    may leave rows does.

    Examples
    --------
    >>> from semira.plan.expressions import fold
    >>> from semira.plan.policy import POLICIES
    >>> road = {"n": 114_599, "rows": 114_599, "nnz": 239_332}
    >>> alone = Situation(False, True, False, many_threads=True, alone=True, beforehand=True)
    >>> fold(beforehand_rule(POLICIES["auto"], alone), road | {"frontier": 16_384}, 0)
    Const(value=2.0)
    """
    measures = _measures(policy, situation)
    to_pull, pull = _crossing(">", policy.to_pull, measures), ONE
    if not weighs_whole_rows(policy, situation):
        return Choose(to_pull, pull, ZERO)
    *leaving, whole = measures["pull_cost"].bounds
    is_least = both(*(compare("<", whole, 1.0, bound) for bound in leaving))
    return Choose(to_pull, Choose(is_least, Const(2.0), pull), ZERO)


def block_rule(policy: Policy, situation: Situation, pull: Const) -> Rule:
    """Return the rule of a product whose left operand may be a block of vectors.

    Where it is as high as a matrix, method 0 is taken whatever the counts. See `direction_rule`.
    """
    rows, share = Count("block"), Const(BLOCK_SHARE.value)
    is_low = Compare("<=", rows, Const(BLOCK_ROWS.value))
    is_wide = Compare("<=", times(share, times(rows, rows)), Count("n"))
    return Choose(both(is_low, is_wide), direction_rule(policy, situation, pull), ZERO)


def named_block_rule(otherwise: Rule, pull: Const, by_rows: Const | None) -> Rule:
    """Return the rule of a product under a mask that names the results, of a block or not.

    It is left to `otherwise` where the result is no block, or few of it are named. `pull` is the
    method that pulls by column, `by_rows` the one that goes row by row, on a device that counts
    what it would multiply.

    A dot product looks, for each entry of the mask, along a column of the matrix. Pulling walks the
    column once for all rows that wait there, up to as many as share a look; where each column has
    one that waits, on average, it looks no more often, and at a bit, not for a place in a row. So
    it looks at the whole matrix, once for each group of rows, however few entries the left operand
    has: row by row the few are multiplied, at the price of `MASKED_PRODUCT` looks each.
    """
    rows, cols, share = Count("block"), Count("cols"), Const(BLOCK_SHARE.value)
    is_low = Compare("<=", rows, Const(BLOCK_ROWS.value))
    is_wide = Compare("<=", times(share, rows), cols)
    names_much = Compare(">", times(Count("shared"), Count("open_rows")), times(rows, cols))
    chosen: Rule = pull
    if by_rows is not None:
        looks, shared = times(Count("nnz"), rows), Count("shared")
        is_much = Compare(">", looks, times(Const(WORTH_COUNTING.value), shared))
        pairs = times(Const(MASKED_PRODUCT.value), Count("frontier_edges"))
        chosen = Choose(both(is_much, Compare("<", times(pairs, shared), looks)), by_rows, pull)
    return Choose(both(both(is_low, is_wide), names_much), chosen, otherwise)


def direction_reason(policy: Policy) -> Reason:
    """Return the reason that states the policy's two switches."""
    there, back = policy.to_pull, policy.to_push
    return reason(
        Code.ITERATION_DECIDES,
        policy.name,
        *(there.measure, there.fraction.value, there.against, _TREND_TEXT[there.trend]),
        *(back.measure, back.fraction.value, back.against, _TREND_TEXT[back.trend]),
    )
