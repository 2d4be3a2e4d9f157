"""A row of the registry of applications: what the command line and the docs read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray


class Answer(Protocol):
    """What an application returns, as the command line reads it."""

    def facts(self) -> dict[str, Any]:
        """Return what a summary tells: counts, and the proof of the result; plain numbers."""
        ...

    def table(self) -> dict[str, NDArray[np.generic]]:
        """Return columns of equal length, on the host: what ``--out`` writes."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Application:
    """One application. Its signature and docstring tell its options.

    Attributes
    ----------
    name : str
        Of the function, and of the command (with hyphens).
    title : str
        What it computes, as headings have it.
    module : str
        Package of the function.
    files : mapping of str to str
        Parameters that are arrays or objects: ``"module:function"`` that reads them from a path.
        The function is given the path and the number of vertices.
    plot : str
        ``"module:function"`` of (result, matrix, path) that draws a result; empty: nothing to draw.
    weighted, directed : bool
        Whether it reads the values, and the direction, of edges by default.
    """

    name: str
    title: str
    module: str
    files: Mapping[str, str] = field(default_factory=dict)
    plot: str = ""
    weighted: bool = True
    directed: bool = False
