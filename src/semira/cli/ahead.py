"""Compiling ahead of time: which kernels algorithms ask for, found by running them on tiny graphs.

On ``cpu`` they run there, and what they compile stays in the cache. On ``cuda`` the reference
computes in the place of a GPU, and every Program is written down as the text that a GPU would ask
for, with the alternatives that a larger or another graph takes.
"""

from __future__ import annotations

import ast
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import cache, partial
from multiprocessing import get_context
from typing import Any

from semira import Matrix, device
from semira.algorithms.registry import REGISTRY
from semira.algorithms.row import Row
from semira.backends import registry
from semira.backends.cpu import cache as kernels
from semira.backends.cuda.listing import (
    Text,
    array_loop_text,
    array_text,
    base_texts,
    fixed_point_texts,
    texts_of,
)
from semira.backends.interpreter import interpreted_only
from semira.backends.reference.backend import ReferenceBackend
from semira.base.dtypes import DataType, lookup_dtype
from semira.base.errors import GraphblasException
from semira.cli.summaries import Answer
from semira.contract import Capabilities, Program
from semira.contract.array_kernels import KernelText, Launch
from semira.generators import generate
from semira.io import from_edges
from semira.ops import TypedSemiring

#: Graphs of different structure: skewed, a mesh, without symmetry and of several parts.
TINY = ("kron:5", "road:6x6", "er:40,degree=2")

#: Graphs beside them, with which the ordinary call of an algorithm does something else.
MORE = {"triangle_count": ("kron:8,ef=12",), "sssp": ("road:48x48",)}

#: The cpu backend decides some kernels by the number of entries.
SMALL = (*TINY, "kron:12", "road:120x120", "er:3000")

#: Entries that a call may read, by the cost of its row: the reference takes a second for as many.
MOST_READ = {"cuda": 1_500_000, "cpu": 50_000_000}

#: Vertices that a computation starts from, where it may have several.
STARTS = 16

#: Facts of a summary that are all values as one, by a monoid.
REDUCED = {"sum": "plus", "half_sum": "plus", "least": "min", "most": "max"}

#: Options that graphs too large for a trial choose by themselves.
LARGE_OPTIONS = {"block": 8}

#: The dtype of graphs whose entries have no values.
PATTERN = "BOOL"


@dataclass(frozen=True, slots=True)
class Done:
    """What one task compiled."""

    #: Of the task: an algorithm or a kernel.
    title: str
    #: `compiled`, `found`: Kernels that were compiled now, and that the cache had.
    compiled: int = 0
    found: int = 0
    seconds: float = 0.0
    #: Why calls were left out, each reason once.
    refused: tuple[str, ...] = ()


# calls -------------------------------------------------------------------------------------------
def calls_of(row: Row) -> Iterator[tuple[Sequence[Any], dict[str, Any]]]:
    """Yield arguments after the matrix, of the calls of an algorithm that differ in kernels.

    Examples
    --------
    >>> list(calls_of(REGISTRY["bfs"]))
    [((0,), {}), ([0], {'parents': True})]
    """
    start = {"source": (0,), "sources": (list(range(STARTS)),)}.get(row.start, ())
    if set(row.needed) <= {row.start}:
        yield start, {}
    for case in row.measured():
        places = (0,) if row.start == "sources" and case.sources == 1 else start
        if case.options:
            yield places, dict(case.options)
    chosen = [(name, each) for name in row.parameters for each in row.parameters[name].choices]
    others = [(name, each) for name, each in LARGE_OPTIONS.items() if name in row.parameters]
    for name, each in (*chosen, *others):
        if set(row.needed) <= {row.start}:
            yield start, {name: each}
    for text in row.calls:
        call = ast.parse(f"f({text})", mode="eval").body
        assert isinstance(call, ast.Call)
        options = {each.arg: ast.literal_eval(each.value) for each in call.keywords if each.arg}
        yield [ast.literal_eval(each) for each in call.args[1:]], options


def options_of(row: Row, given: dict[str, Any], *, symmetric: bool) -> dict[str, Any]:
    """Return options of a call that keep it short, and those that are given."""
    known: dict[str, Any] = (
        {"symmetric": True} if symmetric and "symmetric" in row.parameters else {}
    )
    if "sources" in row.parameters and row.start != "sources":
        known["sources"] = list(range(STARTS))
    return {**known, **given}


