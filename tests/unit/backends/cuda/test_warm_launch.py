"""What the host does round a launch, and what it does not do again (decision 17)."""

from __future__ import annotations

import random
import signal

import numpy as np
import pytest
from tests.helpers.bfs_program import bfs_bindings, bfs_program, iso_graph
from tests.helpers.every import every
from tests.helpers.fake_cuda import FakeCuda, fake_cuda

from semira.backends.cuda import layout
from semira.backends.cuda.backend import CAPABILITIES
from semira.backends.cuda.runtime import objects
from semira.backends.cuda.runtime.frame import Frame
from semira.backends.cuda.runtime.parts import MadeRows
from semira.backends.cuda.runtime.waiting import Interrupt, Stop
from semira.base.dtypes import BOOL, FC64, FP64, INT8, INT16, INT32, INT64
from semira.base.errors import (
    DimensionMismatch,
    EmptyObject,
    IndexOutOfBound,
    NotImplementedException,
    Panic,
)
from semira.contract import Arg, Hints, IndexSpec, Mask, Program, Slot, Statement
from semira.formats import ScalarArrays, VectorArrays
from semira.ops.registry import binary, monoid, semiring
from semira.plan import plan_program

__all__ = ["fake_cuda"]

SIZE = 40


def planned(slots: tuple[Slot, ...], *statements: Statement) -> Program:
    return plan_program(Program(slots, statements), CAPABILITIES)


def vector(fake: FakeCuda, size: int = SIZE, dtype=FP64, at=()) -> objects.CudaVector:
    indices = np.array(at, np.int32)
    arrays = VectorArrays.sparse(size, dtype, indices, np.ones(len(at), dtype.np_type))
    return fake.backend.put(arrays)


def matrix(fake: FakeCuda, size: int = SIZE):
    indptr = np.arange(size + 1, dtype=np.int32)
    return fake.backend.put(iso_graph(indptr, np.arange(size, dtype=np.int32)))


@pytest.fixture
def added(fake_cuda: FakeCuda):
    """An executable of ``w = u + v`` and what it is bound to."""
    slots = (Slot("vector", FP64, "inout"), Slot("vector", FP64), Slot("vector", FP64))
    statement = Statement("ewise_add", 0, (Arg(1), Arg(2)), binary["plus"].typed(FP64))
    executable = fake_cuda.backend.prepare(planned(slots, statement))
    return fake_cuda, executable, [vector(fake_cuda) for _ in range(3)]


@pytest.fixture
def scaled(fake_cuda: FakeCuda):
    """An executable of ``w = u + x`` with a literal x, and what it is bound to."""
    slots = (Slot("vector", FP64, "inout"), Slot("vector", FP64), Slot("scalar", FP64))
    statement = Statement("apply", 0, (Arg(1), Arg(2)), binary["plus"].typed(FP64))
    executable = fake_cuda.backend.prepare(planned(slots, statement))
    return fake_cuda, executable, [vector(fake_cuda), vector(fake_cuda), np.float64(2)]


def field(executable, fake: FakeCuda, slot: int, words: int) -> list[int]:
    start = executable.lowered.table.offsets[f"s{slot}"]
    return fake.table[start : start + words].tolist()


def test_the_first_run_allocates_and_the_second_only_launches(added) -> None:
    fake, executable, bound = added
    assert "allocate" in fake.run(executable, bound)
    first = fake.table
    assert fake.run(executable, bound) == ["launch"]
    assert np.array_equal(fake.table, first)
    assert fake.backend.statistics().synchronisations == 0


def test_another_vector_of_the_same_size_changes_only_its_words(added) -> None:
    fake, executable, bound = added
    fake.run(executable, bound)
    before = fake.table
    other = vector(fake)
    assert fake.run(executable, [bound[0], other, bound[2]]) == ["launch"]
    assert field(executable, fake, 1, 8) == list(other.describe())
    changed = np.flatnonzero(fake.table != before)
    start = executable.lowered.table.offsets["s1"]
    assert len(changed)
    assert changed.min() >= start
    assert changed.max() < start + layout.WORDS["VectorDescriptor"]


