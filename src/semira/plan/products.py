"""Plans of matrix products: which methods are admissible, and the rule between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from semira.base.errors import PlanError
from semira.contract import (
    CORE_METHODS,
    SHARED,
    VARIANTS,
    Capabilities,
    Const,
    Method,
    MethodRow,
    Plan,
    Reason,
    Rule,
    Statement,
    Variant,
    VariantRow,
    has_variant_part,
    row_of,
    variant_part,
)
from semira.plan.expressions import ONE, ZERO
from semira.plan.pins import parameter_fault, pinned, values_of
from semira.plan.policy import BLOCK_ROWS, BLOCK_SHARE, Policy, policy_named
from semira.plan.reasons import Code, reason
from semira.plan.reuse import Surroundings, reuse_obstacle, shape_obstacle
from semira.plan.rules_cost import is_free, weighed_rows, weighed_rule, with_method
from semira.plan.rules_direction import (
    DIRECTIONS,
    PULL,
    PUSH,
    WHOLE,
    Situation,
    block_rule,
    direction_reason,
    direction_rule,
    named_block_rule,
    weighs_whole_rows,
)
from semira.plan.rules_full import PIECES, ROW_EACH, full_reasons
from semira.plan.rules_mask import (
    BY_ROW,
    choose_early_exit,
    choose_mask_order,
    choose_structure_only,
    mask_order_obstacle,
    mask_reason,
    needs_order,
    order_obstacle,
    stops_at_first,
)
from semira.plan.rules_product import (
    DOT,
    has_choice,
    intersection_obstacle,
    intersection_reasons,
    pinned_intersection,
    product_choice,
)
from semira.plan.rules_storage import (
    choose_out_storage,
    format_balance,
    format_orientation,
    format_reason,
    multiplies_first,
    parameters_of,
    part_of_core,
    pinned_method,
    storage_obstacle,
    walked_format,
)

#: What each method of ``mxm`` is in the words of a matrix-vector product: row by row the entries of
#: the left operand are expanded; else each position that the mask opens gathers its own.
MXM_DIRECTIONS = {"dot": PULL, "dense": PUSH, "hash": PUSH, PULL: PULL}
#: Pins that can rule a method out.
_NARROWING = (
    "direction", "method", "matrix_storage", "mask_order", "balance", "merge", "intersect",
    "queue", "deterministic",
)  # fmt: skip

_QUEUES = {"global": "by each warp", "block": "by each block, for all of its threads"}


@dataclass(frozen=True, slots=True)
class Request:
    """All that the plan of a product depends on."""

    statement: Statement
    capabilities: Capabilities
    policy: Policy
    around: Surroundings | None = None
    #: See `Facts.way`.
    way: str = ""
    #: Methods with folders that cost less than compressed rows, the cheapest first.
    cheaper: tuple[str, ...] = ()


def plan_product(request: Request) -> Plan:
    """Return the plan of a ``vxm``, ``mxv`` or ``mxm``.

    Raises PlanError if a pin cannot be met: the message names it, says why, and what is possible.
    """
    chosen, request = _cheapest(request)
    statement = request.statement
    names, left_out = _admissible(request)
    if chosen:
        left_out = []  # nobody pinned the method; its own reason tells why it was taken
    rows = weighed_rows(statement, request.capabilities)
    exits, exit_reason = choose_early_exit(statement, request.capabilities)
    _check_demands(request, names)
    way, may_leave = "", exits
    if not rows and weighs_ways(statement, names):
        way = request.way
    if way:
        names = (PUSH,) if way == PUSH else (PULL,)
    if way == WHOLE and exits and statement.hints.early_exit is None:
        exits, exit_reason = False, reason(Code.WHOLE_ROWS)
    structure, structure_reason = choose_structure_only(statement)
    reuses, reuse_reasons = _choose_reuse(request)
    walked = walked_format(statement)
    methods = _methods_of(request, names, (exits, structure, reuses))
    rule, rule_reasons = _choose_rule(request, methods, may_leave if way else None)
    if rows and PULL in names:
        methods += tuple(_method_of(row, methods[names.index(PULL)], statement) for row in rows)
        rule, whys = weighed_rule(rule, rows, names)
        rule_reasons = [*rule_reasons, *whys]
    storage, storage_reason = choose_out_storage(statement)
    storage_reasons = [] if statement.op == "mxm" else [storage_reason]
    balances = [_choose_balance(part_of_core(statement, name), name, exits)[1] for name in names]
    formats = [format_reason(statement, chosen=chosen)] if walked != "compressed" else []
    queue = statement.hints.queue
    masks = [mask_reason(statement, each.name, each.mask_order) for each in methods]
    if statement.mask is None:
        masks = masks[:1]
    return Plan(
        statement.op,
        methods,
        rule,
        out_storage=storage,
        policy="" if statement.op == "mxm" and rule == ZERO else request.policy.name,
        reasons=(
            *(*rule_reasons, *full_reasons(statement, names, request.capabilities)),
            *(*left_out, *dict.fromkeys(masks), exit_reason, structure_reason),
            *(*reuse_reasons, *formats, *storage_reasons, *dict.fromkeys(balances)),
            *([reason(Code.QUEUE_PINNED, _QUEUES[queue])] if queue is not None else []),
            *(intersection_reasons(statement, request.capabilities) if DOT in names else []),
            *_variant_reasons(methods),
            *([reason(Code.FIXED_ORDER)] if needs_order(statement) else []),
        ),
        ordered=needs_order(statement),
    )


def _methods_of(
    request: Request, names: tuple[str, ...], flags: tuple[bool, bool, bool]
) -> tuple[Method, ...]:
    """Return the methods of these names; `flags`: early exit, structure only, operand reuse."""
    statement, (exits, structure, reuses) = request.statement, flags
    asked = [part_of_core(statement, name) for name in names]
    return tuple(
        Method(
            name,
            mask_order=_mask_order(request, statement, name),
            early_exit=exits and name in BY_ROW,
            structure_only=structure,
            operand_reuse=reuses and name == PULL,
            orientation=format_orientation(statement, name),
            storage=walked_format(statement),
            balance=_choose_balance(statement, name, exits)[0],
            queue=statement.hints.queue or "none",
            full=PIECES if (name, PIECES) in request.capabilities.balances else "",
            variants=_variants_of(request, name, exits),
            intersect=pinned_intersection(statement) if name == DOT else "",
            parameters=parameters_of(statement),
        )
        for name, statement in zip(names, asked, strict=True)
    )


def _cheapest(request: Request) -> tuple[bool, Request]:
    """Return whether a method with a folder costs least, and the request that asks for it."""
    if not request.cheaper or not is_free(request.statement):
        return False, request
    for name in request.cheaper:
        row = row_of(request.statement.op, name)
        if row is None or not row.pays(request.statement, request.around is not None):
            continue
        asked = with_method(request.statement, name)
        core = CORE_METHODS[asked.op]
        if not all(_obstacle(asked, each, request.capabilities) for each in core):
            return True, replace(request, statement=asked)
    return False, request


def _method_of(row: MethodRow, pull: Method, statement: Statement) -> Method:
    """Return the method of a row that a rule weighs beside a pull."""
    given = tuple((name, values[0]) for name, values in row.parameters.items())
    orientation = pull.orientation if row.is_oriented else "none"
    late = statement.mask is not None and row.masks_late
    return replace(
        pull, storage=row.name, balance=row.balance, orientation=orientation, parameters=given,
        mask_order="after" if late else pull.mask_order, variants=(), full="",
    )  # fmt: skip


def _mask_order(request: Request, statement: Statement, name: str) -> str:
    """Return when a method looks at the mask; products of matrices in formats: at the end."""
    if statement.mask is not None and multiplies_first(statement):
        return "after"
    return choose_mask_order(statement, name, request.capabilities)


def requested_policy(statement: Statement, default: str | Policy | None) -> Policy:
    """Return the policy of a statement: pinned, else `default`, with the pinned switch point."""
    hints = statement.hints
    policy = policy_named(hints.policy if hints.policy is not None else default)
    return policy if hints.switch_point is None else policy.with_switch_point(hints.switch_point)


def _obstacle(statement: Statement, name: str, capabilities: Capabilities) -> str:
    """Say why method `name` is not admissible; empty if it is."""
    statement = part_of_core(statement, name)
    if (statement.op, name) not in capabilities.methods:
        return f"{capabilities.name} has no {name} kernel for {statement.op}"
    pin, wanted = _pinned_name(statement)
    if wanted is not None and wanted != name:
        return f"{pin}={wanted!r} is pinned"
    obstacle = _mxm_obstacle(statement, name, capabilities) if statement.op == "mxm" else ""
    if obstacle:
        return obstacle
    balance = statement.hints.balance
    if balance is not None and (name, balance) not in capabilities.balances:
        return f"{name} on {capabilities.name} cannot share its work by {balance!r}"
    merge = statement.hints.merge
    if merge is not None and name != PUSH:
        return f"{name} has no lists to merge by {merge}: it works row by row"
    queue = statement.hints.queue
    if queue is not None and (name, queue) not in capabilities.queues:
        return f"{name} on {capabilities.name} has no list to ask for places by {queue!r}"
    storage = storage_obstacle(statement, name, capabilities)
    order = order_obstacle(statement, name, capabilities)
    return storage or order or mask_order_obstacle(statement, name, capabilities)


def _pinned_name(statement: Statement) -> tuple[str, str | None]:
    """Return the pin that names a core method, and its value; None if there is none."""
    method = statement.hints.method
    if method in CORE_METHODS[statement.op]:
        return "method", method
    return "direction", statement.hints.direction if statement.op != "mxm" else None


def _mxm_obstacle(statement: Statement, name: str, capabilities: Capabilities) -> str:
    hints, direction = statement.hints, MXM_DIRECTIONS[name]
    if hints.direction is not None and direction != hints.direction:
        return f"direction={hints.direction!r} is pinned, and {name} is a {direction}"
    if name == "dot" and not names_results(statement):
        return "dot needs a mask that names the wanted results, not complemented"
    if name == PULL and hints.balance is not None:
        return f"balance={hints.balance!r} is a choice of products with a full right operand"
    return intersection_obstacle(statement, name, capabilities)


def names_results(statement: Statement) -> bool:
    """Return whether a mask names the few results that are wanted."""
    return statement.mask is not None and not statement.mask.complement


def _admissible(request: Request) -> tuple[tuple[str, ...], list[Reason]]:
    """Return the names of the admissible methods, and why the others are left out."""
    statement, capabilities = request.statement, request.capabilities
    obstacles = {
        name: _obstacle(statement, name, capabilities) for name in CORE_METHODS[statement.op]
    }
    names = tuple(name for name, obstacle in obstacles.items() if not obstacle)
    if not names:
        raise PlanError(_nothing_left(statement, capabilities, obstacles))
    return names, [reason(Code.LEFT_OUT, name, why) for name, why in obstacles.items() if why]


def _nothing_left(
    statement: Statement, capabilities: Capabilities, obstacles: dict[str, str]
) -> str:
    pins = {name: value for name, value in pinned(statement.hints).items() if name in _NARROWING}
    _, wanted = _pinned_name(statement)
    relevant = {name: why for name, why in obstacles.items() if wanted in (None, name)}
    why = "; ".join(f"{name}: {text}" for name, text in relevant.items())
    if not pins:
        return f"{statement.op} is impossible on {capabilities.name}: {why}; use another device"
    shown = ", ".join(f"{name}={value!r}" for name, value in pins.items())
    return (
        f"{statement.op}: {shown} is impossible: {why}; {_way_out(statement, capabilities, pins)}"
    )


def _way_out(statement: Statement, capabilities: Capabilities, pins: dict[str, object]) -> str:
    """Name the values of each pin that would leave a method, the other pins kept."""
    possible = []
    for name in pins:
        for value in (None, *values_of(name, statement.op)):
            hints = replace(statement.hints, **{name: value})  # type: ignore[arg-type]
            other = replace(statement, hints=hints)
            if _is_possible(other, capabilities):
                possible.append(f"{name}={value!r}")
    return f"possible here: {' or '.join(possible)}" if possible else "leave the pins out"


def _is_possible(statement: Statement, capabilities: Capabilities) -> bool:
    """Return whether a method is left, whatever the operands are, and has the parameters."""
    row, _ = pinned_method(statement)
    # Formats of products of matrices are for a full right operand.
    if parameter_fault(statement) or (row and statement.op == "mxm" and row.keeps != ()):
        return False
    return not all(_obstacle(statement, way, capabilities) for way in CORE_METHODS[statement.op])


def _check_demands(request: Request, names: tuple[str, ...]) -> None:
    """Check that a demanded early exit or asserted reuse has a method that can follow it."""
    statement = request.statement
    for pin in ("early_exit", "operand_reuse"):
        if getattr(statement.hints, pin) and not BY_ROW & set(names):
            means = f"{' and '.join(names)} does not work row by row"
            by_row = next(name for name in CORE_METHODS[statement.op] if name in BY_ROW)
            raise PlanError(
                f"{statement.op}: {pin}=True is impossible: {means}, and nothing else is "
                f"admissible; choose {pin}=None, or pins that admit {by_row}"
            )


def _choose_reuse(request: Request) -> tuple[bool, list[Reason]]:
    """Return whether pull reads the mask in the operand's place, and why."""
    statement = request.statement
    asserted = statement.hints.operand_reuse
    if statement.op == "mxm":
        return False, []
    if asserted:
        obstacle = shape_obstacle(statement)
        if obstacle:
            raise PlanError(
                f"{statement.op}: operand_reuse=True is impossible: {obstacle}; "
                "choose False or None"
            )
        return True, [reason(Code.REUSE_ASSERTED)]
    if asserted is False:
        return False, [reason(Code.NO_REUSE, "operand_reuse=False is pinned")]
    obstacle = reuse_obstacle(statement, request.around)
    if obstacle:
        return False, [reason(Code.NO_REUSE, obstacle)]
    return True, [reason(Code.REUSE_PROVEN)]


