"""Recorded loops: what may stand in a body, how they end, and what holds afterwards."""

from __future__ import annotations

import _thread
import threading
from pathlib import Path

import numpy as np
import pytest
from tests.helpers.hidden_sizes import HiddenSizeError, hidden_sizes

import semira as gb
from semira import binary, exceptions, monoid, semiring
from semira.base import settings

HERE = Path(__file__).name


@pytest.fixture
def on(device):
    with gb.device(device):
        yield device


@pytest.fixture
def few_iterations():
    before = settings.override(max_iterations=20)
    yield 20
    settings.restore(before)


def counter(start=0):
    return gb.Scalar.from_value(start)


# --- how a loop ends --------------------------------------------------------------------


def test_it_stops_when_the_condition_is_false(on):
    total = counter()

    def step():
        total << total + 3
        return total < 10

    result = gb.repeat(step)
    assert total.value == 12
    assert (result.iterations, result.stopped_by) == (4, "condition")


def test_it_runs_at_least_once(on):
    total = counter()

    def step():
        total << total + 1
        return total < 0

    assert gb.repeat(step).iterations == 1
    assert total.value == 1


def test_an_explicit_limit_is_no_error(on):
    total = counter()

    def step():
        total << total + 1
        return total > 0

    result = gb.repeat(step, max_iterations=5)
    assert (result.iterations, result.stopped_by, total.value) == (5, "limit", 5)


def test_a_condition_that_turns_false_at_the_limit_counts_as_condition(on):
    total = counter()

    def step():
        total << total + 1
        return total < 5

    assert gb.repeat(step, max_iterations=5).stopped_by == "condition"


def test_without_condition_it_runs_to_the_limit(on):
    total = counter()
    result = gb.repeat(lambda: total << total + 2, max_iterations=np.int64(3))
    assert (result.iterations, result.stopped_by, total.value) == (3, "limit", 6)


def test_a_scalar_limit(on):
    total, limit = counter(), counter(4)
    assert gb.repeat(lambda: total << total + 1, max_iterations=limit).iterations == 4
    assert total.value == 4


def test_the_default_limit_is_an_error_and_keeps_what_was_done(on, few_iterations):
    total = counter()

    def step():
        total << total + 1
        return total > 0

    with pytest.raises(exceptions.IterationLimit, match="20 iterations"):
        gb.repeat(step)
    assert total.value == few_iterations


def test_an_empty_condition_means_stop(on):
    empty, total = gb.Vector("INT64", 3), counter()

    def step():
        total << total + 1
        return empty.reduce(monoid.max) > 0

    assert gb.repeat(step).stopped_by == "condition"
    assert total.value == 1


@pytest.mark.parametrize("limit", [0, -1, 1.5, True, "many"])
def test_bad_limit(limit):
    total = counter()
    with pytest.raises(exceptions.InvalidValue, match="max_iterations"):
        gb.repeat(lambda: total << total + 1, max_iterations=limit)
    assert total.value == 0


@pytest.mark.parametrize("limit", [0, -3, None])
def test_bad_scalar_limit(on, limit):
    total, bound = counter(), gb.Scalar.from_value(limit, "INT64")
    with pytest.raises(exceptions.InvalidValue, match="max_iterations"):
        gb.repeat(lambda: total << total + 1, max_iterations=bound)
    assert total.value == 0


def test_the_trace_has_a_row_for_each_product(on):
    A = gb.Matrix.from_coo([0, 1, 2], [1, 2, 0], True, nrows=3, ncols=3)
    v = gb.Vector.from_coo([0], True, size=3)

    def step():
        v << v.vxm(A, semiring.any_pair)

    rows = gb.repeat(step, max_iterations=3).trace
    assert [(row.iteration, row.op, row.frontier, row.produced) for row in rows] == [
        (turn, "vxm", 1, 1) for turn in range(3)
    ]


# --- what the body may not do -----------------------------------------------------------

READS = {
    "int": lambda v, s: int(v.nvals),
    "bool": lambda v, s: bool(v.nvals > 0),
    "if": lambda v, s: 1 if s > 0 else 2,
    "float": lambda v, s: float(v.reduce(monoid.plus)),
    "index": lambda v, s: [1, 2, 3][s],
    "value": lambda v, s: s.value,
    "is_empty": lambda v, s: s.is_empty,
    "print": lambda v, s: str(v),
    "print scalar": lambda v, s: f"{s}",
    "to_coo": lambda v, s: v.to_coo(),
    "to_dense": lambda v, s: v.to_dense(0),
    "to_dict": lambda v, s: v.to_dict(),
    "get": lambda v, s: v.get(1),
    "in": lambda v, s: 1 in v,
    "iterate": lambda v, s: list(v),
    "isequal": lambda v, s: v.isequal(v),
    "clear": lambda v, s: v.clear(),
    "resize": lambda v, s: v.resize(9),
    "build": lambda v, s: v.build([0], [1], clear=True),
}