@cache
def graph_of(spec: str, dtype: str, *, undirected: bool) -> Matrix:
    """Return a generated graph with weights of a dtype, or as a pattern."""
    weights = "" if dtype == PATTERN else ",weights=uniform"
    edges = generate(f"{spec}{weights}")
    made = from_edges(edges)
    if undirected:
        made = made.ewise_add(made.T, "any").new().select("offdiag").new()
    return made if dtype == PATTERN else made.dup(dtype=dtype)


def _run(row: Row, where: str, dtype: str, specs: Sequence[str]) -> tuple[str, ...]:
    """Run all calls of an algorithm on every graph; return why calls were refused."""
    refused: dict[str, None] = {}
    for spec in (*specs, *MORE.get(row.name, ())):
        with device("reference"):
            matrix = graph_of(spec, dtype, undirected=not row.directed)
        if row.cost(matrix.nrows, matrix.nvals) > MOST_READ[where]:
            continue
        for symmetric in (False, True)[: 1 + ("symmetric" in row.parameters)]:
            calls = list(calls_of(row))
            for places, given in calls if spec in specs else calls[:1]:
                options = options_of(row, given, symmetric=symmetric and not row.directed)
                try:
                    result = row.function(matrix.to(where), *places, **options)
                    wait(row, result)
                    _tell(row, result)
                except GraphblasException as error:
                    refused.setdefault(f"{row.name} of {dtype}: {error}")
    return tuple(refused)


def wait(row: Row, result: Any) -> None:
    """Wait for the vectors and matrices of a result."""
    _read(result, (row.layout.main, *row.layout.beside))


def _tell(row: Row, result: Any) -> None:
    """Compute what ``semira run`` tells of a result, as far as a device computes it."""
    names = [fact.rpartition("=")[2] for fact in row.facts]
    _read(result, names)
    answer = Answer(result, getattr(result, row.main))
    for monoid in {REDUCED[name] for name in names if name in REDUCED}:
        answer.reduced(monoid)


def _read(result: Any, names: Iterable[str]) -> None:
    for name in names:
        part: Any = getattr(result, name, None)
        if hasattr(part, "wait"):
            part.wait()


# cpu ---------------------------------------------------------------------------------------------
def compile_for_cpu(name: str, dtypes: Sequence[str]) -> Done:
    """Run an algorithm on the cpu backend, which keeps what it compiles."""
    started, before = time.perf_counter(), len(kernels.compiled)
    refused = [text for dtype in dtypes for text in _run(REGISTRY[name], "cpu", dtype, SMALL)]
    # What larger graphs ask for: statements one by one, for threads.
    with interpreted_only():
        for dtype in dtypes:
            _run(REGISTRY[name], "cpu", dtype, SMALL)
    compiled = len(kernels.compiled) - before
    found = max(0, sum(kernels.kernels_met().values()) - compiled)
    return Done(name, compiled, found, time.perf_counter() - started, tuple(refused))


# cuda --------------------------------------------------------------------------------------------
class StandIn(ReferenceBackend):
    """Computes as the reference does, and lists the texts that a GPU would ask for."""

    name = "cuda"

    def __init__(self, *, large: bool) -> None:
        super().__init__()
        self.texts: dict[Text, None] = {}
        self._large = large

    def capabilities(self) -> Capabilities:
        """Return what the cuda backend can do, so that programs are planned for it."""
        return registry.capabilities_of("cuda")

    def expect(self, algorithm: str, dtype: str, entries: int) -> None:
        """Expect nothing: all texts are noted."""

    def prepare(self, program: Program) -> Any:
        """Note the texts of a program."""
        self.texts |= dict.fromkeys(texts_of(program, large=self._large))
        return super().prepare(program)

    def run_kernel(self, text: KernelText, launch: Launch) -> None:
        """Note the text of a kernel over arrays, and run it here."""
        self.texts[array_text(text, launch)] = None
        if not text.skips_hosts:
            super().run_kernel(text, launch)

    def run_kernel_loop(
        self,
        state: Any,
        launches: Sequence[tuple[KernelText, Launch]],
        before: Sequence[tuple[KernelText, Launch]],
        most_blocks: int | None,
    ) -> None:
        """Note the text of kernels that run in turn, and run them here."""
        del most_blocks
        self.texts[array_loop_text(launches, before)] = None
        turn, is_skipped = before, all(text.skips_hosts for text, _ in launches)
        while True:
            for text, launch in turn:
                if launch.items and not text.skips_hosts:
                    super().run_kernel(text, launch)
            # What hosts skip as a whole asks for nothing else.
            if is_skipped or state[0]:
                return
            turn = launches

    def fixed_point(
        self, vector: Any, matrix: tuple[Any, bool], semiring: TypedSemiring, width: float
    ) -> None:
        """Note the texts of a fixed point, and leave it to the loop, whose texts count as well."""
        del vector, width
        self.texts |= dict.fromkeys(fixed_point_texts(semiring, _dtype_of(matrix[0])))


