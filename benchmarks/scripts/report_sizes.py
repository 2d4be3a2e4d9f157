"""Applications on graphs of the sizes of the HIVE report, on any device.

Each row gives the least wall milliseconds of some warm whole calls, until the device is idle, those
of the first call in this process, and what proves the result. Graphs that are not public
are generated at their size and kind. The figures beside are the report's, or those of a peer.

    python -m benchmarks.scripts.report_sizes --device cuda --data DIRECTORY [PART OF A NAME...]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.scripts import classification, flows
from benchmarks.scripts.assignment import graphs_of
from benchmarks.scripts.projections import read

import semira as gb
from semira import algorithms as al
from semira import apps
from semira.backends.registry import backend_for
from semira.kernels import array_module

#: A call, and what is told of its result.
Case = tuple[Callable[[], Any], Callable[[Any], str]]

#: What makes each case, and the figure beside it.
Cases = dict[str, tuple[Callable[[], Case], str]]


def uniform(n: int, whole: bool = False) -> Case:
    """Return an assignment of n rows, costs on the device."""
    with array_module(gb.Scalar.from_value(0).device) as xp:
        rng = xp.random.default_rng(0)
        costs = rng.integers(1, 101, (n, n)).astype(float) if whole else rng.random((n, n))
    return lambda: al.linear_sum_assignment(costs), lambda found: f"gap {found.gap:.1e}"


def matching(n: int) -> Case:
    """Return the matching of a random graph with a shuffled copy, 2 % seeds."""
    one, two, number = graphs_of(n)
    A, B = (  # noqa: N806
        gb.Matrix.from_coo(rows, columns, 1.0, nrows=n, ncols=n)
        for rows, columns in (np.nonzero(one), np.nonzero(two))
    )
    seeds = np.stack((np.arange(n // 50), number[: n // 50]), 1)
    return (
        lambda: apps.graph_match(A, B, seeds=seeds),
        lambda found: f"disagreements {found.disagreements}",
    )


def large_matching() -> Case:
    """Return five iterations on graphs of DS16784's size, half of whose edges are common."""
    n, m, rng = 16_784, 445_821, np.random.default_rng(2)

    def pairs(count: int) -> Any:
        found = rng.integers(0, n, (2 * count, 2))
        return found[found[:, 0] < found[:, 1]][:count]

    def symmetric(edges: Any) -> Any:
        both = np.unique(np.concatenate((edges, edges[:, ::-1])), axis=0)
        return gb.Matrix.from_coo(both[:, 0], both[:, 1], 1.0, nrows=n, ncols=n)

    common, one, two = (pairs(m // 2) for _ in range(3))
    A, B = (symmetric(np.concatenate((common, each))) for each in (one, two))  # noqa: N806
    return (
        lambda: apps.graph_match(A, B, num_seeds=100, initial="seeds", max_iterations=5),
        lambda found: f"common edges {found.common:,}, iterations {found.iterations}",
    )


def flow(k: int) -> Case:
    """Return a flow through a grid of k x k vertices."""
    n = k * k + 2
    A = gb.Matrix.from_coo(*flows.network(k), nrows=n, ncols=n)  # noqa: N806
    return (
        lambda: al.maximum_flow(A, n - 2, n - 1),
        lambda found: f"flow {found.value} = cut, rounds {found.iterations}",
    )


def lasso(k: int, price: float, solver: str) -> Case:
    """Return the denoising of an image of k x k pixels."""
    left, right = flows.pairs(k)
    A, y = gb.Matrix.from_coo(left, right, 1.0, nrows=k * k, ncols=k * k), flows.image(k)  # noqa: N806
    return (
        lambda: apps.fused_lasso(A, y, lambda2=price, solver=solver),
        lambda found: f"gap {found.relative_gap:.1e}, steps {found.iterations}",
    )


@lru_cache(1)
def graph(data: Path, name: str) -> Any:
    """Return a stored graph, or a generated one without loops, undirected."""
    if name == "MovieLens-sized":
        rng, e = np.random.default_rng(2), 21_500_000
        rows = (138_493 * rng.random(e) ** 1.8).astype(int)
        columns = (26_744 * rng.random(e) ** 3).astype(int)
        return gb.Matrix.from_coo(rows, columns, 1, nrows=138_493, ncols=26_744, dup_op="any")
    if ":" in name:
        drawn = gb.io.read(name, symmetrise=True).to(gb.Scalar.from_value(0).device)
        return drawn.select("offdiag").new()
    there = read(data / f"{name}.npz")
    return gb.Matrix.from_csr(there.indptr, there.indices, there.data, ncols=there.shape[1])


def projection(data: Path, name: str, onto: str, **options: Any) -> Case:
    """Return a projection."""
    A = graph(data, name)  # noqa: N806
    return lambda: apps.project(A, onto, **options), lambda found: f"{found.matrix.nvals:,} entries"


def blocks(data: Path, name: str) -> Case:
    """Return a whole projection onto columns, block by block."""
    A = graph(data, name)  # noqa: N806

    def run() -> int:
        return sum(block.nvals for _, block in apps.project_blocks(A, memory=1 << 30))

    return run, lambda found: f"{found:,} entries"


def scan(data: Path, name: str) -> Case:
    """Return scan statistics of an undirected graph."""
    A = graph(data, name)  # noqa: N806
    return (
        lambda: apps.local_scan(A, symmetric=True),
        lambda found: f"{A.nvals:,} entries, greatest {found.greatest:,}",
    )


def nomination(data: Path, name: str, **options: Any) -> Case:
    """Return distances from five seeds, or the ranks of the nearest vertices."""
    A = graph(data, name)  # noqa: N806
    seeds = np.random.default_rng(0).choice(A.nrows, 5, replace=False).tolist()

    def run() -> Any:
        found = apps.nominate(A, seeds, weighted=False, **options)
        return found.ranks if options else found

    return run, lambda _: f"{A.nvals:,} entries"


def searches(data: Path, name: str, count: int) -> Case:
    """Return searches from many vertices at once."""
    A = graph(data, name)  # noqa: N806
    sources = np.random.default_rng(0).choice(A.nrows, count, replace=False).tolist()
    return lambda: al.multi_source_bfs(A, sources), lambda found: f"levels {found.depth}"


def triangles(data: Path, name: str, **options: Any) -> Case:
    """Return a count of triangles."""
    A = graph(data, name)  # noqa: N806
    return lambda: al.triangle_count(A, **options).count, lambda found: f"{found:,} triangles"


def clustering(data: Path, name: str) -> Case:
    """Return local clustering coefficients."""
    A = graph(data, name)  # noqa: N806
    return (
        lambda: al.local_clustering_coefficient(A, symmetric=True),
        lambda found: f"mean {found.average:.6f}",
    )


def labelled(data: Path, name: str, what: str) -> Case:
    """Return communities, labels, colours, a truss or a forest of a graph made undirected."""
    A = graph(data, name)  # noqa: N806
    A = A.ewise_add(A.T, "any").new().select("offdiag").new()  # noqa: N806
    calls: dict[str, Callable[[], Any]] = {
        "Louvain": lambda: apps.louvain(A),
        "Leiden": lambda: apps.leiden(A),
        "label propagation": lambda: al.label_propagation(A),
        "colouring": lambda: al.graph_colouring(A),
        "4-truss": lambda: al.k_truss(A, 4, symmetric=True),
        "forest": lambda: al.minimum_spanning_forest(A),
    }

    def tell(found: Any) -> str:
        modularity = getattr(found, "modularity", None)
        return f"iterations {found.iterations}" if modularity is None else f"Q {modularity:.4f}"

    return calls[what], tell


def classify(make: Callable[[], Any]) -> Case:
    """Return the report's classification."""
    case = make()
    rows, columns, features = case.edges
    A = gb.Matrix.from_coo(rows, columns, True, nrows=case.n, ncols=case.n)  # noqa: N806
    with array_module(A.device) as xp:
        of_vertices, of_edges = xp.asarray(case.vertices), xp.asarray(features)
    given = case.pattern_vertices, case.pattern_edges
    return (
        lambda: apps.classify(A, of_vertices, of_edges, *given, reverse_from="source"),
        lambda found: f"{A.nvals:,} edges",
    )


def of_report(data: Path) -> Cases:
    """Return cases of the report's sizes, or of a goal's."""
    found: Cases = {}
    for n, goal in ((1000, "10"), (5000, "80"), (16384, "1,000")):
        found[f"assignment {n:,}, uniform"] = partial(uniform, n), f"goal {goal}"
        found[f"assignment {n:,}, integers"] = partial(uniform, n, whole=True), f"goal {goal}"
    found["matching 2,000"] = partial(matching, 2000), "goal 50"
    found["matching DS16784-sized"] = large_matching, "goal 1,500; report 42,220 (P100)"
    for k, goal in ((200, "15"), (1000, "60")):
        found[f"flow {k} x {k}"] = partial(flow, k), f"goal {goal}"
    for price in (0.3, 1.0):
        for solver in ("primal_dual", "cuts"):
            made = partial(lasso, 1000, price, solver)
            found[f"lasso 1000 x 1000, {price}, {solver}"] = made, "goal 300"
    for told, options in (("", {}), (", top 10", {"top": 10})):
        made = partial(projection, data, "gowalla-lightgcn", "rows", **options)
        found[f"projection gowalla{told}"] = made, "goal 15"
    name = "MovieLens-sized"
    made = partial(projection, data, name, "columns", top=20)
    found[f"projection {name}, top 20"] = made, "goal 150; report 2,319 (V100)"
    found[f"projection {name}, blocks"] = partial(blocks, data, name), "goal 150"
    for each, goal in (("rmat18", "15; report 827 (P100)"), ("social", "5; report 451 (P100)")):
        made = partial(classify, getattr(classification, each))
        found[f"classification {each}"] = made, f"goal {goal}"
    return found


def of_graphs(data: Path) -> Cases:
    """Return cases of stored graphs."""
    found: Cases = {}
    for name in ("email-Enron", "coAuthorsDBLP", "cnr-2000", "kron:20"):
        found[f"scan {name}"] = partial(scan, data, name), "goals 8 and 6 at pokec, as-Skitter"
        found[f"clustering {name}"] = partial(clustering, data, name), "goal 3 triangle counts"
        found[f"triangles {name}"] = partial(triangles, data, name), ""
        found[f"nomination {name}"] = partial(nomination, data, name), "goal 0.12 at Enron"
        found[f"nomination {name}, top 100"] = partial(nomination, data, name, top=100), ""
    goals = {
        "Louvain": "goal 10", "Leiden": "goal 20", "label propagation": "goals 10 and 20",
        "colouring": "goal 3", "4-truss": "goal 60 at cnr-2000", "forest": "",
    }  # fmt: skip
    for name in ("coAuthorsDBLP", "cnr-2000"):
        for what, goal in goals.items():
            found[f"{what} {name}"] = partial(labelled, data, name, what), goal
    for name in ("soc-Slashdot0902", "coAuthorsDBLP", "cnr-2000", "web-NotreDame", "delaunay_n16"):
        for count in (1, 64, 256):
            found[f"searches {count} {name}"] = partial(searches, data, name, count), ""
    for name in ("mycielskian12", "mycielskian13"):
        found[f"triangles {name}"] = partial(triangles, data, name), ""
        found[f"triangles {name}, bits=32"] = partial(triangles, data, name, bits=32), ""
    return found


def main() -> None:
    """Print a row for each case."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--calls", type=int, default=5)
    given = parser.parse_args()
    print("| case | first | warm ms | beside | the result says |\n|---|---|---|---|---|")
    with gb.device(given.device):
        wait = getattr(backend_for(given.device), "synchronise", lambda: None)
        for name, (make, beside) in (of_report(given.data) | of_graphs(given.data)).items():
            if given.parts and not any(part in name for part in given.parts):
                continue
            call, tell = make()
            taken, result = [], None
            for _ in range(given.calls + 1):
                del result
                start = time.perf_counter()
                result = call()
                wait()
                taken.append(1e3 * (time.perf_counter() - start))
            told = f"{taken[0]:,.0f} | {min(taken[1:]):,.4g} | {beside} | {tell(result)}"
            print(f"| {name} | {told} |", flush=True)


if __name__ == "__main__":
    main()
