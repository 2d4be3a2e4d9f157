"""What all commands share: readable help and errors, and commands with one for each algorithm."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import typer
from typer._coercion import build_runtime_param
from typer.core import TyperArgument, TyperCommand, TyperGroup
from typer.main import get_command

from semira.base.text import did_you_mean
from semira.cli import applications
from semira.cli.applications import APPLICATIONS
from semira.cli.catalogue import CATALOGUE, options_of, typed
from semira.cli.options import READING_PANEL

#: What the help calls a value that has no name of its own.
_NAMES = {int: "N", float: "X", str: "TEXT"}


class _Readable:
    """Part of a command: names for values in its help, and errors in the program's own words."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters, each with a name for its value and with what reads it."""
        parameters: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for each in parameters:
            _name_value(each)
            each._runtime_param = _READER
        return parameters

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return the words of the line that shows how it is called."""
        return [word.strip("{}") for word in super().collect_usage_pieces(ctx)]  # type: ignore[misc]

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print the help, of several spellings of an option the first."""
        for each in self.get_params(ctx):
            long = [name for name in each.opts if name.startswith("--")]
            each.opts = [name for name in each.opts if name not in long[1:]]
        super().format_help(ctx, formatter)  # type: ignore[misc]

    def make_context(self, *args: Any, **extra: Any) -> Any:
        """Read the command line; what is wrong with it is told in plain words."""
        try:
            return super().make_context(*args, **extra)  # type: ignore[misc]
        except typer.TyperException as error:
            self.explain(error)
            raise

    def explain(self, error: Any) -> None:
        """Put an error into plain words."""
        if getattr(error, "option_name", None) and hasattr(error, "possibilities"):
            near = did_you_mean(error.option_name, error.possibilities or ())
            error.message = f"no option {error.option_name}{near}"
            error.possibilities = None
        elif hasattr(error.__cause__, "errors"):
            error.message = _refusal(error.param, error.__cause__.errors()[0].get("input"))


class _Reader:
    """Reads values as Typer does, but leaves Pydantic out where there is nothing to convert.

    To load it, and to make a validator for each parameter of a command whether it is given or not,
    would be a third of the time of a short command.
    """

    @staticmethod
    def coerce(value: Any, param: Any, ctx: Any) -> Any:
        """Return the value of a parameter; without one, None or no values."""
        kind = param.type_descriptor
        if value is None:
            return () if param.multiple or param.nargs == -1 else None
        # Defaults, and texts that are to be texts.
        if type(value) is kind.annotation and not kind.is_path:
            return value
        return build_runtime_param(kind).coerce(value, param=param, ctx=ctx)


_READER = _Reader()


def _name_value(parameter: Any) -> None:
    kind = parameter.type_descriptor
    if isinstance(parameter, TyperArgument):
        # Its own name says more than its type.
        vars(parameter)["display_type_rich"] = lambda **_: ""
    if parameter.metavar is not None:
        return
    if getattr(parameter, "is_flag", False):
        parameter.metavar = ""
    elif kind.is_choice:
        parameter.metavar = parameter.name.upper()
        names = _choices(parameter)
        if not all(name in (parameter.help or "") for name in names):
            parameter.help = f"{parameter.help or ''} One of {', '.join(names)}.".strip()
    else:
        parameter.metavar = _NAMES.get(kind.annotation, parameter.name.upper())


def _choices(parameter: Any) -> list[str]:
    return [str(getattr(each, "value", each)) for each in parameter.type_descriptor.choices]


def _refusal(parameter: Any, value: Any) -> str:
    """Return why a value cannot be what it is given for."""
    if parameter.type_descriptor.is_choice:
        names = _choices(parameter)
        return f"{value!r} is none of {', '.join(names)}{did_you_mean(str(value), names)}"
    wanted = {int: "a whole number", float: "a number"}.get(
        parameter.type_descriptor.annotation, "such a value"
    )
    least, most = getattr(parameter, "min", None), getattr(parameter, "max", None)
    limits = [f"at least {least}"] * (least is not None) + [f"at most {most}"] * (most is not None)
    return f"{value!r} is not {', '.join([wanted, *limits])}"


class Command(_Readable, TyperCommand):
    """A command with readable help and errors."""


