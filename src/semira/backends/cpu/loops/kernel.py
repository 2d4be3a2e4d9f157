"""The kernel of a loop: statements in order, and when it ends."""

from __future__ import annotations

from semira.backends.cpu.codegen import PREAMBLE, Header
from semira.backends.cpu.loops.products import COUNTING, count_frontier, use_of, write_product
from semira.backends.cpu.loops.source import (
    BUDGET,
    DONE,
    ENDED,
    FAILED,
    LARGE,
    LIMIT,
    LIMITED,
    LONG,
    MOST,
    ROWS,
    WORDS,
    Lines,
    ProductUse,
    Scope,
    Source,
    UnsupportedLoopError,
    UnsureError,
)
from semira.backends.cpu.loops.statements import value_of, write_statement
from semira.base.dtypes import INT64
from semira.contract import PRODUCTS, Loop, Program, Statement
from semira.contract.program import walk_statements

#: Entries that are walked in the time of an iteration without any.
_ITERATION = 200


def source_of(program: Program, loop: Loop) -> Source:
    """Return the kernel of a loop.

    Raises UnsupportedLoopError if it has a statement that is not written natively.
    """
    unsure: set[int] = set()
    while True:
        scope = Scope(Source(program, loop), Header(), Lines(), unsure)
        try:
            with scope.out.block("while done < limit:"):
                _iteration(scope, loop)
            break
        except UnsureError as found:
            unsure.add(found.slot)
    source, body = scope.source, scope.out.lines
    for v in source.vectors:
        for name in "nc":
            _word(source, name, v)
    for s in source.scalars:
        _word(source, "h", s)
    for use in source.products:
        for name in ("nnz", "pulls", "previous", "last", "str_push", "str_pull"):
            _word(source, name, use.number)
    _arguments(scope)
    lines = Lines()
    lines.add(*_beginning(source))
    lines.lines += body
    lines.add(*_end(source), "return code")
    names = ", ".join(map(_spelled, source.arguments))
    head = f"@kernel\ndef run({names}):"
    parts = [PREAMBLE, *scope.header.parts.values(), COUNTING.strip()]
    source.text = "\n\n".join([*parts, "\n".join([head, *lines.lines])]) + "\n"
    statements = [item for body in loop.bodies for item in walk_statements(body)]
    source.born = {item.out for item in statements if item.param("new")}
    source.sure = [s for s in source.scalars if s not in unsure]
    return source


def _iteration(scope: Scope, loop: Loop) -> None:
    out = scope.out
    out.add("work = np.int64(0)", "failed = False", "go = True")
    out.add("expected = np.int64(0)")
    if len(loop.bodies) == 1:
        known = _predicted(scope, loop.bodies[0])
        with out.block("if expected > most:"):
            out.add(f"code = np.int64({LARGE})", "break")
        _body(scope, loop, 0, known, "go")
    else:
        out.add(f"which = done % {len(loop.bodies)}")
        for number in range(len(loop.bodies)):
            with out.block(f"if which == {number}:"):
                _body(scope, loop, number, {}, "go")
    with out.block("if failed:"):
        out.add(f"code = np.int64({FAILED})", "break")
    out.add("done += 1", f"spent += work + {_ITERATION}")
    for test, code in (("not go", ENDED), ("work > most", LARGE), ("spent > budget", LONG)):
        with out.block(f"if {test}:"):
            out.add(f"code = np.int64({code})", "break")


def _predicted(scope: Scope, body: tuple[Statement | Loop, ...]) -> dict[int, ProductUse]:
    """Count the edges of products whose vector the iteration has not changed by then."""
    written: set[int] = set()
    uses: dict[int, ProductUse] = {}
    for at, item in enumerate(body):
        if isinstance(item, Loop):
            break
        if item.op in PRODUCTS:
            use = uses[at] = use_of(scope, item)
            if use.vector not in written:
                scope.out.add(count_frontier(use), f"expected += edges{use.number}")
        written.add(item.out)
    return uses


