"""Dot products by rows, whose sets lie in blocks, though none is pinned."""

from __future__ import annotations

import pytest

from semira.backends.cuda.staged import dots, product_source
from semira.base.recent import Recent
from semira.engine import run, warm
from semira.methods.sets import cuda


def by_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Share dot products out by rows, few and short ones too, whatever is pinned."""
    for module in (dots, product_source):
        monkeypatch.setattr(module, "dots_part", lambda _: cuda)
    monkeypatch.setattr(cuda, "kind_of", lambda statement: statement.hints.intersect or "hash")
    monkeypatch.setattr(cuda, "has_room", lambda *_: False)
    # Programs that are prepared have no kernels for that.
    monkeypatch.setattr(run, "_prepared", Recent(64))
    monkeypatch.setattr(warm, "_known", {})
