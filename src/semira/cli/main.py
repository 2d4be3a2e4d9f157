"""The program ``semira``: its commands, and what every error becomes."""

from __future__ import annotations

import logging
import os
import sys
import traceback
from typing import Annotated, Any, ClassVar

import typer

from semira.base.errors import GraphblasException
from semira.base.log import logger
from semira.base.text import printable
from semira.cli.commands import Algorithms
from semira.cli.lazy import LazyGroup, help_of
from semira.cli.plan import Plan
from semira.cli.run import Run
from semira.cli.signals import EXIT_INTERRUPTED, command_running

#: Exit codes beside 0 (done) and 2 (wrong usage; Typer's own).
EXIT_ERROR = 1
EXIT_BROKEN_PIPE = 141

_DEBUG = "--debug"


class Program(LazyGroup):
    """The root command: ``--debug`` anywhere on the line, one line for every error."""

    panels: ClassVar = {
        "Commands": {
            name: f"semira.cli.{name}:{name}"
            for name in ("info", "generate", "convert", "doctor", "demo")
        }
        | {"compile": "semira.cli.compile:compile_ahead"}
    }

    def make_context(self, *args: Any, **extra: Any) -> Any:
        """Read the command line; it may ask for help, which is printed at once."""
        try:
            return super().make_context(*args, **extra)
        except OSError as error:
            raise typer.Exit(_end_output(error, is_debug=False)) from None

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Take ``--debug`` out of the line wherever it stands before ``--``."""
        end = args.index("--") if "--" in args else len(args)
        options = [arg for arg in args[:end] if arg != _DEBUG]
        ctx.meta[_DEBUG] = len(options) < end
        return super().parse_args(ctx, options + args[end:])

    def invoke(self, ctx: Any) -> Any:
        """Run the command; errors end the process with a code and one line, not a traceback."""
        try:
            with command_running():
                answer = super().invoke(ctx)
                # A reader that went away shows here, not when the interpreter ends.
                if sys.stdout is not None:  # it is where the process started without one
                    sys.stdout.flush()
        except KeyboardInterrupt:
            _report("interrupted", is_debug=ctx.meta[_DEBUG])
            raise typer.Exit(EXIT_INTERRUPTED) from None
        except GraphblasException as error:
            if isinstance(error.__cause__, BrokenPipeError):
                code = _end_output(error.__cause__, is_debug=False)
                raise typer.Exit(code) from None
            _report(f"{type(error).__name__}: {error}", is_debug=ctx.meta[_DEBUG])
            raise typer.Exit(EXIT_ERROR) from None
        except OSError as error:
            raise typer.Exit(_end_output(error, is_debug=ctx.meta[_DEBUG])) from None
        except MemoryError as error:
            text = str(error) or "an allocation failed"
            advice = "use a smaller graph or a machine with more memory"
            _report(f"out of memory: {text}; {advice}", is_debug=ctx.meta[_DEBUG])
            raise typer.Exit(EXIT_ERROR) from None
        except Exception as error:  # users get one line for a bug too
            if isinstance(error, typer.Abort) or hasattr(error, "exit_code"):
                if hasattr(error, "message"):
                    error.message = printable(error.message)  # it may name a file
                raise  # Typer's own way to end
            kind = f"{type(error).__name__}: {error}"
            advice = f"this is a bug in Semira; run again with {_DEBUG} and report what it shows"
            _report(f"internal error: {kind}; {advice}", is_debug=ctx.meta[_DEBUG])
            raise typer.Exit(EXIT_ERROR) from None
        return answer


def _report(message: str, *, is_debug: bool) -> None:
    if is_debug:
        traceback.print_exc()
    typer.echo(f"semira: {printable(' '.join(message.split()))}", err=True)


def _end_output(error: OSError, *, is_debug: bool) -> int:
    """Say that a file or standard output cannot be written, and return the exit code for that.

    Nothing is said of a reader that went away.
    """
    if isinstance(error, BrokenPipeError):
        _silence_stdout()
        return EXIT_BROKEN_PIPE
    _report(f"{error.filename or 'standard output'}: {error.strerror or error}", is_debug=is_debug)
    if error.filename is None:
        _silence_stdout()
    return EXIT_ERROR


def _silence_stdout() -> None:
    """Let nothing complain that standard output is closed."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError, AttributeError):
        sys.stdout = open(os.devnull, "w")  # noqa: PTH123, SIM115 - lives as long as the process


_EPILOG = """
Examples:

semira run bfs kron:16
semira run sssp roads.gr --source 0 --json
semira info graph.mtx.gz
semira generate road:300x200 road.mtx
semira plan bfs kron:14
semira doctor
"""

app = typer.Typer(
    name="semira",
    cls=Program,
    epilog=_EPILOG,
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from semira import __version__

        typer.echo(f"semira {__version__}")
        raise typer.Exit


def _algorithms(commands: type[Algorithms]) -> typer.Typer:
    return typer.Typer(cls=commands, help=help_of(commands), no_args_is_help=True)


def _root(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
    debug: Annotated[
        bool, typer.Option(_DEBUG, help="Show the traceback of an error. May stand anywhere.")
    ] = False,
) -> None:
    """Graph algorithms as sparse linear algebra, on the CPU and the GPU.

    A graph is a file (.mtx, .npz, .csv, .gr, edge lists; also compressed), - for standard input,
    or a generator such as kron:16 or road:300x200 (semira generate --list).
    """


app.callback(help=help_of(_root))(_root)
app.add_typer(_algorithms(Run), name="run")
app.add_typer(_algorithms(Plan), name="plan")


class _Bench(LazyGroup):
    """Compare Semira with every peer that is installed, on your graphs and devices.

    semira bench GRAPH... is all that most need; semira bench graphs --help shows its options. The
    other commands measure what the documentation shows.

    Examples
    --------
    semira bench --quick
    semira bench kron:16 roads.gr --device cpu
    semira bench kron:16 --out records.jsonl
    """

    panels: ClassVar = {
        "Comparison on your graphs": {"graphs": "semira.cli.comparison:graphs_at_hand"},
        "Measurements of the documentation": {
            name: f"semira.cli.bench:{name}" for name in ("cpu", "cuda", "compare", "report")
        },
    }

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put the name of the comparison before its arguments, where no command is named."""
        is_named = bool(args) and args[0] in {*self.list_commands(ctx), *ctx.help_option_names}
        return super().parse_args(ctx, args if is_named else ["graphs", *args])


class _Datasets(LazyGroup):
    """Named graphs from the web."""

    panels: ClassVar = {
        "Commands": {
            name: f"semira.cli.datasets:{function}"
            for name, function in (("list", "show"), ("fetch", "fetch"), ("path", "path"))
        }
    }


for _name, _group, _is_bare in (("bench", _Bench, False), ("datasets", _Datasets, True)):
    app.add_typer(
        typer.Typer(cls=_group, help=help_of(_group), no_args_is_help=_is_bare), name=_name
    )


def main() -> None:
    """Run the program: 0 done, 1 a Semira error, 2 wrong usage."""
    # Warnings, such as that of a cache that cannot be written, are for whoever runs it.
    shown = logging.StreamHandler()
    shown.setLevel(logging.WARNING)
    shown.setFormatter(logging.Formatter("semira: %(message)s"))
    logger.addHandler(shown)
    app(prog_name="semira")


if __name__ == "__main__":
    main()
