"""Programs written by hand: one statement, or a loop, on the objects of one backend."""

from __future__ import annotations

from typing import Any

from semira.contract import Arg, IndexSpec, Loop, Mask, Method, Plan, Program, Slot, Statement
from semira.ops.registry import find_operator


class Bench:
    """Collects slots and bindings, and runs statements eagerly on one backend."""

    def __init__(self, backend: Any) -> None:
        self.backend = backend
        self.slots: list[Slot] = []
        self.bindings: list[Any] = []

    def slot(self, kind: str, dtype: Any, given: Any, role: str = "input") -> int:
        """Add a slot bound to `given` and return its number."""
        self.slots.append(Slot(kind, dtype, role))
        self.bindings.append(given)
        return len(self.slots) - 1

    def object(self, handle: Any, dtype: Any, role: str = "input") -> int:
        """Add a slot bound to a handle."""
        return self.slot(handle.kind, dtype, handle, role)

    def run(self, *body: Statement | Loop) -> Any:
        """Prepare and execute a program of `body`."""
        program = Program(tuple(self.slots), body)
        return self.backend.execute(self.backend.prepare(program), self.bindings)


def method_plan(family: str, name: str, **fields: Any) -> Plan:
    """Return a plan with one method."""
    defaults = {"mask_order": "before", "early_exit": True}
    return Plan(family, (Method(name, **(defaults | fields)),))


def statement(
    op: str,
    out: int,
    args: list[int | Arg],
    operator: Any = None,
    *,
    mask: Mask | None = None,
    indices: tuple[IndexSpec, ...] = (),
    plan: Plan | None = None,
    **fields: Any,
) -> Statement:
    """Return a statement; other keyword arguments are its fields or parameters."""
    known = {name: fields.pop(name) for name in ("accum", "replace") if name in fields}
    given = tuple(arg if isinstance(arg, Arg) else Arg(arg) for arg in args)
    return Statement(
        op, out, given, operator, mask, indices=indices, params=tuple(fields.items()), plan=plan,
        **known,
    )  # fmt: skip


def typed(opclass: str, name: str, dtype: Any) -> Any:
    """Return an operator at a dtype."""
    return find_operator(opclass, name)[dtype]
