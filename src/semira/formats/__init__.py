"""Layouts of vectors and matrices: plain arrays, their invariants, and how to build them.

Nothing here knows operators or devices; every backend takes these in (``put``) and gives
them back (``get``), and every reader and generator returns them.
"""

from semira.formats.build import coo_to_matrix, coo_to_vector
from semira.formats.coo import EdgeList
from semira.formats.index import index_dtype, offset_dtype
from semira.formats.matrix import MatrixArrays, is_hypersparse
from semira.formats.raw import RawArrays
from semira.formats.scalar import ScalarArrays
from semira.formats.vector import VectorArrays
from semira.formats.weights import hash_weights

__all__ = [
    "EdgeList",
    "MatrixArrays",
    "RawArrays",
    "ScalarArrays",
    "VectorArrays",
    "coo_to_matrix",
    "coo_to_vector",
    "hash_weights",
    "index_dtype",
    "is_hypersparse",
    "offset_dtype",
]
