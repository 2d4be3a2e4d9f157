"""Arguments and options that several commands share."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

#: Where the help has the options of reading.
READING_PANEL = "Reading"

RUNNING, OUTPUT = "Running", "Output"


def option(
    help_text: str,
    metavar: str | None = None,
    *spellings: str,
    panel: str | None = None,
    **limits: Any,
) -> Any:
    """Return an option whose default the help leaves out; the text tells it where it matters."""
    return typer.Option(
        *spellings, help=help_text, metavar=metavar, show_default=False, rich_help_panel=panel,
        **limits,
    )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Targets:
    """Where a result goes, beside or in place of the summary."""

    json: bool
    plot: Path | None
    out: str | None
    trace: bool = False

    def check(self) -> None:
        """Refuse two that want standard output."""
        for other in ["--json"] * self.json + ["--trace"] * self.trace:
            if self.out == "-":
                raise typer.BadParameter(
                    f"--out - and {other} both want standard output; name a file"
                )


FileArgument = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help="A graph file, - for standard input, or a generator such as kron:16.",
        show_default=False,
    ),
]

JsonOption = Annotated[
    bool, typer.Option("--json", help="Print one JSON object.", rich_help_panel=OUTPUT)
]


class Device(StrEnum):
    """Where to compute."""

    auto = "auto"
    reference = "reference"
    cpu = "cpu"
    cuda = "cuda"
    suitesparse = "suitesparse"


DeviceOption = Annotated[
    Device | None,
    option(
        "Where to compute: reference, cpu, cuda, suitesparse, or auto, which is cuda if it can be "
        "used, else cpu. Default: SEMIRA_DEVICE, or cpu.",
        panel=RUNNING,
    ),
]

RepeatOption = Annotated[
    int, typer.Option(min=0, help="Warm calls to time after the first.", rich_help_panel=RUNNING)
]

PlotOption = Annotated[
    Path | None,
    option("Draw a picture (.png, .svg or .pdf); needs Matplotlib.", "FILE", panel=OUTPUT),
]

SourceOption = Annotated[
    str | None,
    option("The vertex that has an entry. Default: the one with most outgoing edges.", "VERTEX"),
]
