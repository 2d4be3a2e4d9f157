"""Which loop bodies are recorded once (decision 20), and that the others are not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.helpers.every import every

import semira as gb
from semira import binary, monoid, semiring
from semira.base.recent import Recent
from semira.engine import loops, remembered
from semira.exceptions import DimensionMismatch, RecordError
from semira.frontend.bodies import describe

STEP = 2
TABLE = {"step": 2}


@pytest.fixture
def recorded(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Bodies recorded since the test began, which knows of none recorded before."""
    seen: list[Any] = []
    record_cycle = loops._record_cycle

    def counted(step: Any, *given: Any, **named: Any) -> Any:
        seen.append(step)
        return record_cycle(step, *given, **named)

    monkeypatch.setattr(loops, "_record_cycle", counted)
    monkeypatch.setattr(remembered, "_kept", {})
    return seen


def count_to(total: Any, step: Any = 3, limit: int = 4) -> Any:
    def body() -> Any:
        total << total + step
        return total < 10

    gb.repeat(body, max_iterations=limit)
    return total.value


def test_a_body_like_one_before_is_not_recorded(recorded: list[Any]) -> None:
    assert [count_to(gb.Scalar.from_value(start)) for start in (0, 5, 100)] == [12, 11, 103]
    assert len(recorded) == 1


def test_the_limit_is_bound_anew(recorded: list[Any]) -> None:
    assert [count_to(gb.Scalar.from_value(0), limit=n) for n in (4, 2, 1)] == [12, 6, 3]
    most = [gb.Scalar.from_value(n) for n in (2, 3)]
    assert [count_to(gb.Scalar.from_value(0), limit=n) for n in most] == [6, 9]
    assert len(recorded) == 2


@pytest.mark.parametrize("steps", [(3, 4), (3, 3.0), (1, True), (0.0, -0.0), (3, np.int8(3))])
def test_other_numbers_are_other_bodies(recorded: list[Any], steps: tuple[Any, Any]) -> None:
    for step in steps:
        for _ in range(2):
            count_to(gb.Scalar.from_value(0.0), step)
    assert len(recorded) == 2


def test_nan_is_no_other_number(recorded: list[Any]) -> None:
    assert np.isnan([count_to(gb.Scalar.from_value(0.0), float("nan")) for _ in range(3)]).all()
    assert count_to(gb.Scalar.from_value(0.0), 3.0) == 12
    assert recorded


def test_dtypes_and_shapes_tell_bodies_apart(recorded: list[Any]) -> None:
    def doubled(dtype: str, size: int) -> list[Any]:
        v = gb.Vector.from_scalar(1, size, dtype)

        def body() -> None:
            v << v.ewise_add(v, binary.plus)

        gb.repeat(body, max_iterations=2)
        return v.to_dense().tolist()

    for _ in range(2):
        assert doubled("INT64", 2) == [4, 4]
        assert doubled("FP32", 2) == [4, 4]
        assert doubled("INT64", 3) == [4, 4, 4]
    assert len(recorded) == 3


def test_which_objects_are_the_same_one_counts(recorded: list[Any]) -> None:
    def added(one: Any, other: Any) -> list[int]:
        def body() -> None:
            one << one.ewise_add(other, binary.plus)

        gb.repeat(body, max_iterations=2)
        return one.to_dense().tolist()

    for _ in range(2):
        v, w = gb.Vector.from_scalar(1, 2), gb.Vector.from_scalar(1, 2)
        assert added(v, w) == [3, 3]
        assert added(w, w) == [4, 4]
    assert len(recorded) == 2


def test_errors_are_raised_on_other_shapes_too(recorded: list[Any]) -> None:
    def added(size: int) -> None:
        v, w = gb.Vector.from_scalar(1, 2), gb.Vector.from_scalar(1, size)

        def body() -> None:
            v << v.ewise_add(w, binary.plus)

        gb.repeat(body, max_iterations=2)

    added(2)
    for _ in range(2):
        with pytest.raises(DimensionMismatch):
            added(3)
    added(2)
    assert len(recorded) == 3


