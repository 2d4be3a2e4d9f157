"""Finding hidden synchronisations without a GPU: no scalar may be read on the host."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

from semira.backends.reference.backend import ReferenceBackend


class HiddenSizeError(Exception):
    """A scalar was read on the host while sizes are hidden."""


@contextmanager
def hidden_sizes() -> Iterator[None]:
    """Forbid host reads of scalars of the reference device inside the block."""
    get = ReferenceBackend.get

    def refusing(self: ReferenceBackend, handle: Any) -> Any:
        if handle.kind == "scalar":
            raise HiddenSizeError(handle)
        return get(self, handle)

    with mock.patch.object(ReferenceBackend, "get", refusing):
        yield
