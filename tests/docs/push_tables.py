"""Tables of the documentation on whole searches by one strategy or method, from the records."""

from __future__ import annotations

from pathlib import Path

from benchmarks.studies.bfs_methods import winners_table
from benchmarks.studies.spmspv_searches import search_parts_table, studied_table
from benchmarks.studies.versus import runs_of
from tests.docs.stored import read_records

from semira.bench.report import markdown_table
from semira.bench.versus import read_peers

BENCH = Path(__file__).resolve().parents[2] / "bench"
STRATEGIES, SHAPES = (BENCH / "results" / f"{name}.jsonl" for name in ("spmspv", "shapes"))


def graphs() -> str:
    """Return the graphs of the strategies, and a search by each of them."""
    shapes, peers = read_records(SHAPES), read_peers(BENCH / "peers" / "h200.json")
    table = studied_table(read_records(STRATEGIES), shapes, peers)
    return "\n\n".join([runs_of(shapes), markdown_table(*table)])


def search_parts() -> str:
    """Return what searches by one strategy spend their time on."""
    return markdown_table(*search_parts_table(read_records(STRATEGIES)))


def winners() -> str:
    """Return which of the textbook's methods is the fastest on which graph."""
    records = read_records(BENCH / "results" / "bfs-methods.jsonl")
    return "\n\n".join([runs_of(records), markdown_table(*winners_table(records))])
