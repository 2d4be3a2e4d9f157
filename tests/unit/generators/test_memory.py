"""The memory check: what it reads, what it refuses."""

from __future__ import annotations

import pytest

from semira.base.errors import OutOfMemory
from semira.generators import memory


def test_available_bytes_are_plausible():
    available = memory.available_bytes()
    assert available is None or 2**20 < available < 2**60


def test_require_bytes_names_both_figures(monkeypatch):
    monkeypatch.setattr(memory, "available_bytes", lambda: 1000)
    memory.require_bytes(1000, "a graph")
    with pytest.raises(OutOfMemory, match=r"a graph needs 1001 bytes .* 1000 bytes"):
        memory.require_bytes(1001, "a graph")


def test_require_bytes_without_knowledge_lets_pass(monkeypatch):
    monkeypatch.setattr(memory, "available_bytes", lambda: None)
    memory.require_bytes(2**80, "a graph")
