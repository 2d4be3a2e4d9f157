"""Measure the applications: whole calls, and what each result says of itself.

Examples
--------
python -m benchmarks applications --quick
python -m benchmarks applications --graphs coAuthorsDBLP --device cuda --out applications.jsonl
"""

from __future__ import annotations

import numbers
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

import semira as gb
from benchmarks.harness import Options, Study, option
from benchmarks.studies.selection import choose_cases
from semira import algorithms, apps
from semira.backends.registry import backend_for
from semira.base.errors import GraphblasException
from semira.bench.device import free_memory
from semira.bench.graphs import BenchGraph
from semira.bench.record import Record
from semira.bench.report import figure
from semira.bench.timer import Budget, measure
from semira.cli.bench import split_names

#: Walkers, and the vertices of each walk.
WALKERS, LENGTH = 100_000, 80

#: Seeds of samples, and of local clusters.
SEEDS, CLUSTERS = 1_024, 1_000

#: Mean number of vertices of a group in a contraction.
GROUP = 50

#: Columns of the features of an embedding.
FEATURES = 64

#: Takes a matrix and random numbers; returns what is timed.
Make = Callable[[Any, np.random.Generator], Callable[[], Any]]


def _starts(matrix: Any, rng: np.random.Generator, count: int) -> NDArray[np.int64]:
    """Return vertices with neighbours, drawn with replacement."""
    ends = np.unique(matrix.to_coo(values=False)[0].astype(np.int64))
    return rng.choice(ends, count)


def _walks(**options: Any) -> Make:
    def make(matrix: Any, rng: np.random.Generator) -> Callable[[], Any]:
        starts = _starts(matrix, rng, WALKERS)
        return lambda: apps.random_walks(matrix, starts, LENGTH, **options)

    return make


def _communities(name: str) -> Make:
    return _simple(name)


def _clusters(count: int, **options: Any) -> Make:
    def make(matrix: Any, rng: np.random.Generator) -> Callable[[], Any]:
        seeds = np.unique(_starts(matrix, rng, count))
        return lambda: apps.local_clusters(matrix, seeds, symmetric=True, **options)

    return make


def _samples(matrix: Any, rng: np.random.Generator) -> Callable[[], Any]:
    seeds = np.unique(_starts(matrix, rng, SEEDS))
    return lambda: apps.sample_hops(matrix, seeds, (10, 25))


