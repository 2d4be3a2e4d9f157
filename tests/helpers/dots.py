"""Dot products by rows, whose sets lie in blocks, though none is pinned."""

from __future__ import annotations

import pytest

from semira.backends.cuda.staged import dots, product_source
from semira.base.recent import Recent
from semira.engine import run, warm


def by_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Share dot products out by rows, few and short ones too, whatever is pinned."""
    sets = (None, *product_source.SETS)
    monkeypatch.setattr(product_source, "SETS", sets)
    monkeypatch.setattr(dots, "SETS", sets)
    monkeypatch.setattr(dots, "has_room", lambda *_: False)
    # Programs that are prepared have no kernels for that.
    monkeypatch.setattr(run, "_prepared", Recent(64))
    monkeypatch.setattr(warm, "_known", {})
