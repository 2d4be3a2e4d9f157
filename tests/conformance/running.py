"""Running drawn cases in both libraries and comparing what comes out."""

from __future__ import annotations

from typing import Any

from tests.conformance.cases import PINS, Case
from tests.conformance.statements import find_operator
from tests.helpers import pgb
from tests.helpers.pgb import assert_same, suitesparse

import semira as gb

#: Largest term of a sum that may cancel.
SCALE = 2.0**10

#: What may be pinned on a device; None: everything. SuiteSparse chooses by itself.
KNOWN_PINS: dict[str, tuple[str, ...] | None] = {
    "cuda": None,
    "cpu": ("direction", "matrix_storage", "method", "bits"),
    "reference": ("direction", "matrix_storage", "method", "bits"),
    "suitesparse": (),
}


class Difference(AssertionError):  # noqa: N818 - a finding, not a mistake
    """Two libraries disagree about a case; the message holds the case."""


def check(case: Case, device: str) -> None:
    """Run `case` on `device` and in SuiteSparse and compare the outputs.

    Raises
    ------
    Difference
        They differ, or one of the two refuses what the other computes.
    """
    compare(case, None if pgb.only_ours else run_theirs(case), device)


def run_theirs(case: Case) -> Any:
    """Return SuiteSparse's output."""
    return evaluate(suitesparse(), case)


def compare(case: Case, theirs: Any, device: str) -> None:
    """Run `case` on `device` and compare with `theirs`; None stands for what comes out."""
    try:
        with gb.device(device):
            ours = evaluate(gb, case)
        assert_same(ours, ours if theirs is None else theirs, steps=case.kind.steps, scale=SCALE)
    except Exception as error:
        raise Difference(f"on {device}: {type(error).__name__}: {error}\n{case}") from error


def evaluate(library: Any, case: Case) -> Any:
    """Build the operands, run the statement, return the output."""
    row, situation = case.kind.row, case.situation
    objects = {
        name: operand.build(library) for name, operand in zip("ab", case.operands, strict=False)
    }
    _share(objects, situation.alias, case, library)
    a, b = objects.get("a"), objects.get("b")
    operands = [a.T if situation.left_transposed else a]
    if b is not None:
        operands.append(b.T if situation.right_transposed else b)
    op = find_operator(library, row, case.kind.operator)
    expression = row.express(library, op, operands, case.extra)
    out = objects["w"]
    keywords: dict[str, Any] = {"accum": case.kind.accum}
    if situation.mask is not None:
        keywords |= {
            "mask": _mask(objects["mask"], situation.mask), "replace": situation.replace
        }  # fmt: skip
    if library is gb and situation.hint is not None:
        keywords |= _pins(situation.hint, a.device)
    if row.write is not None:
        row.write(out, keywords, expression, case.extra)
    else:
        out(**keywords) << expression
    return out


def _pins(hint: str, device: str) -> dict[str, Any]:
    """Return what a hint pins, as far as the device has a choice."""
    pins, _ = PINS[hint]
    known = KNOWN_PINS[device]
    return pins if known is None else {name: pins[name] for name in pins if name in known}


def _share(objects: dict[str, Any], alias: str, case: Case, library: Any) -> None:
    """Let the members of the alias be one object, and build what is still missing."""
    members = [] if alias == "none" else alias.split("=")
    first = next((objects[name] for name in members if name in objects), None)
    if first is None and members:
        first = _output(case, library)
    for name in members:
        objects[name] = first
    if "w" not in objects:
        objects["w"] = _output(case, library)
    if "mask" not in objects and case.mask is not None:
        objects["mask"] = case.mask.build(library)


def _output(case: Case, library: Any) -> Any:
    if case.kind.row.out != "scalar":
        assert case.out is not None
        return case.out.build(library)
    return library.Scalar.from_value(None if case.out is None else 1, case.kind.out_dtype)


def _mask(built: Any, form: str) -> Any:
    chosen = built.S if form.endswith("S") else built.V
    return ~chosen if form.startswith("~") else chosen
