"""What ``Matrix.ss`` and ``Vector.ss`` offer: SuiteSparse's extensions, computed on the host."""

from __future__ import annotations

from importlib import import_module
from typing import Any


class Extensions:
    """Descriptor: on a class its importers (``Matrix.ss.import_csr``), on an object all of it.

    The class of the extensions is `name` in `module`.
    """

    __slots__ = ("_module", "_name")

    def __init__(self, module: str, name: str) -> None:
        self._module = module
        self._name = name

    def __get__(self, item: Any, owner: Any = None) -> Any:
        found = getattr(import_module(self._module), self._name)
        return found if item is None else found(item)


MATRIX = Extensions("semira.frontend.ss.matrix", "MatrixExtensions")
VECTOR = Extensions("semira.frontend.ss.vector", "VectorExtensions")
