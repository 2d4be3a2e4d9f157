"""What several tests of the GPU share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import require_gpu_or_stand_in

from semira.backends.cuda.runtime import turning
from semira.backends.registry import backend_for


class Unrun(pytest.Module):
    """A file of tests where no GPU is: imported, and skipped as a whole."""

    def collect(self) -> list[pytest.Item]:
        assert self.obj
        require_gpu_or_stand_in(self.config)
        return list(super().collect())


def pytest_pycollect_makemodule(module_path: Path, parent: pytest.Collector) -> pytest.Module:
    """Spend no time on hundreds of tests each of which would skip itself."""
    return Unrun.from_parent(parent, path=module_path)


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
