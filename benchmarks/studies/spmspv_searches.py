"""Whole searches with one strategy of a push: their graphs, and the breakdown of their time.

After Table 4.1, Table 4.3 and Figure 4.1 of C. Yang's thesis (2019); the records are those of
`benchmarks.studies.spmspv`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from benchmarks.studies.shapes import diameter_text
from benchmarks.studies.spmspv import MERGES, PARTS, part_of, way_of
from semira.bench.record import Record
from semira.bench.report import figure
from semira.bench.versus import Peers, best_peer, is_like_peers

#: Columns of the first table: strategies, the dense product, the planner.
_COLUMNS = (*MERGES, "dense", "auto")

#: The parts of `PARTS`, and the rest: writes, and the other statements of a search.
SEARCH_PARTS = (*PARTS, "write and others")


def _searches(records: Sequence[Record]) -> Iterator[Record]:
    """Yield the searches, small graphs first."""
    for record in sorted(records, key=lambda each: each.dataset.nvals):
        if record.kind == "algorithm" and record.kernel == "bfs" and record.median_s:
            yield record


def studied_table(
    records: Sequence[Record], shapes: Sequence[Record], peers: Peers
) -> tuple[list[str], list[list[str]]]:
    """Return the header and rows: each graph, and device time of a search with every strategy.

    Parameters
    ----------
    records : sequence of Record
        Of `benchmarks.studies.spmspv`.
    shapes : sequence of Record
        Of `benchmarks.studies.shapes`, matched by checksum. For a graph without one, the longest
        row is unknown, and the diameter is at least the levels of the search.
    peers : Peers
        The table names the faster one on the same graph, by the device's clock.
    """
    known = {each.dataset.checksum: each.facts for each in shapes if each.kind == "shape"}
    graphs: dict[str, dict[str, Record]] = {}
    for record in _searches(records):
        graphs.setdefault(record.dataset.name, {})[way_of(record)] = record
    head = [
        "graph", "vertices", "entries", "longest row", "diameter", "levels of the search",
        *(f"{way} ms" for way in _COLUMNS), "faster peer, ms",
    ]  # fmt: skip
    rows = []
    for name, ways in graphs.items():
        any_way = next(iter(ways.values()))
        levels, facts = any_way.iterations or 0, known.get(any_way.dataset.checksum)
        times = (ways[way].device_median_s if way in ways else None for way in _COLUMNS)
        alike = is_like_peers(any_way, peers)
        best = best_peer(peers.times.get((name, "bfs"), ()) if alike else (), "device_ms")
        rows.append(
            [
                name, f"{any_way.dataset.n:,}", f"{any_way.dataset.nvals:,}",
                "-" if facts is None else f"{facts['longest_row']:,}",
                # The last product of a search finds nothing.
                f"at least {levels - 1:,}" if facts is None else diameter_text(facts["diameter"]),
                f"{levels:,}", *(figure(1e3 * each if each else None) for each in times),
                "-" if best is None else f"{best[1]} {figure(best[0])}",
            ]
        )  # fmt: skip
    return head, rows


def search_parts(records: Sequence[Record]) -> dict[str, dict[str, dict[str, float]]]:
    """Return, by strategy and graph, the milliseconds of each part of a search, small graphs first.

    Only for strategies that list their products, whose parts are separate kernels; atomics are one
    kernel with the loop.
    """
    found: dict[str, dict[str, dict[str, float]]] = {}
    for record in _searches(records):
        way = way_of(record)
        if way not in MERGES[1:] or not record.kernels:
            continue
        taken = found.setdefault(way, {})[record.dataset.name] = dict.fromkeys(SEARCH_PARTS, 0.0)
        for kernel in record.kernels:
            part = part_of(kernel["name"])
            taken[part if part in taken else SEARCH_PARTS[-1]] += kernel["device_ms"]
    return found


def search_parts_table(records: Sequence[Record]) -> tuple[list[str], list[list[str]]]:
    """Return the header and rows: breakdown of the time of searches by strategy, in milliseconds.

    Only for devices that time their kernels.
    """
    found = search_parts(records)
    graphs = dict.fromkeys(graph for each in found.values() for graph in each)
    rows = [
        [graph, way, *map(figure, each[graph].values()), figure(sum(each[graph].values()))]
        for graph in graphs
        for way, each in found.items()
        if graph in each
    ]
    return ["graph", "strategy", *(f"{part} ms" for part in SEARCH_PARTS), "all ms"], rows