def _dtype_of(handle: Any) -> DataType:
    found: DataType = handle.data.dtype
    return found


def texts_for_cuda(
    name: str, dtypes: Sequence[str], *, large: bool = True, specs: Sequence[str] = TINY
) -> tuple[list[Text], tuple[str, ...]]:
    """Return the texts that an algorithm asks for on a GPU, and why calls were refused.

    Those that an algorithm before it in this process asked for are among them.
    """
    device_of_process = _stand_in(large)
    refused = [text for dtype in dtypes for text in _run(REGISTRY[name], "cuda", dtype, specs)]
    return [*base_texts(), *device_of_process.texts], tuple(refused)


@cache
def _stand_in(large: bool) -> StandIn:
    made = StandIn(large=large)
    registry.stand_in("cuda", made)  # type: ignore[arg-type]
    return made


def compile_text(task: tuple[Text, str]) -> Done:
    """Compile a text for an architecture, unless the cache has it."""
    text, arch = task
    started = time.perf_counter()
    was_cached = text.compile(arch).was_cached
    elapsed_s = time.perf_counter() - started
    return Done(f"{text.name} for {arch}", int(not was_cached), int(was_cached), elapsed_s)


# processes ---------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Request:
    """What to compile."""

    #: Algorithms, names of the registry.
    names: Sequence[str]
    #: Of graphs; BOOL: without weights.
    dtypes: Sequence[str]
    #: Of GPUs; none: for ``cpu``.
    archs: Sequence[str] = ()
    #: On a GPU: also for graphs of some hundred thousand edges and more.
    large: bool = True
    #: Processes.
    jobs: int = 1
    #: Receives each finished task.
    done: Callable[[Done], Any] = field(default=lambda _: None)


def compile_all(request: Request) -> list[Done]:
    """Compile what a request asks for; return what each task did.

    Raises JitError if a kernel does not compile. Raises DeviceUnavailable if the compiler for GPUs
    is not installed.
    """
    for dtype in request.dtypes:
        lookup_dtype(dtype)
    if not request.archs:
        work = partial(compile_for_cpu, dtypes=request.dtypes)
        with _processes(request) as pool:
            return list(_each(request, pool, work, request.names))
    list_texts = partial(texts_for_cuda, dtypes=request.dtypes, large=request.large)
    texts: dict[Text, None] = {}
    refused: dict[str, None] = {}
    with _processes(request) as pool:
        for found, why in pool.map(list_texts, request.names):
            texts |= dict.fromkeys(found)
            refused |= dict.fromkeys(why)
        tasks = [(text, arch) for arch in request.archs for text in texts]
        # The longest first: the last one to end bounds the whole.
        tasks.sort(key=lambda task: -len(task[0].source))
        made = list(_each(request, pool, compile_text, tasks))
    return [*made, Done("", refused=tuple(refused))]


def _processes(request: Request) -> ProcessPoolExecutor:
    # Not forked: an algorithm's kernels are counted from none.
    return ProcessPoolExecutor(request.jobs, get_context("spawn"), max_tasks_per_child=None)


def _each(
    request: Request, pool: ProcessPoolExecutor, work: Callable[[Any], Done], tasks: Iterable[Any]
) -> Iterator[Done]:
    for done in pool.map(work, tasks):
        request.done(done)
        yield done
