"""Which calls of the public API wait for the device: the table of docs/guide/gpu.md."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator

import pytest
from tests.helpers.fake_cuda import FakeCuda, fake_cuda

import semira as gb
from semira.backends import registry
from semira.backends.cuda.runtime.primitives import Module
from semira.engine import run, warm

__all__ = ["fake_cuda"]


@pytest.fixture
def things(fake_cuda: FakeCuda, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, object]]:
    """Objects on the device ``cuda``, whose driver is the fake one."""
    monkeypatch.setitem(registry._open, "cuda", fake_cuda.backend)
    # What was prepared belongs to the device of another test.
    monkeypatch.setattr(run, "_prepared", type(run._prepared)(64))
    monkeypatch.setattr(warm, "_known", {})
    # The base kernels do nothing either.
    monkeypatch.setattr(Module, "launch_blocks", lambda *given, **how: None)
    A = gb.Matrix.from_coo([0, 1, 2], [1, 2, 0], [1.0, 2.0, 3.0])
    # Both orientations are there, so that none has to be made.
    A.symmetric = True
    v = gb.Vector.from_dense([1.0, 2.0, 3.0]).to("cuda")
    with gb.device("cuda"):
        x = gb.Scalar.from_value(2.0)
    made = {
        "A": A.to("cuda"), "v": v, "w": v.dup(), "x": x, "maybe": v.reduce("plus").new(),
        "sum": v.reduce("plus", allow_empty=False).new(),
        "index": gb.Vector.from_dense([0, 1, 2]).to("cuda"),
    }  # fmt: skip
    yield made
    # While the fake device is still there to take their memory back.
    made.clear()
    gc.collect()


def waits_of(fake: FakeCuda, call: Callable[[], object]) -> int:
    before = fake.backend.statistics().synchronisations
    call()
    return fake.backend.statistics().synchronisations - before


WITHOUT = {
    "element-wise": lambda t: t["w"] << t["v"].ewise_add(t["v"], "plus"),
    "masked": lambda t: t["w"](~t["v"].S, replace=True) << t["v"].ewise_mult(t["v"], "plus"),
    "apply": lambda t: t["w"] << t["v"].apply("ainv"),
    "apply with a number": lambda t: t["w"] << t["v"].apply("plus", right=2.0),
    "apply with a Scalar that has a value": lambda t: t["w"] << t["v"].apply("plus", right=t["x"]),
    "apply with a sum": lambda t: t["w"] << t["v"].apply("plus", right=t["sum"]),
    "select": lambda t: t["w"] << t["v"].select(">", 1.0),
    "assign": lambda t: t["w"](t["v"].S) << 3.0,
    "element": lambda t: t["w"].__setitem__(1, 3.0),
    "extract": lambda t: t["w"] << t["v"][[2, 1, 0]],
    "line": lambda t: t["w"] << t["A"][:, 1],
    "reduce": lambda t: t["v"].reduce("plus").new(),
    "reduce of a matrix": lambda t: t["w"] << t["A"].reduce_rowwise("plus"),
    "product": lambda t: t["w"] << t["A"].mxv(t["v"], "plus_times"),
    "new": lambda t: t["v"].vxm(t["A"], "plus_times").new(),
    "dup": lambda t: (t["v"].dup(), t["A"].dup()),
    "nvals of a matrix": lambda t: t["A"].nvals,
    "memory": lambda t: (t["A"].memory_usage(), t["v"].memory_usage()),
    "traced product": lambda t: traced(lambda: t["v"].vxm(t["A"], "plus_times").new()),
}

WITH = {
    "apply with a Scalar that may be empty": lambda t: (
        t["w"] << t["v"].apply("plus", right=t["maybe"])
    ),
    "gather": lambda t: t["v"].gather(t["index"]).new(),
    "scatter": lambda t: t["w"].scatter(t["index"], t["v"]),
    "nvals": lambda t: int(t["v"].nvals),
    "number": lambda t: t["v"].reduce("plus").value,
    "dict": lambda t: t["v"].to_dict(),
    "host": lambda t: t["v"].to("cpu"),
    "equal": lambda t: t["v"].isequal(t["w"]),
    "text": lambda t: str(t["v"]),
}


def traced(call: Callable[[], object]) -> None:
    with gb.tracing():
        call()


@pytest.mark.parametrize("name", WITHOUT)
def test_a_call_returns_when_its_work_is_queued(things, fake_cuda, name):
    call = WITHOUT[name]
    assert waits_of(fake_cuda, lambda: call(things)) == 0


@pytest.mark.parametrize("name", WITH)
def test_a_call_waits(things, fake_cuda, name):
    call = WITH[name]
    # Kernels do nothing here: what an empty Scalar or a bad index leads to stays out.
    assert waits_of(fake_cuda, lambda: call(things)) >= 1


def product(t) -> None:
    t["w"] << t["A"].mxv(t["v"], "plus_times")


def test_fused_statements_are_not_waited_for(things, fake_cuda: FakeCuda) -> None:
    found = []
    body = lambda: product(things)  # noqa: E731
    for _ in range(3):
        assert waits_of(fake_cuda, lambda: found.append(gb.fused(body))) == 0
    # Of the loop, not of what the fake device reports.
    assert {(one.iterations, one.stopped_by) for one in found} == {(1, "limit")}
    assert waits_of(fake_cuda, lambda: list(found[0].trace)) == 1


ONCE_WITH = {
    "another limit": (product, 2),
    "an index that may lie outside": (lambda t: t["w"] << t["v"].gather(t["index"]), 1),
    "a Scalar that may be empty": (
        lambda t: t["w"] << t["v"].apply("plus", right=t["maybe"]), 1,
    ),
    "a value of its own that may be missing": (
        lambda t: t["w"] << t["v"].apply("plus", right=t["v"].reduce("plus").new()), 1,
    ),
    "an inner loop": (lambda t: gb.repeat(lambda: product(t), max_iterations=3), 1),
}  # fmt: skip


@pytest.mark.parametrize("name", ONCE_WITH)
def test_a_loop_that_may_fail_or_goes_on_is_waited_for(things, fake_cuda: FakeCuda, name) -> None:
    body, limit = ONCE_WITH[name]
    for _ in range(2):
        call = lambda: gb.repeat(lambda: body(things), max_iterations=limit)  # noqa: E731
        assert waits_of(fake_cuda, call) == 1


def test_the_limit_is_looked_at_on_each_run(things, fake_cuda: FakeCuda) -> None:
    body = lambda: product(things)  # noqa: E731
    for limit, waits in ((1, 0), (3, 1), (1, 0), (1, 0), (2, 1)):
        assert waits_of(fake_cuda, lambda n=limit: gb.repeat(body, max_iterations=n)) == waits
    turns = gb.Scalar.from_value(1)
    assert waits_of(fake_cuda, lambda: gb.repeat(body, max_iterations=turns)) == 1
