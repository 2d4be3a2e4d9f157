"""What the documentation and type checkers say of the algorithms, written from the registry."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.helpers.arguments import needed_by

import semira as gb
from semira.algorithms import _OTHERS
from semira.algorithms.registry import REGISTRY, homes
from semira.algorithms.row import Kind, Row, load
from semira.bench.report import markdown_table
from semira.cli.catalogue import CATALOGUE, Asked, ask, options_of, others_of, typed

ROOT = Path(__file__).resolve().parents[2]
STUB = ROOT / "src" / "semira" / "algorithms" / "__init__.pyi"


def stub() -> str:
    """Return the names of `semira.algorithms` as type checkers read them."""
    lines = []
    for name, home in (homes() | _OTHERS).items():
        # Classes of results may be shared: where they are defined, not where rows find them.
        module = getattr(load(f"{home}:{name}"), "__module__", home)
        lines.append(f"from {module} import {name} as {name}")
    head = [
        '"""Written by ``python -m tests.docs.tables`` from `semira.algorithms.registry`."""',
        "",
        "# ruff: noqa: E501, I001",
        "# fmt: off",
    ]
    return "\n".join([*head, *sorted(lines, key=str.lower), ""])


def _by_section(name: str) -> str:
    """Return a table of sections and what is in each: an attribute of rows, with links."""
    sections: dict[str, list[str]] = {}
    for row in REGISTRY.values():
        link = f"[{getattr(row, name)}](algorithms/{row.page})"
        sections.setdefault(row.section, []).append(link)
    return markdown_table(
        ["", "algorithms"], [[section, ", ".join(links)] for section, links in sections.items()]
    )


def ready() -> str:
    """Return what there is to compute, with links."""
    return _by_section("title")


def functions() -> str:
    """Return the functions by name, with links."""
    return _by_section("name")


def _option(row: Row, name: str) -> str:
    several = name == "source" and row.start == "sources"
    return f"`{typed(name)}{' A,B,...' if several else ''}`"


def _written(asked: Asked) -> str:
    """Return what `semira run --out` writes."""
    if asked.kind is Kind.number:
        return "nothing: numbers are printed"
    fields = " and ".join(f"`{name}`" for name in asked.fields)
    return fields if asked.kind is Kind.vector else f"{fields}, a matrix"


def _written_in_all(name: str) -> str:
    """Return what a command writes, and what differs where an option is given."""
    plain = ask(name, {}, None)
    found = [_written(plain)]
    for option in options_of(plain.row):
        changed = ask(name, {option: True}, None)
        if _written(changed) != found[0]:
            told = f"with `{typed(option)}` {_written(changed)}"
            found.append(told if changed.kind is plain.kind else f"{told}, a {changed.kind}")
    return "; ".join(found)


def commands() -> str:
    """Return what `semira run` knows: functions, options of their own, what it writes."""
    rows = []
    for name, row in CATALOGUE.items():
        options = ", ".join(_option(row, each) for each in options_of(row))
        names = [f"[`{row.name}`](../algorithms/{row.page})"]
        names += [
            f"with `{typed(option)}` `{each.name}`" for option, each in others_of(row).items()
        ]
        rows.append([f"`{name}`", "; ".join(names), options, _written_in_all(name)])
    return markdown_table(["name", "function", "options of its own", "`--out` writes"], rows)


def _calls(row: Row) -> Iterator[str]:
    """Yield calls of an algorithm: with what it needs, and those that the row adds."""
    for matrix in ("A", "A_float") if row.weighted else ("A",):
        yield f"{row.name}({', '.join([matrix, *map(str, needed_by(row))])})"
    yield from (f"{row.name}({given})" for given in row.calls)


def on_cuda() -> str:
    """Return which calls run on the cuda device, as found by writing their kernels."""
    A = gb.io.read("road:5x5", device="reference")
    names = {row.name: row.function for row in REGISTRY.values()}
    names |= {"A": A, "A_float": A.dup("FP64")}
    calls = [call for row in REGISTRY.values() for call in _calls(row)]
    found = [[f"`{call}`", refusal(call, names) or "yes"] for call in calls]
    return markdown_table(["call", "on cuda"], found)


def refusal(call: str, names: dict[str, Any]) -> str:
    """Return "no" and why, if kernels of a call cannot be written; else an empty text."""
    from semira.backends.cuda.backend import CudaBackend
    from semira.base.errors import NotImplementedException, PlanError
    from semira.plan import plan_program

    capabilities = CudaBackend.capabilities(None)  # type: ignore[arg-type]
    with gb.device("reference"), gb.tracing() as trace:
        eval(call, dict(names))
    assert trace.programs
    try:
        for program in trace.programs:
            _lower_for_cuda(plan_program(program, capabilities))
    except (NotImplementedException, PlanError) as error:
        return f"no: {error}"
    return ""


def _lower_for_cuda(program: Any) -> None:
    """Write the kernels of a program, without compiling them."""
    from semira.backends.cuda.hosted import is_hosted, prepare_hosted
    from semira.backends.cuda.lower import lower_program
    from semira.backends.cuda.own_launches import is_own, own_text
    from semira.backends.cuda.staged.executable import is_staged, is_summed, source_of

    if is_hosted(program) and not is_summed(program):
        prepare_hosted(program, _lower_for_cuda, is_summed)
    elif is_staged(program):
        source_of(program)
    elif is_own(program):
        own_text(program)
    else:
        lower_program(program)
