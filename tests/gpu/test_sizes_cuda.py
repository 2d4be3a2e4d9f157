"""Matrices whose number of entries only the device knows, against the reference."""

from __future__ import annotations

import pytest

import semira as gb
from semira import binary, monoid, select, semiring
from semira.backends.cuda.runtime import objects
from semira.backends.cuda.staged import pieces
from semira.backends.registry import backend_for

pytestmark = pytest.mark.gpu


def graph(device: str, seed: int = 1) -> gb.Matrix:
    return gb.io.read(f"kron:8,seed={seed}", device=device).dup("INT64")


def entries(thing) -> list:
    return [part.tolist() for part in thing.to_coo()]


def waits() -> int:
    return backend_for("cuda").statistics().synchronisations


def chain(device: str) -> list[gb.Matrix | gb.Vector | gb.Scalar]:
    """Statements with a bound, each on the results of others."""
    A, B = graph(device), graph(device, 2)
    n = A.nrows
    # The orientations and the lists that later statements walk are made first.
    A.mxm(A.T, semiring.plus_pair).new(mask=B.S)
    before = waits() if device == "cuda" else 0
    low = A.select(select.tril, -1).new()
    both = low.ewise_mult(B, binary.plus).new()
    either = low.ewise_add(B, binary.minus).new()
    twice = either.apply(binary.times, right=2).new()
    dots = A.mxm(A.T, semiring.plus_pair).new(mask=both.S)
    either(low.S, accum=binary.plus) << twice
    both(low.S) << 7
    third = either.select(select.valuene, 2).new()
    third << third.apply(gb.unary.ainv)
    sums = third.reduce_rowwise(monoid.plus).new()
    ones = gb.Vector.from_scalar(1, n, "INT64").to(device)
    # Pushing would make the second orientation, whose first time waits.
    product = third.mxv(ones, semiring.plus_times).new(direction="pull")
    total = third.reduce_scalar(monoid.plus).new()
    made = [low, both, either, twice, dots, third, sums, product, total]
    if device == "cuda":
        assert waits() == before
    return made


def shown(made: list) -> list:
    return [thing.value if isinstance(thing, gb.Scalar) else entries(thing) for thing in made]


def test_statements_with_a_bound_do_not_wait():
    assert shown(chain("cuda")) == shown(chain("reference"))


@pytest.mark.parametrize("limit", [("BOUND_BYTES", 0), ("WASTED", 0)])
def test_large_results_are_exact_and_wasted_room_is_given_back(limit, monkeypatch):
    name, value = limit
    monkeypatch.setattr(pieces if name == "BOUND_BYTES" else objects, name, value)
    A = graph("cuda")
    low = A.select(select.tril, -1).new()
    handle = low._value.handle_on("cuda")
    assert handle.is_exact == (name == "BOUND_BYTES")
    expected = graph("reference").select(select.tril, -1).new()
    assert low.nvals == expected.nvals
    assert handle.is_exact
    assert handle.orientations["csr"][1].size < 4 * low.nvals + 64
    assert entries(low) == entries(expected)
    # What was given back was not in use.
    assert entries(low.mxv(low.reduce_rowwise(monoid.plus).new(), semiring.plus_times).new()) == (
        entries(expected.mxv(expected.reduce_rowwise(monoid.plus).new(), semiring.plus_times).new())
    )


def test_a_number_is_read_once():
    low = graph("cuda").select(select.tril, -1).new()
    before = waits()
    assert low.nvals == low.nvals
    assert waits() == before + 1


def test_bounds_do_not_grow_without_end(monkeypatch):
    monkeypatch.setattr(objects, "LEAST_BASE", 64)
    A, B = graph("cuda"), graph("cuda", 2)
    for _ in range(40):
        A << A.ewise_add(B, binary.max)
    handle = A._value.handle_on("cuda")
    assert handle.most <= objects.GROWN * 2 * A.nvals
    expected = graph("reference").ewise_add(graph("reference", 2), binary.max).new()
    assert entries(A) == entries(expected)


def test_a_transpose_of_an_unknown_number():
    low = graph("cuda").select(select.tril, -1).new()
    expected = graph("reference").select(select.tril, -1).new()
    assert entries(low.T.new()) == entries(expected.T.new())
    empty = graph("cuda").select(select.valuegt, 10**9).new()
    assert entries(empty.T.mxm(empty, semiring.plus_times).new()) == [[], [], []]
    assert empty.nvals == 0
