"""Watching that work on a GPU stays there."""

from __future__ import annotations

from typing import Any

import pytest


def forbid_downloads(patch: pytest.MonkeyPatch) -> None:
    """Fail the test when the host reads a vector or a matrix of the cuda backend."""
    from semira.backends.cuda.backend import CudaBackend

    read = CudaBackend.get

    def get(self: Any, handle: Any) -> Any:
        if handle.kind != "scalar":
            pytest.fail(f"the host reads a {handle.kind}")
        return read(self, handle)

    patch.setattr(CudaBackend, "get", get)
