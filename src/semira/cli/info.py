"""``semira info``: what a graph looks like before anything is computed on it."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from semira.cli.catalogue import check_seed
from semira.cli.graphs import Graph, Reading, load_graph
from semira.cli.groups import READING, with_options
from semira.cli.options import FileArgument, JsonOption
from semira.cli.output import cell, print_json, print_pairs, print_table, seconds

if TYPE_CHECKING:
    from semira.methods.b2sr.profile import BitsProfile

#: What the reader says in ``meta`` about how it read the file.
_READING_FACTS = (
    "ids",
    "header",
    "delimiter",
    "unnamed_vertices",
    "repeated_edges",
    "dup_op",
    "dropped_self_loops",
    "dropped_missing",
    "replaced_missing",
    "possible_header",
    "guesses",
)

#: How separators are shown.
_SEPARATORS = {" ": "blanks", ",": "comma", "\t": "tab", ";": "semicolon"}


def describe(graph: Graph) -> dict[str, Any]:
    """Return the facts of a graph: shape, entries, dtype, how the file was read, degrees, ...

    Facts that make sense for square matrices only are None for others, and so is what other formats
    do not have. O(n + entries); checking symmetry transposes the pattern.
    """
    arrays = graph.arrays
    is_square = arrays.nrows == arrays.ncols
    rows, cols, _ = arrays.to_coo()
    return {
        "graph": graph.name,
        "n": arrays.nrows,
        "columns": arrays.ncols,
        "entries": arrays.nvals,
        "dtype": arrays.dtype.name,
        "format": graph.meta.get("format", "generator"),
        "has_labels": graph.labels is not None,
        **{fact: graph.meta.get(fact) for fact in _READING_FACTS},
        "is_weighted": not arrays.iso,
        "is_symmetric": _is_symmetric(graph) if is_square else None,
        "self_loops": int(np.count_nonzero(rows == cols)) if is_square else None,
        "degree": _degrees(graph, cols) if arrays.nrows else None,
        "weight": _weights(graph),
        "bytes": arrays.nbytes,
        "read_s": graph.read_s,
    }


def _is_symmetric(graph: Graph) -> bool:
    arrays = graph.arrays
    if arrays.symmetric is not None:
        return arrays.symmetric
    from scipy.sparse import csr_array

    arrays = arrays.ordinary()
    shape = (arrays.nrows, arrays.ncols)
    # Numbered from 1: a stored zero is an entry too, and must not compare equal to none.
    distinct = np.unique(arrays.entry_values(), return_inverse=True)[1] + 1
    matrix = csr_array((distinct, arrays.indices, arrays.indptr), shape=shape)
    return bool((matrix != matrix.T).nnz == 0)


def _degrees(graph: Graph, cols: Any) -> dict[str, Any]:
    degrees = graph.degrees
    isolated = degrees == 0
    if graph.arrays.nrows == graph.arrays.ncols:
        isolated &= np.bincount(cols, minlength=graph.arrays.ncols) == 0
    return {
        "least": int(degrees.min()),
        "mean": float(degrees.mean()),
        "median": float(np.median(degrees)),
        "largest": int(degrees.max()),
        "of": graph.label_of(int(np.argmax(degrees))),
        "isolated": int(np.count_nonzero(isolated)),
    }


def _weights(graph: Graph) -> dict[str, Any] | None:
    values = graph.arrays.values
    if graph.arrays.iso or len(values) == 0 or values.dtype.kind not in "iuf":
        return None
    return {
        "least": values.min(),
        "largest": values.max(),
        "sum": values.sum(dtype=np.float64),
        "negative": int(np.count_nonzero(values < 0)),
    }


def degree_histogram(degrees: Any) -> list[tuple[int, int, int]]:
    """Return (from, to, vertices) of the degree ranges 0, 1, 2-3, 4-7, ... that occur.

    Examples
    --------
    >>> degree_histogram(np.array([0, 1, 1, 3, 9]))
    [(0, 0, 1), (1, 1, 2), (2, 3, 1), (8, 15, 1)]
    """
    # frexp is exact: the exponent of d is the number of its binary digits.
    counts = np.bincount(np.frexp(degrees)[1])
    return [
        (0 if digits == 0 else 1 << (digits - 1), (1 << digits) - 1, int(count))
        for digits, count in enumerate(counts.tolist())
        if count
    ]


_BitsOption = Annotated[
    bool,
    typer.Option("--bits", help="Show what tiles of bits would take.", rich_help_panel="Output"),
]


@with_options(reading=READING)
def info(
    file: FileArgument, bits: _BitsOption = False, json: JsonOption = False, *, reading: Reading
) -> None:
    """Show the size, degrees, symmetry and weights of a graph.

    Examples
    --------
    semira info graph.mtx.gz
    semira info kron:14 --json
    semira info cnr-2000.npz --bits
    zcat edges.txt.gz | semira info -
    """
    check_seed(reading)
    graph = load_graph(file, reading)
    facts = describe(graph)
    buckets = degree_histogram(graph.degrees)
    profile: BitsProfile | None = graph.matrix.bits_profile() if bits else None
    if json:
        more = {} if profile is None else {"bits": asdict(profile)}
        print_json({**facts, "degree_histogram": buckets, **more})
        return
    print_pairs(_lines(facts), title=graph.name)
    if buckets:
        rows = [
            (str(low) if low == high else f"{low}-{high}", count) for low, high, count in buckets
        ]
        print_table(("degree", "vertices"), rows)
    if profile is not None:
        print_bits(profile)


def print_bits(profile: BitsProfile) -> None:
    """Print what tiles of bits would take, and the classes of the pattern."""
    print_table(
        ("bits", "tiles", "+-", "bytes", "of pattern", "with fp32", "occupied", "fill"),
        [tuple(asdict(each).values()) for each in profile.sizes],
    )
    classes = [name for name, holds in profile.classes.items() if holds]
    print_pairs(
        [
            ("pattern", ", ".join(classes) or "none of the classes"),
            ("smallest", f"bits={profile.smallest}"),
            ("bits='auto'", profile.auto),
            ("bands looked at", f"{profile.sampled} of {profile.bands}"),
        ]
    )


def _lines(facts: dict[str, Any]) -> list[tuple[str, Any]]:
    """Return the facts for people: nested ones on one line, what does not apply left out."""
    lines: list[tuple[str, Any]] = []
    for name, value in facts.items():
        if value is None or name == "graph" or (name == "columns" and value == facts["n"]):
            continue
        label = name.replace("_", " ").removeprefix("is ").removeprefix("has ")
        if name == "read_s":
            lines.append(("read in", seconds(value)))
        elif isinstance(value, list):
            if value:
                lines.append((label, ("; " if name == "guesses" else ", ").join(value)))
        elif name == "delimiter":
            lines.append((label, _SEPARATORS.get(value, value)))
        elif isinstance(value, dict):
            # "of" is a vertex: a name, even if it is a number.
            parts = [f"{key} {part if key == 'of' else cell(part)}" for key, part in value.items()]
            lines.append((label, ", ".join(parts)))
        else:
            lines.append((label, value))
    return lines
