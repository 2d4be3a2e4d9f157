"""Errors inside of a loop: what is copied before the launch, and what happens after one."""

from __future__ import annotations

import signal

import numpy as np
import pytest
from tests.helpers.bfs_program import bfs_program
from tests.helpers.fake_cuda import FakeCuda, fake_cuda
from tests.helpers.gpu_memory import Failing
from tests.unit.backends.cuda.test_hosted import ADD, PRODUCT, SLOTS, SQUARE, loop

from semira.backends.cuda.backend import CAPABILITIES
from semira.backends.cuda.hosted import (
    HostedExecutable,
    HostedLoop,
    Piece,
    execute_hosted,
    prepare_hosted,
)
from semira.backends.cuda.lower import lower_program
from semira.backends.cuda.lower.uses import stands_apart
from semira.backends.cuda.runtime import free_memory
from semira.backends.cuda.runtime.executable import COMPLETED, CudaExecutable
from semira.backends.cuda.runtime.savepoint import WHOLE, Savepoint, spans_of
from semira.backends.cuda.runtime.vector_memory import NO_ENTRIES, STATE_WORDS
from semira.base.dtypes import BOOL, INT64
from semira.base.errors import IndexOutOfBound, InvalidValue, IterationLimit, OutOfMemory
from semira.contract import Arg, Loop, Program, Slot, Statement
from semira.contract.backend import Outcome
from semira.formats import ScalarArrays, VectorArrays
from semira.ops.registry import binary, monoid

__all__ = ["fake_cuda"]

#: Words of a Result (kernels/common/control.cuh).
LIMIT, INDEX, POSITION, BAD_LIMIT = 2, 4, 5, 6

#: A limit, vectors 1 to 4, temporaries 5 (vector) and 6 (scalar), scalar 7, a condition, a limit.
THINGS = (
    Slot("scalar", INT64), *(Slot("vector", INT64, "inout") for _ in range(4)),
    Slot("vector", INT64, "temp", ((1, 0),)), Slot("scalar", INT64, "temp"),
    Slot("scalar", INT64, "inout"), Slot("scalar", BOOL, "temp"), Slot("scalar", INT64),
)  # fmt: skip
PLUS = binary["plus"].typed(INT64)
NEW = (("new", True),)


def add(out: int, *params) -> Statement:
    return Statement("ewise_add", out, (Arg(1), Arg(2)), PLUS, params=params)


def gather(out: int, *params) -> Statement:
    return Statement("gather", out, (Arg(3), Arg(4)), params=params)


CHECK = gather(5, *NEW)
COUNTED = Statement("ewise_add", 7, (Arg(7), Arg(6)), PLUS)
SUMMED = Statement("reduce", 6, (Arg(1),), monoid["plus"].typed(INT64), params=NEW)
SCALED = Statement("apply", 2, (Arg(1), Arg(6)), PLUS)


def over(*bodies, explicit=True, limit=0) -> Loop:
    return Loop(bodies, (None,) * len(bodies), limit, explicit_limit=explicit)


def kept(*body) -> tuple[int, ...]:
    return lower_program(Program(THINGS, body)).kept


# what is copied ----------------------------------------------------------------------------------
def test_what_a_loop_writes_is_kept_if_it_may_end_after_a_write():
    assert kept(over((add(1), CHECK))) == (1,)
    assert kept(over((add(1), CHECK, add(2), COUNTED))) == (1, 2, 7)
    assert kept(over((COUNTED, CHECK))) == (7,)
    # The sum may be empty where its value is needed.
    assert kept(over((add(1), SUMMED, SCALED))) == (1, 2)
    # A body of another iteration writes, this one may fail.
    assert kept(over((add(1), CHECK), (add(2),))) == (1, 2)


def test_nothing_is_kept_where_no_check_follows_a_write():
    assert kept(over((add(1),))) == ()
    assert kept(over((CHECK, add(1)))) == ()
    assert kept(over((gather(1),))) == ()
    # A temporary ends with its iteration.
    assert kept(over((add(5, *NEW), CHECK, add(1)))) == ()
    assert kept(over((SUMMED, SCALED))) == ()
    assert kept(over((CHECK, add(1)), (add(2),))) == ()
    # A statement alone checks before it writes.
    assert kept(gather(1)) == ()
    # Recorded loops stand alone.
    assert kept(add(1), CHECK) == ()
    assert lower_program(bfs_program(CAPABILITIES)).kept == ()


