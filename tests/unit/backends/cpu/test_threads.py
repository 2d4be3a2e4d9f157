"""Chunks on a pool of threads."""

from __future__ import annotations

import pytest

from semira.backends.cpu import threads
from semira.base import settings


class FewThreads:
    """A pool that starts one thread, and has no room for another."""

    def __init__(self, pool):
        self.pool, self.started = pool, 0

    def submit(self, work):
        if self.started:
            raise RuntimeError("can't start new thread")
        self.started += 1
        return self.pool.submit(work)


@pytest.mark.parametrize("room", [0, 1])
def test_threads_that_cannot_be_started_leave_their_chunks_to_the_others(monkeypatch, room):
    before = settings.override(threads=4)
    pool = FewThreads(threads._workers())
    pool.started = 1 - room
    monkeypatch.setattr(threads, "_workers", lambda: pool)
    found = threads.run_chunks(lambda part, lo, hi: (part, lo, hi), [0, 3, 4, 9, 9, 20, 31])
    settings.restore(before)
    assert found == [(0, 0, 3), (1, 3, 4), (2, 4, 9), (3, 9, 9), (4, 9, 20), (5, 20, 31)]
