"""Sorts of short lists by kernels of ours, against NumPy's."""

from __future__ import annotations

import numpy as np
import pytest
from tests.helpers.every import every

from semira.backends.cuda.runtime import sorts
from semira.backends.cuda.runtime.primitives import primitives_of
from semira.backends.registry import backend_for

pytestmark = pytest.mark.gpu

#: About the keys that one block sorts, and lists of several such runs.
COUNTS = [2, 3, 64, 65, 1023, 1024, 1025, 2047, 2049, 5000]
#: Most keys are equal; hardly any are; those that pad the last run are among them.
KINDS = ["few", "many", "greatest", "falling"]


def keys_of(kind: str, count: int, dtype: type[np.generic]) -> np.ndarray:
    """Return unsigned keys."""
    rng, most = np.random.default_rng(count), np.iinfo(dtype).max
    if kind == "few":
        return rng.integers(0, 3, count).astype(dtype)
    if kind == "greatest":
        return np.where(rng.random(count) < 0.5, most, rng.integers(0, 9, count)).astype(dtype)
    if kind == "falling":
        return np.arange(count, 0, -1).astype(dtype)
    return rng.integers(0, most, count, dtype=dtype, endpoint=True)


@pytest.fixture
def primitives():
    return primitives_of(backend_for("cuda").runtime)


@every("kind", KINDS)
@every("count", COUNTS)
@every("dtype", [np.uint32, np.uint64])
def test_keys_are_sorted_in_place(primitives, kind, count, dtype):
    given, runtime = keys_of(kind, count, dtype), primitives.runtime
    keys = runtime.upload(given)
    assert sorts.is_short(count, dtype)
    primitives.sort_in_place(keys, count, dtype)
    assert (runtime.download(keys, dtype, count) == np.sort(given)).all()


@every("kind", KINDS)
@every("count", COUNTS)
def test_equal_keys_keep_their_order(primitives, kind, count):
    given, runtime = keys_of(kind, count, np.uint32), primitives.runtime
    keys = runtime.upload(given)
    order = primitives.order_of(keys, count, np.uint32)
    assert (runtime.download(order, np.int64, count) == np.argsort(given, kind="stable")).all()
    # The keys themselves stay.
    assert (runtime.download(keys, np.uint32, count) == given).all()


def test_long_lists_are_sorted_by_the_library(primitives, monkeypatch):
    monkeypatch.setattr(sorts, "SHORT", 100)
    given, runtime = keys_of("many", 101, np.uint32), primitives.runtime
    assert not sorts.is_short(101, np.uint32)
    keys = runtime.upload(given)
    primitives.sort_in_place(keys, 101, np.uint32)
    assert (runtime.download(keys, np.uint32, 101) == np.sort(given)).all()