def test_sizes_are_checked_on_a_warm_run_too(added) -> None:
    fake, executable, bound = added
    fake.run(executable, bound)
    with pytest.raises(DimensionMismatch, match="operand"):
        fake.backend.execute(executable, [bound[0], vector(fake, SIZE + 1), bound[2]])
    launches = len(fake.driver.launches)
    larger = [vector(fake, 5 * SIZE * 1000) for _ in range(3)]
    fake.run(executable, larger)
    assert len(fake.driver.launches) == launches + 1
    assert fake.driver.launches[-1].blocks > fake.driver.launches[0].blocks


def test_released_objects_are_refused_on_a_warm_run(added) -> None:
    fake, executable, bound = added
    fake.run(executable, bound)
    fake.backend.release(bound[1])
    for _ in range(2):
        with pytest.raises(Panic, match="released vector"):
            fake.backend.execute(executable, bound)
    fake.run(executable, [bound[0], vector(fake), bound[2]])
    gone = vector(fake)
    fake.backend.release(gone)
    with pytest.raises(Panic, match="released vector"):
        fake.backend.execute(executable, [bound[0], gone, bound[2]])
    assert len(fake.driver.launches) == 2


def test_one_object_in_two_slots_is_refused_on_a_warm_run(added) -> None:
    fake, executable, (w, u, v) = added
    fake.run(executable, [w, u, v])
    with pytest.raises(NotImplementedException, match="two slots"):
        fake.backend.execute(executable, [w, w, v])
    fake.run(executable, [w, u, u])
    assert field(executable, fake, 2, 8) == list(u.describe())


def test_a_plane_added_by_another_program_is_seen(added) -> None:
    fake, executable, _ = added
    bound = [vector(fake, 5000) for _ in range(3)]
    fake.run(executable, bound)
    bound[1].add_spare()
    assert fake.run(executable, bound) == ["launch"]
    words = field(executable, fake, 1, 8)
    assert words == list(bound[1].describe())
    assert len(set(words[:6])) == 6


def test_small_objects_get_one_block_and_the_sizes_of_a_warm_run_decide(added) -> None:
    fake, executable, _ = added
    for size, expected in ((2048, 1), (2049, 8), (1, 1), (50_000, 8)):
        fake.run(executable, [vector(fake, size) for _ in range(3)])
        assert fake.driver.launches[-1].blocks == expected


def test_sums_in_a_fixed_order_do_not_crowd_into_one_block(fake_cuda: FakeCuda) -> None:
    for pinned, expected in ((False, 1), (True, 4)):
        slots = (Slot("vector", FP64), Slot("scalar", FP64, "output"))
        hints = Hints(deterministic=pinned)
        statement = Statement("reduce", 1, (Arg(0),), monoid["plus"].typed(FP64), hints=hints)
        executable = fake_cuda.backend.prepare(planned(slots, statement))
        total = fake_cuda.backend.put(ScalarArrays(FP64, None))
        fake_cuda.run(executable, [vector(fake_cuda, 2048), total])
        assert fake_cuda.driver.launches[-1].blocks == expected


def test_the_number_of_blocks_may_be_asked_for_anew(added) -> None:
    fake, executable, bound = added
    for blocks, expected in ((None, 1), (3, 3), (1, 1), (1000, 8)):
        fake.backend.blocks = blocks
        fake.run(executable, bound)
        assert fake.driver.launches[-1].blocks == expected


def test_literals_enter_a_filled_table(scaled) -> None:
    fake, executable, (w, u, _) = scaled
    for value in (2.0, 3.5, -0.0, 3.5):
        fake.run(executable, [w, u, np.float64(value)])
        bits = int(np.array([value]).view(np.int64)[0])
        assert field(executable, fake, 2, 3) == [0, bits, 1]
    assert fake.run(executable, [w, u, np.float64(7)]) == ["launch"]


@pytest.mark.parametrize("which", [1, 2])
def test_a_change_that_ctrl_c_interrupts_is_made_anew(scaled, monkeypatch, which) -> None:
    fake, executable, bound = scaled
    fake.run(executable, bound)
    expected = fake.table
    other = [*bound]
    other[which] = vector(fake) if which == 1 else np.float64(9)
    enter = Frame.enter

    def interrupted(*given) -> None:
        enter(*given)
        raise KeyboardInterrupt

    monkeypatch.setattr(Frame, "enter", interrupted)
    with pytest.raises(KeyboardInterrupt):
        fake.backend.execute(executable, other)
    monkeypatch.setattr(Frame, "enter", enter)
    fake.run(executable, bound)
    assert np.array_equal(fake.table, expected)