def test_options_tell_bodies_apart(recorded: list[Any]) -> None:
    A = gb.Matrix.from_coo([0, 1, 2], [1, 2, 0], [1.0, 2.0, 3.0])

    def directions(**opts: Any) -> list[str]:
        v = gb.Vector.from_scalar(1.0, 3)

        def body() -> None:
            v(**opts) << v.vxm(A, semiring.plus_times)

        return [row.method for row in gb.repeat(body, max_iterations=1).trace]

    for _ in range(2):
        assert directions(direction="pull") == ["pull"]
        assert directions(direction="push") == ["push"]
    assert len(recorded) == 2
    with gb.config.set(deterministic=True):
        directions(direction="push")
    assert len(recorded) == 3


def test_algorithms_are_recorded_once(recorded: list[Any]) -> None:
    A = gb.Matrix.from_coo([0, 1, 2, 2], [1, 2, 0, 3], [1.0, 2.0, 3.0, 1.0], nrows=4, ncols=4)
    named = gb.algorithms
    for run in (
        lambda source: named.bfs(A, source).level.to_dict(),
        lambda source: named.bfs(A, source, parents=True).parent.to_dict(),
        lambda source: named.sssp(A, source).distance.to_dict(),
        lambda source: named.sssp(A, source, algorithm="delta_stepping").distance.to_dict(),
        lambda _: named.pagerank(A).rank.to_dict(),
        lambda _: named.pagerank(A, adaptive=True).rank.to_dict(),
        lambda _: named.connected_components(A).label.to_dict(),
        lambda _: named.connected_components(A, algorithm="sample").label.to_dict(),
        lambda _: named.connected_components(A, algorithm="search").label.to_dict(),
        lambda _: named.all_pairs_shortest_paths(A, algorithm="sources").distance.to_dicts(),
    ):
        recorded.clear()
        remembered.forget_recordings()
        first = run(0)
        # A loop within a loop is recorded together with it.
        loops_recorded = len(recorded)
        again = [run(source) for source in (1, 0)]
        assert again[1] == first
        assert len(recorded) == loops_recorded
        remembered.forget_recordings()
        assert run(1) == again[0]


def test_helpers_and_globals_are_looked_at() -> None:
    v = gb.Vector.from_scalar(1, 2)

    def add(what: Any) -> None:
        v << v.apply(binary.plus, right=what)

    def with_helper() -> None:
        add(STEP)

    def with_table() -> None:
        add(TABLE["step"])

    assert describe(with_helper) is not None
    assert describe(with_table) is not None
    assert describe(with_helper).key != describe(with_table).key


