"""Which products may be dropped on the way, because a later comparison throws them away.

A loop that keeps the least value ever seen multiplies, compares the result with what it holds, and
goes on with what is less::

    t << u.vxm(A, min_plus); worse = t >= best; u(~worse.V, replace) << t; best(u.S) << u

Where the sum is a minimum and only such statements look at it, a single product that is no better
than ``best`` cannot change anything: either another one of its position is better, and then the
minimum is that one's, or none is, and then the comparison discards the minimum. Dropping it where
it is made saves an atomic, a place in the list and a visit later. For maxima the same with < and >
exchanged.

One thing differs: a product that is NaN loses to every number, but not to one that was dropped. If
all others of its position are no better than ``best``, the minimum is NaN here, and the number
elsewhere.

Where what is held is a float and never loses an entry, the program begins by making its absent
values NaN. No comparison discards a product against a NaN, so the push reads the value alone, not
its presence before it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from semira.backends.cuda.jit.accumulation import accumulation
from semira.contract import Loop, Program, Statement, walk_statements
from semira.ops import TypedMonoid
from semira.ops.registry import binary

#: Comparisons (product, held) and (held, product) that discard what a minimum is not better than.
_AGAINST_LEAST = ("ge", "gt"), ("le", "lt")

#: Operations whose result has no entry where the operand has none.
_SUPPORTED = frozenset({"copy", "apply", "select", "ewise_mult"})


@dataclass(frozen=True, slots=True)
class Pruning:
    """A comparison that tells what may be dropped."""

    #: Its operator is applied to a product and to what `held` has at its position.
    comparison: Statement
    #: Vector slot.
    held: int
    #: Whether the product is the operator's first operand.
    product_first: bool
    #: Absent values of `held` are NaN all the time; see `blanked`.
    blank: bool = False


def pruning_of(program: Program, number: int, uses: dict[int, set[int]]) -> Pruning | None:
    """Return how results of product `number` may be pruned; None if all are needed.

    Products count as in `walk_statements`; `uses` has the numbers of the statements that name a
    slot.
    """
    statements = list(walk_statements(program.body))
    product = statements[number]
    method = accumulation(product.operator.monoid).method
    if method not in ("least", "greatest") or not _is_born(program, product):
        return None
    later = sorted(uses[product.out] - {number})
    if not later or later[0] < number:
        return None
    comparison = statements[later[0]]
    pruning = _comparison_of(program, comparison, product, method)
    if pruning is None:
        return None
    masked = uses[comparison.out] - {later[0]}
    written = {each.out for each in statements[number + 1 : later[0]]}
    rows = _rows(program)
    sound = (
        masked >= set(later[1:])
        and len({rows[k] for k in (number, later[0], *masked)}) == 1
        and all(_is_discarded(statements[k], product.out, comparison.out) for k in masked)
        and pruning.held not in written
    )
    return replace(pruning, blank=_may_be_blank(program, pruning.held)) if sound else None


def blanked(program: Program, uses: dict[int, set[int]]) -> dict[int, TypedMonoid]:
    """Return the vectors whose absent values become NaN before the loop, each with a product's sum.

    The identities of the least and of the greatest float are NaN. `uses` is as `pruning_of` takes
    it.
    """
    found: dict[int, TypedMonoid] = {}
    for number, statement in enumerate(walk_statements(program.body)):
        if statement.op in ("vxm", "mxv"):
            pruning = pruning_of(program, number, uses)
            if pruning is not None and pruning.blank:
                found.setdefault(pruning.held, statement.operator.monoid)
    return found


def _may_be_blank(program: Program, held: int) -> bool:
    """Whether a vector's absent values stay as they are made before a loop: it loses no entry."""
    # Outside of a loop the pass over all positions would not pay.
    is_loop = len(program.body) == 1 and isinstance(program.body[0], Loop)
    slot = program.slots[held]
    writes = (each for each in walk_statements(program.body) if each.out == held)
    return is_loop and slot.dtype.is_float and slot.role != "temp" and all(map(_only_adds, writes))


def _only_adds(statement: Statement) -> bool:
    """Whether a statement deletes no entry of its output."""
    mask = statement.mask
    has_entry = (
        statement.op == "copy"
        and mask is not None
        and mask.slot == statement.args[0].slot
        and not mask.complement
    )
    return not statement.replace and (statement.accum is not None or has_entry)


def _is_born(program: Program, statement: Statement) -> bool:
    """Whether a statement makes a temporary, without a mask."""
    is_temp = program.slots[statement.out].role == "temp"
    return is_temp and statement.mask is None and statement.accum is None


def _rows(program: Program) -> list[int]:
    """Return, for each statement, where the unbroken row of statements begins that it stands in."""
    found: list[int] = []

    def look(body: tuple[Statement | Loop, ...]) -> None:
        row = -1
        for item in body:
            if isinstance(item, Loop):
                row = -1
                for inner in item.bodies:
                    look(inner)
            else:
                row = len(found) if row < 0 else row
                found.append(row)

    look(program.body)
    return found


def _comparison_of(
    program: Program, statement: Statement, product: Statement, method: str
) -> Pruning | None:
    if statement.op != "ewise_mult" or not _is_born(program, statement):
        return None
    left, right = (arg.slot for arg in statement.args)
    first, second = _AGAINST_LEAST if method == "least" else _AGAINST_LEAST[::-1]
    dtype = product.operator.monoid.type
    op = statement.operator
    same = op.type is dtype and op.type2 is dtype
    if not same or any(program.slots[slot].dtype is not dtype for slot in (left, right)):
        return None
    if left == product.out and right != product.out and op.parent in _named(first):
        return Pruning(statement, right, product_first=True)
    if right == product.out and left != product.out and op.parent in _named(second):
        return Pruning(statement, left, product_first=False)
    return None


def _named(names: tuple[str, ...]) -> list[object]:
    return [binary[name] for name in names]


def _is_discarded(statement: Statement, product: int, worse: int) -> bool:
    """Whether a statement's result has no entry where the comparison holds, or no product is."""
    mask = statement.mask
    return (
        mask is not None
        and mask.slot == worse
        and mask.complement
        and not mask.structural
        and statement.replace
        and statement.accum is None
        and statement.op in _SUPPORTED
        and product in {arg.slot for arg in statement.args}
        and worse not in {arg.slot for arg in statement.args}
        and statement.out not in (product, worse)
    )
