"""Products of every storage of a matrix, to be compared with the reference backend."""

from __future__ import annotations

import pickle
from dataclasses import replace
from itertools import product as every
from typing import Any

import numpy as np
import pytest

import semira as gb
from semira.backends.reference import operations
from semira.backends.reference.operations import fold
from semira.backends.registry import backend_for
from semira.base.dtypes import BOOL, FP64, INT32, INT64
from semira.contract import Arg, Hints, Mask, Program, Slot, Statement
from semira.contract.hints import NO_HINTS
from semira.formats import MatrixArrays, VectorArrays, coo_to_matrix
from semira.ops.registry import binary, semiring
from semira.plan import plan_program

#: Those that a sparse times a full matrix walks, and all that a product with a vector does.
MATRIX_STORAGES = ("coo", "ell", "ellr", "pell", "sell")
STORAGES = (*MATRIX_STORAGES, "dense")
SHAPE = (90, 70)

#: Semiring, dtype and accumulator: sums in full, one that may end early, structure, positions.
RINGS = {
    "plus_times": (semiring["plus_times"].typed(FP64), FP64, None),
    "min_plus": (semiring["min_plus"].typed(INT32), INT32, binary["plus"].typed(INT32)),
    "lor_land": (semiring["lor_land"].typed(BOOL), BOOL, None),
    "any_pair": (semiring["any_pair"].typed(BOOL), BOOL, None),
    "min_firstj": (semiring["min_firstj"].typed(INT64), INT64, None),
    "max_secondi": (semiring["max_secondi"].typed(INT64), INT64, None),
}

#: Rings whose sums no atomic operation of a GPU adds up, beside those that one does.
COLUMN_RINGS = {
    **RINGS,
    "gcd_times": (gb.semiring.numpy.gcd_multiply["INT64"], INT64, None),
    "any_secondj": (semiring["any_secondj"].typed(INT64), INT64, None),
}

MASKS = (
    None,
    Mask(3, structural=True, complement=True),
    Mask(3, structural=False, complement=False),
)


def matrix_of(dtype, *, iso: bool, orientation: str, seed: int = 3) -> MatrixArrays:
    """Return a matrix with empty rows, a long row and a long column."""
    rng = np.random.default_rng(seed)
    held = rng.random(SHAPE) < 0.06
    held[20:31] = held[:, 40:44] = False
    held[5, 3:60], held[2:80, 6] = True, True
    rows, cols = np.nonzero(held)
    values = rng.integers(0, 5, len(rows)).astype(dtype.np_type)
    made = coo_to_matrix(*SHAPE, rows, cols, values)
    if orientation == "csc":
        made = coo_to_matrix(*SHAPE[::-1], cols, rows, values).flipped()
    return replace(made, values=np.array([2], dtype.np_type), iso=True) if iso else made


def vector_of(size: int, dtype, seed: int, density: float) -> VectorArrays:
    """Return a vector of small whole numbers."""
    rng = np.random.default_rng(seed)
    indices = np.flatnonzero(rng.random(size) < density).astype(np.int32)
    values = rng.integers(0, 5, len(indices)).astype(dtype.np_type)
    return VectorArrays.sparse(size, dtype, indices, values)


def result_of(device: str, slots, statement: Statement, given) -> list[list]:
    """Run one statement; pins hold on `device` unless it is the reference."""
    if device != "reference":
        return computed(device, slots, statement, given)
    statement = replace(statement, hints=NO_HINTS)
    key = (slots, statement, *map(pickle.dumps, given))
    if key not in _meant:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(operations, "fold", _folded)
            _meant[key] = computed(device, slots, statement, given)
    return _meant[key]


#: What the reference found: every storage and every pin is compared with it.
_meant: dict[tuple, list[list]] = {}


def _folded(op, ring, left, right, shape):
    """Return a product of the reference, which looks at no mask: it is one for all of them."""
    key = (op, ring, *(frozenset(side.items.items()) for side in (left, right)), shape)
    kept = _products.get(key)
    if kept is None:
        if len(_products) >= MOST_PRODUCTS:
            _products.clear()
        kept = _products[key] = fold(op, ring, left, right, shape)
    return replace(kept, items=dict(kept.items))


#: Most products of the reference that are kept for other masks of the same operands.
MOST_PRODUCTS = 32

_products: dict[tuple, Any] = {}


def computed(device: str, slots, statement: Statement, given) -> list[list]:
    """Run one statement, and return the entries of its output."""
    backend = backend_for(device)
    program = plan_program(Program(slots, (statement,)), backend.capabilities())
    bound = [backend.put(thing) for thing in given]
    backend.execute(backend.prepare(program), bound)
    return lists_of(backend.get(bound[0]))


def lists_of(thing: VectorArrays | MatrixArrays) -> list[list]:
    """Return positions and values."""
    if isinstance(thing, MatrixArrays):
        return [each.tolist() for each in thing.to_coo()]
    return [thing.entry_indices().tolist(), thing.entry_values().tolist()]


def check_products(device: str, storage: str, op: str, ring_name: str, *, transposed: bool) -> None:
    """Compare products that walk a storage of the matrix."""
    check_hinted(device, Hints(matrix_storage=storage), op, ring_name, transposed=transposed)


