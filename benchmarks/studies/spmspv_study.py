"""Compare strategies of a sparse push with the dense product, by size of the frontier.

Atomics, scatter, radix sort and merge sort, of columns alone (any_pair) and with values
(any_first, min_plus); then breadth-first search with each (C. Yang's thesis of 2019, Tables
4.2 to 4.4, Figure 4.2; ``bench draw parts`` draws Figure 4.1 of the records). With several
graphs, a table tells whether the dense product wins from a size on, or from a fraction of the
graph. Others have how often the planner comes within a tenth of the best way, its choices
today, and the difference between two runs of one plan. Some devices have only one push.

Examples
--------
python -m benchmarks spmspv --quick
python -m benchmarks spmspv --graphs kron:16,kron:18,kron:20 --device cuda --out spmspv.jsonl
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from benchmarks.harness import Study, Table
from benchmarks.studies import spmspv
from benchmarks.studies.choices import chance_table, choices_table
from benchmarks.studies.spmspv_searches import search_parts_table
from semira.bench.record import Record


def _of_series(table: Callable[[Any], Any]) -> Table:
    """Turn a table of series into a table of records."""

    def of_records(records: Sequence[Record]) -> tuple[list[str], list[list[str]]]:
        head, rows = table(spmspv.series_of(records))
        return head, rows

    return of_records


STUDY = Study(
    __doc__,
    spmspv.SpmspvOptions,
    spmspv.trial,
    {
        "Strategies, on the device (and whole calls)": _of_series(spmspv.times_table),
        "Where the dense product wins": _of_series(spmspv.crossings_table),
        "A size or a fraction?": _of_series(spmspv.verdicts_table),
        "What the planner chooses": _of_series(choices_table),
        "Two runs of one plan": _of_series(chance_table),
        "What the largest frontier's time goes into": spmspv.parts_table,
        "Breadth-first search": spmspv.searches_table,
        "What searches spend their time on": search_parts_table,
    },
    picture="spmspv",
)
