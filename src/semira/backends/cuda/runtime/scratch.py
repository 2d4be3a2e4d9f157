"""Memory that statement after statement works in."""

from __future__ import annotations

from typing import Any

from semira.backends.cuda.runtime.device import Runtime
from semira.backends.cuda.runtime.parts import ALIGNMENT, Part

#: Bytes that are kept: what matrices of some ten thousand entries need. Beyond, the kernels take
#: longer than an allocation.
KEPT = 1 << 20


class Scratch:
    """Memory that nobody reads once its statement is launched.

    One piece is cut in parts from its start on, for each statement anew: what they launch runs in
    the same order. What does not fit is allocated, and so is all with `Runtime.keeps_apart`.
    """

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._whole: Any = None
        self._used = 0

    def begin(self) -> None:
        """Start with a statement: what was taken before is free again."""
        self._used = 0

    def take(self, nbytes: int) -> Any:
        """Return uninitialised memory."""
        end = self._used + -(-nbytes // ALIGNMENT) * ALIGNMENT
        if end > KEPT or self._runtime.keeps_apart:
            return self._runtime.allocate(nbytes)
        if self._whole is None:
            self._whole = self._runtime.allocate(KEPT)
        part = Part(self._whole, int(self._whole.handle), self._used, nbytes)
        self._used = end
        return part

    def zeros(self, nbytes: int) -> Any:
        """Return memory of zeros."""
        part = self.take(nbytes)
        self._runtime.clear(part)
        return part