def weighs_ways(statement: Statement, names: Sequence[str]) -> bool:
    """Return whether a product with a vector chooses between push and pull when it runs."""
    return statement.op != "mxm" and tuple(names) == DIRECTIONS


def situation_beforehand(statement: Statement, *, may_leave: bool, many_threads: bool) -> Situation:
    """Return what the rule of a product depends on that is weighed before it runs.

    `may_leave` says whether a pull may leave rows.
    """
    return Situation(
        masked=False,
        stops_at_first=may_leave and stops_at_first(statement.operator),
        cheap_degrees=False,
        many_threads=many_threads,
        alone=True,
        # A caller who demands that rows are left gets it.
        beforehand=statement.hints.early_exit is None,
    )


def _choose_rule(
    request: Request, methods: tuple[Method, ...], may_leave: bool | None
) -> tuple[Rule, list[Reason]]:
    """Return the rule between the admissible methods, and why.

    `may_leave`: of a product that was weighed before it runs, whether a pull could leave rows.
    """
    statement = request.statement
    if may_leave is not None:
        threads = request.capabilities.many_threads
        situation = situation_beforehand(statement, may_leave=may_leave, many_threads=threads)
        whys = _weighing_reasons(request, situation)
        return ZERO, [reason(Code.SETTLED, methods[0].name), *whys]
    _, name_pin = _pinned_name(statement)
    if name_pin is not None:
        code = Code.METHOD_PINNED if statement.op == "mxm" else Code.DIRECTION_PINNED
        return ZERO, [reason(code, name_pin)]
    if statement.op == "mxm":
        if walked_format(statement) != "compressed":
            return ZERO, []
        return _mxm_rule(request, methods)
    if len(methods) == 1:
        return ZERO, [reason(Code.ONLY_METHOD, methods[0].name)]
    push, pull = methods
    assert (push.name, pull.name) == (PUSH, PULL)
    situation, reasons = _weighed(request, pull)
    return direction_rule(request.policy, situation), reasons