def _contraction(matrix: Any, rng: np.random.Generator) -> Callable[[], Any]:
    labels = rng.integers(0, max(1, matrix.nrows // GROUP), matrix.nrows)
    _, labels = np.unique(labels, return_inverse=True)
    return lambda: apps.contract(matrix, labels)


def _samples_alone(matrix: Any, rng: np.random.Generator) -> Callable[[], Any]:
    seeds = np.unique(_starts(matrix, rng, SEEDS))
    return lambda: apps.sample_neighbours(matrix, seeds, 10, weighted=True)


def _samples_in_a_loop(matrix: Any, _rng: np.random.Generator) -> Callable[[], Any]:
    """Ten entries of each row, in each of five iterations."""
    with gb.device(matrix.device):
        keys, sample = gb.Matrix("FP64", *matrix.shape), gb.Matrix("FP64", *matrix.shape)
        seed = gb.Scalar.from_value(0)

    def step() -> None:
        keys << matrix.apply("random_uniform", seed)
        sample << keys.largest_per_row(10)
        seed << seed + 1

    return lambda: gb.repeat(step, max_iterations=5)


def _contraction_in_a_loop(matrix: Any, rng: np.random.Generator) -> Callable[[], Any]:
    """Contract the same groups as `_contraction` by two products with their assignment."""
    n = matrix.nrows
    given = rng.integers(0, max(1, n // GROUP), n)
    with gb.device(matrix.device):
        labels, groups = gb.Vector.from_dense(given), gb.Matrix(bool, n, n)
        small = gb.Matrix("FP64", n, n)

    def step() -> None:
        groups << labels.one_hot(n)
        small << groups.T.mxm(matrix.mxm(groups, "plus_first").new(), "plus_second")

    return lambda: gb.repeat(step, max_iterations=1)


def _embedding(matrix: Any, rng: np.random.Generator) -> Callable[[], Any]:
    features = rng.standard_normal((matrix.nrows, FEATURES), np.float32)
    return lambda: apps.sage_embedding(matrix, features)


def _classification(matrix: Any, rng: np.random.Generator) -> Callable[[], Any]:
    """Features, and a pattern of 10 vertices and 21 edges, at random: times do not depend on it."""
    vertices, edges = rng.random((matrix.nrows, 13)), rng.random((matrix.nvals, 17))
    pattern = rng.integers(0, 10, 21), rng.integers(0, 10, 21), rng.random((21, 17))
    known = rng.random((10, 13))
    return lambda: apps.classify(matrix, vertices, edges, known, pattern)


def _subgraphs(pairs: Sequence[tuple[int, int]], labels: int = 0) -> Make:
    """Count the places of a pattern, whose vertices have different labels if there are labels."""

    def make(matrix: Any, rng: np.random.Generator) -> Callable[[], Any]:
        rows, cols = np.array([*pairs, *((j, i) for i, j in pairs)]).T
        pattern = gb.Matrix.from_coo(rows, cols, True, device=matrix.device)
        given: dict[str, Any] = {}
        if labels:
            given["labels"] = rng.integers(0, labels, matrix.nrows)
            given["pattern_labels"] = np.arange(pattern.nrows)
        return lambda: apps.subgraph_match(matrix, pattern, distinct=True, limit=0, **given)

    return make


def _nominations(count: int) -> Make:
    def make(matrix: Any, rng: np.random.Generator) -> Callable[[], Any]:
        sets = [np.unique(_starts(matrix, rng, 5)).tolist() for _ in range(count)]
        return lambda: apps.nominate(matrix, sets, weighted=False, top=100)

    return make


def _flow(matrix: Any, rng: np.random.Generator) -> Callable[[], Any]:
    source, sink = rng.choice(np.unique(_starts(matrix, rng, SEEDS)), 2, replace=False)
    return lambda: algorithms.maximum_flow(matrix, source, sink)


def _lasso(solver: str) -> Make:
    def make(matrix: Any, rng: np.random.Generator) -> Callable[[], Any]:
        y = rng.standard_normal(matrix.nrows)
        return lambda: apps.fused_lasso(matrix, y, lambda2=0.1, weighted=False, solver=solver)

    return make


def _simple(name: str, **options: Any) -> Make:
    return lambda matrix, _rng: lambda: getattr(apps, name)(matrix, **options)


#: What is measured, by name.
CASES: dict[str, Make] = {
    "Louvain": _communities("louvain"),
    "Leiden": _communities("leiden"),
    "walks, uniform": _walks(),
    "walks, biased": _walks(kind="biased"),
    "walks, node2vec": _walks(kind="node2vec", p=0.5, q=2.0),
    "samples, 10 and 25": _samples,
    "samples, 10 by weight": _samples_alone,
    "samples of rows in a loop, 5 times 10": _samples_in_a_loop,
    "contraction": _contraction,
    "groups contracted in a loop": _contraction_in_a_loop,
    "GraphSAGE, 64 features": _embedding,
    "classification, 10 by 21": _classification,
    "subgraphs, triangles": _subgraphs([(0, 1), (0, 2), (1, 2)]),
    "subgraphs, houses of 10 labels": _subgraphs(
        [(0, 1), (1, 2), (2, 3), (3, 0), (0, 4), (1, 4)], labels=10
    ),
    "maximum flow": _flow,
    "fused lasso, cuts": _lasso("cuts"),
    "fused lasso, primal-dual": _lasso("primal_dual"),
    "projection, top 10": _simple("project", top=10),
    "scan statistics": _simple("local_scan", symmetric=True),
    "nomination, 5 seeds": _nominations(1),
    "nominations, 32 sets": _nominations(32),
    "local cluster, FISTA": _clusters(1),
    "local clusters, pushes": _clusters(CLUSTERS, method="push", alpha=0.15, rho=1e-6),
}


def names_of(text: str) -> tuple[str, ...]:
    """Return the cases whose names contain one of the parts.

    Raises
    ------
    InvalidValue
        There is none.

    Examples
    --------
    >>> names_of("Leiden,FISTA")
    ('Leiden', 'local cluster, FISTA')
    """
    return tuple(choose_cases(CASES, split_names(text), "application"))


@dataclass(frozen=True, slots=True)
class ApplicationOptions(Options):
    """Options of the study."""

    graphs: Sequence[str] = option(("kron:14",), quick=("kron:7",))
    names: Sequence[str] = option(
        tuple(CASES), "Parts of names of applications.", flag="--only", parse=names_of
    )
    trials: int = option(5, "Warm calls of each case.", quick=1, least=1)


def trial(options: ApplicationOptions, graph: BenchGraph) -> Iterator[Record]:
    """Measure every application on the undirected graph."""
    used = graph.undirected
    matrix = used.matrix.to(options.device)
    for name in options.names:
        blank = Record("application", name, used.dataset, "semira", options.device)
        try:
            yield _measured(options, CASES[name](matrix, np.random.default_rng(0)), blank)
        except GraphblasException as error:
            yield replace(blank, verified=False, note=f"{type(error).__name__}: {error}")
        free_memory(graph.xp)


def _measured(options: ApplicationOptions, run: Callable[[], Any], blank: Record) -> Record:
    backend = backend_for(options.device)

    def call(_trial: int = 0) -> Any:
        result = run()
        backend.synchronise()
        return result

    result, samples = measure(call, Budget(options.trials, options.seconds))
    told = result.facts() if hasattr(result, "facts") else {}
    facts = {key: value for key, value in told.items() if isinstance(value, numbers.Real)}
    return replace(
        blank, first_s=samples.first_s, warm_s=samples.warm_s, compile_s=samples.compile_s,
        facts=facts,
    )  # fmt: skip


def applications_table(records: Sequence[Record]) -> tuple[list[str], list[list[str]]]:
    """Return the header and rows: times of each application, and what its result says."""
    head = ["application", "graph", "device", "ms", "the result says"]
    rows = []
    for record in records:
        if record.kind != "application":
            continue
        where = [record.kernel, record.dataset.name, record.backend]
        if record.first_s is None:
            rows.append([*where, "", f"**failed**: {record.note}"])
            continue
        told = ", ".join(f"{key.replace('_', ' ')} {figure(x)}" for key, x in record.facts.items())
        rows.append([*where, figure(1e3 * min(record.warm_s)), told])
    return head, rows


STUDY = Study(__doc__, ApplicationOptions, trial, {"Applications": applications_table})
