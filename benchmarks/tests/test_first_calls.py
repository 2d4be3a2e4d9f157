"""First calls: a cache that is filled leaves nothing to compile, and the table says both times."""

from __future__ import annotations

from dataclasses import replace

import pytest
from benchmarks.studies.first_calls import (
    STUDY,
    FirstOptions,
    first_table,
    goals_table,
    names_of,
)

from semira.base.errors import InvalidValue
from semira.bench.record import Dataset, Record


@pytest.mark.slow
def test_a_filled_cache_saves_the_compilation() -> None:
    (record,) = STUDY.run(FirstOptions(("kron:6",), names=("k_hop",)))
    assert record.first_s is not None
    assert record.compiled > 0
    assert 0 < record.facts["filled_s"] < record.first_s
    head, rows = first_table([record, replace(record, first_s=None, note="no such device")])
    good, bad = (dict(zip(head, row, strict=True)) for row in rows)
    assert good["kernels"] == str(record.compiled)
    assert float(good["filled cache, s"]) < float(good["empty cache, s"])
    assert bad["empty cache, s"] == "**failed**: no such device"


def test_names_are_chosen_by_parts() -> None:
    assert names_of("bfs") == ("bfs", "multi_source_bfs")
    with pytest.raises(InvalidValue, match="nothing"):
        names_of("nothing")


def test_goals_name_what_misses_them() -> None:
    def record(name: str, first_s: float | None, filled_s: float) -> Record:
        return Record(
            "first-call", name, Dataset("kron:12", 4, 9, ""), "semira", "cuda",
            first_s=first_s, warm_s=[0.09], facts={"filled_s": filled_s},
        )  # fmt: skip

    records = [record("bfs", 1.5, 0.1), record("sssp", 2.75, 0.2), record("hits", None, 0.0)]
    assert goals_table(records)[1] == [
        ["bfs, empty cache", "cuda", "1", "0 of 1", "bfs 1.5"],
        ["all, empty cache", "cuda", "2.5", "1 of 2", "sssp 2.75"],
        ["all, filled cache", "cuda", "0.15", "1 of 2", "sssp 0.2"],
        ["all, filled cache, beyond a warm call", "cuda", "0.15", "2 of 2", ""],
    ]