def _mxm_rule(request: Request, methods: tuple[Method, ...]) -> tuple[Rule, list[Reason]]:
    """Return the rule of a product of matrices, and why.

    Push and pull are weighed where no mask names the results and the left operand is a block; where
    one does, a block whose mask names many is pulled.
    """
    statement, names = request.statement, [method.name for method in methods]
    direction = statement.hints.direction
    pins = [] if direction is None else [reason(Code.DIRECTION_PINNED, direction)]
    if names[0] == PULL:
        return ZERO, [*pins, reason(Code.ONLY_METHOD, PULL)]
    rule, whys = product_choice(statement, methods, request.capabilities)
    if names[-1] != PULL:
        return rule, [*pins, *whys]
    pull, block = Const(float(len(methods) - 1)), (int(BLOCK_ROWS.value), int(BLOCK_SHARE.value))
    if names[0] == DOT:
        counts = has_choice(statement, methods, request.capabilities)
        unless = f", unless {names[1]} multiplies few pairs beside the looks of a pull"
        why = reason(Code.BLOCK_NAMED, *block, SHARED, unless if counts else "")
        return named_block_rule(rule, pull, ONE if counts else None), [*pins, *whys, why]
    if direction is not None:
        return rule, [*pins, *whys]
    situation, reasons = _weighed(request, methods[-1])
    why = reason(Code.BLOCK_DECIDES, names[0], *block)
    return block_rule(request.policy, situation, pull), [*whys, why, *reasons]