def test_an_empty_scalar_is_refused_and_a_scalar_object_may_follow_a_literal(scaled) -> None:
    fake, executable, (w, u, _) = scaled
    fake.run(executable, [w, u, np.float64(1)])
    with pytest.raises(EmptyObject):
        fake.backend.execute(executable, [w, u, None])
    cell = fake.backend.put(ScalarArrays(FP64, np.float64(4)))
    fake.run(executable, [w, u, cell])
    assert field(executable, fake, 2, 3) == list(cell.describe())
    # The host knows that it has a value, until a program writes it that may leave it empty.
    assert fake.backend.statistics().synchronisations == 0
    cell.know(False)
    fake.run(executable, [w, u, cell])
    assert fake.backend.statistics().synchronisations == 1
    fake.run(executable, [w, u, np.float64(1)])
    assert fake.backend.statistics().synchronisations == 1


def test_a_scalar_is_compared_with_what_was_known_when_the_table_was_filled(scaled) -> None:
    fake, executable, (w, u, _) = scaled
    known, unknown = (fake.backend.put(ScalarArrays(FP64, np.float64(4))) for _ in range(2))
    fake.run(executable, [w, u, known])
    # The scalar that was bound is written since, and so was the one that takes its place.
    known.know(False)
    unknown.know(False)
    fake.run(executable, [w, u, unknown])
    assert fake.backend.statistics().synchronisations == 1


def test_a_scalar_that_the_program_itself_may_empty_is_waited_for(fake_cuda: FakeCuda) -> None:
    slots = (Slot("vector", FP64, "inout"), Slot("vector", FP64), Slot("scalar", FP64, "inout"))
    shrink = Statement("reduce", 2, (Arg(1),), monoid["max"].typed(FP64))
    use = Statement("apply", 0, (Arg(1), Arg(2)), binary["plus"].typed(FP64))
    bound = [vector(fake_cuda), vector(fake_cuda)]
    for body, waits in (((shrink, use), 1), ((use,), 0)):
        executable = fake_cuda.backend.prepare(planned(slots, *body))
        before = fake_cuda.backend.statistics().synchronisations
        full = fake_cuda.backend.put(ScalarArrays(FP64, np.float64(4)))
        fake_cuda.backend.execute(executable, [*bound, full])
        assert fake_cuda.backend.statistics().synchronisations == before + waits


def test_a_vector_that_lost_its_second_plane_gets_another(fake_cuda: FakeCuda) -> None:
    slots = (Slot("vector", BOOL, "inout"), Slot("vector", BOOL), Slot("matrix", BOOL))
    product = Statement("vxm", 0, (Arg(1), Arg(2)), semiring["any_pair"].typed(BOOL))
    executable = fake_cuda.backend.prepare(planned(slots, product))
    assert executable.lowered.swapped == {0}
    size = 200_000
    # As if the vectors were too large to have both planes from the start.
    fake_cuda.backend.runtime.paired_bytes = 0
    out, u = vector(fake_cuda, size, BOOL), vector(fake_cuda, size, BOOL)
    graph = matrix(fake_cuda, size)
    before = out.duplicate()
    fake_cuda.run(executable, [out, u, graph])
    out.become(before)
    assert len(out.planes) == 1
    other = vector(fake_cuda, size, BOOL)
    for target in (out, other):
        fake_cuda.run(executable, [target, u, graph])
        assert len(set(field(executable, fake_cuda, 0, 6))) == 6
        assert field(executable, fake_cuda, 0, 8) == list(target.describe())


def test_the_cell_of_a_large_literal_lives_as_long_as_the_table_names_it(fake_cuda) -> None:
    slots = (Slot("vector", FC64, "inout"), Slot("vector", FC64), Slot("scalar", FC64))
    statement = Statement("apply", 0, (Arg(1), Arg(2)), binary["plus"].typed(FC64))
    executable = fake_cuda.backend.prepare(planned(slots, statement))
    w, u = vector(fake_cuda, dtype=FC64), vector(fake_cuda, dtype=FC64)
    cells = set()
    for value in (np.complex128(1 + 2j), np.complex128(3j)):
        for _ in range(2):
            fake_cuda.run(executable, [w, u, value])
            cell = field(executable, fake_cuda, 2, 1)[0]
            assert fake_cuda.driver.is_alive(cell)
            held = fake_cuda.driver.living[cell].memory
            start = cell - held.ctypes.data
            assert held[start : start + 16].view(np.complex128)[0] == value
            cells.add(cell)
    assert len(cells) == 2