def test_inner_loops_repeat_their_checks_after_their_writes():
    assert kept(over((over((CHECK, add(1))),))) == (1,)
    assert kept(over((over((CHECK,)),))) == ()
    # The default limit is reached after the writes.
    assert kept(over((over((add(1),), explicit=False),))) == (1,)
    assert kept(over((over((add(5, *NEW),), explicit=False), add(1)))) == ()
    # The limit of the second may be no number of iterations.
    assert kept(over((over((add(1),)), over((add(2),), limit=9)))) == (1, 2)
    assert kept(over((over((add(1),), limit=9),))) == ()


def test_only_a_loop_that_may_break_can_be_redone():
    for body, may in ((over((add(1), CHECK)), True), (over((CHECK, add(1))), False)):
        lowered = lower_program(Program(THINGS, (body,)))
        assert ("redo" in lowered.table.offsets) == may
        assert ("table->redo" in lowered.source) == may
    limits = over((add(1), over((CHECK,), explicit=False)), explicit=False)
    source = lower_program(Program(THINGS, (limits,))).source
    # The limit of the outermost loop only, and its end is no error then.
    assert source.count("static_cast<Count>(table->redo)") == 1
    assert source.index("if (table->redo != 0) return;") < source.rindex("limit_reached")


# what happens then -------------------------------------------------------------------------------
class Broken:
    """A loop that breaks, on a driver without a GPU.

    Its launches write numbers into the vector's entries; `seen` is what they found there, and how
    many iterations were asked for.
    """

    def __init__(self, fake: FakeCuda, size: int = 40) -> None:
        self.fake, self.size = fake, size
        statements = (add(1), COUNTED, CHECK)
        slots = [*THINGS]
        slots[6] = Slot("scalar", INT64)
        self.executable = fake.backend.prepare(Program(tuple(slots), (over(statements),)))
        full = VectorArrays.full(INT64, np.arange(size))
        self.vectors = [fake.backend.put(full) for _ in range(4)]
        self.total = fake.backend.put(ScalarArrays(INT64, np.int64(7)))
        self.bound = [
            np.int64(9), *self.vectors, None, np.int64(1), self.total, None, np.int64(1),
        ]  # fmt: skip
        self.seen: list[tuple[list[int], int, int]] = []
        fake.driver.effect = self._write

    def _write(self, table) -> None:
        redo = int(table[self.executable.lowered.table.offsets["redo"]])
        found = self.fake.backend.get(self.vectors[0])
        self.seen.append((found.entry_values().tolist(), self.value(), redo))
        runtime, vector = self.fake.backend.runtime, self.vectors[0]
        runtime.upload(np.full(self.size, 100 + redo), vector.planes[0][0])
        runtime.upload(np.array([99, 1]), self.total.cell)

    def value(self) -> int:
        return int(self.fake.backend.get(self.total).value)

    def entries(self) -> list[int]:
        return self.fake.backend.get(self.vectors[0]).entry_values().tolist()

    def run(self, *completed: int) -> None:
        """Run it; launches break after so many iterations each, the last one does not."""
        self.fake.driver.errors = [
            {0: 0, COMPLETED: done, INDEX: 2, POSITION: 55} for done in completed
        ]
        self.fake.backend.execute(self.executable, self.bound)


@pytest.fixture
def broken(fake_cuda: FakeCuda) -> Broken:
    return Broken(fake_cuda)