def test_a_global_that_changes_is_seen(
    recorded: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def total(start: int) -> Any:
        made = gb.Scalar.from_value(start)

        def body() -> None:
            made << made + STEP

        gb.repeat(body, max_iterations=3)
        return made.value

    assert (total(0), total(1)) == (6, 7)
    monkeypatch.setitem(globals(), "STEP", 10)
    assert total(0) == 30
    assert len(recorded) == 2


def _bodies() -> dict[str, Any]:  # noqa: C901 - a list of functions
    """Return bodies that cannot be described."""
    v, p, q = (gb.Vector.from_scalar(1, 2) for _ in range(3))
    seen: list[int] = []
    table = {"step": 1}
    numbers = iter(range(9))
    array = np.arange(2)

    def rebinds() -> None:
        nonlocal p, q
        p, q = q, p

    def appends() -> None:
        seen.append(1)

    def changes_a_dict() -> None:
        table["step"] = 2

    def pops() -> None:
        v << v.apply(binary.plus, right=table.pop("step", 1))

    def iterates() -> None:
        v << v.apply(binary.plus, right=next(numbers))

    def reads_an_array() -> None:
        v << v.apply(binary.plus, right=int(array[0]))

    def asks_for_a_name() -> None:
        v << v.apply(binary.plus, right=len(v.name))

    def changes_options() -> None:
        gb.config.set(deterministic=False)

    def makes_functions() -> None:
        v << v.apply(lambda x: x + 1)

    def imports() -> None:
        import math

        v << v.apply(binary.plus, right=math.pi)

    def has_a_default(step: int = 1) -> None:
        v << v.apply(binary.plus, right=step)

    def adds_in_place() -> None:
        known = table
        known |= {"step": 3}

    def writes_a_region() -> None:
        v[0] = 1

    def pauses() -> Any:
        yield v

    def prints() -> None:
        print(v)  # noqa: T201

    return {name: body for name, body in locals().items() if callable(body)}


@every("name", sorted(_bodies()))
def test_other_bodies_are_not_described(name: str) -> None:
    assert describe(_bodies()[name]) is None


def test_what_is_no_function_is_not_described() -> None:
    class Body:
        def __call__(self) -> None:
            return None

    assert describe(Body()) is None
    assert describe(Body().__call__) is None
    assert describe(len) is None


def test_a_cell_without_a_value_is_not_described() -> None:
    def body() -> Any:
        return late

    assert describe(body) is None
    late = 1
    assert describe(body) is not None


def test_temporaries_of_another_recording_are_refused() -> None:
    v = gb.Vector.from_scalar(1, 2)
    kept: list[Any] = []

    def outer() -> None:
        kept.append(v.apply("ainv").new())

    with loops.recording.recording():
        outer()
    temporary = kept[0]

    def body() -> None:
        v << temporary

    assert describe(body) is None
    with pytest.raises(RecordError):
        gb.repeat(body)


def test_a_name_given_to_another_operator_is_seen(recorded: list[Any]) -> None:
    def total() -> Any:
        made = gb.Scalar.from_value(1)

        def body() -> None:
            made << binary.for_bodies(made, 3)

        gb.repeat(body, max_iterations=1)
        return made.value

    try:
        binary.register_new("for_bodies", lambda x, y: x + y)
        assert (total(), total()) == (4, 4)
        del binary.for_bodies
        binary.register_new("for_bodies", lambda x, y: x - y)
        assert total() == -2
    finally:
        del binary.for_bodies


def test_a_monoid_in_a_cell(recorded: list[Any]) -> None:
    def folded(fold: Any) -> Any:
        v, made = gb.Vector.from_dense([2, 5]), gb.Scalar(int)

        def body() -> None:
            made << v.reduce(fold)

        gb.repeat(body, max_iterations=1)
        return made.value

    assert [folded(fold) for fold in (monoid.plus, monoid.max, monoid.plus)] == [7, 5, 7]
    assert len(recorded) == 2


def test_what_an_inner_loop_returns_may_be_kept_but_not_read(recorded: list[Any]) -> None:
    def total(*, reads: bool) -> Any:
        made = gb.Scalar.from_value(0)

        def inner() -> None:
            made << made + 1

        def body() -> Any:
            loop = gb.repeat(inner, max_iterations=2)
            return loop.iterations if reads else made < 6

        gb.repeat(body)
        return made.value

    assert [total(reads=False) for _ in range(3)] == [6, 6, 6]
    # The outer loop, and the inner one with each of its two recordings.
    assert len(recorded) == 3
    for _ in range(2):
        with pytest.raises(RecordError, match="`iterations` of a loop inside"):
            total(reads=True)
    assert len(recorded) == 7


def test_the_oldest_recording_goes_first(
    recorded: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remembered, "_kept", Recent(2))
    for step in (1, 2, 3, 1):
        count_to(gb.Scalar.from_value(0), step)
    assert len(recorded) == 4
    assert len(remembered._kept) == 2
