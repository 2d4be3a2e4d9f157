"""Shared parts of all studies: options, graphs, devices, limits, records, tables, pictures.

A study declares its options, its points, its trial and its tables::

    @dataclass(frozen=True, slots=True)
    class WidthsOptions(Options):
        widths: Sequence[int] = option((1, 8), "Columns of the operand.", quick=(1,))

    STUDY = Study(__doc__, WidthsOptions, trial, {"All widths": widths_table})

where ``trial(options, graph)`` yields the records of one graph. Each field of the options is an
option of the command line, and the first argument is its help.
"""

from __future__ import annotations

import inspect
import math
import statistics
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields, replace
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from benchmarks.sweep import graphs_of, keep_records
from semira.base.errors import InvalidValue
from semira.bench.device import LEAST_HELD_S, array_module, free_memory
from semira.bench.environment import describe_environment
from semira.bench.record import Record, require_some
from semira.cli.bench import OutOption, QuickOption, check_append, finish, progress, split_names
from semira.cli.options import Device
from semira.cli.output import note, print_table
from semira.cli.plots import check_target

_AppendOption = Annotated[bool, typer.Option("--append", help="Keep the records in FILE.")]
_PlotOption = Annotated[
    Path | None,
    typer.Option(help="Draw it there (extra plot).", metavar="FILE.svg", show_default=False),
]

#: Makes the header and rows of a table of records.
Table = Callable[[Sequence[Record]], tuple[list[str], list[list[str]]]]
Say = Callable[[str], None]

#: Profiled calls where times of 20 us are compared to within a tenth.
STEADY = 9

_UNTOLD: Any = object()


def held_for(calls_s: Sequence[float]) -> float:
    """Return for how long to hold a device, in which the host queues a call of these seconds.

    Examples
    --------
    >>> round(held_for([3e-3, 2e-3, 9e-3]), 6)
    0.007
    """
    return 2 * statistics.median(calls_s) + LEAST_HELD_S


def time_of(record: Record) -> float | None:
    """Return the device's time where there is a clock, else the call's."""
    return record.device_median_s or record.median_s


def option(
    default: Any,
    about: str = "",
    *,
    quick: Any = _UNTOLD,
    least: float | None = None,
    flag: str | None = None,
    parse: Callable[[str], Any] | None = None,
    hidden: bool = False,
) -> Any:
    """Return a field of options.

    Parameters
    ----------
    default : object
    about : str
        The help text; "": that of the field it replaces.
    quick : object, optional
        The default with ``--quick``.
    least : float, optional
        The smallest value allowed.
    flag : str, optional
        The name on the command line, if it is not that of the field.
    parse : callable, optional
        Converts a text to the value.
    hidden : bool
        Not on the command line.
    """
    told = {"about": about or None, "least": least, "flag": flag, "parse": parse, "hidden": hidden}
    given = {name: value for name, value in told.items() if value is not None}
    return field(default=default, metadata=given if quick is _UNTOLD else given | {"quick": quick})


@dataclass(frozen=True, slots=True)
class Options:
    """Options of every study."""

    graphs: Sequence[str] = option(
        ("kron:18",),
        "Generators, files, or names in the data folder, separated by commas.",
        quick=("kron:10",),
    )
    trials: int = option(10, "Warm calls of each case.", quick=3, least=1)
    seconds: float = option(
        5.0, "Time budget for the warm calls of a case.", quick=0.5, least=0.0, flag="--budget"
    )
    device: str = option("cpu", "Where to compute.")
    data: Path | None = option(None, "Folder of graphs that are named without a path.")
    limit: float = option(math.inf, "Seconds after which no further point starts.", least=0.0)


def graphs(options: Any, xp: Any, say: Say) -> Iterator[Any]:
    """Yield the graphs of the options; skip and report missing ones."""
    return graphs_of(options.graphs, options.data, xp, say)


@dataclass(frozen=True)
class Study:
    """A sweep: points, and a trial at each of them.

    Attributes
    ----------
    about : str
        The help; a docstring.
    options : type
        A dataclass derived from `Options`.
    trial : callable
        (options, point) -> the records of the point.
    tables : mapping of str to callable
        By title; a table without rows is not printed.
    points : callable
        (options, array module, say) -> the points; by default the graphs.
    picture : str, optional
        The picture that `benchmarks.plots` draws from the records.
    objections : callable, optional
        (options, records) -> complaints; any makes the exit code 1.
    """

    about: str
    options: type
    trial: Callable[[Any, Any], Iterable[Record]]
    tables: Mapping[str, Table] = field(default_factory=dict)
    points: Callable[[Any, Any, Say], Iterable[Any]] = graphs
    picture: str | None = None
    objections: Callable[[Any, Sequence[Record]], Iterable[str]] | None = None

    def run(
        self,
        options: Any = None,
        *,
        out: Path | None = None,
        append: bool = False,
        say: Say = lambda _text: None,
        done: Callable[[Record], None] = lambda _record: None,
    ) -> list[Record]:
        """Measure every point; write each record as soon as it is made.

        Parameters
        ----------
        options : dataclass, optional
        out : Path, optional
            File of JSON lines; overwritten.
        append : bool
            Keep the records already in `out`.
        say : callable
            Receives remarks on missing graphs and skipped points.
        done : callable
            Receives each record.

        Raises
        ------
        DeviceUnavailable
            This machine lacks the device; existing records stay.
        InvalidValue
            Nothing was measured.
        FileWriteError
            `out` cannot be written.
        """
        asked = self.options() if options is None else options
        environment, xp = describe_environment(asked.device), array_module(asked.device)
        # First: a request that fails here leaves existing records untouched.
        points = iter(self.points(asked, xp, say))
        measured = self._measured(asked, points, xp, say)
        made = (replace(record, environment=environment) for record in measured)
        records = keep_records(made, out, done, append=append)
        return require_some(records, asked.graphs) if asked.graphs else records

    def _measured(self, options: Any, points: Iterator[Any], xp: Any, say: Say) -> Iterator[Record]:
        """Yield the records of one point after another while time and memory last."""
        end_s = time.perf_counter() + options.limit
        try:
            for point in points:
                yield from self.trial(options, point)
                free_memory(xp)
                if time.perf_counter() > end_s:
                    say(f"{options.limit:g} s are over: what would follow is left out")
                    return
        except MemoryError as error:
            say(f"what would follow is left out: {str(error) or 'out of memory'}")

    def print_tables(self, records: Sequence[Record]) -> None:
        """Print the tables that have rows."""
        for title, table in self.tables.items():
            head, rows = table(records)
            if rows:
                print_table(head, rows, title=title)


