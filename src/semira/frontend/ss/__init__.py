"""What ``Matrix.ss`` and ``Vector.ss`` offer: SuiteSparse's extensions, computed on the host."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any


@dataclass(frozen=True, slots=True)
class Extensions:
    """Descriptor: on a class its importers (``Matrix.ss.import_csr``), on an object all of it."""

    #: Where the class of the extensions is, and what it is called.
    module: str
    name: str

    def __get__(self, item: Any, owner: Any = None) -> Any:
        found = getattr(import_module(self.module), self.name)
        return found if item is None else found(item)


MATRIX = Extensions("semira.frontend.ss.matrix", "MatrixExtensions")
VECTOR = Extensions("semira.frontend.ss.vector", "VectorExtensions")
