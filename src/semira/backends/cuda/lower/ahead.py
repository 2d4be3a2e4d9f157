"""Which statements at the head of a loop's body may run inside the product of the iteration before.

A body may begin with writes at the entries of a vector F that a product behind them makes anew from
F: ``m(F.S) << x``, then ``F(~m.S, replace=True) << F.vxm(A, any_pair)``. The thread that claims an
entry of the new F can do these writes for the next iteration at once: a phase and a barrier less.

What makes that right, where the product pushes:

1. *Once for each entry, with its final value.* The monoid is ``any``: whoever sets an entry's bit
   first owns it, and alone stores its value.
2. *Nobody sees the writes too early.* What the head writes is read by no statement from the product
   to the end of the body, but as the product's mask if that is structural and complemented. Another
   thread may then find a position shut because its owner has made it present in the mask: it leaves
   out an entry that is there already, as it does where it finds the entry's bit set.
3. *The writes have what they read*: F's value at the position, which their thread holds; vectors
   at the same position and scalars that nothing writes from the product on.
4. *The next iteration comes, or there is nothing to write.* Limits and interrupts are known before
   the product. The condition holds whenever F has an entry, so it ends the loop with an empty F
   only, and no statement behind the product can fail.
5. *Entries are only added.* A source has a result at every entry of F, or an accumulator keeps what
   was there.

The head stays where it was for an iteration that nobody has prepared: the first one, and any after
a pull, which may read the mask in place of F (operand reuse): then it must not change under it.

The push also empties the plane that it walks, whose presence nobody else reads, and so the next one
finds its room empty without another barrier.
"""

from __future__ import annotations

from dataclasses import dataclass

from semira.backends.cuda.lower.product import swaps
from semira.backends.cuda.lower.product_parts import open_product
from semira.backends.cuda.lower.uses import reads_of
from semira.base.dtypes import INT64
from semira.contract import Loop, Mask, Program, Statement

#: Statements that write at the position of what they read, and cannot fail.
_POINTWISE = frozenset({"assign", "apply", "copy", "ewise_add", "ewise_mult"})
#: Comparisons of a number of entries with a bound: for which bounds they hold from one entry on.
_HOLDS = {"gt": "< 1", "ge": "<= 1", "ne": "< 1"}
#: Bytes of the largest values that are written so: they lie in registers.
_LARGEST = 16


@dataclass(frozen=True, slots=True)
class Ahead:
    """How a body is cut."""

    #: Statements that may run ahead: the first ones.
    head: int
    #: Position of the product.
    product: int
    #: Scalar that F's number of entries is compared with; None: the loop has no condition.
    bound: int | None = None
    #: C++: for which bounds the condition holds if F has an entry.
    holds: str = ""


def ahead_of(
    program: Program, loop: Loop, constants: frozenset[int], list_readers: frozenset[int]
) -> Ahead | None:
    """Return how the head of a loop's body may run ahead; None if it may not.

    `constants` are scalars that no statement writes, `list_readers` vectors whose list of positions
    a statement may walk: writes ahead keep no list.
    """
    if len(loop.bodies) != 1:
        return None
    body = [each for each in loop.bodies[0] if isinstance(each, Statement)]
    place = _product_of(program, body)
    if place is None or len(body) != len(loop.bodies[0]):
        return None
    driver, tail = body[place].out, body[place + 1 :]
    head = 0
    while head < place and _may_run_ahead(program, body[head], driver):
        head += 1
    made = {each.out for each in body[:head]}
    if not head or made & list_readers or not _kept_apart(body, head, place):
        return None
    if not all(_cannot_fail(each, constants) for each in tail):
        return None
    condition = loop.conditions[0]
    if condition is None:
        return Ahead(head, place)
    test = _test_of(program, condition, driver, tail)
    if test is None:
        return None
    return Ahead(head, place, test.args[1].slot, _HOLDS[test.operator.parent.name])


def _product_of(program: Program, body: list[Statement]) -> int | None:
    """Return the place of a product that alone writes its own operand, by swap, and may push."""
    for place, each in enumerate(body):
        if each.op not in ("vxm", "mxv") or each.param("new"):
            continue
        product = open_product(place, each)
        # Others read what they walk while a push by entries or positions walks it.
        push = product.push
        by_list = push and push.storage == "compressed" and push.balance != "positions"
        takes_any = each.operator.monoid.is_any and bool(by_list)
        alone = [other.out for other in body].count(each.out) == 1
        masks_itself = each.mask is not None and each.mask.slot == each.out
        feeds_itself = product.driver == each.out and not masks_itself
        if takes_any and alone and feeds_itself and swaps(program, product):
            return place
    return None


def _may_run_ahead(program: Program, statement: Statement, driver: int) -> bool:
    """Whether it writes at the driver's entries, and at each of them."""
    named = {statement.out, *(arg.slot for arg in statement.args)}
    slots = [program.slots[slot] for slot in named]
    vectors = {slot for slot in named if program.slots[slot].kind == "vector"}
    read = {arg.slot for arg in statement.args}
    # An assigned scalar that is empty is found out when the loop runs; others end the program.
    reads_fit = read <= vectors or statement.op == "assign"
    return (
        statement.op in _POINTWISE
        and statement.mask == Mask(driver, structural=True, complement=False)
        and not (statement.replace or statement.param("new") or statement.param("submask"))
        and statement.out in vectors
        and reads_fit
        and (read & vectors <= {driver} or statement.accum is not None)
        and all(spec.kind == "all" for spec in statement.indices)
        and all(slot.role != "temp" and slot.dtype.itemsize <= _LARGEST for slot in slots)
    )


def _kept_apart(body: list[Statement], head: int, place: int) -> bool:
    """Whether nobody else writes what the head does, reads it too early, or changes its input."""
    product, tail = body[place], body[place + 1 :]
    made = {each.out for each in body[:head]}
    used = {arg.slot for each in body[:head] for arg in each.args}
    mask = product.mask
    hides = mask is None or mask.slot not in made or (mask.structural and mask.complement)
    return (
        hides
        and not made & {each.out for each in body[head:]}
        and not any(made & reads_of(each) for each in tail)
        and not used & {each.out for each in tail}
    )


def _cannot_fail(statement: Statement, constants: frozenset[int]) -> bool:
    """Whether the program goes on behind a statement, whatever its operands are."""
    if statement.op == "apply" and len(statement.args) == 2:
        # Constants are looked at before the first statement runs.
        bound = statement.args[0 if statement.param("side") == "left" else 1]
        return bound.slot in constants
    whole = all(spec.kind == "all" for spec in statement.indices)
    return whole and statement.op in _POINTWISE | {"nvals", "reduce"}


def _test_of(
    program: Program, condition: int, driver: int, tail: list[Statement]
) -> Statement | None:
    """Return the statement that compares F's number of entries; None if it is not so simple."""
    tests = [each for each in tail if each.out == condition]
    if len(tests) != 1 or tests[0].op != "apply" or len(tests[0].args) != 2:
        return None
    (test,) = tests
    number, bound = (arg.slot for arg in test.args)
    counts = [each for each in tail if each.out == number]
    # In a narrower dtype a large number would not be what it is.
    wide = test.operator.type is INT64 and program.slots[bound].dtype is INT64
    fits = (
        wide
        and test.operator.parent.user is None
        and test.operator.parent.name in _HOLDS
        and test.param("side") != "left"
        and [each.op for each in counts] == ["nvals"]
        and counts[0].args[0].slot == driver
        and tail.index(counts[0]) < tail.index(test)
        and all(each.mask is None and each.accum is None for each in (test, *counts))
    )
    return test if fits else None
