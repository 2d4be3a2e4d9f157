"""What several tests of the GPU share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from semira.backends.cuda.runtime import turning
from semira.backends.registry import backend_for


@pytest.fixture(autouse=True)
def _sorts_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the device sort matrices that are small enough for the host, as most are here."""
    monkeypatch.setattr(turning, "FEW", 0)


@pytest.fixture
def backend() -> Iterator[Any]:
    """Return the cuda backend; a number of blocks that the test sets is forgotten after it."""
    opened = backend_for("cuda")
    before = opened.blocks
    yield opened
    opened.blocks = before