def test_a_changed_matrix_is_described_anew(fake_cuda: FakeCuda) -> None:
    slots = (Slot("vector", BOOL, "inout"), Slot("vector", BOOL), Slot("matrix", BOOL))
    product = Statement("vxm", 0, (Arg(1), Arg(2)), semiring["any_pair"].typed(BOOL))
    executable = fake_cuda.backend.prepare(planned(slots, product))
    graph = matrix(fake_cuda)
    bound = [vector(fake_cuda, dtype=BOOL), vector(fake_cuda, dtype=BOOL), graph]
    fake_cuda.run(executable, bound)
    assert fake_cuda.run(executable, bound) == ["launch"]
    parts = graph.orientations["csr"]
    stamp = graph.stamp
    graph.take(MadeRows(parts, None, 7, True, 7, True, False))
    graph.symmetric = True
    assert graph.stamp != stamp
    fake_cuda.run(executable, bound)
    assert field(executable, fake_cuda, 2, layout.WORDS["MatrixDescriptor"]) == graph.describe()
    fake_cuda.backend.release(graph)
    with pytest.raises(Panic, match="released matrix"):
        fake_cuda.backend.execute(executable, bound)


def test_one_position_moves_in_a_filled_table_and_stays_inside(fake_cuda: FakeCuda) -> None:
    slots = (Slot("scalar", FP64, "inout"), Slot("vector", FP64), Slot("index", INT64))
    read = Statement("extract", 0, (Arg(1),), indices=(IndexSpec("one", 2),))
    executable = fake_cuda.backend.prepare(planned(slots, read))
    out = fake_cuda.backend.put(ScalarArrays(FP64, None))
    bound = [out, vector(fake_cuda), np.array([3])]
    fake_cuda.run(executable, bound)
    assert fake_cuda.run(executable, [*bound[:2], np.array([SIZE - 1])]) == ["launch"]
    assert field(executable, fake_cuda, 2, 5) == [0, 0, SIZE - 1, 1, 1]
    with pytest.raises(IndexOutOfBound):
        fake_cuda.backend.execute(executable, [*bound[:2], np.array([SIZE])])


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ((0, 4, 1), (4, 8, 1)),
        ((0, 4, 1), [1, 5, 3, 9]),
        ([1, 2, 3, 4], (0, 4, 1)),
        ([5], (5, 6, 1)),
    ],
)
def test_regions_of_every_kind_follow_each_other(fake_cuda: FakeCuda, first, second) -> None:
    count = len(first) if isinstance(first, list) else len(range(*first))
    slots = (Slot("vector", FP64, "inout"), Slot("vector", FP64), Slot("index", INT64))
    read = Statement("extract", 0, (Arg(1),), indices=(IndexSpec("list", 2),))
    executable = fake_cuda.backend.prepare(planned(slots, read))
    out, source = vector(fake_cuda, count), vector(fake_cuda)
    for region in (first, second, second, first):
        given = np.array(region) if isinstance(region, list) else region
        fake_cuda.run(executable, [out, source, given])
        listed, ranks, start, step, walked = field(executable, fake_cuda, 2, 5)
        assert listed == 0 or fake_cuda.driver.is_alive(listed)
        positions = region if isinstance(region, list) else list(range(*region))
        assert (ranks, walked) == (0, count)
        if listed == 0:
            assert [start + k * step for k in range(walked)] == positions


def test_a_forked_child_is_refused_on_a_warm_run(added) -> None:
    fake, executable, bound = added
    fake.run(executable, bound)
    fake.backend.runtime._pid += 1
    with pytest.raises(Panic, match="fork"):
        fake.backend.execute(executable, bound)


def test_a_table_too_long_for_a_parameter_is_uploaded(added, monkeypatch) -> None:
    fake, executable, bound = added
    fake.run(executable, bound)
    monkeypatch.setattr(layout, "MOST_PARAMETER_BYTES", 0)
    long = fake.backend.prepare(executable.program)
    fake.run(long, bound)
    assert fake.run(long, bound) == ["upload", "launch"]
    for slot in range(3):
        assert field(long, fake, slot, 8) == list(bound[slot].describe())


