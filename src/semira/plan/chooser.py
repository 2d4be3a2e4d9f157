"""Planning a whole program: every statement gets its plan."""

from __future__ import annotations

from dataclasses import dataclass, replace

from semira.contract import (
    PRODUCTS,
    Capabilities,
    Loop,
    Method,
    Plan,
    Program,
    Solo,
    Statement,
    walk_statements,
)
from semira.plan.pins import check_pins
from semira.plan.policy import SOLO_ENTER, SOLO_LEAVE, Policy, policy_named
from semira.plan.products import Request, plan_product, requested_policy
from semira.plan.reasons import Code, reason
from semira.plan.reuse import Facts, Item, Surroundings, always_present
from semira.plan.rules_mask import needs_order
from semira.plan.rules_storage import MATRIX_ARGS, choose_out_storage

#: How each operation without alternatives shares its work; see `Method.balance`.
BALANCE = {
    **dict.fromkeys(
        (
            "ewise_add", "ewise_mult", "ewise_union", "apply", "select", "reduce", "copy",
            "assign", "extract", "diag",
        ),
        ("edges", "each entry costs the same"),
    ),
    **dict.fromkeys(("gather", "scatter"), ("edges", "each index costs the same")),
    "select_k": ("rows", "each row is cut by itself"),
    "reduce_rows": ("rows", "each row is folded by itself"),
    "mode_rows": ("rows", "the keys of each row are summed by themselves"),
    "nvals": ("serial", "the count is kept with the object"),
}  # fmt: skip
_SCALAR_BALANCE = ("serial", "a scalar is one value")
_ON_SCALARS = ("apply", "copy", "assign", "ewise_add", "ewise_mult", "ewise_union")
NO_FACTS = Facts()
_SOLO = Solo(int(SOLO_ENTER.value), int(SOLO_LEAVE.value))


@dataclass(frozen=True, slots=True)
class _Planner:
    """What stays the same for every statement of a program."""

    program: Program
    capabilities: Capabilities
    policy: Policy
    facts: Facts
    present: frozenset[int]
    written: frozenset[int]

    def body(self, items: tuple[Item, ...], *, at_top: bool) -> tuple[Item, ...]:
        """Return a body outside of loops, or of a loop with several bodies, planned."""
        return tuple(
            self.loop(items, at, at_top=at_top)
            if isinstance(item, Loop)
            else self.statement(item, None)
            for at, item in enumerate(items)
        )

    def loop(self, around: tuple[Item, ...], at: int, *, at_top: bool) -> Loop:
        """Return the loop ``around[at]`` with its bodies planned."""
        loop = around[at]
        assert isinstance(loop, Loop)
        bodies = []
        for body in loop.bodies:
            inner: list[Item] = []
            for position, item in enumerate(body):
                if isinstance(item, Loop):
                    inner.append(self.loop(body, position, at_top=False))
                    continue
                place = Surroundings(
                    loop, position, around[:at], at_top, self.facts.empty, self.present
                )
                inner.append(self.statement(item, place))
            bodies.append(tuple(inner))
        solo = _SOLO if self.capabilities.solo else None
        return replace(loop, bodies=tuple(bodies), solo=solo)

    def cheaper(self, statement: Statement) -> tuple[str, ...]:
        """Return the methods that cost less than compressed rows of a product's only matrix."""
        ranked = dict(self.facts.methods)
        if not ranked:
            return ()
        slots = [statement.args[at].slot for at in MATRIX_ARGS[statement.op]]
        found = ranked.get(slots[0], ())
        # What the program writes is another matrix each time.
        is_written = slots[0] in self.written
        return () if is_written else tuple(name for op, name in found if op == statement.op)

    def statement(self, statement: Statement, around: Surroundings | None) -> Statement:
        out = self.program.slots[statement.out]
        check_pins(statement, out)
        if statement.op in PRODUCTS:
            policy = requested_policy(statement, self.policy)
            # Elsewhere the choice costs nothing, and is better made with what is counted.
            way = self.facts.way if self.capabilities.choice_costs else ""
            cheaper = self.cheaper(statement)
            plan = plan_product(Request(statement, self.capabilities, policy, around, way, cheaper))
        else:
            plan = _plan_simple(statement, out.kind)
        return replace(statement, plan=plan)


def plan_program(
    program: Program,
    capabilities: Capabilities,
    policy: str | Policy | None = None,
    facts: Facts = NO_FACTS,
) -> Program:
    """Return `program` with the plan of every statement filled in, nested loops included.

    Plans already in it are replaced. `policy`, None for ``auto``, is for products without a pin.
    The `facts` of objects to be bound may prove operand reuse; they are then part of the key under
    which the program is kept. Raises PlanError if a pin cannot be met or the policy is unknown.

    The same arguments give an equal program. Linear in the number of statements, except that each
    product in a loop looks at the statements around it.
    """
    planner = _Planner(
        program,
        capabilities,
        policy_named(policy),
        facts,
        always_present(program, facts),
        frozenset(each.out for each in walk_statements(program.body)),
    )
    return replace(program, body=planner.body(program.body, at_top=True))


def _plan_simple(statement: Statement, kind: str) -> Plan:
    is_scalar = kind == "scalar" and statement.op in _ON_SCALARS
    balance, why = _SCALAR_BALANCE if is_scalar else BALANCE[statement.op]
    storage, storage_reason = choose_out_storage(statement)
    reasons = [reason(Code.ONE_WAY, statement.op), reason(Code.BALANCE, balance, why)]
    if kind == "vector":
        reasons.append(storage_reason)
    ordered = needs_order(statement)
    if ordered:
        reasons.append(reason(Code.FIXED_ORDER))
    method = Method("direct", balance=balance)
    return Plan(
        statement.op, (method,), out_storage=storage, reasons=tuple(reasons), ordered=ordered
    )
