"""Phases of loops: recorded, not run, for devices that need not be there."""

from __future__ import annotations

import pytest

import semira as gb
from semira.backends.registry import preview_of
from semira.contract import Hints, Loop, Why
from semira.engine import run
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
    assert str(found).endswith(
        "one by one: the device runs each by itself, so no statements share a phase"
    )
    assert preview_of("cpu") is None


@pytest.fixture
def triangles():
    """Return the body of a triangle count: a masked product of which only the sum is read."""
    edges = gb.io.read("kron:5").select("tril", -1).new()
    count = gb.Scalar(int)

    def step():
        found = edges.mxm(edges.T, "plus_pair").new(mask=edges.S)
        count << found.reduce_scalar("plus")

    return step


def test_a_product_that_is_only_summed_is_one_launch_that_stores_none(triangles):
    found = gb.explain(triangles, max_iterations=1, device="cuda")
    (launch,) = found.launches
    assert (launch.statements, launch.unstored, launch.is_one) == ((0, 1), ("m2",), True)
    assert launch.apart.why is Why.SUMS_PRODUCT
    text = str(found)
    assert text.endswith(
        "loop: run by the host, because of statement 0\n"
        "  one launch: 0, 1\n"
        "    because statement 0 multiplies matrices: its dot products are added up as they are "
        "computed\n"
        "    never stores m2, because nothing but statement 1 reads it"
    )
    # Whatever else the product could be made by.
    assert "hash, walks csc" in text
    assert "chosen   dot, for only its sum is made" in text
    elsewhere = str(gb.explain(triangles, max_iterations=1, device="reference"))
    assert "chosen   dot\n" in elsewhere


def test_the_host_runs_loops_that_write_matrices():
    truss, before = gb.io.read("kron:5").dup("INT64"), gb.Scalar(int)

    def peel():
        before << truss.nvals
        truss(truss.S, replace=True) << truss.mxm(truss.T, "plus_pair")
        truss << truss.select(">=", 3)
        return truss.nvals < before

    found = gb.explain(peel, device="cuda")
    assert [launch.statements for launch in found.launches] == [(0, 1), (2,), (3,), (4, 5)]
    assert [cause.statement for cause in found.loops[0].apart] == [2, 3]
    text = str(found)
    assert "  3  select: truss = truss valuege 3\n" in text
    assert "loop: run by the host, because of statements 2 and 3; it reads x6 once" in text
    assert "because statement 2 writes truss, a matrix; multiplied row by row" in text


@pytest.mark.parametrize("algorithm", ["triangle_count", "k_truss"])
def test_programs_of_algorithms_have_pieces(algorithm):
    with gb.device("reference"), gb.tracing() as traced:
        getattr(gb.algorithms, algorithm)(gb.io.read("kron:4"))
    programs = [each for each in traced.programs if isinstance(each.body[0], Loop)]
    found = explain_program(plan_for(programs[-1], "cuda"), "cuda")
    assert any(launch.unstored for launch in found.launches) == (algorithm == "triangle_count")
    assert "loop: run by the host" in str(found)


def test_huge_objects_are_no_kernel():
    size = 2**40
    graph = gb.Matrix.from_coo([3], [2**35], True, nrows=size, ncols=size)
    front = gb.Vector.from_coo([3], True, size=size)

    def step():
        front << front.vxm(graph, "any_pair")
        return front.nvals > 0

    found = gb.explain(step, device="cuda")
    assert found.loops == []
    assert "one by one: the host starts each statement, because front has a side" in str(found)


@pytest.mark.parametrize("on", ["cuda", "cpu", "reference"])
def test_products_of_a_loop_have_their_plans(on):
    graph = gb.io.read("grid:9x9")
    distance = gb.Vector.from_coo([0], 0.0, size=81)

    def step():
        reached = distance.vxm(graph, "min_plus").new()
        distance(accum=gb.binary.min) << reached
        return distance.nvals < 81

    found = gb.explain(step, device=on)
    assert list(found.products) == [0]
    product = found.products[0]
    assert [method.name for method in product.plan.methods] == ["push", "pull"]
    # Sizes and entries of what the loop does not write are numbers.
    assert all(word not in "".join(product.choices) for word in ("rows", "nnz"))
    assert [text.partition(" frontier_edges")[0] for text in product.choices] == [
        "pull if", "after pull: push if",
    ]  # fmt: skip
    lines = str(found).splitlines()
    assert lines[:4] == [
        "statements",
        "  0  vxm: v3 = distance min_plus graph",
        "       method   push, walks csr, work shared by edges",
        "                pull, walks csc, work shared by edges, early exit",
    ]
    assert lines[4:6] == [
        f"       chosen   {product.choices[0]}", f"                {product.choices[1]}",
    ]  # fmt: skip
    assert lines[6] == f"       because  {product.reasons[0]}"
    assert "  2  nvals: x4 = nvals(distance)" in lines
    assert "  3  apply: x6 = x4 lt 81" in lines


def test_entries_of_a_matrix_that_the_loop_writes_stay_symbols():
    reach = gb.io.read("grid:3x3").dup("INT64")
    fixed = reach.dup()

    def step():
        reach(fixed.S, accum=gb.binary.max) << reach.mxm(fixed, "max_first")
        reach(reach.S, accum=gb.binary.max) << fixed.mxm(reach, "max_first")

    found = gb.explain(step, max_iterations=2, device="cuda")
    first, second = (found.products[number].choices for number in (0, 1))
    # Few entries of a mask, and B's, are known: no counting.
    assert first == ("dot",)
    assert "open_rows * (9 + nnz) > " in second[0]


def test_bodies_that_run_in_turn_have_one_plan():
    graph = gb.io.read("grid:3x3")
    p, q = gb.Vector.from_dense([1.0] * 9), gb.Vector(float, 9)

    def step():
        nonlocal p, q
        q << p.vxm(graph, "plus_first")
        p, q = q, p

    text = str(gb.explain(step, max_iterations=3, device="cpu"))
    assert "  0  vxm: q = p plus_first graph\n       method   push" in text
    assert "  1  vxm: p = q plus_first graph\n       as statement 0\n" in text


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


def test_what_was_known_outlives_the_prepared_programs(monkeypatch):
    monkeypatch.setattr(run._prepared, "limit", 1)
    graph = gb.io.read("grid:3x3")
    with gb.device("reference"), gb.tracing() as traced:
        gb.algorithms.bfs(graph, 0)
        graph.mxm(graph, "min_firstj").new()
    loop = next(item for each in traced.programs for item in each.body if isinstance(item, Loop))
    program = next(each for each in traced.programs if loop in each.body)
    (product,) = (each for each in plan_for(program, "cuda").body[0].bodies[0] if each.op == "vxm")
    assert any(method.operand_reuse for method in product.plan.methods)


def test_an_expression_has_phases_where_the_device_has():
    matrix = gb.io.read("grid:3x3")
    product = gb.Vector.from_coo([0], True, size=9).vxm(matrix, "any_pair")
    found = gb.explain(product, device="cuda")
    assert Why.FILLED in [step.cause.why for step in found.phases.steps if hasattr(step, "cause")]
    assert "phase: 0 (product)" in str(found)
    assert gb.explain(product, device="cpu").phases is None
    # Launches of its own share nothing.
    assert gb.explain(matrix.mxm(matrix, "any_pair"), device="cuda").phases is None


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
