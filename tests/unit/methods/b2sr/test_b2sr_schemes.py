"""Every scheme, side, mask and packing of tiles on the cpu, against Booleans in NumPy.

A transposed matrix is walked by columns: its tiles hold the lines that cross those of rows.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from tests.helpers.every import every

import semira as gb
from semira.backends.cpu import threads
from semira.methods.b2sr import dots
from semira.methods.b2sr.arrays import SIZES

SHAPES = {
    "rectangular": (50, 70, 0.1), "wide": (9, 200, 0.2), "tall": (150, 5, 0.3), "one": (1, 1, 1.0),
    "empty": (40, 33, 0.0), "full": (34, 34, 1.0), "directed": (64, 64, 0.05),
    "hub": (50, 70, 0.02), "nothing": (0, 7, 0.0),
}  # fmt: skip

MASKS = (None, "S", "V", "~S", "~V")


@pytest.fixture(autouse=True)
def _on_cpu():
    with gb.device("cpu"):
        yield


def drawn(shape, share: float, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).random(shape) < share


def pattern(name: str, seed: int = 0) -> np.ndarray:
    nrows, ncols, share = SHAPES[name]
    held = drawn((nrows, ncols), share, seed)
    if name == "hub":
        held[3] = held[:, 5] = True
    return held


def object_of(held: np.ndarray, values: np.ndarray | None = None):
    """Return the vector or the matrix with entries where `held` is true."""
    at = np.nonzero(held)
    given = True if values is None else values[at]
    if held.ndim == 1:
        return gb.Vector.from_coo(*at, given, size=len(held))
    return gb.Matrix.from_coo(*at, given, nrows=held.shape[0], ncols=held.shape[1])


def masked(form: str | None, shape, seed: int):
    """Return a mask for an expression, and the positions that it opens."""
    if form is None:
        return {}, np.ones(shape, bool)
    held, values = drawn(shape, 0.4, seed), drawn(shape, 0.5, seed + 1)
    made = object_of(held, values)
    chosen = made.S if form.endswith("S") else made.V
    opened = held if form.endswith("S") else held & values
    return (
        ({"mask": ~chosen}, ~opened) if form.startswith("~") else ({"mask": chosen}, opened)
    )  # fmt: skip


def same(found, present: np.ndarray, values: np.ndarray) -> bool:
    *at, got = found.to_coo()
    wanted = np.nonzero(present)
    return all(map(np.array_equal, at, wanted)) and np.array_equal(got, values[wanted])


@every("name", SHAPES)
@every("bits", SIZES)
def test_products_with_a_vector(name, bits):
    held = pattern(name)
    A = object_of(held)
    here, x = drawn(held.shape[1], 0.5, 1), np.arange(held.shape[1]) % 7 + 1
    u, meet = object_of(here, x), held & here
    wanted = {
        "any_pair": np.ones(len(held), int),
        "plus_pair": meet.sum(1),
        "times_pair": np.ones(len(held), int),
        "lxor_pair": meet.sum(1) % 2,
        "min_second": np.where(meet, x, 99).min(1, initial=99),
        "plus_second": (meet * x).sum(1),
    }
    for (ring, values), form in itertools.product(wanted.items(), MASKS):
        mask, opened = masked(form, len(held), 2)
        pins = mask | {"bits": bits, "direction": "pull"}
        assert same(A.mxv(u, ring).new(**pins), meet.any(1) & opened, values), (ring, form)
        turned = object_of(held.T)
        found = u.vxm(turned, ring.replace("second", "first")).new(**pins)
        assert same(found, meet.any(1) & opened, values), (ring, form)


@every("name", SHAPES)
@every("bits", SIZES[1:])
def test_products_of_matrices(name, bits):
    left, right = pattern(name), drawn((SHAPES[name][1], 45), 0.2, 1)
    right[: len(right) // 3] = False
    A, B, counts = object_of(left), object_of(right), left.astype(int) @ right
    wanted = {
        "any_pair": np.ones_like(counts), "min_pair": np.ones_like(counts), "plus_pair": counts,
        "times_pair": np.ones_like(counts), "lxor_pair": counts % 2,
    }  # fmt: skip
    for (ring, values), form in itertools.product(wanted.items(), MASKS):
        mask, opened = masked(form, counts.shape, 2)
        found = A.mxm(B, ring).new(**mask, bits=bits)
        assert same(found, (counts > 0) & opened, values), (ring, form)
        left_turned, right_turned = object_of(left.T).T, object_of(right.T).T
        found = left_turned.mxm(right_turned, ring).new(**mask, bits=bits)
        assert same(found, (counts > 0) & opened, values), (ring, form)
        adds = "lxor" if ring == "lxor_pair" else "plus"
        total = A.mxm(B, ring).new(**mask, bits=bits).reduce_scalar(adds, allow_empty=False)
        wanted_total = values[(counts > 0) & opened].sum()
        assert int(total.new().value) == (wanted_total % 2 if adds == "lxor" else wanted_total)


def test_products_of_many_entries_are_written_in_pieces(monkeypatch):
    left, right = drawn((70, 60), 0.3, 1), drawn((60, 50), 0.3, 2)
    wanted = object_of(left.astype(int) @ right > 0)
    for room in (1, 700, 3000):
        monkeypatch.setattr(dots, "_ROOM", room)
        found = object_of(left).mxm(object_of(right), "any_pair").new(bits=16)
        assert found.isequal(wanted), room


def test_threads_may_have_no_rows_of_tiles(monkeypatch):
    monkeypatch.setattr(threads, "num_chunks", lambda entries: 6)
    left, right = np.zeros((70, 60), bool), drawn((60, 50), 0.3, 2)
    left[40:48] = True
    counts = left.astype(int) @ right
    for ring, values in (("any_pair", np.ones_like(counts)), ("plus_pair", counts)):
        found = object_of(left).mxm(object_of(right), ring).new(bits=8)
        assert same(found, counts > 0, values)
