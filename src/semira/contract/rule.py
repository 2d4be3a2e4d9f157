"""Rules: small expressions over named counts, evaluated where the counts are.

A rule yields the index of the method to use. It is rendered to Python by the interpreting
backends and to CUDA by the cuda backend; both give the same answer for the same counts.
All arithmetic is in double precision on both sides.
"""

from __future__ import annotations

from dataclasses import dataclass

#: Vectors of a block that one look at an entry of the matrix serves at most, when pulling: presence
#: is packed so many to a word.
SHARED = 32

#: Counts a rule may name. ``previous_*`` describe the last run of the same statement in a
#: loop, or the last product driven by the same vector outside of one. Of a product of matrices the
#: rows of the left operand are as many vectors, driven together: positions, entries and edges are
#: counted for each of them.
COUNTS = {
    "n": "length of the driving vector",
    "rows": "length of the output",
    "nnz": "entries of the matrix",
    "frontier": "entries of the driving vector",
    "frontier_edges": "entries of the matrix that push touches: sum of the frontier's degrees",
    "open_rows": "output positions the mask lets through",
    "open_edges": "entries of the matrix in those rows: what pull touches without early exit",
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
