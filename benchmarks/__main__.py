"""The program ``python -m benchmarks``."""

from __future__ import annotations

from typing import ClassVar

import typer

from semira.cli.lazy import LazyGroup, help_of
from semira.cli.main import Program

_PLACES = {
    "operations": ("micro", "cuda_micro", "memory", "versus"),
    "speed": ("ideas", "frontiers", "masks", "scales", "variants", "shapes", "draw"),
    "closeups": (
        "levels", "spmspv", "spmv", "spmm", "mxm", "formats", "adaptive", "bfs_methods", "blocks",
        "algorithms",
    ),
}  # fmt: skip


class Studies(Program, LazyGroup):
    """Studies of Semira: why it is fast, and where it is not.

    Examples
    --------
    python -m benchmarks levels --graphs kron:18
    """

    panels: ClassVar = {
        "Studies": {
            name.replace("_", "-"): f"benchmarks.{module}:{name}"
            for module, names in _PLACES.items()
            for name in names
        }
    }


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
    """Be a group, whose help is the class's."""


if __name__ == "__main__":
    app(prog_name="python -m benchmarks")
