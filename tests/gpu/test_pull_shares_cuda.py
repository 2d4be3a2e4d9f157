"""Pulls in equal shares of rows and entries: rows of every length, types, masks, blocks."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from tests.gpu.test_statements_cuda import compare, mask_of, random_vector
from tests.helpers.every import every

from semira.backends.cuda.backend import CudaBackend
from semira.backends.cuda.runtime import kernel_choice
from semira.backends.reference.backend import ReferenceBackend
from semira.base.dtypes import BOOL, FC32, FC64, FP32, FP64, INT8, INT16, INT32, INT64, UINT64
from semira.contract import Arg, Hints, Program, Slot, Statement
from semira.formats import MatrixArrays, coo_to_matrix
from semira.ops.registry import monoid, semiring
from semira.plan import plan_program

pytestmark = pytest.mark.gpu

COLUMNS = 5200
PULL = Hints(direction="pull", balance="edges")


def _runs() -> list[int]:
    """Return lengths of rows: long gaps, hubs side by side and apart, gaps at both ends."""
    rng = np.random.default_rng(7)
    mixed = rng.integers(0, 130, 300)
    mixed[rng.random(300) < 0.4] = 0
    return [
        *[0] * 70, 5000, 1, 0, 4097, 127, 128, 129, *[0] * 333, *mixed, *[3] * 200, 2500, 2500,
        *[0] * 95, 33, *[1] * 64, *[0] * 40,
    ]  # fmt: skip


#: Lengths of rows.
LENGTHS = {
    "mixed": _runs(),
    "short": np.random.default_rng(1).integers(0, 9, 3000).tolist(),
    "nearly short": [*np.random.default_rng(2).integers(0, 5, 3000).tolist(), 9, 32, 0, 17],
    "middling": [
        *np.random.default_rng(3).integers(2, 30, 1500).tolist(),
        64,
        0,
        63,
        *[0] * 40,
        40,
    ],
    "at most one": np.random.default_rng(2).integers(0, 2, 1000).tolist(),
    "eight": [8] * 1001,
    "nine": [9] * 1001,
    "one hub": [0] * 50 + [COLUMNS] + [0] * 50,
    "empty": [0] * 65,
    "one row": [777],
    # 680 entries and 40 ends of 12 items: the last share of 128 is part of the last end.
    "cut in an end": [0] * 6 + [20] * 34,
    # A word of rows in some eighty shares, each row in three.
    "long words": [300] * 40,
}


@functools.cache
def columns_of(lengths: tuple[int, ...], seed: int) -> np.ndarray:
    """Return sorted columns for rows of the given lengths, row by row."""
    rng = np.random.default_rng(seed)
    drawn = [np.sort(rng.choice(COLUMNS, length, replace=False)) for length in lengths]
    return np.concatenate(drawn)


def matrix_of(lengths, dtype, seed: int, *, iso: bool = False) -> MatrixArrays:
    """Return a matrix whose rows have so many entries of small values."""
    rng = np.random.default_rng(seed)
    columns = columns_of(tuple(lengths), seed)
    rows = np.repeat(np.arange(len(lengths)), lengths)
    values = rng.integers(0, 3, len(rows)).astype(dtype.np_type)
    given = None if iso else values
    return coo_to_matrix(len(lengths), COLUMNS, rows, columns, given, dtype=dtype, iso_value=2)


def check(ring, dtype, lengths, *, density=1.0, mask=None, iso=False, transposed=False) -> None:
    """Compare w<mask> = A u, or u A of the transpose, with the reference."""
    given = matrix_of(lengths, dtype, 3, iso=iso)
    rows = len(lengths)
    if transposed:
        given = given.flipped()
    slots = (
        Slot("vector", ring.return_type, "inout"), Slot("vector", dtype), Slot("matrix", dtype),
        Slot("vector", BOOL),
    )  # fmt: skip
    op, args = ("vxm", (Arg(1), Arg(2))) if transposed else ("mxv", (Arg(2), Arg(1)))
    statement = Statement(op, 0, args, ring, mask_of(mask, 3), hints=PULL)
    bound = [
        random_vector(rows, ring.return_type, 1, 0.5), random_vector(COLUMNS, dtype, 2, density),
        given, random_vector(rows, BOOL, 4, 0.5),
    ]  # fmt: skip
    compare(slots, (statement,), bound)


@every("lengths", LENGTHS)
@every("density", [1.0, 0.3, 0.0])
@every("mask", [None, (True, False), (False, True)])
def test_every_length_of_rows(lengths, density, mask):
    ring = semiring["plus_times"].typed(INT64)
    check(ring, INT64, LENGTHS[lengths], density=density, mask=mask)


@pytest.mark.parametrize("mask", [None, (True, True)])
def test_a_matrix_without_columns(mask):
    """Lanes look at position 0 of a vector that has none; ``--gpu-aid exact`` sees it."""
    ring = semiring["plus_times"].typed(INT64)
    nothing = np.empty(0, np.int64)
    given = coo_to_matrix(100, 0, nothing, nothing, nothing, dtype=INT64)
    slots = (
        Slot("vector", INT64, "inout"), Slot("vector", INT64), Slot("matrix", INT64),
        Slot("vector", BOOL),
    )  # fmt: skip
    statement = Statement("mxv", 0, (Arg(2), Arg(1)), ring, mask_of(mask, 3), hints=PULL)
    bound = [
        random_vector(100, INT64, 1, 0.5), random_vector(0, INT64, 2, 1.0), given,
        random_vector(100, BOOL, 4, 0.5),
    ]  # fmt: skip
    compare(slots, (statement,), bound)


every_type = pytest.mark.parametrize(
    ("name", "dtype"),
    [("plus_times", d) for d in (INT8, INT16, INT32, UINT64, FP32, FP64, FC32, FC64)]
    + [
        ("min_plus", FP32), ("max_second", INT8), ("lor_land", BOOL), ("plus_pair", INT32),
        ("min_firsti", INT32), ("max_secondi", INT64), ("min_secondj", INT64),
        ("plus_first", FP64), ("any_pair", INT32),
    ],
)  # fmt: skip


@every_type
@every("lengths", ["mixed", "short", "nearly short"])
def test_every_type(name, dtype, lengths):
    ring = semiring[name].typed(dtype)
    for density in (1.0, 0.4):
        check(ring, dtype, LENGTHS[lengths], density=density)
        check(ring, dtype, LENGTHS[lengths], density=density, mask=(True, True), transposed=True)
    check(ring, dtype, LENGTHS[lengths], iso=True)


@every_type
@every("lengths", ["short", "nearly short", "nine", "middling"])
def test_every_type_of_large_matrices(monkeypatch, name, dtype, lengths):
    monkeypatch.setattr(kernel_choice, "gathers_many", lambda *_: True)
    test_every_type.body(name, dtype, lengths)


@every("lengths", ["middling", "nine", "cut in an end", "mixed"])
@every("density", [1.0, 0.3, 0.0])
@every("mask", [None, (True, False), (False, True)])
def test_masks_of_large_matrices(monkeypatch, lengths, density, mask):
    monkeypatch.setattr(kernel_choice, "gathers_many", lambda *_: True)
    test_every_length_of_rows.body(lengths, density, mask)


@every("lengths", LENGTHS)
@every("dtype", [INT8, INT32, FP32, FP64, FC32])
@every("mask", [None, (True, False), (False, True)])
@every("density", [1.0, 0.4])
def test_products_that_count_the_entries_of_rows(lengths, dtype, mask, density):
    check(semiring["plus_pair"].typed(dtype), dtype, LENGTHS[lengths], density=density, mask=mask)


@every("lengths", LENGTHS)
@every("mask", [None, (True, False)])
def test_sums_of_rows(lengths, mask):
    size = len(LENGTHS[lengths])
    for name, dtype in (("plus", FP64), ("min", INT8), ("plus", FC64), ("max", FP32)):
        slots = (Slot("vector", dtype, "inout"), Slot("matrix", dtype), Slot("vector", BOOL))
        statement = Statement(
            "reduce_rows", 0, (Arg(1),), monoid[name].typed(dtype), mask_of(mask, 2)
        )
        given = [
            random_vector(size, dtype, 1, 0.5), matrix_of(LENGTHS[lengths], dtype, 3),
            random_vector(size, BOOL, 4, 0.5),
        ]  # fmt: skip
        compare(slots, (statement,), given)


@pytest.mark.parametrize("lengths", ["mixed", "short", "nearly short", "one hub"])
@pytest.mark.parametrize("dtype", [FP32, FP64])
@pytest.mark.parametrize("density", [1.0, 0.4])
def test_sums_do_not_depend_on_the_number_of_blocks(lengths, dtype, density):
    rng = np.random.default_rng(5)
    given = matrix_of(LENGTHS[lengths], dtype, 3)
    given.values[:] = rng.random(given.nvals)
    vector = random_vector(COLUMNS, dtype, 2, density)
    vector.values[:] = rng.random(len(vector.values))
    slots = (Slot("vector", dtype, "inout"), Slot("vector", dtype), Slot("matrix", dtype))
    ring = semiring["plus_times"].typed(dtype)
    body = (Statement("mxv", 0, (Arg(2), Arg(1)), ring, hints=PULL),)
    found = []
    for blocks in (1, 2, 3, 40, None):
        backend = CudaBackend()
        backend.blocks = blocks
        program = plan_program(Program(slots, body), backend.capabilities())
        empty = random_vector(given.nrows, dtype, 1, 0.0)
        bound = [backend.put(each) for each in (empty, vector, given)]
        backend.execute(backend.prepare(program), bound)
        result = backend.get(bound[0])
        found.append((result.entry_indices().tobytes(), result.entry_values().tobytes()))
    assert len(set(found)) == 1


#: Presence of an operand, run after run: what is pushed and pulled in turn, and nothing at all.
TURNS = (1.0, 0.001, 1.0, 1.0, 0.001, 0.002, 0.0, 0.6, 0.001)


@every("lengths", ["mixed", "short", "nearly short", "one hub", "empty"])
@every(("name", "dtype"), [("plus_times", INT64), ("min_plus", FP32), ("any_second", INT32)])
@every("replaced", [False, True])
def test_an_output_takes_what_is_pulled_and_what_is_pushed_in_turn(lengths, name, dtype, replaced):
    given, rows = matrix_of(LENGTHS[lengths], dtype, 3), len(LENGTHS[lengths])
    if name == "any_second":
        given.values[:] = 1
    slots = (
        Slot("vector", dtype, "inout"), Slot("vector", dtype), Slot("matrix", dtype),
        Slot("vector", BOOL),
    )  # fmt: skip
    ring, backend = semiring[name].typed(dtype), CudaBackend()
    mask = mask_of((True, True), 3) if replaced else None
    # The usual policy pulls nothing so small where rows are left at the first operand.
    product = Statement(
        "mxv", 0, (Arg(2), Arg(1)), ring, mask, replace=replaced, hints=Hints(policy="ligra")
    )
    program = plan_program(Program(slots, (product,)), backend.capabilities())
    executable = backend.prepare(program)
    shut = random_vector(rows, BOOL, 4, 0.3)
    bound = [backend.put(each) for each in (random_vector(rows, dtype, 1, 0.5), given, shut)]
    methods = set()
    for turn, density in enumerate(TURNS):
        operand = random_vector(COLUMNS, dtype, turn, density)
        if name == "any_second":
            operand.values[:] = turn
        outcome = backend.execute(executable, [bound[0], backend.put(operand), *bound[1:]])
        methods |= {row.method for row in outcome.trace}
        found, expected = backend.get(bound[0]), reference_of(program, rows, operand, given, shut)
        assert found.entry_indices().tolist() == expected.entry_indices().tolist()
        assert found.entry_values().tolist() == expected.entry_values().tolist()
    assert methods == {"push", "pull"} or lengths == "empty"


def reference_of(program, rows, operand, given, shut):
    """Return what the reference backend makes of the product, of an output without entries."""
    backend = ReferenceBackend()
    empty = random_vector(rows, program.slots[0].dtype, 1, 0.0)
    bound = [backend.put(each) for each in (empty, operand, given, shut)]
    backend.execute(backend.prepare(program), bound)
    return backend.get(bound[0])


@pytest.mark.parametrize("lengths", LENGTHS)
def test_the_longest_row_and_column_are_known_on_the_device(lengths):
    backend = CudaBackend()
    given = matrix_of(LENGTHS[lengths], INT32, 3)
    handle = backend.put(given)
    columns = np.bincount(given.indices, minlength=1)
    for orientation, counts in (("csr", LENGTHS[lengths]), ("csc", columns)):
        handle.need(orientation)
        handle.need_slices(orientation)
        slices = handle.companions.get("slices", orientation)
        found = handle.runtime.download(slices.rows, np.int32, slices.count + 2)
        assert found[-1] == max(counts)
        assert (np.diff(found[:-1]) >= 0).all()
