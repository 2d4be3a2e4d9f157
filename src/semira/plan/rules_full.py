"""Products of matrices with an operand that has every entry: what counts say of their plan."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from semira.contract import Capabilities, Const, Method, Plan, Reason, Statement
from semira.plan.expressions import ZERO, fold
from semira.plan.reasons import Code, reason
from semira.plan.rules_direction import PULL
from semira.plan.rules_mask import BY_ROW
from semira.plan.rules_storage import walked_format

#: How rows of a sparse matrix are shared out among threads.
PIECES = "pieces"

#: Why rows of the result are shared out, where nothing else is known of them.
ROW_EACH = "each row of the result is made by one worker"

#: Reasons of choices that nobody makes where the right operand is full, and of work not done there.
_IDLE = {
    Code.MXM_ROW_WISE, Code.MXM_COUNTED, Code.BLOCK_DECIDES, Code.BLOCK_NAMED, Code.LISTS_MEET,
    Code.ITERATION_DECIDES, Code.SWITCH_POINT_PINNED, Code.AVERAGE_DEGREE, Code.SLOW_LOOKS,
    Code.QUICK_READS, Code.SLOW_START, Code.LATE_PUSH,
}  # fmt: skip
_OF_MASK = {Code.MASK_BEFORE, Code.MASK_AFTER, Code.MASK_TESTED}


def full_reasons(
    statement: Statement, names: tuple[str, ...], capabilities: Capabilities
) -> list[Reason]:
    """Return the reason that says that full operands are read in place, if they are."""
    is_read = statement.op == "mxm" and capabilities.reads_full and names[0] != PULL
    is_walked = walked_format(statement) == "compressed"
    return [reason(Code.FULL_OPERANDS)] if is_read and is_walked else []


def with_full_operands(
    statement: Statement, plan: Plan, known: Mapping[str, float], previous: int = -1
) -> Plan:
    """Return what the plan of a ``mxm`` comes to for the operands whose counts are known.

    A plan of a backend that reads full operands by position says so in a reason. Known are some of
    `semira.contract.rule.COUNTS`, and ``lines``: rows of the left operand with entries. `previous`
    is the index of the method used last time; -1: none.
    """
    at = [given.code for given in plan.reasons]
    if Code.FULL_OPERANDS not in at or not {"n", "nnz", "cols", "frontier"} <= known.keys():
        return plan
    is_right = 0 < known["nnz"] == known["n"] * known["cols"]
    is_left = 0 < known["frontier"] == known["n"] and statement.mask is None
    if is_right and plan.methods[0].name != PULL:
        return _times_full(statement, plan, is_both=is_left)
    is_free = statement.hints.balance is None and statement.hints.matrix_storage is None
    chosen = fold(plan.rule, known, previous)
    is_pulled = isinstance(chosen, Const) and plan.methods[int(chosen.value)].name == PULL
    # What many threads pull is kept as bits.
    is_free = is_free and not (is_pulled and _has_threads(plan))
    kept = [given for given in plan.reasons if given.code != Code.FULL_OPERANDS]
    if is_left and is_free:
        idle = {Code.MXM_ROW_WISE, Code.BALANCE}
        kept = [reason(Code.FULL_LEFT), *(given for given in kept if given.code not in idle)]
    return replace(plan, reasons=tuple(kept))


def _times_full(statement: Statement, plan: Plan, *, is_both: bool) -> Plan:
    """Return the plan of a product whose right operand is full: nothing is weighed."""
    first = plan.methods[0]
    has_threads = _has_threads(plan)
    mask_order = _mask_order(statement, first)
    balance, why = _balance(statement, first, has_threads=has_threads)
    told: list[Reason] = []
    for given in plan.reasons:
        if given.code == Code.FULL_OPERANDS:
            is_tiled = is_both and has_threads and statement.hints.balance is None
            told.append(reason(Code.FULL_BOTH if is_tiled else Code.FULL_RIGHT))
        elif given.code == Code.BALANCE:
            told.append(reason(Code.BALANCE, balance, why))
        elif given.code in _OF_MASK and mask_order != first.mask_order:
            told.append(reason(Code.MASK_AFTER, first.name, ": rows are whole until then"))
        elif given.code in _OF_MASK:
            told += [given] * (given.figures[0] == first.name)
        elif given.code not in _IDLE:
            told.append(given)
    method = replace(first, balance=balance, mask_order=mask_order)
    reasons = tuple(dict.fromkeys(told))
    return replace(plan, methods=(method,), rule=ZERO, policy="", reasons=reasons)


def _has_threads(plan: Plan) -> bool:
    return any(method.full for method in plan.methods)


def _mask_order(statement: Statement, method: Method) -> str:
    """Return when the mask is looked at: before, if it names the sums that are wanted."""
    if statement.mask is None or method.name in BY_ROW:
        return method.mask_order
    # Threads that share rows out make all of each.
    is_named = not method.full and not statement.mask.complement
    return method.mask_order if is_named else "after"


def _balance(statement: Statement, method: Method, *, has_threads: bool) -> tuple[str, str]:
    """Return how a method shares its work out beside a full operand, and why."""
    if statement.hints.balance is not None:
        return statement.hints.balance, "it is pinned"
    if not has_threads:
        return "rows", ROW_EACH
    if not method.full:
        return "edges", "each entry of the mask has a worker"
    why = "a thread a row, or a piece of one that is long, and 16 bytes of columns"
    return method.full, why
