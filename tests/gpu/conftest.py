"""What several tests of the GPU share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from semira.backends.registry import backend_for


@pytest.fixture
def backend() -> Iterator[Any]:
    """Return the cuda backend; a number of blocks that the test sets is forgotten after it."""
    opened = backend_for("cuda")
    before = opened.blocks
    yield opened
    opened.blocks = before