def test_a_warm_call_copies_what_it_may_break_and_allocates_nothing(fake_cuda: FakeCuda) -> None:
    broken = Broken(fake_cuda)
    fake_cuda.driver.effect = None
    assert "allocate" in fake_cuda.run(broken.executable, broken.bound)
    # A small vector is one allocation, a scalar another.
    assert fake_cuda.run(broken.executable, broken.bound) == ["move", "move", "launch"]
    # Another vector of that size does not need other memory.
    other = list(broken.bound)
    other[1] = fake_cuda.backend.put(VectorArrays.full(INT64, np.arange(40)))
    assert fake_cuda.run(broken.executable, other) == ["move", "move", "launch"]
    savepoint = broken.executable.savepoint
    assert savepoint.nbytes > 8 * 40
    before = broken.executable.workspace_bytes
    broken.executable.savepoint = None
    assert before - broken.executable.workspace_bytes == savepoint.nbytes


def test_an_error_in_the_first_iteration_is_taken_back(broken: Broken) -> None:
    with pytest.raises(IndexOutOfBound, match="55") as caught:
        broken.run(0)
    assert caught.value.semira_iterations == 0
    assert [redo for _, _, redo in broken.seen] == [0]
    assert broken.entries() == list(range(40))
    assert broken.value() == 7


def test_after_a_later_error_the_complete_iterations_run_again(broken: Broken) -> None:
    broken.fake.driver.loop = (4, 1)
    with pytest.raises(IndexOutOfBound, match="55") as caught:
        broken.run(4)
    assert caught.value.semira_iterations == 4
    # Both launches begin with the same contents; the second one is told where to end.
    assert broken.seen == [(list(range(40)), 7, 0), (list(range(40)), 7, 4)]
    assert broken.entries() == [104] * 40
    # The next call has no limit but its own.
    broken.run()
    assert broken.seen[-1][2] == 0


def test_a_second_run_that_breaks_earlier_is_taken_back_too(broken: Broken) -> None:
    with pytest.raises(IndexOutOfBound) as caught:
        broken.run(5, 2, 1, 0)
    assert [redo for _, _, redo in broken.seen] == [0, 5, 2, 1]
    assert caught.value.semira_iterations == 0
    assert broken.entries() == list(range(40))


def test_limits_of_inner_loops_are_taken_back(broken: Broken) -> None:
    for word, value, kind in ((LIMIT, 20, IterationLimit), (BAD_LIMIT, 1, InvalidValue)):
        broken.fake.driver.errors = [{0: 0, COMPLETED: 0, word: value}]
        with pytest.raises(kind):
            broken.fake.backend.execute(broken.executable, broken.bound)
        assert broken.entries() == list(range(40))


def test_the_limit_of_the_loop_itself_is_not(broken: Broken) -> None:
    broken.fake.driver.errors = [{0: 1, COMPLETED: 9, LIMIT: 9}]
    with pytest.raises(IterationLimit) as caught:
        broken.fake.backend.execute(broken.executable, broken.bound)
    assert caught.value.semira_iterations == 9
    assert len(broken.seen) == 1
    assert broken.entries() == [100] * 40


def test_ctrl_c_and_an_error_in_one_run(broken: Broken, monkeypatch) -> None:
    """What the first launch was told to stop with is not left to the second."""
    driver, states = broken.fake.driver, []
    query, write = driver.cuStreamQuery, driver.effect

    def press(stream):
        if len(broken.seen) == 1:
            signal.raise_signal(signal.SIGINT)
        return query(stream)

    def remember(table) -> None:
        states.append(broken.executable.state)
        stop = broken.fake.backend.runtime.download(broken.executable.state, np.int64, 5)
        assert not stop.any()
        driver.polls = 2
        write(table)

    monkeypatch.setattr(driver, "cuStreamQuery", press)
    monkeypatch.setattr(driver, "effect", remember)
    driver.loop = (4, 1)
    with pytest.raises(IndexOutOfBound) as caught:
        broken.run(4)
    assert caught.value.semira_iterations == 4
    assert states[0] is not states[1]
    assert broken.entries() == [104] * 40


def test_pressed_again_it_ends_the_second_run_earlier(broken: Broken, monkeypatch) -> None:
    driver = broken.fake.driver
    query = driver.cuStreamQuery

    def press(stream):
        if len(broken.seen) == 2:
            signal.raise_signal(signal.SIGINT)
        return query(stream)

    monkeypatch.setattr(driver, "cuStreamQuery", press)
    driver.loop, driver.polls = (2, 2), 2
    with pytest.raises(IndexOutOfBound) as caught:
        broken.run(4)
    assert caught.value.semira_iterations == 2


