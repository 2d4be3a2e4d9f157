"""What a whole warm call of an algorithm asks of the driver (decision 20)."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from types import SimpleNamespace

import numpy as np
import pytest
from tests.helpers.fake_cuda import FakeCuda, fake_cuda

import semira as gb
from semira.backends import registry
from semira.backends.cuda.runtime import free_memory, room
from semira.backends.cuda.runtime.primitives import Module
from semira.backends.cuda.runtime.spare import Spares
from semira.base.dtypes import BOOL, FP64, INT32
from semira.engine import run, warm
from semira.formats import ScalarArrays, VectorArrays

__all__ = ["fake_cuda"]


@pytest.fixture
def graphs(fake_cuda: FakeCuda, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[gb.Matrix]]:
    """One matrix on the device ``cuda``, whose driver is the fake one."""
    monkeypatch.setitem(registry._open, "cuda", fake_cuda.backend)
    monkeypatch.setattr(run, "_prepared", type(run._prepared)(64))
    monkeypatch.setattr(warm, "_known", {})
    monkeypatch.setattr(Module, "launch_blocks", lambda *given, **how: None)
    made = gb.Matrix.from_coo([0, 1, 2], [1, 2, 0], True, nrows=40, ncols=40)
    made.symmetric = True
    given = [made.to("cuda")]
    yield given
    # While the fake device is still there to take their memory back.
    given.clear()
    gc.collect()


def asked_by(fake: FakeCuda, call: Callable[[], object]) -> list[str]:
    device = fake.backend.runtime.device
    before, start = device.allocations, len(fake.driver.calls)
    call()
    return ["allocate"] * (device.allocations - before) + fake.driver.calls[start:]


@pytest.mark.parametrize("parents", [False, True])
def test_a_warm_search_uploads_what_it_starts_with_and_launches(
    fake_cuda: FakeCuda, graphs: list[gb.Matrix], parents: bool
) -> None:
    def search() -> None:
        gb.algorithms.bfs(graphs[0], 0, parents=parents)

    for _ in range(2):
        search()
    for _ in range(3):
        # Three or four objects go together.
        assert asked_by(fake_cuda, search) == ["upload", "launch"]


#: Algorithms, and how many uploads, fills, copies and launches a warm call of theirs asks for. What
#: components write is copied first (decision 24): a wrong position may turn up.
CALLS: dict[str, tuple[Callable[[gb.Matrix], object], int, int, int, int]] = {
    "bfs": (lambda A: gb.algorithms.bfs(A, 0), 5, 2, 0, 1),
    "sssp": (lambda A: gb.algorithms.sssp(A, 0, algorithm="bellman_ford"), 6, 2, 0, 1),
    "pagerank": (lambda A: gb.algorithms.pagerank(A, dtype="FP32"), 6, 5, 0, 2),
    "weighted pagerank": (lambda A: gb.algorithms.pagerank(A, weighted=True), 6, 5, 0, 2),
    "connected_components": (gb.algorithms.connected_components, 3, 3, 0, 1),
}

#: Bytes that such a call uploads at the most; on small graphs, whose presence words go with them.
MOST_UPLOADED, MOST_OF_SMALL = 1024, 8192


def weighted(size: int) -> gb.Matrix:
    made = gb.Matrix.from_coo([0, 1, 2], [1, 2, 0], [1.0, 2.0, 3.0], nrows=size, ncols=size)
    made.symmetric = True
    return made.to("cuda")


@pytest.mark.parametrize("size", [40, 3000, 70_000, 300_000])
@pytest.mark.parametrize("name", CALLS)
def test_a_warm_call_asks_for_little_whatever_the_size(
    fake_cuda: FakeCuda, graphs: list[gb.Matrix], monkeypatch: pytest.MonkeyPatch, name, size
) -> None:
    # Kernels of matrices do nothing either: no weight is looked at.
    monkeypatch.setattr(Module, "load", lambda *given: None)
    graphs.append(weighted(size))
    run_it, uploads, fills, copies, launches = CALLS[name]
    for _ in range(2):
        run_it(graphs[-1])
    sent, before = fake_cuda.driver.bytes_sent, fake_cuda.backend.statistics()
    asked = asked_by(fake_cuda, lambda: run_it(graphs[-1]))
    assert asked.count("launch") == launches
    assert asked.count("upload") <= uploads
    assert asked.count("clear") <= fills
    assert asked.count("move") <= copies
    assert set(asked) <= {"launch", "upload", "clear", "move"}
    most = MOST_UPLOADED if size > 3000 else MOST_OF_SMALL
    assert fake_cuda.driver.bytes_sent - sent <= most
    assert fake_cuda.backend.statistics().synchronisations == before.synchronisations + 1


def test_results_that_are_kept_keep_their_memory(
    fake_cuda: FakeCuda, graphs: list[gb.Matrix]
) -> None:
    found = [gb.algorithms.bfs(graphs[0], 0) for _ in range(3)]
    handles = [one.level._value._handle for one in found]
    assert len({handle.state.handle for handle in handles}) == 3
    for _ in range(2):
        other = gb.algorithms.bfs(graphs[0], 0).level._value._handle
        assert other.state.handle not in {handle.state.handle for handle in handles}


def test_the_trace_is_decoded_when_it_is_read(
    fake_cuda: FakeCuda, graphs: list[gb.Matrix], monkeypatch: pytest.MonkeyPatch
) -> None:
    del fake_cuda
    found = gb.algorithms.bfs(graphs[0], 0)
    assert found.depth == 2
    # How many there are is known without that.
    assert len(found.trace) == 0
    assert found.trace._rows is None
    assert found.trace[:] == ()
    assert found.trace._rows is not None


def put(fake: FakeCuda, size: int = 40, dtype=FP64, at=(3,)):
    values = np.ones(len(at), dtype.np_type)
    return fake.backend.put(VectorArrays.sparse(size, dtype, np.array(at, np.int32), values))


def test_memory_goes_to_the_next_vector_of_its_form(fake_cuda: FakeCuda) -> None:
    first = put(fake_cuda)
    place, stamp = first.state.handle, first.stamp
    fake_cuda.backend.release(first)
    assert put(fake_cuda, 41).state.handle != place
    assert put(fake_cuda, dtype=INT32).state.handle != place
    other = put(fake_cuda, at=())
    assert other.state.handle == place
    # The same handle: launches bound to it fit the next vector.
    assert other is first
    assert other.stamp == stamp
    assert fake_cuda.backend.get(other).nvals == 0
    assert not fake_cuda.backend.runtime.download(other.planes[0][1], np.uint32, 2).any()
    assert put(fake_cuda).state.handle != place


def test_memory_is_given_back_once(fake_cuda: FakeCuda) -> None:
    for handle in (put(fake_cuda), fake_cuda.backend.put(ScalarArrays(BOOL, np.True_))):
        for _ in range(2):
            fake_cuda.backend.release(handle)
    # Both are held: what is dropped may lie where the next memory does.
    vectors = [put(fake_cuda) for _ in range(2)]
    assert vectors[0].state.handle != vectors[1].state.handle
    scalars = [fake_cuda.backend.put(ScalarArrays(BOOL, np.True_)) for _ in range(2)]
    assert scalars[0].cell.handle != scalars[1].cell.handle


def test_a_vector_that_took_other_memory_does_not_give_its_first_away(fake_cuda: FakeCuda) -> None:
    handle, copy = put(fake_cuda), put(fake_cuda)
    # Kept: what is dropped may lie where the next memory does.
    places = handle.state, copy.state
    handle.become(copy)
    fake_cuda.backend.release(handle)
    assert put(fake_cuda).state.handle not in [place.handle for place in places]


def test_a_copy_is_one_copy(fake_cuda: FakeCuda) -> None:
    handle = put(fake_cuda, at=(3, 39))
    start = len(fake_cuda.driver.calls)
    twin = fake_cuda.backend.convert(handle, "copy")
    assert fake_cuda.driver.calls[start:] == ["move"]
    assert fake_cuda.backend.get(twin).entry_indices().tolist() == [3, 39]
    assert twin.state.handle != handle.state.handle


def test_so_much_is_kept_and_no_more(fake_cuda: FakeCuda) -> None:
    handles = [put(fake_cuda, size) for size in (40, 41, 40)]
    nbytes = handles[0].state.whole.size
    fake_cuda.backend.runtime.spares = Spares(2 * nbytes)
    for handle in handles:
        fake_cuda.backend.release(handle)
    # Of the size that was not used for longest.
    assert [handle.state.whole.is_closed for handle in handles] == [False, True, False]
    fake_cuda.backend.runtime.spares = Spares(nbytes - 1)
    fake_cuda.backend.release(other := put(fake_cuda))
    assert other.state.whole.is_closed


@pytest.mark.parametrize("is_known", [False, True])
def test_what_is_kept_is_given_back_where_memory_is_short(
    fake_cuda: FakeCuda, monkeypatch: pytest.MonkeyPatch, is_known: bool
) -> None:
    handle, needed = put(fake_cuda), room.UNCHECKED + 16
    fake_cuda.backend.release(handle)
    runtime, whole = fake_cuda.backend.runtime, handle.state.whole
    allocate = runtime.memory.allocate

    def refuse(size: int, *, stream: object) -> object:
        if not whole.is_closed:
            raise RuntimeError("CUDA_ERROR_OUT_OF_MEMORY")
        return allocate(size, stream=stream)

    monkeypatch.setattr(free_memory, "free_bytes", lambda runtime: 2 * needed * whole.is_closed)
    if is_known:
        room.require(runtime, needed, "an object")
    else:
        monkeypatch.setattr(runtime, "memory", SimpleNamespace(allocate=refuse))
        assert runtime.allocate(needed).size >= needed
    assert whole.is_closed


def test_nothing_is_kept_where_buffers_are_kept_apart(fake_cuda: FakeCuda) -> None:
    fake_cuda.backend.runtime.keeps_apart = True
    for handle in (put(fake_cuda), fake_cuda.backend.put(ScalarArrays(BOOL, np.True_))):
        fake_cuda.backend.release(handle)
        assert all(buffer.is_closed for buffer in handle.buffers())