def _weighed(request: Request, pull: Method) -> tuple[Situation, list[Reason]]:
    statement, capabilities = request.statement, request.capabilities
    situation = Situation(
        masked=pull.mask_order == "before",
        stops_at_first=pull.early_exit and stops_at_first(statement.operator),
        cheap_degrees=capabilities.cheap_degrees,
        shared=statement.op == "mxm",
        many_threads=capabilities.many_threads and statement.op != "mxm",
        alone=request.around is None,
    )
    reasons = _weighing_reasons(request, situation)
    if not capabilities.cheap_degrees:
        reasons.append(reason(Code.AVERAGE_DEGREE, capabilities.name))
    return situation, reasons


def _weighing_reasons(request: Request, situation: Situation) -> list[Reason]:
    policy = request.policy
    reasons = [direction_reason(policy)]
    start, look = policy.numbers_of_looks(alone=situation.is_open)
    if situation.slow_looks and start.value:
        reasons.append(reason(Code.SLOW_LOOKS, start.value, look.value))
    if situation.reads_here_and_there and policy.here_and_there.value:
        reasons.append(reason(Code.SLOW_START, policy.here_and_there.value))
    reads_whole = situation.quick_reads or weighs_whole_rows(policy, situation)
    if reads_whole and policy.read.value != 1:
        reasons.append(reason(Code.QUICK_READS, policy.read.value))
        if situation.is_open and policy.alone_push.value:
            reasons.append(reason(Code.LATE_PUSH, policy.alone_push.value))
            if situation.quick_reads and policy.alone_slow.value:
                reasons.append(reason(Code.SLOW_PUSH, policy.alone_slow.value))
    if request.statement.hints.switch_point is not None:
        reasons.append(reason(Code.SWITCH_POINT_PINNED, request.statement.hints.switch_point))
    return reasons