# loops -------------------------------------------------------------------------------------------
@pytest.fixture
def searched(fake_cuda: FakeCuda):
    executable = fake_cuda.backend.prepare(bfs_program(CAPABILITIES))
    graph = matrix(fake_cuda)

    def bindings() -> list:
        return bfs_bindings(fake_cuda.backend, graph, SIZE, 3, 100)

    return fake_cuda, executable, bindings


def test_a_warm_search_with_fresh_vectors_only_launches(searched) -> None:
    fake, executable, bindings = searched
    fake.run(executable, bindings())
    waits = fake.backend.statistics().synchronisations
    assert fake.run(executable, bindings()) == ["launch"]
    assert fake.backend.statistics().synchronisations == waits + 1
    # Kept for the next loop, whichever that is.
    assert len(fake.backend.runtime.results) == 1
    assert not executable.results


def test_memory_that_a_launch_writes_is_zero_and_reused(searched) -> None:
    fake, executable, bindings = searched
    table = executable.lowered.table
    fake.run(executable, bindings())
    state = executable.state
    words = fake.backend.runtime.download(state, np.int64, table.state_size)
    assert not words.any()
    place = int(state.handle)
    assert fake.table[:2].tolist() == [place, table.state_size - layout.PROGRESS_WORDS]
    for name, start in table.counters.items():
        assert fake.table[table.offsets[name]] == place + 8 * start
    starts = sorted(table.counters[name] for name in table.counters if name != "alike")
    assert starts[0] == layout.PROGRESS_WORDS
    assert set(np.diff(starts)) <= {layout.TURNS * layout.WORDS["Counters"]}
    # Its members may need 16 bytes.
    assert table.counters["alike"] % 2 == 0
    fake.run(executable, bindings())
    assert executable.state is state


def test_a_stop_word_is_never_left_to_the_next_launch(searched) -> None:
    fake, executable, bindings = searched
    fake.run(executable, bindings())
    state = executable.state
    stop = Stop(fake.backend.runtime, executable, Interrupt(seen=True))
    stop.pass_on()
    word = 8 * layout.STOP_WORD
    assert fake.backend.runtime.download(state, np.int64, 1, word)[0] == 1
    stop.clean_up()
    fake.run(executable, bindings())
    assert executable.state is not state
    assert fake.backend.runtime.download(executable.state, np.int64, 1, word)[0] == 0
    assert fake.table[0] == int(executable.state.handle)


def test_waiting_polls_until_the_stream_is_idle(searched) -> None:
    fake, executable, bindings = searched
    fake.driver.polls = 50
    outcome = fake.backend.execute(executable, bindings())
    assert fake.driver.polls == -1
    assert (outcome.loops[0].iterations, outcome.loops[0].stopped_by) == (3, "condition")


def test_ctrl_c_says_how_far_the_loop_came(searched, monkeypatch) -> None:
    fake, executable, bindings = searched
    query = fake.driver.cuStreamQuery

    def press(stream):
        signal.raise_signal(signal.SIGINT)
        return query(stream)

    monkeypatch.setattr(fake.driver, "cuStreamQuery", press)
    fake.driver.polls = 2
    with pytest.raises(KeyboardInterrupt) as caught:
        fake.backend.execute(executable, bindings())
    assert caught.value.semira_iterations == 3


def test_the_barrier_counts_on_from_launch_to_launch() -> None:
    """A model of ``GridBarrier``: blocks in any order, several launches, past 2**32."""
    memory = {"arrived": 2**32 - 20, "base": 2**32 - 20}
    draw = random.Random(7)

    def block(waits: int, blocks: int, last: list[int]):
        yield
        target = memory["base"]
        for done in range(waits):
            yield
            target = (target + blocks) % 2**32
            memory["arrived"] = (memory["arrived"] + 1) % 2**32
            while (memory["arrived"] - target) % 2**32 >= 2**31:
                yield
            last.append(done)
            assert last.count(done - 1) == blocks or done == 0
        memory["base"] = target

    for blocks, waits in ((1, 3), (7, 4), (5, 9), (2, 1)):
        last: list[int] = []
        running = [block(waits, blocks, last) for _ in range(blocks)]
        while running:
            one = draw.choice(running)
            if next(one, "ended") == "ended":
                running.remove(one)
        assert len(last) == blocks * waits
        assert memory["arrived"] == memory["base"]