def test_without_memory_for_copies_nothing_starts(broken: Broken, monkeypatch) -> None:
    monkeypatch.setattr(free_memory, "free_bytes", lambda _: 0)
    runtime = broken.fake.backend.runtime
    broken.run()
    broken.executable.savepoint = None
    started = len(broken.seen)
    inner, runtime.memory = runtime.memory, Failing(runtime.memory, 0)
    with pytest.raises(OutOfMemory):
        broken.run()
    runtime.memory = inner
    assert len(broken.seen) == started
    broken.run()
    assert len(broken.seen) == started + 1


# copies ------------------------------------------------------------------------------------------
@pytest.mark.parametrize("keeps_apart", [False, True])
@pytest.mark.parametrize("size", [0, 1, 33, 5000, 200_000])
@pytest.mark.parametrize("planes", [1, 2])
def test_vectors_are_restored(fake_cuda: FakeCuda, size, planes, keeps_apart) -> None:
    runtime = fake_cuda.backend.runtime
    runtime.keeps_apart = keeps_apart
    at = np.arange(0, size, 3, dtype=np.int32)
    vector = fake_cuda.backend.put(VectorArrays.sparse(size, INT64, at, 5 * at.astype(np.int64)))
    if planes == 2:
        vector.add_spare()
    savepoint = Savepoint(runtime)
    for _ in range(2):
        savepoint.set([vector])
        for values, words, listed in vector.planes:
            for buffer in (values, words, listed):
                runtime.clear(buffer, 0x5A)
        runtime.upload(np.array([1, 1, 1, 0, 0]), vector.state)
        # It gets a second plane meanwhile, which must be empty then.
        vector.add_spare()
        runtime.clear(vector.planes[1][1], 255)
        for _ in range(2):
            savepoint.restore()
        back = fake_cuda.backend.get(vector)
        assert np.array_equal(back.entry_indices(), at)
        assert np.array_equal(back.entry_values(), 5 * at)
        # Whoever needs the list makes it anew; that of no entry is there.
        is_listed = int(size == 0)
        assert runtime.download(vector.state, np.int64, 3).tolist() == [len(at), 0, is_listed]
        spare = runtime.download(vector.planes[1][1], np.uint32, vector.num_words)
        assert not spare.any()


@pytest.mark.parametrize("keeps_apart", [False, True])
@pytest.mark.parametrize("size", [1, 33, 5000, 200_000])
def test_new_vectors_are_emptied_again_and_nothing_is_copied(fake_cuda, size, keeps_apart) -> None:
    runtime = fake_cuda.backend.runtime
    runtime.keeps_apart = keeps_apart
    vector = fake_cuda.backend.put(VectorArrays.empty(size, INT64))
    vector.add_spare()
    savepoint, start = Savepoint(runtime), len(fake_cuda.driver.calls)
    savepoint.set([vector])
    assert len(fake_cuda.driver.calls) == start
    assert savepoint.nbytes == 0
    for _, words, _ in vector.planes:
        runtime.clear(words, 255)
    runtime.upload(np.array([size, 1, 0, 7, 7]), vector.state)
    savepoint.restore()
    assert fake_cuda.backend.get(vector).nvals == 0
    state = runtime.download(vector.state, np.int64, STATE_WORDS)
    assert tuple(state.tolist()) == NO_ENTRIES
    for _, words, _ in vector.planes:
        assert not runtime.download(words, np.uint32, vector.num_words).any()


@pytest.mark.parametrize("size", [33, 200_000])
def test_a_vector_is_new_until_a_program_has_written_it(fake_cuda: FakeCuda, size) -> None:
    backend = fake_cuda.backend
    program = Program(THINGS[1:4], (Statement("ewise_add", 0, (Arg(1), Arg(2)), PLUS),))
    executable = backend.prepare(program)
    things = [backend.put(VectorArrays.empty(size, INT64)) for _ in range(3)]
    assert all(thing.is_new for thing in things)
    assert not things[0].duplicate().is_new
    backend.execute(executable, things)
    assert [thing.is_new for thing in things] == [False, True, True]
    full = VectorArrays.full(INT64, np.arange(size))
    assert not backend.put(full).is_new