def _variants_of(request: Request, name: str, exits: bool) -> tuple[Variant, ...]:
    """Return what may take the place of a pull in equal shares of compressed rows."""
    statement, hints = request.statement, request.statement.hints
    if name != PULL or statement.op == "mxm" or walked_format(statement) != "compressed":
        return ()
    if _choose_balance(statement, name, exits)[0] != "edges":
        return ()
    # A caller who keeps one orientation to save memory wants no copy either.
    is_lean, found = hints.matrix_storage in ("csr", "csc"), []
    for each in VARIANTS:
        pin = getattr(hints, each)
        wanted = not is_lean if pin is None else pin
        if wanted and has_variant_part(each, request.capabilities.parts):
            row: VariantRow = variant_part(each, "plan").ROW
            if row.serves(statement):
                found.append(Variant(each, (0,) * len(row.figures) if pin else row.figures))
    return tuple(found)


def _variant_reasons(methods: Sequence[Method]) -> list[Reason]:
    return [
        reason(Code.VARIANT, variant_part(variant.name, "plan").ROW.explain(method, variant))
        for method in methods
        for variant in method.variants
    ]


def _choose_balance(statement: Statement, name: str, exits: bool) -> tuple[str, Reason]:
    pinned_balance, walked = statement.hints.balance, walked_format(statement)
    if walked != "compressed":
        balance, why = format_balance(statement)
    elif pinned_balance is not None:
        balance, why = pinned_balance, "it is pinned"
    elif name == PUSH:
        balance, why = "edges", "a frontier's degrees differ widely"
    elif statement.op == "mxm" and name == PULL:
        balance, why = "rows", "those who wait for one row of the matrix walk it together"
    elif name == PULL and exits and stops_at_first(statement.operator):
        balance, why = "rows", "early exit makes the rows about equal"
    elif name == PULL:
        balance, why = "edges", "every entry of every open row is read"
    else:
        balance, why = "rows", ROW_EACH
    return balance, reason(Code.BALANCE, balance, why)