# objects -----------------------------------------------------------------------------------------
@every("memory", ["both planes", "one plane", "apart"])
@every("size", [0, 1, 31, 32, 33, 200, 5000, 200_000])
@every("dtype", [BOOL, INT8, INT32, FP64])
def test_vectors_come_back_as_they_went(fake_cuda: FakeCuda, size, dtype, memory) -> None:
    fake_cuda.backend.runtime.keeps_apart = memory == "apart"
    if memory == "one plane":
        fake_cuda.backend.runtime.paired_bytes = 0
    draw = np.random.default_rng(size)
    for nvals in sorted({0, min(1, size), min(5, size), size // 2, size}):
        at = np.sort(draw.choice(size, nvals, replace=False)).astype(np.int32)
        values = draw.integers(0, 2, nvals).astype(dtype.np_type)
        handle = fake_cuda.backend.put(VectorArrays.sparse(size, dtype, at, values))
        assert handle.count_entries() == nvals
        handle.add_spare()
        for one in (handle, fake_cuda.backend.convert(handle, "copy")):
            back = fake_cuda.backend.get(one)
            assert np.array_equal(back.entry_indices(), at)
            assert np.array_equal(back.entry_values(), values)
            words = fake_cuda.backend.runtime.download(one.planes[1][1], np.uint32, one.num_words)
            assert not words.any()
        listed = fake_cuda.backend.runtime.download(handle.planes[0][2], np.int32, nvals)
        assert np.array_equal(listed, at)


@every("is_paired", [False, True])
@every("size", [1, 33, 4096, 70_001])
@every("dtype", [INT8, INT16, INT32, FP64, FC64])
@every("value", [0, 3])
def test_a_full_vector_of_one_value_is_exact_to_the_last_bit(
    fake_cuda, size, dtype, is_paired, value
) -> None:
    if not is_paired:
        fake_cuda.backend.runtime.paired_bytes = 0
    one = np.full(1, value, dtype.np_type)
    handle = fake_cuda.backend.put(VectorArrays(size, dtype, "full", one, nvals=size, iso=True))
    assert (fake_cuda.backend.get(handle).entry_values() == value).all()
    runtime = fake_cuda.backend.runtime
    words = runtime.download(handle.planes[0][1], np.uint8, 4 * handle.num_words)
    assert int(np.unpackbits(words).sum()) == size


def test_a_small_vector_costs_one_allocation_and_one_upload(fake_cuda: FakeCuda) -> None:
    device = fake_cuda.backend.runtime.device
    for at in ((), (3,)):
        before, start = device.allocations, len(fake_cuda.driver.calls)
        vector(fake_cuda, at=at)
        assert device.allocations == before + 1
        assert fake_cuda.driver.calls[start:] == ["upload"]


def test_releasing_gives_every_buffer_back_once(fake_cuda: FakeCuda) -> None:
    fake_cuda.backend.runtime.paired_bytes = 0
    handle = vector(fake_cuda, 200_000)
    handle.add_spare()
    fake_cuda.backend.release(handle)
    assert all(buffer.is_closed for buffer in fake_cuda.driver.living.values())
    fake_cuda.backend.release(handle)
    with pytest.raises(Panic):
        handle.count_entries()


def test_a_mask_is_part_of_the_objects(fake_cuda: FakeCuda) -> None:
    slots = (Slot("vector", FP64, "inout"), Slot("scalar", FP64), Slot("vector", BOOL))
    mask = Mask(2, structural=True, complement=False)
    write = Statement("assign", 0, (Arg(1),), mask=mask, indices=(IndexSpec("all"),))
    executable = fake_cuda.backend.prepare(planned(slots, write))
    bound = [vector(fake_cuda), np.float64(1), vector(fake_cuda, dtype=BOOL)]
    fake_cuda.run(executable, bound)
    with pytest.raises(DimensionMismatch, match="mask"):
        fake_cuda.backend.execute(executable, [*bound[:2], vector(fake_cuda, 50, BOOL)])
