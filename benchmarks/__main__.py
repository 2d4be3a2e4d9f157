"""The program ``python -m benchmarks``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import typer

from benchmarks.harness import Study, command_of
from semira.cli.lazy import LazyGroup, help_of
from semira.cli.main import Program

#: Modules of studies with different names.
_ELSEWHERE = {
    "cuda-micro": "device_micro", "formats": "formats_tables", "spmspv": "spmspv_study",
}  # fmt: skip

_STUDIES = (
    "adaptive", "algorithms", "applications", "bfs-methods", "blocks", "cuda-micro",
    "first-calls", "formats", "frontiers", "ideas", "levels", "masks", "memory", "micro", "mxm",
    "scales", "shapes", "spmm", "spmspv", "spmv", "variants",
)  # fmt: skip


class Studies(Program, LazyGroup):
    """Studies of Semira: why it is fast, and where it is not.

    Examples
    --------
    python -m benchmarks levels --graphs kron:18
    """

    panels: ClassVar = {
        "Studies": {
            name: f"benchmarks.studies.{_ELSEWHERE.get(name, name.replace('-', '_'))}:STUDY"
            for name in _STUDIES
        },
        "Records": {name: f"benchmarks.records:{name}" for name in ("draw", "versus")},
    }

    def make(self, found: Any) -> Callable[..., None]:
        """Return the function of a command."""
        return command_of(found) if isinstance(found, Study) else super().make(found)


app = typer.Typer(
    name="benchmarks",
    cls=Studies,
    help=help_of(Studies),
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback()
def _root() -> None:
    """Make this a group; its help is the docstring of the class."""


if __name__ == "__main__":
    app(prog_name="python -m benchmarks")
