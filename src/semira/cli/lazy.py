"""Groups of commands whose modules are imported when a command is asked for."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import typer
from typer.main import get_command

from semira.algorithms.row import load
from semira.cli.commands import Command, Group

#: Where the prose of a command's docstring ends.
_EXAMPLES = "Examples\n--------\n"


def help_of(command: Any) -> str:
    """Return a docstring whose prose may be wrapped anew; lines of examples stay as they are."""
    prose, mark, examples = inspect.cleandoc(command.__doc__ or "").partition(_EXAMPLES)
    paragraphs = [" ".join(part.split()) for part in prose.split("\n\n")]
    return "\n\n".join(paragraphs) + (f"\n\nExamples:\n\n{examples}" if mark else "")


class LazyGroup(Group):
    """A group whose commands are given by the place of their function, ``module:function``."""

    #: By the title of a part of the help: names of commands to their places.
    panels: ClassVar[Mapping[str, Mapping[str, str]]] = {}

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of the commands, those that are registered last."""
        lazy = [name for places in self.panels.values() for name in places]
        return list(dict.fromkeys([*lazy, *super().list_commands(ctx)]))

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command; None if there is none of this name."""
        for panel, places in self.panels.items():
            if cmd_name in places and cmd_name not in self.commands:
                made = self.make(load(places[cmd_name]))
                single = typer.Typer(add_completion=False)
                single.command(cmd_name, cls=Command, help=help_of(made), rich_help_panel=panel)(
                    made
                )
                self.commands[cmd_name] = get_command(single)
        return super().get_command(ctx, cmd_name)

    def make(self, found: Any) -> Callable[..., None]:
        """Return the function of a command from what its place holds: itself."""
        made: Callable[..., None] = found
        return made
