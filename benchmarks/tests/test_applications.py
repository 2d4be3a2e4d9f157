"""Applications: each is measured, and its result tells what proves it."""

from __future__ import annotations

from dataclasses import replace

from benchmarks.studies.applications import (
    CASES,
    STUDY,
    ApplicationOptions,
    applications_table,
)


def test_every_application_is_measured() -> None:
    names = tuple(name for name in CASES if not name.startswith("walks"))
    found = STUDY.run(ApplicationOptions(("kron:6",), trials=1, names=names))
    assert [record.kernel for record in found] == list(names)
    assert all(record.warm_s and not record.note for record in found)
    (leiden,) = (record for record in found if record.kernel == "Leiden")
    assert 0 < leiden.facts["modularity"] < 1
    head, rows = applications_table([leiden, replace(leiden, first_s=None, note="no memory")])
    good, bad = (dict(zip(head, row, strict=True)) for row in rows)
    assert "modularity" in good["the result says"]
    assert bad["the result says"] == "**failed**: no memory"