def test_lists_of_large_vectors_are_not_copied(fake_cuda: FakeCuda, monkeypatch) -> None:
    monkeypatch.setattr(free_memory, "free_bytes", lambda _: 1 << 40)
    size = WHOLE
    vector = fake_cuda.backend.put(VectorArrays.empty(size, INT64))
    values, words, listed = vector.planes[0]
    spans = spans_of(vector)
    assert sum(span.size for span in spans) < values.size + words.size + 2 * 128
    assert len(spans) == 2
    assert not any(s.handle <= int(listed.handle) < s.handle + s.size for s in spans)


def test_a_scalar_is_restored_with_what_the_host_knows(fake_cuda: FakeCuda) -> None:
    scalar = fake_cuda.backend.put(ScalarArrays(INT64, np.int64(4)))
    savepoint = Savepoint(fake_cuda.backend.runtime)
    savepoint.set([scalar])
    fake_cuda.backend.runtime.upload(np.zeros(2, np.int64), scalar.cell)
    scalar.know(False)
    savepoint.restore()
    assert fake_cuda.backend.get(scalar).value == 4
    assert scalar.has_value


def test_the_host_takes_a_broken_iteration_back_by_the_same_copies(fake_cuda: FakeCuda) -> None:
    backend, runtime = fake_cuda.backend, fake_cuda.backend.runtime
    vector = backend.put(VectorArrays.full(INT64, np.arange(40)))
    runs = []

    def execute(executable, bindings) -> Outcome:
        runs.append(backend.get(vector).entry_values().tolist())
        runtime.upload(np.full(40, len(runs)), vector.planes[0][0])
        if len(runs) == 3:
            raise IndexOutOfBound("no")
        return Outcome()

    body = loop(PRODUCT)
    hosted = HostedLoop(body, ((Piece(None, (3,), is_loop=False),),))
    slots = tuple(slot for slot in SLOTS if slot.role != "temp")
    program = HostedExecutable(Program(slots, (body,)), (hosted,))
    allocations = runtime.device.allocations
    with pytest.raises(IndexOutOfBound) as caught:
        execute_hosted(runtime, program, [9, None, None, vector], execute)
    assert caught.value.semira_iterations == 2
    assert runs == [list(range(40)), [1] * 40, [2] * 40]
    assert backend.get(vector).entry_values().tolist() == [2] * 40
    # Memory for copies is taken once, not in each iteration.
    assert runtime.device.allocations == allocations + 1


def test_an_iteration_that_replaces_one_output_is_not_copied(fake_cuda: FakeCuda) -> None:
    backend, runtime = fake_cuda.backend, fake_cuda.backend.runtime
    vector = backend.put(VectorArrays.full(INT64, np.arange(40)))
    body = loop(PRODUCT)
    hosted = HostedLoop(body, ((Piece(None, (3,), is_loop=False, is_whole=True),),))
    slots = tuple(slot for slot in SLOTS if slot.role != "temp")
    program = HostedExecutable(Program(slots, (body,)), (hosted,))
    allocations, asked = runtime.device.allocations, len(fake_cuda.driver.calls)
    execute_hosted(runtime, program, [9, None, None, vector], lambda *_: Outcome())
    assert runtime.device.allocations == allocations
    assert "move" not in fake_cuda.driver.calls[asked:]


def test_a_loop_inside_of_the_hosts_leaves_it_to_the_host():
    def prepare(program: Program) -> CudaExecutable | None:
        if any(stands_apart(program, item) for item in program.body):
            return None
        return CudaExecutable(program, lower_program(program), "loop")

    inner = loop(ADD, Statement("gather", 3, (Arg(2), Arg(3))))
    program = Program(SLOTS, (inner, loop(SQUARE, inner)))
    alone, around = prepare_hosted(program, prepare).body
    ((_, inside),) = around.bodies
    assert alone.executable.lowered.kept == inside.executable.lowered.kept == (1, 2)
    assert alone.executable.keeps
    assert not inside.executable.keeps
