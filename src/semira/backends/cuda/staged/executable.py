"""A prepared statement that writes a matrix: its kernels and what they are called with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from semira.backends.cuda.jit.compile import named
from semira.backends.cuda.jit.render import BLOCK, FULL, STAGED
from semira.backends.cuda.runtime.device import Runtime
from semira.backends.cuda.runtime.parts import Buffer
from semira.backends.cuda.runtime.primitives import Module
from semira.backends.cuda.staged.block_source import block_source
from semira.backends.cuda.staged.method_parts import own_part
from semira.backends.cuda.staged.product_source import full_source, summed_source
from semira.backends.cuda.staged.statement_source import staged_source
from semira.backends.cuda.staged.text import has_dots
from semira.backends.rules import compile_rule
from semira.contract import Const, Program, Statement, walk_statements

#: Bytes of the widest values that are summed up at once: a block keeps one for each warp in memory
#: of its own, beside the tables of the product.
SUMMED_BYTES = 16


@dataclass(slots=True, eq=False)
class StagedExecutable:
    """An Executable of one statement."""

    #: Its output changes at the end, when nothing can fail any more.
    replaces_output: ClassVar[bool] = True

    program: Program
    statement: Statement
    module: Module
    #: The statement that sums the result up, where nothing else is made of it.
    total: Statement | None = None
    #: The `dots.Sums` that such a sum works in, once it has run.
    sums: Any = None
    #: The words of the last execution's operands, and where they lie on the device.
    table: tuple[Buffer, Buffer] = (None, None)
    #: The last launch of such a sum, a `Replay`, as long as it may be started again.
    replay: Any = None
    #: Memory for what rows of a trace tell that nobody will read any more.
    tallies: list[Buffer] = field(default_factory=list)
    _rule: Callable[[Callable[[str], float], int], float] | None = None
    _modules: dict[str, Module] = field(default_factory=dict)
    _others: dict[int, StagedExecutable] = field(default_factory=dict)

    def module_of(self, runtime: Runtime, kind: str) -> Module:
        """Return the statement's kernels, or others of it, compiled when first asked for.

        Kinds are ``full``, for an operand with every entry; ``block``, those that pull into a block
        or make one; and ``own``, those that the folder of a method brings.
        """
        if not kind:
            return self.module
        if kind not in self._modules:
            if kind == "full":
                root, source = FULL, full_source(self.program, self.statement, self.total)
            elif kind == "block":
                root, source = BLOCK, block_source(self.program, self.statement)
            else:
                part = own_part(self.statement)
                assert part is not None
                root, source = part.ROOT, part.text(self.program, self.statement)
            self._modules[kind] = Module(runtime, named(kind, source), source, root)
        return self._modules[kind]

    def rule(self, count: Callable[[str], float], previous: int) -> float:
        """Return what the plan's rule picks, compiled when first asked for."""
        if self._rule is None:
            assert self.statement.plan is not None
            self._rule = compile_rule(self.statement.plan.rule)
        return self._rule(count, previous)

    def by_method(self, runtime: Runtime, number: int) -> StagedExecutable:
        """Return the statement by another of its plan's methods, compiled when first asked for."""
        found = self._others.get(number)
        if found is None:
            found = self._others[number] = prepare_staged(runtime, narrowed(self.program, number))
        return found


def narrowed(program: Program, number: int) -> Program:
    """Return a program of one statement whose plan has one of its methods alone."""
    (statement,) = walk_statements(program.body)
    plan = statement.plan
    assert plan is not None
    plan = replace(plan, methods=(plan.methods[number],), rule=Const(0.0))
    return replace(program, body=(replace(statement, plan=plan),))


def is_staged(program: Program) -> bool:
    """Return whether a statement of the program writes a matrix."""
    outputs = {statement.out for statement in walk_statements(program.body)}
    return any(program.slots[slot].kind == "matrix" for slot in outputs)


def is_summed(program: Program) -> bool:
    """Return whether a program sums up a masked product that nobody else can see.

    Two statements: dot products to a temporary, and its sum. Nothing then has to be written but
    the sum. It is added up as the blocks come: not where a fixed order is asked for.
    """
    if len(program.body) != 2 or not all(isinstance(item, Statement) for item in program.body):
        return False
    product, total = walk_statements(program.body)
    made = program.slots[product.out]
    if product.op != "mxm" or total.op != "reduce" or made.role != "temp":
        return False
    if total.args[0].slot != product.out or program.slots[total.out].role == "temp":
        return False
    ordered = any(one.plan is not None and one.plan.ordered for one in (product, total))
    return has_dots(product) and not ordered and total.operator.type.itemsize <= SUMMED_BYTES


def source_of(program: Program) -> str:
    """Return the C++ source of a program of one statement, or of a sum and its product."""
    statement, *rest = walk_statements(program.body)
    if rest:
        return summed_source(program, statement, rest[0])
    return staged_source(program, statement)


def prepare_staged(runtime: Runtime, program: Program) -> StagedExecutable:
    """Generate and compile the kernels of a program of one statement, or of a sum and its product.

    Raises NotImplementedException if the statement has no kernel here. Raises JitError if the
    compiler refuses.
    """
    statement, *rest = walk_statements(program.body)
    source = source_of(program)
    module = Module(runtime, named(statement.op, source), source, STAGED)
    module.load("int")
    return StagedExecutable(program, statement, module, rest[0] if rest else None)