class Group(_Readable, TyperGroup):
    """The same with commands of its own."""

    #: What these are.
    kind = "command"

    def is_known(self, ctx: Any, word: str) -> bool:
        """Return whether a word names a command."""
        return word in self.list_commands(ctx)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command that is named; where there is none, say what may have been meant."""
        word = args[0]
        if not (self.is_known(ctx, word) or word.startswith("-") or ctx.resilient_parsing):
            names = self.list_commands(ctx)
            hint = did_you_mean(word.lower(), names) or f"; {ctx.command_path} -h lists them all"
            run: Any = self.get_command(ctx, "run")
            if run and run.is_known(ctx, word):
                hint = f"; semira run {word} is one"
            ctx.fail(f"no {self.kind} {word!r}{hint}")
        return super().resolve_command(ctx, args)


class Line(NamedTuple):
    """A command of one algorithm, as a table lists it."""

    answers: str
    options: Iterable[str]


def _own_options(name: str | None) -> Mapping[str, str]:
    if name is None:
        return {}
    if name in CATALOGUE:
        return options_of(CATALOGUE[name])
    return applications.options_of(APPLICATIONS[name]) if name in APPLICATIONS else {}


class _OfAlgorithm(Command):
    """The command of one algorithm, which knows whose the options of others are."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print the help; options of reading, which all commands share, are only listed."""
        shared = [each for each in self.get_params(ctx) if each.rich_help_panel == READING_PANEL]
        for each in shared:
            text = _own_options(self.name).get(each.name)
            each.hidden = text is None
            each.help, each.rich_help_panel = text, None
        listed = ", ".join(each.opts[0] for each in shared if each.hidden)
        self.epilog = f"How FILE is read (see semira info --help): {listed}."
        super().format_help(ctx, formatter)

    def explain(self, error: Any) -> None:
        """Say whose an option is that this one does not have."""
        name = (getattr(error, "option_name", None) or "").lstrip("-").replace("-", "_")
        users = [key for key in CATALOGUE if name in _own_options(key)]
        users = users or [key for key in APPLICATIONS if name in _own_options(key)]
        if not users or not hasattr(error, "possibilities"):
            super().explain(error)
            return
        own = _own_options(self.name)
        error.possibilities = None
        error.message = (
            f"{self.name} has no {typed(name)}, which is for {', '.join(users)}; "
            f"options of {self.name}: {', '.join(map(typed, own)) or 'none of its own'}"
        )


class Algorithms(Group):
    """A command with one for each algorithm, which are made when they are asked for."""

    kind = "algorithm"

    @staticmethod
    def names() -> list[str]:
        """Return the names of the commands, in the order of the help."""
        return list(CATALOGUE)

    def is_known(self, ctx: Any, word: str) -> bool:
        """Return whether a word names a command; applications are loaded only if they must be."""
        del ctx
        return word in CATALOGUE or word in self.names()

    @staticmethod
    def line(name: str) -> Line:
        """Return how the help lists a command."""
        row = CATALOGUE[name]
        return Line(row.summary, options_of(row))

    @staticmethod
    def make(name: str) -> Callable[..., None]:
        """Return the function of a command; its docstring is the help."""
        raise NotImplementedError

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return the words of the line that shows how it is called."""
        del ctx
        return ["ALGORITHM", "FILE", "[OPTIONS]"]

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of the commands."""
        del ctx
        return self.names()

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command; None if there is none of this name."""
        if cmd_name not in self.commands and self.is_known(ctx, cmd_name):
            single = typer.Typer(add_completion=False)
            single.command(cmd_name, cls=_OfAlgorithm)(self.make(cmd_name))
            self.commands[cmd_name] = get_command(single)
        return self.commands.get(cmd_name)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Take the name of the algorithm first, though options may stand before it."""
        if args and args[0] in CATALOGUE:
            return super().parse_args(ctx, args)
        names = self.names()
        # What Python calls it, where the command has a shorter name.
        shorter = {row.name: name for name, row in CATALOGUE.items()}
        shorter |= {row.name: name for name, row in APPLICATIONS.items() if name in names}
        args = [*(shorter.get(word.replace("-", "_"), word) for word in args[:1]), *args[1:]]
        named = next((at for at, word in enumerate(args) if word in names), 0)
        if named and args[0] not in ctx.help_option_names:
            args = [args[named], *args[:named], *args[named + 1 :]]
        return super().parse_args(ctx, args)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print the commands as a table: what each answers, and its own options."""
        del formatter
        from rich.box import SIMPLE_HEAD
        from rich.console import Console
        from rich.padding import Padding
        from rich.table import Table
        from rich.text import Text

        table = Table(box=SIMPLE_HEAD, pad_edge=False)
        table.add_column(self.kind, no_wrap=True, style="bold cyan")
        table.add_column("answers", ratio=3)
        table.add_column("its own options", ratio=2)
        for name in self.names():
            line = self.line(name)
            # Text: brackets are no markup, and an option is not broken at its hyphens.
            table.add_row(name, Text(line.answers), Text("  ".join(map(typed, line.options))))
        prose, mark, examples = (self.help or "").partition("Examples:\n\n")
        more = f"{ctx.command_path} NAME --help shows the options of one.\n"
        console = Console(highlight=False)
        for part in (ctx.get_usage(), Text(prose.strip()), table, more, mark + examples.strip()):
            console.print(part if part is table else Padding(part, (0, 1, 1, 1)))
