"""Products by themselves on the GPU: settled where the host knows, and left open elsewhere."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.studies.spmspv import way_taken
from tests.helpers.every import every

import semira as gb
from semira.contract import walk_statements
from semira.engine import warm
from semira.engine.explain import plan_for
from semira.frontend import raw
from semira.plan.beforehand import Beforehand

pytestmark = pytest.mark.gpu

#: Vertices of a ring with chords.
N = 600


def graph(each: int) -> gb.Matrix:
    rows = np.repeat(np.arange(N), each)
    columns = (rows * 7 + np.tile(np.arange(each), N) * 11 + 1) % N
    return gb.Matrix.from_coo(
        rows, columns, 1 + columns % 5, "FP64", nrows=N, ncols=N, dup_op="min"
    )


def vector(entries: int, dtype: str = "FP64") -> gb.Vector:
    return gb.Vector.from_coo(range(entries), 2, dtype, size=N)


def ways(call) -> tuple[str, ...]:
    """Return the methods that the product of a call chose from."""
    with gb.tracing() as trace:
        call()
    (statement,) = walk_statements(trace.programs[-1].body)
    return tuple(method.name for method in statement.plan.methods)


@every("name", ["min_plus", "any_pair", "any_first", "lor_land", "plus_times"])
@every("entries", [0, 1, 40, N])
@every("op", ["vxm", "mxv"])
def test_settled_products_agree_with_the_cpu(name, entries, op):
    dtype = "BOOL" if name == "lor_land" else "FP64"
    made = []
    for device in ("cpu", "cuda"):
        u, A = vector(entries, dtype).to(device), graph(5).to(device)
        made.append(gb.Vector(dtype if name != "any_pair" else "INT64", N).to(device))
        made[-1] << (u.vxm(A, name) if op == "vxm" else A.mxv(u, name))
    assert made[0].to("cpu").isequal(made[1].to("cpu"))


@pytest.mark.parametrize("lone", [("push",), ("pull",)])
def test_the_host_settles_what_it_knows(monkeypatch, lone):
    # What was weighed before is not asked again.
    monkeypatch.setattr(warm, "_known", {})
    monkeypatch.setattr(Beforehand, "way", lambda *_: lone[0])
    A, u = graph(3).to("cuda"), vector(2).to("cuda")
    w, other = (gb.Vector("FP64", N).to("cuda") for _ in range(2))

    def call():
        w << u.vxm(A, "max_min")

    assert ways(call) == lone
    # Written on the device: nobody has counted.
    u << u.apply("ainv")
    assert ways(call) == ("push", "pull")
    assert u.nvals == 2
    assert ways(call) == lone
    # Under a mask, and in a loop, the choice is made as it runs.
    assert ways(lambda: other(w.S) << u.vxm(A, "max_min")) == ("push", "pull")
    assert ways(lambda: gb.repeat(call, 1)) == ("push", "pull")
    assert ways(call) == lone


def test_whoever_asks_while_a_trace_looks_is_told_too():
    u = vector(2).to("cuda")
    u << u.apply("ainv")
    with gb.tracing():
        assert u.nvals == 2
    assert u._value.last_count() == 2
    # A vector that lies on the GPU takes another's place, and its count with it.
    other = gb.Vector("FP64", N).to("cuda")
    other._value.replace_contents(u._value)
    assert other._value.last_count() == 2
    assert other.nvals == 2


@pytest.mark.parametrize("entries", [1, N])
def test_early_exits_may_be_demanded_whatever_the_way(entries):
    A, u = graph(40).to("cuda"), vector(entries).to("cuda")
    w = gb.Vector("INT64", N).to("cuda")
    w(early_exit=True) << u.vxm(A, "any_pair")
    told = str(gb.explain(u.vxm(A, "any_pair"), early_exit=True))
    assert "the host knows how many entries" in told
    assert w.isequal(u.vxm(A, "any_pair").new(direction="pull"))


def test_a_program_with_other_pins_is_weighed_anew():
    A, u, w = graph(3).to("cuda"), vector(N).to("cuda"), gb.Vector("FP64", N).to("cuda")
    with gb.tracing() as trace:
        w << u.vxm(A, "min_plus")
    program = trace.programs[-1]
    assert len(program.body[0].plan.methods) == 1
    for pins in ({"policy": "ligra"}, {"early_exit": True}):
        assert len(plan_for(program, "cuda", pins).body[0].plan.methods) == 2
    assert len(plan_for(program, "cuda").body[0].plan.methods) == 1


def test_what_was_built_on_the_gpu_is_counted(monkeypatch):
    monkeypatch.setattr(raw, "BUILD_FROM", 1)
    with gb.device("cuda"):
        u = gb.Vector.from_coo([1, 5, 1], [1.0, 2.0, 3.0], size=N, dup_op="min")
        A = gb.Matrix.from_coo([1, 5], [2, 3], [1.0, 2.0], nrows=N, ncols=N)
    assert u._value.known_nvals() is None
    assert (u._value.last_count(), A._value.last_count()) == (2, 2)


def test_records_say_who_read_whole_rows():
    A, u = graph(3).to("cuda"), vector(N).to("cuda")
    w = gb.Vector("FP64", N)
    with gb.tracing() as trace:
        w << u.vxm(A, "any_first")
    (row,) = trace.rows
    assert (row.method, way_taken(trace, row)) == ("pull", "whole")
    with gb.tracing() as trace:
        w(direction="pull") << u.vxm(A, "any_first")
    (row,) = trace.rows
    assert (row.method, way_taken(trace, row)) == ("pull", "pull")


def test_explain_says_which_way_it_will_go():
    A, u = graph(3).to("cuda"), vector(2).to("cuda")
    told = str(gb.explain(u.vxm(A, "min_plus")))
    assert "the host knows how many entries the vector has" in told
    u << u.apply("ainv")
    told = str(gb.explain(u.vxm(A, "min_plus")))
    assert "the host knows" not in told
    assert "push" in told
    assert "pull" in told
