"""Loops that break on the GPU: what one launch took back, and what a second one did again."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.gpu.test_solo_cuda import ALWAYS, NEVER, PLANNED
from tests.gpu.test_warm_launch_cuda import left_behind
from tests.helpers.every import every

from semira.base.dtypes import INT64
from semira.base.errors import IndexOutOfBound
from semira.contract import Arg, Loop, Program, Slot, Solo, Statement
from semira.formats import ScalarArrays, VectorArrays
from semira.ops.registry import binary
from semira.plan import plan_program

pytestmark = pytest.mark.gpu

PLUS = binary["plus"].typed(INT64)

#: Sum, places, values, what was found, one, limit, turns.
SUM, PLACES, VALUES, FOUND, ONE, LIMIT, TURNS = range(7)

SOLO = {"alone": ALWAYS, "together": NEVER, "planned": PLANNED}


def shifting(backend, solo: Solo | None):
    """Add up, then look one place further: the places end, the sum must not know."""
    slots = (
        Slot("vector", INT64, "inout"), Slot("vector", INT64, "inout"), Slot("vector", INT64),
        Slot("vector", INT64, "inout"), Slot("scalar", INT64), Slot("scalar", INT64),
        Slot("scalar", INT64, "inout"),
    )  # fmt: skip
    body = (
        Statement("apply", TURNS, (Arg(TURNS), Arg(ONE)), PLUS),
        Statement("ewise_add", SUM, (Arg(SUM), Arg(PLACES)), PLUS),
        Statement("gather", FOUND, (Arg(VALUES), Arg(PLACES))),
        Statement("apply", PLACES, (Arg(PLACES), Arg(ONE)), PLUS),
    )
    program = Program(slots, (Loop((body,), (None,), LIMIT, explicit_limit=True),))
    program = plan_program(program, backend.capabilities())
    (loop,) = program.body
    if solo is not None:
        program = replace(program, body=(replace(loop, solo=solo),))
    executable = backend.prepare(program)
    assert executable.lowered.kept == (SUM, PLACES, FOUND, TURNS)
    return executable


def bind(backend, size: int, steps: int, limit: int = 1000) -> list:
    """Return what breaks after so many good iterations."""
    places = np.arange(size) - steps + 1
    places[places < 0] = 0
    full = [np.zeros(size, np.int64), places, np.arange(size) ** 2, np.full(size, -1)]
    given = [backend.put(VectorArrays.full(INT64, each.astype(np.int64))) for each in full]
    turns = backend.put(ScalarArrays(INT64, np.int64(5)))
    return [*given, np.int64(1), np.int64(limit), turns]


def held(backend, bound: list) -> list:
    vectors = [backend.get(bound[slot]) for slot in (SUM, PLACES, FOUND)]
    assert all(vector.nvals == vector.size for vector in vectors)
    return [*(v.entry_values().tolist() for v in vectors), int(backend.get(bound[TURNS]).value)]


@every("blocks", [None, 1, 7])
@every("solo", SOLO)
@every("size", [60, 3000, 300_000])
def test_only_the_good_iterations_are_left(backend, size, solo, blocks):
    backend.blocks = blocks
    executable = shifting(backend, SOLO[solo])
    for steps in (0, 1, 9):
        expected = bind(backend, size, steps)
        if steps:
            backend.execute(executable, [*expected[:LIMIT], np.int64(steps), expected[TURNS]])
        for _ in range(2):
            bound = bind(backend, size, steps)
            launches = backend.statistics().launches
            with pytest.raises(IndexOutOfBound, match=f"index {size} ") as caught:
                # The first place outside is the last one's, after so many steps.
                backend.execute(executable, bound)
            assert caught.value.semira_iterations == steps
            assert backend.statistics().launches - launches == (2 if steps else 1)
            assert held(backend, bound) == held(backend, expected)
            assert not left_behind(backend, executable).any()
        # The limit of the second run is gone.
        bound = bind(backend, size, 30, limit=20)
        assert backend.execute(executable, bound).loops[0].iterations == 20


def test_copies_of_a_warm_call_take_no_new_memory(backend):
    executable, size = shifting(backend, None), 300_000
    bound = bind(backend, size, 100, limit=3)
    backend.execute(executable, bound)
    before = backend.statistics()
    backend.execute(executable, bound)
    after = backend.statistics()
    assert after.allocations == before.allocations
    assert after.launches == before.launches + 1
    assert after.synchronisations == before.synchronisations + 1


def test_vectors_whose_planes_have_changed_roles_are_restored(backend):
    """Products exchange the planes of a frontier; the copy was made of the others."""
    from semira import Matrix, Vector, repeat

    for n in (50, 100_000):
        around = np.arange(n)
        A = Matrix.from_coo(around, (around + 1) % n, True, nrows=n, ncols=n).to("cuda")
        for good in range(5):
            front = Vector.from_coo([0], True, size=n).to("cuda")
            index = Vector.from_dense(np.array([n - good, 0])).to("cuda")
            seen = Vector("INT64", n).to("cuda")

            def step(front=front, index=index, seen=seen, A=A):
                front << front.vxm(A, "any_pair")
                seen(front.S) << 1
                seen.gather(index).new()
                index << index + 1

            with pytest.raises(IndexOutOfBound):
                repeat(step, max_iterations=9)
            assert list(front.to_dict()) == [good]
            assert sorted(seen.to_dict()) == list(range(1, good + 1))
            # And it goes on from there as from anywhere.
            front << front.vxm(A, "any_pair")
            assert list(front.to_dict()) == [good + 1]


def missing_scalar(device: str, breaks: bool, n: int = 400):
    """A scalar loses its value while what a product pushed waits to be merged."""
    import semira as gb

    near, count, kept, box, A = broken_by(device, n)
    box << (2.0 if breaks else 99.0)
    end = gb.Scalar.from_value(50.0, "FP32")

    def step():
        count(accum=gb.binary.plus) << near
        reached = near.vxm(A, gb.semiring.min_plus["FP32"]).new()
        kept << reached.select(gb.select.valuele, end)
        near << reached
        box << box.apply(gb.binary.minus, right=1.0)
        box << box.select(gb.select.valuegt, 0.0)
        end << box.reduce(gb.monoid.max)
        end << end.apply(gb.binary.plus, right=50.0)

    return step, (near, count, kept)


def wrong_position(device: str, breaks: bool, n: int = 400):
    """A position found wrong behind another product, whose results wait to be merged."""
    import semira as gb

    near, count, again, _, A = broken_by(device, n)
    index, found = gb.Vector("INT64", 50).to(device), gb.Vector("FP64", 50).to(device)
    table = gb.Vector.from_dense(np.arange(20.0)).to(device)
    index << (18 if breaks else 0)

    def step():
        count(accum=gb.binary.plus) << near
        found << table.gather(index)
        index << index + 1
        again(accum=gb.binary.plus) << near
        reached = near.vxm(A, gb.semiring.min_plus["FP32"]).new()
        near << reached

    return step, (near, count, found)


def wrong_position_beside_a_list(device: str, breaks: bool, n: int = 400):
    """The same, where a temporary was made anew through its list."""
    import semira as gb

    near, count, probe, _, A = broken_by(device, n)
    index, found = gb.Vector("INT64", 50).to(device), gb.Vector("FP64", 50).to(device)
    table = gb.Vector.from_dense(np.arange(20.0)).to(device)
    index << (17 if breaks else 0)
    again = gb.Vector("FP32", n).to(device)

    def step():
        count(accum=gb.binary.plus) << near
        found << table.gather(index)
        index << index + 1
        again(accum=gb.binary.plus) << near
        made = near.apply(gb.binary.plus, right=1.0).new()
        near << made.vxm(A, gb.semiring.min_plus["FP32"])
        probe << made

    return step, (near, count, probe)


def broken_by(device: str, n: int):
    """Return vectors of a loop, and a graph in which it goes 40 vertices further at a time."""
    import semira as gb

    around = np.arange(n)
    A = gb.Matrix.from_coo(around, (around + 40) % n, 1.0, nrows=n, ncols=n, dtype="FP32")
    vectors = [gb.Vector("FP32", n).to(device) for _ in range(3)]
    return *vectors, gb.Vector("FP32", 1).to(device), A.to(device)


@pytest.mark.parametrize(
    "made", [missing_scalar, wrong_position, wrong_position_beside_a_list], ids=lambda f: f.__name__
)
def test_nothing_of_a_broken_iteration_comes_up_later(made):
    """Planes of the program itself are empty again, whatever was pushed into them."""
    import semira as gb

    told: dict[str, list] = {"reference": [], "cuda": []}
    for device, found in told.items():
        for attempt, start in enumerate((0, 202, 0)):
            step, vectors = made(device, breaks=attempt == 0)
            near = vectors[0]
            near[start] = 0.0
            try:
                gb.repeat(step, max_iterations=4 if attempt == 0 else 2 + attempt)
                found.append("whole")
            except gb.exceptions.GraphblasException as error:
                found.append((type(error).__name__, error.semira_iterations))
            found.append([vector.to_dict() for vector in vectors])
    assert told["reference"][0] != "whole"
    assert told["reference"][2::2] == ["whole"] * 2
    assert told["cuda"] == told["reference"]


def ones_of(A):
    """Return a matrix of the same pattern that holds integers of 1."""
    import semira as gb

    rows, cols = A.to_coo()[:2]
    ones = np.ones(A.nvals, np.int64)
    return gb.Matrix.from_coo(rows, cols, ones, nrows=A.nrows, ncols=A.nrows).to("cuda")


def reached():
    """Return a vector that was made what a loop without iterations came to."""
    import semira as gb

    A = gb.io.read("kron:8").to("cuda")
    near = gb.Vector("INT64", A.nrows).to("cuda")
    near[3] = 1
    near.fixed_point(ones_of(A), "min_plus")
    return near


def settled():
    import semira as gb

    A = ones_of(gb.io.read("grid:9x9").to("cuda"))
    return gb.algorithms.sssp(A, 0, algorithm="asynchronous", delta=5).distance


def counted(make):
    """Return what `make` makes of 0, 1, 2, ..."""
    import semira as gb

    return lambda: make(gb.Vector.from_dense(np.arange(300)).to("cuda"))


def unsorted():
    import semira as gb

    n = 5000
    return gb.Vector.from_coo(np.arange(n)[::-1].copy(), np.arange(n), size=n, device="cuda")


#: Ways in which vectors come to be whose entries no program has written, or none at all.
MADE = {
    "empty": counted(lambda v: type(v)("INT64", 300).to("cuda")),
    "uploaded": counted(lambda v: v),
    "unsorted": unsorted,
    "scan": counted(lambda v: v.ss.scan()),
    "sort": counted(lambda v: v.ss.sort()[0]),
    "compactify": counted(lambda v: v.ss.compactify()),
    "selectk": counted(lambda v: v.ss.selectk("last", 3)),
    "fixed point": reached,
    "settled": settled,
}


@pytest.mark.parametrize("name", MADE)
@pytest.mark.parametrize("good", [0, 2])
def test_whoever_made_a_vector_a_broken_loop_leaves_what_it_held(name, good):
    import semira as gb

    held = {at: value * 2**good for at, value in MADE[name]().to_dict().items()}
    vector = MADE[name]()
    at = gb.Vector.from_dense(np.array([5 - good])).to("cuda")
    base = gb.Vector.from_dense(np.arange(5)).to("cuda")

    def step():
        vector(accum=gb.binary.plus) << vector
        base.gather(at).new()
        at << at + 1

    with pytest.raises(IndexOutOfBound):
        gb.repeat(step, max_iterations=9)
    assert vector.to_dict() == held
