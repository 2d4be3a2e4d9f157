"""What all tests of measurements need: a process whose garbage is found fast."""

from __future__ import annotations

import gc
import importlib
from collections.abc import Iterator

import pytest


@pytest.fixture(scope="module", autouse=True)
def what_stays_is_not_searched() -> Iterator[None]:
    """Freeze what is loaded: each measurement begins with a search for garbage.

    Among all objects of libraries and kernels it takes longer than what is measured here.
    """
    for name in ("numba", "networkx"):
        importlib.import_module(name)
    gc.collect()
    gc.freeze()
    yield
    gc.collect()
    gc.freeze()