@pytest.mark.parametrize("read", READS.values(), ids=READS.keys())
def test_host_reads_and_writes_are_refused_with_their_line(read):
    v, s = gb.Vector.from_coo([1], [2.0], size=3), counter(1)

    def step():
        read(v, s)
        return v.nvals > 0

    with pytest.raises(exceptions.RecordError, match=rf"{HERE}:\d+: "):
        gb.repeat(step, max_iterations=2)
    assert v.to_dict() == {1: 2.0}
    assert s.value == 1
    assert v.size == 3


@pytest.mark.parametrize("returned", [True, False, 1, "go", np.bool_(True)])
def test_the_condition_must_be_symbolic(returned):
    total = counter()

    def step():
        total << total + 1
        return returned

    with pytest.raises(exceptions.RecordError, match="loop body returns"):
        gb.repeat(step)
    assert total.value == 0


def test_the_condition_must_be_bool():
    total = counter()

    def step():
        total << total + 1
        return total

    with pytest.raises(exceptions.RecordError, match="INT64"):
        gb.repeat(step)


def test_no_condition_and_no_limit():
    total = counter()
    with pytest.raises(exceptions.RecordError, match="max_iterations"):
        gb.repeat(lambda: total << total + 1)


def test_python_values_that_change():
    total, seen = counter(), []

    def step():
        seen.append(1)
        total << total + len(seen)

    with pytest.raises(exceptions.RecordError, match="changes from run to run"):
        gb.repeat(step, max_iterations=4)
    assert total.value == 0


def test_objects_made_in_the_body_are_refused():
    total = gb.Vector("INT64", 3)

    def step():
        total << gb.Vector.from_coo([1], [5], size=3)

    with pytest.raises(exceptions.RecordError, match="inside the loop body"):
        gb.repeat(step, max_iterations=2)


def test_a_temporary_ends_with_its_iteration(on):
    v, kept = gb.Vector.from_coo([1], [2.0], size=3), []

    def step():
        kept.append(v.apply("ainv").new())
        v << kept[-1]

    gb.repeat(step, max_iterations=2)
    with pytest.raises(exceptions.RecordError, match="temporary"):
        kept[0].to_dict()
    with pytest.raises(exceptions.RecordError, match="temporary"):
        v << kept[0]


def test_a_temporary_of_another_iteration():
    v, kept = gb.Vector.from_coo([1], [2.0], size=3), []

    def step():
        kept.append(v.apply("ainv").new())
        v << kept[0]

    with pytest.raises(exceptions.RecordError, match="another iteration"):
        gb.repeat(step, max_iterations=2)


def test_after_a_refused_body_calls_run_again(on):
    v = gb.Vector.from_coo([1], [2.0], size=3)
    with pytest.raises(exceptions.RecordError):
        gb.repeat(lambda: repr(v), max_iterations=2)
    v << v + v
    assert v.to_dict() == {1: 4.0}


# --- what it may do ---------------------------------------------------------------------


def test_temporaries_and_unrolled_loops(on):
    v = gb.Vector.from_coo([0, 2], [1, 2], size=4)

    def step():
        doubled = v.apply(binary.times, right=2).new()
        for _ in range(3):
            doubled << doubled + 1
        v << doubled

    gb.repeat(step, max_iterations=2)
    assert v.to_dict() == {0: 13, 2: 17}


def test_masks_accumulators_and_symbolic_scalars(on):
    v, top = gb.Vector.from_coo([0, 1, 2], [1, 5, 3], size=4), counter()

    def step():
        top << v.reduce(monoid.max)
        small = v.select("<", top).new()
        v(small.S, accum=binary.plus) << 1
        return small.nvals > 0

    assert gb.repeat(step).iterations == 5
    assert v.to_dict() == {0: 5, 1: 5, 2: 5}


