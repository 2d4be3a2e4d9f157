"""The records that tables and pictures are made of; several are made of the same."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from semira.bench import record
from semira.bench.record import Record


@cache
def _stored(path: Path) -> tuple[Record, ...]:
    return tuple(record.read_records(path))


def read_records(path: Path) -> list[Record]:
    """Return the records of a file, which a process reads once."""
    return list(_stored(path))
