"""The record of one measurement, one line of JSON each."""

from __future__ import annotations

import json
import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from semira.base.errors import (
    FileFormatError,
    FileReadError,
    FileWriteError,
    InvalidValue,
    MissingFile,
)

#: Name and version of the layout below; readers refuse others.
SCHEMA = "semira-bench/1"

#: Options of algorithms by the names that older records have for them.
_RENAMED = {"method": "algorithm"}


@dataclass(frozen=True, slots=True)
class Dataset:
    """What was computed on."""

    name: str
    #: Vertices.
    n: int
    #: Stored entries.
    nvals: int
    #: Of the arrays by rows; equal data have equal sums on every machine.
    checksum: str


@dataclass(frozen=True, slots=True)
class Record:
    """One case: a kernel on a dataset by one library."""

    #: ``algorithm``, ``operation``, ``overhead``, ``memory``, ``copy``, ``plans``, ``frontier``,
    #: ``variant``, ``levels``, ...: the command that made it knows.
    kind: str
    #: ``bfs``, ``mxv``, ...
    kernel: str
    dataset: Dataset
    #: ``semira`` or a peer.
    library: str
    #: Device of ours; "" for peers.
    backend: str = ""
    #: Of the result's values.
    dtype: str = ""
    #: Pinned options; empty: chosen by the planner.
    plan: dict[str, Any] = field(default_factory=dict)
    #: Arguments of the algorithm that are not the usual ones.
    options: dict[str, Any] = field(default_factory=dict)
    #: How many products each method computed in the first call; ``asynchronous``: there were none
    #: to count.
    ran: dict[str, int] = field(default_factory=dict)
    iterations: int | None = None
    #: Reading or generating the edges.
    load_s: float = 0.0
    #: Edges to matrix, in Semira.
    build_s: float = 0.0
    #: Host arrays to the library's own objects.
    convert_s: float = 0.0
    #: Compiling inside of `first_s`; None where a library compiles nothing.
    compile_s: float | None = None
    #: Kernels compiled in the first call; 0 means that all came from the cache.
    compiled: int = 0
    first_s: float | None = None
    #: Calls after the first one, host clock, until the result is complete. Caches are warm.
    warm_s: list[float] = field(default_factory=list)
    #: Of calls after the warm ones, by the clock of the device where it has one: its launches,
    #: without the time between them.
    device_s: list[float] | None = None
    #: What was launched in the last of these, longest first: times, registers, occupancy, ...
    kernels: list[dict[str, Any]] = field(default_factory=list)
    #: What the products of the first call must move (`semira.bench.traffic`), or a run without
    #: products at least.
    least_bytes: int | None = None
    #: Entries of matrices that the products of the first call read.
    touched: int | None = None
    #: Of ``plans``: what the plans of the products that ran made use of.
    fired: list[str] = field(default_factory=list)
    #: Of ``plans``: the products' part of the time of all statements.
    product_share: float | None = None
    #: Start vertex of each warm call.
    sources: list[int] = field(default_factory=list)
    #: Edges of TEPS of each warm call: degrees of the visited vertices, summed.
    edges: list[int] = field(default_factory=list)
    #: Whether the first call's result is right; None: not computed, or nothing to check against.
    verified: bool | None = None
    #: The other method.
    verified_by: str = ""
    #: Most memory in use at a time, operands included, arrays of the caller not.
    peak_bytes: int | None = None
    #: Rows and columns of the matrix, both.
    arrays_bytes: int | None = None
    #: Why there is no time, or what a check found.
    note: str = ""
    #: What one kind of record has beside all this, by name.
    facts: dict[str, Any] = field(default_factory=dict)
    #: Commit, versions, machine, command line.
    environment: dict[str, Any] = field(default_factory=dict)
    schema: str = SCHEMA

    @property
    def median_s(self) -> float | None:
        """Median of the warm calls; None without any."""
        return statistics.median(self.warm_s) if self.warm_s else None

    @property
    def device_median_s(self) -> float | None:
        """Median of the device's clock; None without one."""
        return statistics.median(self.device_s) if self.device_s else None

    @property
    def quartiles_s(self) -> tuple[float, float] | None:
        """First and third quartile of the warm calls; None without any."""
        if not self.warm_s:
            return None
        if len(self.warm_s) == 1:
            return self.warm_s[0], self.warm_s[0]
        low, _, high = statistics.quantiles(self.warm_s, n=4, method="inclusive")
        return low, high

    @property
    def mteps(self) -> float | None:
        """Median over the warm calls of millions of edges a second; None without edges."""
        pairs = [pair for pair in zip(self.edges, self.warm_s, strict=False) if pair[1] > 0]
        return statistics.median(edges / time_s for edges, time_s in pairs) / 1e6 if pairs else None

    @property
    def memory_ratio(self) -> float | None:
        """Peak memory divided by that of the matrix by rows and by columns; None without both."""
        if self.peak_bytes is None or not self.arrays_bytes:
            return None
        return self.peak_bytes / self.arrays_bytes

    @property
    def key(self) -> tuple[str, ...]:
        """What two records must share to be compared: the case, not the machine or commit."""
        plan, options = (
            json.dumps({_RENAMED.get(name, name): each[name] for name in each}, sort_keys=True)
            for each in (self.plan, self.options)
        )
        data = (self.dataset.name, self.dataset.checksum)
        where = (self.library, self.backend, self.dtype)
        return (self.kind, self.kernel, *data, *where, plan, options)

    def to_json(self) -> str:
        """Return the record as one line.

        Raises InvalidValue if a number is not finite: JSON has no such numbers.
        """
        try:
            # `asdict` would copy everything inside of it first.
            parts = {each.name: getattr(self, each.name) for each in fields(self)}
            return json.dumps(parts, allow_nan=False, ensure_ascii=False, default=asdict)
        except ValueError as error:
            raise InvalidValue(f"record of {self.kernel} on {self.dataset.name}: {error}") from None


