"""Phases of loops: recorded, not run, for devices that need not be there."""

from __future__ import annotations

import pytest

import semira as gb
from semira.backends.registry import preview_of
from semira.contract import Hints, Why
from semira.engine.explain import explain_program, plan_for
from semira.exceptions import DeviceUnavailable, InvalidValue, RecordError


@pytest.fixture
def halving():
    """Return a body, and the vector that it changes."""
    total = gb.Vector.from_dense([1.0, 4.0])

    def step():
        total << total.apply("truediv", right=2.0)

    return step, total


def test_a_body_is_recorded_and_not_run(halving):
    step, total = halving
    found = gb.explain(step, max_iterations=3, device="cuda")
    assert len(found.loops) == 1
    assert total.to_dense().tolist() == [1.0, 4.0]


def test_names_that_a_body_rebinds_stay():
    p, q = gb.Vector.from_dense([1.0]), gb.Vector.from_dense([2.0])
    first = p

    def step():
        nonlocal p, q
        q << p
        p, q = q, p

    found = gb.explain(step, max_iterations=3, device="cuda")
    assert p is first
    assert len(found.loops[0].bodies) == 2
    assert "loop, body 1: 1 barrier an iteration" in str(found)


def test_devices_without_phases_run_one_by_one(halving):
    step, _ = halving
    found = gb.explain(step, max_iterations=3, device="reference")
    assert found.steps is None
    assert found.loops == []
    assert str(found).endswith("one by one: no statements share a phase")
    assert preview_of("cpu") is None


def test_inner_loops_are_indented(halving):
    step, total = halving

    def outer():
        gb.repeat(step, max_iterations=2)
        total << total.apply("plus", right=1.0)

    found = gb.explain(outer, max_iterations=2, device="cuda")
    assert len(found.loops) == 2
    assert "\n    loop: 1 barrier" in str(found)


def test_what_was_known_when_it_ran_is_known_to_other_plans():
    graph = gb.io.read("grid:3x3")
    with gb.device("reference"), gb.tracing() as traced:
        gb.algorithms.bfs(graph, 0)
    program = traced.programs[-1]
    (product,) = (each for each in plan_for(program, "cuda").body[0].bodies[0] if each.op == "vxm")
    # Only because the levels are known to be empty at the start.
    assert any(method.operand_reuse for method in product.plan.methods)
    # Pins take the place of those it ran with; what a GPU alone can do is planned for one.
    pins = {"direction": "push", "queue": "block"}
    planned = plan_for(program, "cuda", pins)
    loop = planned.body[0]
    for each in loop.bodies[0]:
        is_product = each.op == "vxm"
        assert each.hints == (Hints(**pins) if is_product else Hints())
        if is_product:
            assert [method.name for method in each.plan.methods] == ["push"]


def test_an_expression_has_phases_where_the_device_has():
    matrix = gb.io.read("grid:3x3")
    product = gb.Vector.from_coo([0], True, size=9).vxm(matrix, "any_pair")
    found = gb.explain(product, device="cuda")
    assert Why.FILLED in [step.cause.why for step in found.phases.steps if hasattr(step, "cause")]
    assert "phase: 0 (product)" in str(found)
    assert gb.explain(product, device="cpu").phases is None


def test_what_cannot_be_explained_is_refused(halving):
    step, total = halving
    with pytest.raises(InvalidValue, match="statements of a loop"):
        gb.explain(step, max_iterations=1, direction="push")
    with pytest.raises(InvalidValue, match="max_iterations"):
        gb.explain(total.apply("abs"), max_iterations=1)
    with pytest.raises(RecordError, match="max_iterations"):
        gb.explain(step)
    with pytest.raises(InvalidValue, match="got Vector"):
        gb.explain(total)
    with pytest.raises(DeviceUnavailable, match="no device"):
        explain_program(None, "abacus")
