"""Products row by row in each of the ways that their sizes choose."""

from __future__ import annotations

import pytest

from semira.backends.cuda.staged import bins, rowwise


def go(monkeypatch: pytest.MonkeyPatch, way: str, *, tables: bool = True) -> None:
    """Let products row by row go one way, with every bin, or without tables.

    ``unread``: nothing is read before. ``late``: products are read, entries move where there is
    more room.
    ``moved``: their number is read before they move. ``counted``: rows are counted first.
    """
    monkeypatch.setattr(
        rowwise, "worthwhile_bins", lambda size, *_: bins.table_bins(size) if tables else ()
    )
    monkeypatch.setattr(rowwise, "merges_few", lambda *_: True)
    if way == "unread":
        monkeypatch.setattr(rowwise, "UNREAD", 1 << 40)
        monkeypatch.setattr(rowwise, "UNREAD_GROWTH", 1 << 40)
        return
    monkeypatch.setattr(rowwise, "UNREAD", 0)
    if way == "counted":
        monkeypatch.setattr(rowwise, "AT_ONCE", 0)
    else:
        # Longer rows may go by windows, of which there are several.
        monkeypatch.setattr(rowwise, "ONE_WINDOW", 1 << 40)
    if way == "moved":
        monkeypatch.setattr(rowwise, "LATE", 0)
