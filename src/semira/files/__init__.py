"""Readers and writers: files in, edge lists out, and back.

`read_edges` and `write_edges` go through one table of formats; `write_vector` stores results.
Everything that a malformed file can do ends in a named exception that says what is wrong.
"""

from semira.files.clean import clean, drop_self_loops, random_weights, symmetrise
from semira.files.notes import show_note
from semira.files.options import ReadOptions
from semira.files.output import check_output
from semira.files.registry import FORMATS, Format, as_edges, matrix_writer, read_edges, write_edges
from semira.files.vector import vector_writer, write_vector

__all__ = [
    "FORMATS",
    "Format",
    "ReadOptions",
    "as_edges",
    "check_output",
    "clean",
    "drop_self_loops",
    "matrix_writer",
    "random_weights",
    "read_edges",
    "show_note",
    "symmetrise",
    "vector_writer",
    "write_edges",
    "write_vector",
]
