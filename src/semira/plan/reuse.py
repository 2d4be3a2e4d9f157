"""Operand reuse: when pull may read the mask in place of the operand.

Take a loop around ``f(~m.S, replace=True) << f.vxm(A)``. If every vertex of ``m`` outside
``f`` was in ``f`` before, then its neighbours were produced then and have entered ``m`` since:
it contributes nothing to a position outside ``m``, and reading ``m`` instead of ``f`` gives
the same result for every semiring whose multiplication ignores the values of ``f``. (Yang's
thesis, section 5.3.4, asks only that ``f`` be a subset of ``m``. That is not enough: a vertex
of ``m`` that was never expanded brings in neighbours that ``f`` would not.)

The proof needs all of the following, from the recorded program alone:

1. the statement: complemented structural mask, replace, no accumulator, output and driving
   operand in one slot, values of the operand ignored;
2. the loop: one body; nothing else writes the operand; nothing writes the matrix;
3. the mask only grows, by statements ``m(f.S) << x`` with ``x`` present at every position of
   ``f``, one of them before the product;
4. at the loop's first iteration the mask has no entry outside ``f``.

A program does not hold its bindings, so point 4 and the presence of an outside scalar ``x``
hold only if the program makes ``m`` itself out of ``f``, or if the engine states them as
`Facts` about the bindings. Without either the verdict is "not proven". Slots are taken to be
bound to different objects.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from semira.contract import Loop, Mask, Program, Statement, walk_statements
from semira.plan.rules_mask import reads_operand_values

Item = Statement | Loop

#: Position of the driving vector among the arguments.
DRIVER = {"vxm": 0, "mxv": 1}


@dataclass(frozen=True, slots=True)
class Facts:
    """What the engine knows of the objects it will bind; part of the prepared program's key."""

    #: Slots of vectors without entries when the program starts.
    empty: frozenset[int] = frozenset()
    #: Slots of scalars that hold a value when the program starts.
    present: frozenset[int] = frozenset()
    #: One of `semira.plan.beforehand.WAYS`, for a product that stands by itself and was weighed
    #: before; empty: it was not.
    way: str = ""
    #: Slots of matrices for which methods that have folders cost less than compressed rows:
    #: operation and name of each, the cheapest first.
    methods: tuple[tuple[int, tuple[tuple[str, str], ...]], ...] = ()


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Where a statement stands: its loop, what runs before the loop, and known facts."""

    #: The innermost loop; the statement is in its only body.
    loop: Loop
    #: Index of the statement in that body.
    position: int
    #: Items ahead of the loop in the body around it.
    before: tuple[Item, ...] = ()
    #: The loop is not inside another loop.
    at_top: bool = True
    #: See `Facts`; `present` holds for the whole run.
    empty: frozenset[int] = frozenset()
    present: frozenset[int] = frozenset()


def driver_slot(statement: Statement) -> int:
    """Return the slot of the vector that drives a product."""
    return statement.args[DRIVER[statement.op]].slot


def reuse_obstacle(statement: Statement, around: Surroundings | None) -> str:
    """Say why operand reuse is not proven for a ``vxm`` or ``mxv``; empty if it is.

    `around` is None outside of loops: a single product proves nothing about its mask. Linear in the
    number of statements around.
    """
    if around is None:
        return "a single product proves nothing about what its mask holds"
    obstacles = (check(statement, around) for check in _CHECKS)
    return shape_obstacle(statement) or next(filter(None, obstacles), "")


def shape_obstacle(statement: Statement) -> str:
    """Say why the mask of this product can never stand for its operand; empty if it can."""
    mask = statement.mask
    if mask is None or not (mask.structural and mask.complement):
        return "only a complemented structural mask can stand for the operand"
    if mask.slot == driver_slot(statement):
        return "the mask is the operand"
    if reads_operand_values(statement):
        return f"{statement.operator.binaryop!r} reads the operand's values"
    return ""


def _check_feedback(statement: Statement, _around: Surroundings) -> str:
    if statement.out != driver_slot(statement):
        return "the result does not become the next operand"
    if statement.accum is not None or not statement.replace or statement.param("new"):
        return "the result does not replace the operand"
    return ""


def _check_loop(statement: Statement, around: Surroundings) -> str:
    if len(around.loop.bodies) != 1:
        return "the loop rebinds objects"
    operand, matrix = driver_slot(statement), statement.args[1 - DRIVER[statement.op]].slot
    body = around.loop.bodies[0]
    rest = (*body[: around.position], *body[around.position + 1 :])
    written = {other.out for other in walk_statements(rest)}
    if operand in written:
        return "another statement of the loop writes the operand"
    return "the loop changes the matrix" if matrix in written else ""


def _check_growth(statement: Statement, around: Surroundings) -> str:
    operand, mask = driver_slot(statement), _mask(statement).slot
    body = around.loop.bodies[0]
    writers = [at for at, item in enumerate(body) if mask in _written(item)]
    if not all(_grows(body[at], mask, operand, around.present) for at in writers):
        return "the mask may change other than by taking in the operand"
    if not any(at < around.position for at in writers):
        return "the operand does not enter the mask before the product"
    return ""


def _check_start(statement: Statement, around: Surroundings) -> str:
    operand, mask = driver_slot(statement), _mask(statement).slot
    obstacle = "what the mask holds before the loop is not known"
    births = [at for at, item in enumerate(around.before) if _is_birth(item, mask)]
    if births:
        if not _born_from(around.before[births[-1]], operand):
            return obstacle
        since = around.before[births[-1] + 1 :]
    elif around.at_top and mask in around.empty:
        since = around.before
    else:
        return obstacle
    for at, item in enumerate(since):
        if mask in _written(item) and not _grows(item, mask, operand, around.present):
            return obstacle
        if mask in _written(item) and operand in set().union(*map(_written, since[at:])):
            return obstacle
    # A mask born from the operand holds its entries of that moment.
    if births and operand in set().union(*map(_written, since)):
        return obstacle
    return ""


_CHECKS: tuple[Callable[[Statement, Surroundings], str], ...] = (
    _check_feedback, _check_loop, _check_growth, _check_start,
)  # fmt: skip


def _mask(statement: Statement) -> Mask:
    assert statement.mask is not None
    return statement.mask


def _written(item: Item) -> set[int]:
    return {statement.out for statement in walk_statements((item,))}


def _is_birth(item: Item, slot: int) -> bool:
    return isinstance(item, Statement) and item.out == slot and bool(item.param("new"))


def _born_from(item: Item, operand: int) -> bool:
    """Whether a fresh object can only have entries where `operand` has."""
    assert isinstance(item, Statement)
    if item.mask is not None and item.mask.slot == operand and not item.mask.complement:
        return True
    sources = [arg.slot for arg in item.args]
    keeps = item.op in ("copy", "apply", "select") and sources[:1] == [operand]
    return keeps or (item.op == "ewise_mult" and operand in sources)


def _grows(item: Item, mask: int, operand: int, present: frozenset[int]) -> bool:
    """Whether `item` is ``mask(operand.S) << x`` with x present all over the operand."""
    if not isinstance(item, Statement) or item.out != mask or item.replace or item.param("new"):
        return False
    if item.mask != Mask(operand, structural=True, complement=False):
        return False
    if item.op not in ("assign", "copy", "apply"):
        return False
    return all(index.kind == "all" for index in item.indices) and all(
        arg.slot == operand or arg.slot in present for arg in item.args
    )


def always_present(program: Program, facts: Facts) -> frozenset[int]:
    """Return the scalar slots that hold a value whenever a statement reads them.

    A scalar counts if it starts with a value (or is a temporary, written before it is read)
    and every statement that writes it yields one: counts, reductions with an identity, and
    operators applied to scalars that count themselves.
    """
    slots = {at for at, slot in enumerate(program.slots) if slot.kind == "scalar"}
    found = {at for at in slots if at in facts.present or program.slots[at].role == "temp"}
    while True:
        lost = {
            statement.out
            for statement in walk_statements(program.body)
            if statement.out in found and not _yields_value(statement, found)
        }
        if not lost:
            return frozenset(found)
        found -= lost


def _yields_value(statement: Statement, present: set[int]) -> bool:
    if statement.op == "nvals":
        return True
    if statement.op == "reduce":
        return bool(statement.param("identity"))
    plain = statement.op in ("copy", "apply", "assign", "ewise_add", "ewise_mult", "ewise_union")
    return plain and statement.mask is None and all(a.slot in present for a in statement.args)
