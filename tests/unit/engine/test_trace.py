"""What a trace says of the work that devices were made to do."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

import semira as gb
from semira.backends import registry
from semira.contract import Work


@pytest.fixture
def counting(monkeypatch):
    """A device that keeps count, open beside the others."""
    kept = SimpleNamespace(synchronisations=5, launches=7, bytes_allocated=11, uploads=13)
    backend = SimpleNamespace(statistics=lambda: kept)
    monkeypatch.setitem(registry._open, "cuda", backend)
    return kept


def test_work_is_counted_from_the_start_of_the_block_to_its_end(counting):
    with gb.tracing() as traced:
        assert traced.work == Work()
        counting.launches += 2
        assert traced.work == Work(launches=2)
        counting.synchronisations += 1
        counting.bytes_allocated += 100
    counting.launches += 50
    assert traced.work == Work(1, 2, 100)


def test_blocks_inside_one_another_count_for_themselves(counting):
    with gb.tracing() as outer:
        counting.launches += 1
        with gb.tracing() as inner:
            counting.launches += 3
    assert (inner.work.launches, outer.work.launches) == (3, 4)


@pytest.mark.parametrize("place", ["reference", "cpu"])
def test_devices_in_host_memory_wait_for_nothing(place):
    with gb.device(place), gb.tracing() as traced:
        v = gb.Vector.from_coo([0, 2], [1, 2], size=4)
        v << v.apply("ainv")
        assert v.nvals == 2
    assert traced.work == Work()
    assert len(traced.programs) >= 1
