"""Handles and arrays that are used again: nothing of what they held before is seen."""

from __future__ import annotations

import gc

import numpy as np
import pytest

import semira as gb
from semira import exceptions
from semira.backends.registry import backend_for
from semira.kernels import array_module, rows_of

pytestmark = pytest.mark.gpu


def handle_of(thing):
    return thing._value.handle_on("cuda")


def test_entries_of_vectors_of_any_length_are_sent():
    for n in (5, 5_000, 36_692, 299_067, 1_500_000):
        for k in (0, 1, 5, 32, 33):
            at = np.unique(np.random.default_rng(k).integers(0, n, k))
            with gb.device("cuda"):
                shared = gb.Vector.from_coo(at, 7, "INT32", size=n)
                own = gb.Vector.from_coo(at, np.arange(len(at)), "FP64", size=n)
            for vector, values in ((shared, np.full(len(at), 7)), (own, np.arange(len(at)))):
                found, held = vector.ewise_add(vector, "first").new().to_coo()
                assert found.tolist() == at.tolist()
                assert held.tolist() == values.tolist()


def test_a_vector_takes_the_handle_that_was_left():
    with gb.device("cuda"):
        first = gb.Vector.from_coo([1, 2], [3, 4], size=40)
        left, stamp = handle_of(first), handle_of(first).stamp
        first.wait()
        del first
        gc.collect()
        assert left.stamp == 0
        second = gb.Vector.from_coo([5], [6], size=40)
        assert handle_of(second) is left
        assert left.stamp == stamp
        assert second.to_dict() == {5: 6}
        # Another dtype of the same width gets the memory alone.
        del second
        third = gb.Vector.from_coo([7], [0.5], size=40)
        assert handle_of(third) is not left
        assert third.to_dict() == {7: 0.5}


def test_a_scalar_that_was_left_brings_no_value():
    with gb.device("cuda"):
        v = gb.Vector.from_coo([0, 3], [1, 2], size=5)
        for turn in range(3):
            with_value = gb.Scalar.from_value(turn)
            assert v.apply("plus", right=with_value).new().to_dict() == {0: 1 + turn, 3: 2 + turn}
            # What a launch writes may be empty afterwards.
            with_value << v.select(">", 9).new().reduce(gb.monoid.plus)
            assert with_value.value is None
            del with_value
            without = gb.Scalar("INT64")
            with pytest.raises(exceptions.EmptyObject):
                v.apply("plus", right=without).new()
            del without


def test_loops_on_handles_that_were_left_find_the_same(device):
    rows, columns = np.random.default_rng(3).integers(0, 60, (2, 150))
    A = gb.Matrix.from_coo(rows, columns, True, nrows=60, ncols=60, dup_op="any")
    kept = []
    with gb.device(device):
        B = A.dup()
        for source in (0, 7, 7, 31, 0):
            found = gb.algorithms.bfs(B, source, parents=source == 31)
            kept.append((source, found.level))
    for source, level in kept:
        assert level.to_dict() == gb.algorithms.bfs(A, source).level.to_dict()


def test_rows_are_lent_until_the_matrix_is_written():
    with gb.device("cuda"), array_module("cuda"):
        A = gb.Matrix.from_coo([0, 0, 1], [1, 2, 0], [1.0, 2.0, 3.0], nrows=3, ncols=3)
        before = rows_of(A)
        assert rows_of(A).indptr is before.indptr
        A[2, 2] << 5.0
        assert [part.tolist() for part in rows_of(A)[:3]] == [
            [0, 2, 3, 4], [1, 2, 0, 2], [1.0, 2.0, 3.0, 5.0],
        ]  # fmt: skip
        assert before.indptr.tolist() == [0, 2, 3, 3]
        B = A.dup()
        B.clear()
        assert rows_of(B).indptr.tolist() == [0, 0, 0, 0]
        assert rows_of(A).indptr.tolist() == [0, 2, 3, 4]
    there = backend_for("cuda").runtime
    handle = handle_of(A)
    assert handle.lent
    handle.release()
    assert not handle.lent
    there.synchronise()