def _body(scope: Scope, loop: Loop, number: int, uses: dict[int, ProductUse], go: str) -> None:
    """Write the statements of an iteration, and its condition to the variable `go`."""
    written: set[int] = set()
    for at, item in enumerate(loop.bodies[number]):
        scope.count += 1
        if isinstance(item, Loop):
            _nested(scope, item)
            continue
        if item.op in PRODUCTS:
            use = uses.get(at) or use_of(scope, item)
            write_product(scope, item, use, is_known=at in uses and use.vector not in written)
        else:
            write_statement(scope, item)
        written.add(item.out)
    condition = loop.conditions[number]
    if condition is not None:
        s = scope.scalar(condition)
        scope.out.add(f"{go} = {f'h{s} and ' * (s in scope.unsure)}s{s}")


def _nested(scope: Scope, loop: Loop) -> None:
    """Write a loop inside of another: whole, since nobody can take it over half-way."""
    if len(loop.bodies) != 1:
        raise UnsupportedLoopError("a loop inside of another that rebinds its objects")
    scope.source.is_nested = True
    out, number, around = scope.out, scope.count, scope.turn
    scope.turn = f"turn{number}"
    limit = value_of(scope, loop.limit, INT64)
    out.add(f"most{number} = {limit}", f"turn{number} = np.int64(0)", f"on{number} = True")
    with out.block(f"if most{number} < 1:"):
        scope.fail()
    with out.block(f"while on{number} and turn{number} < most{number}:"):
        _body(scope, loop, 0, {}, f"on{number}")
        out.add(f"turn{number} += 1", f"work += {_ITERATION}")
        with out.block("if work > budget or failed:"):
            scope.fail()
            out.add("break")
    if not loop.explicit_limit:
        with out.block(f"if on{number}:"):
            scope.fail()
    scope.turn = around


def _word(source: Source, name: str, number: int) -> None:
    source.words[name, number] = WORDS + len(source.words)


def _arguments(scope: Scope) -> None:
    source = scope.source
    source.arguments += [("state",), ("trace",), ("tp",), ("tl",)]
    source.arguments += [("t", dtype) for dtype in scope.temporaries.values()]
    for v in source.vectors:
        source.arguments += [(part, v) for part in "pxl"]
    source.arguments += [("S", s) for s in source.scalars]
    for use in source.products:
        for way in ("push", "pull"):
            source.arguments += [(part, use.number, way) for part in ("ptr", "idx", "val")]


def _spelled(argument: tuple[object, ...]) -> str:
    """Return the name of an argument in the text."""
    if argument[0] == "t":
        return f"t_{argument[1].tag}"  # type: ignore[attr-defined]
    name, *rest = map(str, argument)
    return name + "_".join(rest)


def _beginning(source: Source) -> list[str]:
    lines = [
        f"done = state[{DONE}]", f"limit = state[{LIMIT}]", f"budget = state[{BUDGET}]",
        f"most = state[{MOST}]", f"rows = state[{ROWS}]", "spent = np.int64(0)",
        f"code = np.int64({LIMITED})", "tn = np.int64(0)", "touched = np.int64(0)",
    ]  # fmt: skip
    for (name, number), at in source.words.items():
        lines.append(f"{_variable(name, number)} = {_FORMS.get(name, '{}').format(f'state[{at}]')}")
    lines += [f"z{v} = len(p{v})" for v in source.vectors]
    lines += [f"s{s} = S{s}[0]" for s in source.scalars]
    return lines


#: How numbers of the state are read, where they are no integers.
_FORMS = {"c": "{} != 0", "h": "{} != 0", "pulls": "{} != 0", "previous": "np.float64({})"}


def _variable(name: str, number: int) -> str:
    head, _, tail = name.partition("_")
    return f"{head}{number}_{tail}" if tail else f"{name}{number}"


def _end(source: Source) -> list[str]:
    lines = [f"state[{DONE}] = done", f"state[{ROWS}] = rows"]
    kept = ("n", "c", "h", "previous", "last")
    for (name, number), at in source.words.items():
        if name in kept:
            lines.append(f"state[{at}] = np.int64({_variable(name, number)})")
    lines += [f"S{s}[0] = s{s}" for s in source.scalars if s in source.written]
    return lines
