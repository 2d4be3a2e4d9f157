"""Arrays of a loop that serve its next execution: for the same matrix, and for no other."""

from __future__ import annotations

import gc
import pickle
import random
import threading
import weakref
from typing import Any

import numpy as np
import pytest
from tests.unit.backends.cpu.test_loops import Case, path, products, write

import semira as gb
from semira.backends.cpu.loops import frames, native
from semira.contract import LateRows


@pytest.fixture
def made(monkeypatch) -> list[int]:
    """An entry for each frame that is made."""
    found: list[int] = []
    begin = frames.Frame.__init__

    def noted(self: Any, *args: Any, **kwargs: Any) -> None:
        found.append(1)
        begin(self, *args, **kwargs)

    monkeypatch.setattr(frames.Frame, "__init__", noted)
    return found


def _levels(A: gb.Matrix, source: int) -> list[int]:
    return products(A, source).level.to_dense().tolist()


def test_searches_of_one_graph_share_a_frame(made) -> None:
    with gb.device("cpu"):
        A = path(30)
        first = products(A, 0)
        expected = first.level.to_dict()
        for source in (29, 7, 0):
            assert _levels(A, source) == [abs(i - source) for i in range(30)]
        assert len(made) == 1
        # Nobody has written to what was found before.
        assert first.level.to_dict() == expected
        assert [row.iteration for row in first.trace] == list(range(30))


def test_another_graph_or_size_has_a_frame_of_its_own(made) -> None:
    with gb.device("cpu"):
        graphs = [path(30), path(31), path(30)]
        for A in (*graphs, *graphs):
            assert _levels(A, 0) == list(range(A.nrows))
        assert len(made) == 6


def test_a_graph_that_was_changed_is_searched_anew() -> None:
    with gb.device("cpu"):
        A = path(30)
        assert _levels(A, 0)[29] == 29
        A[0, 29] << 1
        assert _levels(A, 0)[29] == 1


def test_a_graph_that_is_gone_is_not_kept() -> None:
    with gb.device("cpu"):
        A = path(30)
        products(A, 0)
        handle = A._value.handle_on("cpu")
        gone = weakref.ref(handle.data)
        entries = weakref.ref(handle.data.rows().indptr)
        del A, handle
        gc.collect()
        assert gone() is None
        assert entries() is None


def test_large_objects_have_no_frame_kept(monkeypatch, made) -> None:
    monkeypatch.setattr(frames, "SMALL_ENTRIES", 50)
    with gb.device("cpu"):
        A = path(30)
        for source in (0, 29):
            assert _levels(A, source) == [abs(i - source) for i in range(30)]
        assert len(made) == 2


def test_a_longer_trace_than_the_frame_has_room_for(made) -> None:
    with gb.device("cpu"):
        A = path(30)
        seen = gb.Vector("INT64", 30)
        seen << 1

        def step() -> None:
            seen << seen.vxm(A, gb.semiring.max_first)

        for turns in (3, 200, 40):
            found = gb.repeat(step, max_iterations=turns)
            assert [row.iteration for row in found.trace] == list(range(turns))
            assert found.lost == 0
        assert len(made) == 2


def test_a_search_within_another_thread_is_another() -> None:
    with gb.device("cpu"):
        A = path(200)
        _levels(A, 0)
        wrong: set[int] = set()

        def search(source: int) -> None:
            with gb.device("cpu"):
                for _ in range(50):
                    if _levels(A, source) != [abs(i - source) for i in range(200)]:
                        wrong.add(source)

        threads = [threading.Thread(target=search, args=(source,)) for source in (0, 66, 199)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert wrong == set()


def _twice(seed: int, device: str) -> list[Any]:
    """Run a random loop, change its objects outside of it, and run it again; three times."""
    with gb.device(device):
        case = Case(seed)

        def step() -> Any:
            draw = random.Random(seed)
            for _ in range(3):
                write(case, draw)
            case.turns << case.turns + 1
            return case.turns < 4

        found = []
        for again in range(3):
            case.turns << 0
            gb.repeat(step)
            found.append(case.found())
            draw = random.Random(seed + 100 + again)
            write(case, draw)
            case.vectors[again] << again
        return found


@pytest.mark.parametrize("seed", range(12))
def test_random_loops_again_agree_with_the_reference(seed) -> None:
    assert _twice(seed, "cpu") == _twice(seed, "reference")


def test_an_error_leaves_what_iterations_before_have_written() -> None:
    with gb.device("cpu"):
        u = gb.Vector.from_dense(np.arange(4))
        at = gb.Vector.from_dense([0, 1, 2, 3])
        turns = gb.Scalar.from_value(0, "INT64")

        def step() -> Any:
            turns << turns + 1
            u << u.gather(at)
            at << at + 1
            return turns < 5

        for times in (1, 2):
            at << gb.Vector.from_dense([-times + 1, 0, 0, 1])
            turns << 0
            if times == 1:
                with pytest.raises(gb.exceptions.IndexOutOfBound):
                    gb.repeat(step)
                assert turns.value == 3
                assert at.to_dense().tolist() == [3, 3, 3, 4]
            else:
                with pytest.raises(gb.exceptions.IndexOutOfBound):
                    gb.repeat(step)
                assert turns.value == 0


def test_rows_are_made_when_they_are_read() -> None:
    with gb.device("cpu"):
        found = products(path(12), 0)
        assert isinstance(found.trace, LateRows)
        assert len(found.trace) == 12
        whole = tuple(found.trace)
        assert found.trace == whole
        assert [row.frontier for row in found.trace] == [1] * 12
        assert found.trace[3:5] == whole[3:5]
        assert pickle.loads(pickle.dumps(found.trace)) == whole
        assert "vxm" in str(found.trace)


def test_frames_of_loops_are_few() -> None:
    with gb.device("cpu"):
        A = path(12)
        kept = native.NativeLoop.keep
        loops = set()

        def noted(self: Any, frame: Any) -> None:
            loops.add(self)
            kept(self, frame)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(native.NativeLoop, "keep", noted)
            for source in range(12):
                products(A, source)
        assert [len(loop._spares) for loop in loops] == [1]
