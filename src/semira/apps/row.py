"""A row of the registry of applications: what the command line and the docs read."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

from numpy.typing import NDArray

from semira.algorithms.row import Parameter, load, needed_of, parameters_of, summary_of


class Answer(Protocol):
    """What an application returns, as the command line reads it."""

    def facts(self) -> dict[str, Any]:
        """Return what a summary tells: counts, and the proof of the result; plain numbers."""
        ...

    #: Columns that are vertices; ``--out`` writes their names beside them.
    vertex_columns: ClassVar[tuple[str, ...]]

    def labels_of(self, column: str) -> NDArray[Any] | None:
        """Return the names of these vertices; None: they have none."""
        ...

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return columns of equal length, on the host, with numbers for vertices."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Application:
    """One application. Its signature and docstring tell its options."""

    #: Of the function, and of the command (with hyphens).
    name: str
    #: What it computes, as headings have it.
    title: str
    #: Package of the function.
    module: str
    #: Options that are files: ``"module:function"`` that reads them. The function is given the path
    #: and what it has parameters for: ``size``, the number of vertices; ``labels``, their names;
    #: ``found``, what was read before. What it returns is the parameter of that name; for a name
    #: that is no parameter it returns parameters by name.
    files: Mapping[str, str] = field(default_factory=dict)
    #: Parameters that are vertices: typed as names or numbers between commas. One that is in
    #: `files` too may be typed as either.
    vertices: tuple[str, ...] = ()
    #: Those of them that are one vertex.
    single: tuple[str, ...] = ()
    #: ``"module:function"`` of (result, matrix, path) that draws the result for a matrix into a
    #: file, whose suffix Matplotlib knows; empty: nothing to draw.
    plot: str = ""
    #: `weighted`, `directed`: whether it reads the values, and the direction, of edges by default.
    weighted: bool = True
    directed: bool = False

    @property
    def typed(self) -> str:
        """Name on the command line."""
        return self.name.replace("_", "-")

    @property
    def page(self) -> str:
        """Name of its page in the documentation: that of its folder."""
        return f"{self.module.rpartition('.')[2].replace('_', '-')}.md"

    @property
    def function(self) -> Callable[..., Any]:
        """The function; its module is loaded now."""
        return load(f"{self.module}:{self.name}")  # type: ignore[no-any-return]

    @property
    def summary(self) -> str:
        """What it returns, in a few words: the first line of its docstring."""
        return summary_of(self.function)

    @property
    def parameters(self) -> dict[str, Parameter]:
        """Parameters that have simple values and are no files or vertices, by name.

        Whether a matrix is symmetric is not asked: the reader of a file knows better.
        """
        aside = {*self.files, *self.vertices, "symmetric"}
        return {k: v for k, v in parameters_of(self.function).items() if k not in aside}

    @property
    def needed(self) -> list[str]:
        """Names of the arguments that have no default, without the matrix."""
        return needed_of(self.function)

    @property
    def takes_progress(self) -> bool:
        """Whether the function reports what it has done to an argument ``progress``."""
        return "progress" in inspect.signature(self.function).parameters
