"""Rules: small expressions over named counts, evaluated where the counts are.

A rule yields the index of the method to use. It is rendered to Python by the interpreting
backends and to CUDA by the cuda backend; both give the same answer for the same counts.
All arithmetic is in double precision on both sides.
"""

from __future__ import annotations

from dataclasses import dataclass

#: Vectors of a block that one look at an entry of the matrix serves at most, when pulling: presence
#: bits are packed into words of this many.
SHARED = 32

#: What a search of a column counts for in the edges that dot products look at: so many entries pass
#: a table in its time (kernels/mxm/dots.cuh).
SEARCH_LOOKS = 8

#: The same where lists of about the same length are merged beside it, by threads that wait for
#: those that search (bench/notes/loops.md).
SEARCH_AMONG_MERGES = 32

#: Counts a rule may name. ``previous_*`` describe the last run of the same statement in a
#: loop, or the last product driven by the same vector outside of one.
#: Of a product of matrices under a plain mask, A drives: a row of A is to B what a driving vector
#: is to the matrix; the entries of the mask are its open positions. Of another product, the rows
#: of A are as many vectors, driven together: positions, entries and edges are counted for each.
COUNTS = {
    "n": "length of the driving vector; columns of A",
    "rows": "length of the output; its rows",
    "cols": "columns of the output of a product of matrices",
    "nnz": "entries of the matrix; of B",
    "frontier": "entries of the driving vector; of A",
    "frontier_edges": (
        "entries of the matrix that push touches: sum of the frontier's degrees; pairs of entries "
        "that are multiplied row by row, in rows where a plain mask has entries"
    ),
    "open_rows": "output positions the mask lets through; entries of the mask",
    "open_edges": (
        "entries of the matrix in those rows: what pull touches without early exit; entries that "
        "dot products look at, the cheaper way for each entry of the mask"
    ),
    "previous_frontier": "entries of the driving vector last time, -1 at first",
    "block": "vectors that are driven together: rows of the left matrix; 1 of a vector",
    "shared": "of them, those that one look at an entry of the matrix serves when pulling",
}


@dataclass(frozen=True, slots=True)
class Const:
    """A number."""

    value: float


@dataclass(frozen=True, slots=True)
class Count:
    """A named count, one of `COUNTS`."""

    name: str


@dataclass(frozen=True, slots=True)
class Previous:
    """Index of the method used last time; -1 at first (hysteresis, made explicit)."""


@dataclass(frozen=True, slots=True)
class Compare:
    """``left sign right`` with `sign` one of ``* + - < > <= >= == and or``; 1.0 is true."""

    sign: str
    left: Rule
    right: Rule


@dataclass(frozen=True, slots=True)
class Choose:
    """`then` if `test` is true, else `other`."""

    test: Rule
    then: Rule
    other: Rule


Rule = Const | Count | Previous | Compare | Choose