@pytest.mark.parametrize("turns", range(1, 6))
def test_names_may_be_swapped(on, turns):
    p = gb.Vector.from_coo([0], [1], size=2)
    q = gb.Vector.from_coo([0], [10], size=2)
    first, second = p, q

    def step():
        nonlocal p, q
        q << p + q
        p, q = q, p

    gb.repeat(step, max_iterations=turns)
    x, y = 1, 10
    for _ in range(turns):
        x, y = x + y, x
    assert (p.to_dict(), q.to_dict()) == ({0: x}, {0: y})
    assert (p is first) == (turns % 2 == 0)
    assert (q is second) == (turns % 2 == 0)


@pytest.mark.parametrize("period", [3, 4])
@pytest.mark.parametrize("turns", range(1, 10))
def test_names_may_rotate(on, period, turns):
    vectors = [gb.Vector.from_coo([0], [10**i], size=1) for i in range(period)]

    def step():
        vectors[0] << vectors[0] + vectors[1]
        vectors.append(vectors.pop(0))

    gb.repeat(step, max_iterations=turns)
    values = [10**i for i in range(period)]
    for _ in range(turns):
        values[0] += values[1]
        values.append(values.pop(0))
    assert [v.to_dict()[0] for v in vectors] == values


def test_swapped_names_stop_by_condition(on):
    p, q = gb.Vector.from_coo([0], [1], size=1), gb.Vector.from_coo([0], [0], size=1)

    def step():
        nonlocal p, q
        q << p + p
        p, q = q, p
        return p.reduce(monoid.max) < 30

    assert gb.repeat(step).iterations == 5
    assert (p.to_dict(), q.to_dict()) == ({0: 32}, {0: 16})


def test_too_long_a_rotation():
    vectors = [gb.Vector.from_coo([0], [i], size=1) for i in range(5)]

    def step():
        vectors[0] << vectors[0] + vectors[1]
        vectors.append(vectors.pop(0))

    with pytest.raises(exceptions.RecordError, match="did not repeat"):
        gb.repeat(step, max_iterations=2)
    assert sorted(v.to_dict()[0] for v in vectors) == list(range(5))


def test_a_scalar_may_be_emptied_and_set(on):
    first, last = counter(1), counter(1)

    def step():
        first.clear()
        last.value = 7

    gb.repeat(step, max_iterations=2)
    assert first.is_empty
    assert last.value == 7


# --- nested loops -----------------------------------------------------------------------


def test_nested_loops(on):
    outer, inner, total = counter(), counter(), counter()

    def add():
        inner << inner + 1
        total << total + 1
        return inner < outer

    def step():
        outer << outer + 1
        inner << 0
        gb.repeat(add)
        return outer < 4

    result = gb.repeat(step)
    assert (result.iterations, result.stopped_by) == (4, "condition")
    assert total.value == 1 + 2 + 3 + 4


def test_nested_loop_with_temporaries_of_both(on):
    v = gb.Vector.from_coo([0, 1], [1, 2], size=2)
    passes = counter()

    def step():
        start = (v + v).new()

        def add():
            more = start.apply(binary.plus, right=1).new()
            start << more

        gb.repeat(add, max_iterations=3)
        v << start
        passes << passes + 1
        return passes < 2

    gb.repeat(step)
    assert v.to_dict() == {0: 13, 1: 17}


def test_nested_limit_may_be_a_scalar_of_the_outer_loop(on):
    turn, total = counter(), counter()

    def step():
        turn << turn + 1
        gb.repeat(lambda: total << total + 1, max_iterations=turn)
        return turn < 3

    gb.repeat(step)
    assert total.value == 1 + 2 + 3


def test_nested_default_limit(on, few_iterations):
    turn, total = counter(), counter()

    def count():
        total << total + 1
        return total > 0

    def step():
        turn << turn + 1
        gb.repeat(count)
        return turn < 3

    with pytest.raises(exceptions.IterationLimit):
        gb.repeat(step)
    # The iteration that failed is the outer one: it never was.
    assert (turn.value, total.value) == (0, 0)


def test_inner_loops_are_not_reported_however_many_there_are(on):
    turn, total = counter(), counter()

    def step():
        turn << turn + 1
        gb.repeat(lambda: total << total + 1, max_iterations=2)
        return turn < 300

    result = gb.repeat(step)
    assert (result.iterations, result.stopped_by) == (300, "condition")
    assert total.value == 600


