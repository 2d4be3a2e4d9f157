"""The table of the result of an application as a file: ``semira run --out``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from semira.algorithms.naming import names_of
from semira.apps.row import Answer
from semira.base.errors import InvalidValue
from semira.base.optional import need
from semira.files import check_output
from semira.files.delimited import write_rows
from semira.files.npz import writable_labels
from semira.files.output import open_output

#: What ``--out`` writes by suffix.
FORMATS = ("csv", "npz", "parquet")


def check_out(path: str, *reads: str) -> None:
    """Refuse before the work what `write_table` would refuse after it.

    Raises InvalidValue, MissingLibrary, FileWriteError.
    """
    kind = _format_of(path)
    if kind not in FORMATS:
        raise InvalidValue(f"--out {path}: the name must end in .csv (also .gz), .npz or .parquet")
    if kind == "parquet":
        need("pyarrow.parquet", f"--out {path}", "arrow")
    check_output(path, *reads)


def _format_of(path: str) -> str:
    suffixes = [each.lower().lstrip(".") for each in Path(path).suffixes]
    if suffixes and suffixes[-1] in ("gz", "bz2", "xz"):
        suffixes = suffixes[:-1] if suffixes[-2:-1] == ["csv"] else []
    return "csv" if path == "-" else suffixes[-1] if suffixes else ""


def write_table(path: str, result: Answer) -> int:
    """Write the table of a result, names of vertices beside them; return how many rows.

    Raises FileWriteError if it cannot be written.
    """
    table: dict[str, Any] = {}
    for name, column in result.columns().items():
        table[name] = column
        labels = result.labels_of(name) if name in result.vertex_columns else None
        if labels is not None:
            told = "label" if name == "vertex" else f"{name}_label"
            table[told] = names_of(labels, column, "")
    kind = _format_of(path)
    with open_output(path) as stream:
        if kind == "csv":
            write_rows(stream, tuple(table), list(table.values()))
        elif kind == "npz":
            # Without Python objects.
            members: dict[str, Any] = {
                name: writable_labels(column) if column.dtype.kind == "O" else column
                for name, column in table.items()
            }
            np.savez_compressed(stream, **members)
        else:
            arrow = need("pyarrow", f"--out {path}", "arrow")
            parquet = need("pyarrow.parquet", f"--out {path}", "arrow")
            parquet.write_table(arrow.table(table), stream)
    return len(next(iter(table.values()), ()))