def _only_known(cls: type, data: Any, where: str) -> dict[str, Any]:
    if not isinstance(data, dict):
        raise FileFormatError(f"{where}: a record must be a JSON object, got {type(data).__name__}")
    known = {each.name for each in fields(cls)}
    unknown = data.keys() - known
    if unknown:
        raise FileFormatError(f"{where}: unknown fields {', '.join(sorted(unknown))}")
    return data


def parse_record(line: str, where: str = "record") -> Record:
    """Return the record that a line holds; errors name `where` it is.

    Raises FileFormatError if it is no record of this schema.

    Examples
    --------
    >>> record = Record("algorithm", "bfs", Dataset("ring", 3, 3, "00"), "semira", warm_s=[0.5])
    >>> parse_record(record.to_json()) == record
    True
    """
    try:
        data = json.loads(line)
    except json.JSONDecodeError as error:
        raise FileFormatError(f"{where}: not JSON: {error}") from None
    schema = data.get("schema") if isinstance(data, dict) else None
    if schema != SCHEMA:
        raise FileFormatError(f"{where}: schema is {schema!r}; this version reads {SCHEMA!r}")
    data = _only_known(Record, data, where)
    try:
        dataset = Dataset(**_only_known(Dataset, data.get("dataset"), where))
        record = Record(**{**data, "dataset": dataset})
    except TypeError as error:
        raise FileFormatError(f"{where}: {error}") from None
    samples: list[Any] = list(record.warm_s)
    if not all(isinstance(each, (int, float)) and math.isfinite(each) for each in samples):
        raise FileFormatError(f"{where}: warm_s must hold finite numbers")
    return record


def read_text(path: Path, what: str) -> str:
    """Return the text of a file that should hold `what`.

    Raises MissingFile if there is no such file. Raises FileReadError if it cannot be read, or is no
    text.
    """
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise MissingFile(f"{path}: no such file; check the path") from None
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise FileReadError(f"{path}: cannot be read as {what}: {reason}") from error


def read_records(path: Path) -> list[Record]:
    """Return the records of a file of JSON lines; empty lines are skipped.

    Raises what `read_text` raises, and FileFormatError if a line is no record; the message has its
    number.
    """
    lines = read_text(path, "records").splitlines()
    return [
        parse_record(line, f"{path}:{number}")
        for number, line in enumerate(lines, 1)
        if line.strip()
    ]


def start_file(path: Path, *, append: bool = False) -> None:
    """Make an empty file of records, so that a wrong path fails before the measurements.

    `append` leaves the records that are there. Raises FileWriteError if it cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a" if append else "w", encoding="utf-8"):
            pass
    except OSError as error:
        raise FileWriteError(f"{path}: cannot be written: {error.strerror or error}") from error


def append_records(path: Path, records: Iterable[Record]) -> None:
    """Add lines to a file; what was measured stays if a later case ends the process.

    Raises FileWriteError if it cannot be written.
    """
    lines = "".join(f"{record.to_json()}\n" for record in records)
    try:
        with path.open("a", encoding="utf-8") as file:
            file.write(lines)
    except OSError as error:
        raise FileWriteError(f"{path}: cannot be written: {error.strerror or error}") from error


def require_some(records: Sequence[Record], graphs: Sequence[str]) -> list[Record]:
    """Return the records of a run.

    Raises InvalidValue if there are none: every graph is absent, or was left out.
    """
    if not records:
        raise InvalidValue(
            f"nothing was measured: none of {', '.join(graphs)} is there and fits, in size and in "
            "time; name a generator, a file, or a graph in the folder of data"
        )
    return list(records)


#: Characters of a note about a case that failed.
_MOST_NOTE = 300


def without_result(record: Record, error: Exception) -> Record:
    """Return the record of a case that failed: a note, no times, nothing that could be wrong.

    Examples
    --------
    >>> blank = Record("spmv", "mxv", Dataset("ring", 3, 3, "00"), "cusparse")
    >>> without_result(blank, AttributeError("no such algorithm")).note
    'AttributeError: no such algorithm'
    """
    text = " ".join(f"{type(error).__name__}: {error}".split())
    return replace(record, note=text[:_MOST_NOTE], verified=None)


def failures(records: Sequence[Record]) -> list[Record]:
    """Return the records whose results were found wrong."""
    return [record for record in records if record.verified is False]