# the command line --------------------------------------------------------------------------------
def numbers_of(text: str) -> tuple[float, ...]:
    """Parse numbers separated by commas."""
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise InvalidValue(f"{text!r}: give numbers separated by commas") from None


def counts_of(text: str) -> tuple[int, ...]:
    """Parse whole numbers above 0, separated by commas.

    Examples
    --------
    >>> counts_of("1, 64")
    (1, 64)
    """
    parts = [part.strip() for part in text.split(",")]
    for part in parts:
        if not part.isdecimal() or int(part) == 0:
            raise InvalidValue(f"{text!r}: {part!r} is no whole number above 0")
    return tuple(map(int, parts))


_PARSERS: dict[Any, Callable[[str], Any]] = {
    Sequence[str]: split_names,
    Sequence[float]: numbers_of,
    Sequence[int]: counts_of,
}


def _shown(owner: type) -> list[Field[Any]]:
    """Return the fields that are command-line options."""
    return [each for each in fields(owner) if not each.metadata.get("hidden")]


def _about(each: Field[Any], owner: type, key: str) -> Any:
    """Return metadata of a field, or of the field that it replaces."""
    for cls in owner.__mro__:
        known = getattr(cls, "__dataclass_fields__", {}).get(each.name)
        if known is not None and key in known.metadata:
            return known.metadata[key]
    return None


def _parameter(each: Field[Any], owner: type, kind: Any) -> inspect.Parameter:
    """Return the command-line option of a field."""
    parsed = kind in _PARSERS or _about(each, owner, "parse") is not None
    flag = _about(each, owner, "flag")
    said = _about(each, owner, "about") or ""
    if each.default not in (None, (), math.inf, MISSING) and not isinstance(each.default, bool):
        shown = ",".join(map(str, each.default)) if parsed else each.default
        said += f" Default: {shown}."
    asked: Any = Device if each.name == "device" else str if parsed else kind
    settings = typer.Option(
        *([flag] if flag else []),
        help=said.strip(),
        show_default=False,
        metavar="A,B,..." if parsed else None,
        min=_about(each, owner, "least"),
    )
    return inspect.Parameter(
        each.name,
        inspect.Parameter.KEYWORD_ONLY,
        default=None,
        annotation=Annotated[asked | None, settings],
    )


def options_from(study: Study, given: Mapping[str, Any], *, quick: bool) -> Any:
    """Return options from a command line; omitted ones come from ``--quick`` or the default."""
    kinds = get_type_hints(study.options)
    made: dict[str, Any] = {}
    for each in _shown(study.options):
        value = given[each.name]
        if value is None:
            fast = _about(each, study.options, "quick")
            if quick and fast is not None:
                made[each.name] = fast
            continue
        parse = _about(each, study.options, "parse") or _PARSERS.get(kinds[each.name])
        if each.name == "device":
            if value is Device.auto:
                raise typer.BadParameter("--device auto: a measurement must name its device")
            value = value.value
        elif parse is not None:
            flag = _about(each, study.options, "flag") or f"--{each.name.replace('_', '-')}"
            try:
                value = parse(value)
            except InvalidValue as error:
                raise typer.BadParameter(f"{flag} {error}") from None
        made[each.name] = value
    return study.options(**made)


def command_of(study: Study) -> Callable[..., None]:
    """Return the function behind a command."""

    def command(
        *, out: Path | None, append: bool, quick: bool, plot: Path | None = None, **given: Any
    ) -> None:
        check_append(out, append=append)
        if plot is not None:
            check_target(plot)
        options = options_from(study, given, quick=quick)
        records = study.run(options, out=out, append=append, say=note, done=progress)
        study.print_tables(records)
        if plot is not None and study.picture is not None:
            from benchmarks.plots import plot_records

            plot_records(plot, study.picture, records)
            note(f"drawn to {plot}")
        finish(records, out, tables=not study.tables)
        found = list(study.objections(options, records)) if study.objections else []
        for objection in found:
            note(objection)
        if found:
            raise typer.Exit(1)

    owner, kinds = study.options, get_type_hints(study.options)
    parameters = [_parameter(each, owner, kinds[each.name]) for each in _shown(owner)]
    common: list[tuple[str, Any, Any]] = [
        ("out", OutOption, None), ("append", _AppendOption, False), ("quick", QuickOption, False),
    ]  # fmt: skip
    if study.picture is not None:
        common.append(("plot", _PlotOption, None))
    by_name = inspect.Parameter.KEYWORD_ONLY
    parameters += [
        inspect.Parameter(name, by_name, default=default, annotation=annotation)
        for name, annotation, default in common
    ]
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {each.name: each.annotation for each in parameters}
    command.__doc__ = study.about
    return command