def check_hinted(device: str, hints: Hints, op: str, ring_name: str, *, transposed: bool) -> None:
    """Compare products with every mask, of full and sparse vectors, iso or not, held both ways."""
    ring, dtype, accum = RINGS[ring_name]
    rows, cols = SHAPE[::-1] if transposed else SHAPE
    driven, size = (rows, cols) if op == "vxm" else (cols, rows)
    matrix, vector = Arg(2, transposed), Arg(1)
    slots = (
        Slot("vector", ring.return_type, "inout"), Slot("vector", dtype), Slot("matrix", dtype),
        Slot("vector", BOOL),
    )  # fmt: skip
    args = (vector, matrix) if op == "vxm" else (matrix, vector)
    for at, (mask, density) in enumerate(every(MASKS, (1.0, 0.3, 0.02))):
        statement = Statement(
            op, 0, args, ring, mask, accum, mask is not None and accum is None, hints=hints
        )
        given = [
            vector_of(size, ring.return_type, 1, 0.5), vector_of(driven, dtype, 2, density),
            matrix_of(dtype, iso=at % 2 == 1, orientation=("csr", "csc")[at // 2 % 2]),
            vector_of(size, BOOL, 4, 0.6),
        ]  # fmt: skip
        wanted = result_of("reference", slots, statement, given)
        assert result_of(device, slots, statement, given) == wanted, (mask, density)


#: Shapes of dense matrices: lanes that share a row, from one to all of a warp, and none at all.
DENSE_SHAPES = ((70, 1), (33, 4), (130, 7), (65, 16), (9, 40), (3, 300), (1, 1), (0, 5), (5, 0))


def check_dense(device: str, shape: tuple[int, int]) -> None:
    """Compare products of dense matrices with gaps and without, read to the end of a row or not."""
    for at, (gaps, name) in enumerate(every((True, False), ("plus_times", "lor_land", "min_plus"))):
        ring, dtype, accum = RINGS[name]
        matrix = full_matrix(shape, dtype, 3)
        if gaps:
            matrix = random_entries(shape, dtype, 3)
        if at % 2:
            matrix = replace(matrix, values=np.array([2], dtype.np_type), iso=True)
        for op, density in every(("mxv", "vxm"), (1.0, 0.4)):
            args = (Arg(2), Arg(1)) if op == "mxv" else (Arg(1), Arg(2))
            size, driven = shape if op == "mxv" else shape[::-1]
            slots = (
                Slot("vector", ring.return_type, "inout"), Slot("vector", dtype),
                Slot("matrix", dtype), Slot("vector", BOOL),
            )  # fmt: skip
            statement = Statement(
                op, 0, args, ring, MASKS[at % 3], accum, hints=Hints(matrix_storage="dense")
            )
            given = [
                vector_of(size, ring.return_type, 1, 0.5), vector_of(driven, dtype, 2, density),
                matrix, vector_of(size, BOOL, 4, 0.6),
            ]  # fmt: skip
            wanted = result_of("reference", slots, statement, given)
            assert result_of(device, slots, statement, given) == wanted, (gaps, name, op, density)


#: Columns of the full operand: one, packs that fill a part of a warp, ends that no load reaches.
WIDTHS = (1, 3, 8, 64, 132)


def full_matrix(shape: tuple[int, int], dtype, seed: int) -> MatrixArrays:
    """Return a matrix with every entry."""
    rng = np.random.default_rng(seed)
    rows, cols = (each.ravel() for each in np.indices(shape))
    return coo_to_matrix(*shape, rows, cols, rng.integers(0, 5, len(rows)).astype(dtype.np_type))


def check_matrix_products(
    device: str, storage: str, ring_name: str, *, left: bool, right: bool
) -> None:
    """Compare products with a full matrix: masks, accumulators, iso, transposes, widths."""
    ring, dtype, accum = COLUMN_RINGS[ring_name]
    rows, inner = SHAPE[::-1] if left else SHAPE
    for at, width in enumerate(WIDTHS):
        mask = MASKS[at % 3]
        slots = (
            Slot("matrix", ring.return_type, "inout"), Slot("matrix", dtype),
            Slot("matrix", dtype), Slot("matrix", BOOL),
        )  # fmt: skip
        statement = Statement(
            "mxm", 0, (Arg(1, left), Arg(2, right)), ring, mask, accum,
            mask is not None and accum is None, hints=Hints(matrix_storage=storage),
        )  # fmt: skip
        full = full_matrix((width, inner) if right else (inner, width), dtype, 2)
        given = [
            random_entries((rows, width), ring.return_type, 1),
            matrix_of(dtype, iso=at % 2 == 1, orientation=("csr", "csc")[at // 2 % 2]),
            full, random_entries((rows, width), BOOL, 4),
        ]  # fmt: skip
        found, wanted = (result_of(each, slots, statement, given) for each in (device, "reference"))
        assert found == wanted, (width, mask)


def random_entries(shape: tuple[int, int], dtype, seed: int) -> MatrixArrays:
    """Return a matrix with an entry at every other place or so."""
    rng = np.random.default_rng(seed)
    rows, cols = np.nonzero(rng.random(shape) < 0.5)
    return coo_to_matrix(*shape, rows, cols, rng.integers(0, 5, len(rows)).astype(dtype.np_type))