def test_an_inner_loop_may_not_rebind():
    p, q = gb.Vector.from_coo([0], [1], size=1), gb.Vector.from_coo([0], [2], size=1)

    def swap():
        nonlocal p, q
        q << p + q
        p, q = q, p

    with pytest.raises(exceptions.RecordError, match="rebinds"):
        gb.repeat(lambda: gb.repeat(swap, max_iterations=2), max_iterations=2)


# --- errors and interrupts --------------------------------------------------------------


def test_an_error_leaves_the_last_complete_iteration(on):
    index, values = gb.Vector.from_dense([0]), gb.Vector.from_dense([10, 20, 30])
    read, turns = gb.Vector.from_dense([0]), counter()

    def step():
        turns << turns + 1
        read << values.gather(index)
        index << index + 1
        index << index.apply(binary.plus, right=0)

    with pytest.raises(exceptions.IndexOutOfBound, match="3"):
        gb.repeat(step, max_iterations=9)
    assert turns.value == 3
    assert read.to_dict() == {0: 30}
    assert index.to_dict() == {0: 3}


@pytest.mark.parametrize("good", range(1, 5))
def test_an_error_with_swapped_names(on, good):
    p, q = gb.Vector.from_dense([1]), gb.Vector.from_dense([10])
    index, ends = gb.Vector.from_dense([0]), gb.Vector.from_dense([0] * good)

    def step():
        nonlocal p, q
        q << p + q
        ends.gather(index).new()
        index << index + 1
        p, q = q, p

    with pytest.raises(exceptions.IndexOutOfBound):
        gb.repeat(step, max_iterations=9)
    x, y = 1, 10
    for _ in range(good):
        x, y = x + y, x
    assert (p.to_dict(), q.to_dict(), index.to_dict()) == ({0: x}, {0: y}, {0: good})


@pytest.mark.parametrize("limit", [4, 5])
def test_the_default_limit_with_swapped_names(on, limit):
    p, q = gb.Vector.from_dense([1]), gb.Vector.from_dense([10])

    def step():
        nonlocal p, q
        q << p + q
        p, q = q, p
        return p.nvals > 0

    before = settings.override(max_iterations=limit)
    try:
        with pytest.raises(exceptions.IterationLimit):
            gb.repeat(step)
    finally:
        settings.restore(before)
    x, y = 1, 10
    for _ in range(limit):
        x, y = x + y, x
    assert (p.to_dict(), q.to_dict()) == ({0: x}, {0: y})


def test_ctrl_c_takes_effect_between_iterations(on):
    left, right = gb.Vector.from_dense([0, 0]), gb.Vector.from_dense([0, 0])
    turns, least = counter(), counter(10)

    def step():
        left << left + 1
        turns << turns + 1
        right << right + 1
        return turns >= least

    # Ends at once; what it compiles is there when the clock begins.
    assert gb.repeat(step).iterations == 1
    least << 0
    timer = threading.Timer(0.3, _thread.interrupt_main)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        gb.repeat(step, max_iterations=10**9)
    timer.join()
    done = int(turns.value)
    assert done > 1
    assert left.to_dense().tolist() == right.to_dense().tolist() == [done, done]


# --- no hidden synchronisation ----------------------------------------------------------


def test_a_body_reads_no_size_on_the_host():
    with gb.device("reference"):
        A = gb.Matrix.from_coo([0, 1, 2], [1, 2, 3], True, nrows=5, ncols=5)
        level, depth = gb.Vector("INT64", 5), counter()
        frontier = gb.Vector.from_coo([0], True, size=5)

    def step():
        level(frontier.S) << depth
        depth << depth + 1
        frontier(~level.S, replace=True) << frontier.vxm(A, semiring.any_pair)
        return frontier.nvals > 0

    with hidden_sizes():
        result = gb.repeat(step)
        with pytest.raises(HiddenSizeError):
            int(frontier.nvals)
    assert result.iterations == 4
    assert level.to_dict() == {0: 0, 1: 1, 2: 2, 3: 3}


def test_an_eager_loop_does_read_sizes():
    with gb.device("reference"):
        v = gb.Vector.from_coo([0], True, size=5)
        v << v.apply("identity")
    with hidden_sizes(), pytest.raises(HiddenSizeError):
        bool(v.nvals)


def test_recording_twice_runs_the_second_loop_on_new_contents(on):
    # The prepared program of the first loop serves the second: nothing of it may stick.
    results = []
    for start in (1, 100):
        total = counter(start)

        def step(total=total):
            total << total + 1
            return total < 105

        results.append((gb.repeat(step).iterations, int(total.value)))
    assert results == [(104, 105), (5, 105)]
