"""Kernels over plain arrays: one Python function and one CUDA template mean the same."""

from __future__ import annotations

import _thread
import itertools
import threading

import numpy as np
import pytest
import scipy.sparse as sp

import semira as gb
from semira.exceptions import DimensionMismatch, InvalidObject, InvalidValue
from semira.kernels import ArrayKernel, array_module, philox, rows_of, run_loop, vector_of

PLACE = "tests.helpers.array_kernels:sample"
row_sums = ArrayKernel(PLACE, "row_sums")
draws = ArrayKernel(PLACE, "draws")
clamped = ArrayKernel(PLACE, "clamped")
histogram = ArrayKernel(PLACE, "histogram")
distinct = ArrayKernel(PLACE, "distinct", lanes=64, threads=64)
push_on = ArrayKernel(PLACE, "push_on")
close_round = ArrayKernel(PLACE, "close_round")


def host(array):
    return array.get() if hasattr(array, "get") else array


@pytest.fixture
def graph(device):
    made = sp.random(300, 200, 0.05, "csr", random_state=3)
    with gb.device(device):
        return made, gb.Matrix.from_csr(made.indptr, made.indices, made.data, ncols=200)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("negate", [False, True])
def test_rows_are_summed(device, graph, dtype, negate):
    scipy_matrix, A = graph
    with array_module(device) as xp:
        indptr, indices, values, shape = rows_of(A, dtype=dtype)
        out = xp.empty(shape[0], dtype)
        row_sums(300, indptr, indices, values, 2.5, negate, out, device=device, work=A.nvals)
        found = host(out)
    expected = 2.5 * np.asarray(scipy_matrix.sum(1)).ravel()
    pattern = scipy_matrix.copy()
    pattern.data = pattern.indices.astype(float)
    expected = expected + np.asarray(pattern.sum(1)).ravel()
    assert np.allclose(found, -expected if negate else expected, rtol=1e-5)


def test_random_numbers_are_those_of_philox(device):
    with array_module(device) as xp:
        out = xp.zeros(500, xp.int64)
        draws(500, -12345, 1000, out, device=device)
        found = host(out)
    with np.errstate(over="ignore"):
        assert found.tolist() == [int(philox(i, 7, 3, -12345, 1000)) for i in range(500)]


def test_every_worker_has_scratch_of_its_own(device, graph):
    scipy_matrix, A = graph
    with array_module(device) as xp:
        indptr, indices, _, _ = rows_of(A, values=False)
        keys = indices % 11
        out = xp.zeros(300, xp.int64)
        distinct(300, indptr, keys, out, device=device, scratch=[("int64", 11, -1)])
        found = host(out)
    starts = itertools.pairwise(scipy_matrix.indptr)
    expected = [len(set(scipy_matrix.indices[a:b] % 11)) for a, b in starts]
    assert found.tolist() == expected


def test_least_and_greatest_of_floats_are_those_of_python(device):
    values = np.array([-3.0, -0.5, 0.25, 1.5, np.inf, -np.inf, np.nan])
    with array_module(device) as xp:
        out = xp.empty(len(values))
        clamped(len(values), xp.asarray(values), -0.5, out, device=device)
        found = host(out)
    expected = [min(max(value, -0.5), 1.0) for value in values.tolist()]
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_threads_change_integers_that_they_share(device, dtype, monkeypatch):
    monkeypatch.setattr("semira.backends.cpu.threads.PARALLEL_ENTRIES", 100)
    items = 500 if device in ("reference", "cuda") else 300_000
    keys = np.random.default_rng(1).integers(0, 5, items)
    with array_module(device) as xp:
        counts, places = xp.zeros(5, dtype), xp.zeros(items, dtype)
        least, most = xp.full(5, items, "int32"), xp.zeros(5, "int32")
        given = xp.asarray(keys)
        histogram(items, given, counts, least, most, places, device=device, work=items)
        counts, least, most, places = map(host, (counts, least, most, places))
    assert counts.tolist() == np.bincount(keys).tolist()
    assert least.tolist() == [np.flatnonzero(keys == key)[0] for key in range(5)]
    assert most.tolist() == [np.flatnonzero(keys == key)[-1] for key in range(5)]
    for key in range(5):
        assert sorted(places[keys == key]) == list(range(counts[key]))


def test_items_may_be_shared_by_running_totals(device, graph):
    _, A = graph
    with array_module(device) as xp:
        indptr, indices, values, _ = rows_of(A)
        first, second = xp.empty(300), xp.empty(300)
        row_sums(300, indptr, indices, values, 1.0, False, first, device=device, work=indptr)
        row_sums(300, indptr, indices, values, 1.0, False, second, device=device)
        assert host(first).tolist() == host(second).tolist()
        with pytest.raises(DimensionMismatch, match="running totals"):
            row_sums(9, indptr, indices, values, 1.0, False, first, device=device, work=indptr)


def test_no_items_start_nothing(device):
    with array_module(device) as xp:
        out = xp.full(3, 7)
        draws(0, 1, 10, out, device=device)
        assert host(out).tolist() == [7, 7, 7]


def test_arrays_with_gaps_and_of_other_dtypes_are_refused(device):
    with array_module(device) as xp:
        with pytest.raises(InvalidValue, match="argument 2 has gaps"):
            draws(3, 1, 10, xp.zeros((3, 2))[:, 0], device=device)
        with pytest.raises(InvalidValue, match="complex128"):
            draws(3, 1, 10, xp.zeros(3, complex), device=device)


def test_arguments_of_a_kernel_that_ran_are_still_looked_at(device):
    with array_module(device) as xp:
        for _ in range(3):
            out = xp.zeros(1, xp.int64)
            draws(1, 1, 10, out, device=device)
            with pytest.raises(InvalidValue, match="argument 2 has gaps"):
                draws(1, 1, 10, xp.zeros((2, 2), xp.int64)[:, 0], device=device)
            wide = xp.zeros(1, xp.uint64)
            draws(1, 1, 10, wide, device=device)
            assert int(out[0]) == int(wide[0]) == int(philox(0, 7, 3, 1, 10))


def test_rows_follow_what_is_written(device):
    with gb.device(device), array_module(device):
        A = gb.Matrix.from_coo([0, 1], [1, 0], [1.0, 2.0])
        for _ in range(2):
            assert host(rows_of(A).values).tolist() == [1.0, 2.0]
        A[0, 0] << 5.0
        rows = rows_of(A)
        assert host(rows.indptr).tolist() == [0, 2, 3]
        assert host(rows.values).tolist() == [5.0, 1.0, 2.0]
        assert rows_of(A, values=False).values is None


def test_vectors_are_made_of_arrays_of_kernels(device):
    with array_module(device) as xp:
        values, where = xp.arange(4.0), xp.array([0, 2, 3, 5], xp.int32)
        flags = xp.array([True, False, True, True])
        full = vector_of(values, device=device)
        listed = vector_of(values, where, size=6, device=device)
        flagged = vector_of(values, flags, device=device)
    assert full.device == listed.device == device
    assert full.to_dict() == {0: 0, 1: 1, 2: 2, 3: 3}
    assert listed.to_dict() == {0: 0, 2: 1, 3: 2, 5: 3}
    assert (flagged.nvals, flagged.to_dict()) == (3, {0: 0, 2: 2, 3: 3})
    listed(accum="plus") << listed
    assert listed.to_dict() == {0: 0, 2: 2, 3: 4, 5: 6}


def test_the_reference_checks_positions():
    for where in ([2, 1], [1, 1], [-1, 1], [1, 4], [1]):
        with pytest.raises(InvalidObject):
            vector_of(np.zeros(2), np.array(where, np.int32), size=4, device="reference")


def test_loops_run_kernels_in_turn_until_one_says_so(device):
    values = np.arange(-700, 40) % 13
    with array_module(device) as xp:
        given, state = xp.asarray(values), xp.zeros(3, xp.int64)
        for rounds, most_blocks in ((11, None), (1, 1)):
            launches = (
                push_on.launch(len(values), given, state, work=len(values)),
                close_round.launch(1, state),
            )
            run_loop(state, *launches, device=device, most_blocks=most_blocks)
            assert host(given).tolist() == np.maximum(values, 10).tolist()
            assert host(state).tolist() == [1, 0, rounds]
            # One that is over does not begin.
            run_loop(state, *launches, device=device)
            assert host(state).tolist() == [1, 0, rounds]
            state[:] = 0


@pytest.mark.parametrize("where", ["reference", "cpu"])
def test_ctrl_c_ends_a_loop_between_rounds(where):
    # More entries than one chunk has, between which Ctrl-C would take effect.
    values = np.full(100 if where == "reference" else 400_000, -(10**9))
    state = np.zeros(3, np.int64)
    launches = (
        push_on.launch(len(values), values, state, work=len(values)),
        close_round.launch(1, state),
    )
    timer = threading.Timer(0.3, _thread.interrupt_main)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        run_loop(state, *launches, device=where)
    timer.join()
    assert state[2] > 1
    assert (values == state[2] - 10**9).all()


@pytest.mark.parametrize("items", [1, 1_000_000])
def test_ctrl_c_reaches_a_kernel_that_looks_for_it(items):
    endless = ArrayKernel(PLACE, "endless")
    seen = np.zeros(1, np.int64)
    endless(items, -1, seen, device="cpu", work=1 << 23, stops=True)
    assert seen[0] == 0
    timer = threading.Timer(0.3, _thread.interrupt_main)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        endless(items, 10**15, seen, device="cpu", work=1 << 23, stops=True)
    timer.join()
    assert seen[0] > 0


def test_loops_of_one_kernel_or_of_unequal_ones_are_refused(device):
    with array_module(device) as xp:
        state = xp.zeros(3, xp.int64)
        one = close_round.launch(1, state)
        with pytest.raises(InvalidValue, match="two or more"):
            run_loop(state, one, device=device)
        with pytest.raises(InvalidValue, match="no scratch"):
            run_loop(state, one, draws.launch(1, scratch=[("int8", 1, 0)]), device=device)
        with pytest.raises(InvalidValue, match="equal threads"):
            run_loop(state, one, distinct.launch(1, state), device=device)


@pytest.mark.parametrize("where", ["reference", "cpu"])
def test_hosts_skip_kernels_of_gpus(where):
    absent = ArrayKernel(PLACE, "there_is_no_such_function", skips_hosts=True)
    values, state = np.zeros(3, np.int64), np.zeros(3, np.int64)
    steps = push_on.launch(3, values, state), absent.launch(1, state), close_round.launch(1, state)
    run_loop(state, *steps, device=where)
    absent(3, values, device=where)
    assert values.tolist() == [10, 10, 10]
    with pytest.raises(InvalidValue, match="for GPUs alone"):
        run_loop(state, absent.launch(1, state), absent.launch(1, state), device=where)


def test_hosts_have_scratch_that_gpus_do_not_ask_for():
    with array_module("cpu") as xp:
        out, keys = xp.zeros(3, xp.int64), xp.zeros(3, xp.int32)
        indptr = xp.asarray([0, 1, 2, 3], dtype=xp.int32)
        wanted = [("int64", 1, -1)]
        distinct(3, indptr, keys, out, device="cpu", host_scratch=lambda: wanted)
        assert out.tolist() == [1, 1, 1]


@pytest.mark.parametrize("shapes", [[], [(2, 3), (0,), (4,)]])
def test_arrays_of_a_workspace_do_not_overlap(device, shapes):
    with gb.kernels.array_module(device) as xp:
        parts = gb.kernels.workspace(xp, *[(shape, np.int64) for shape in shapes])
        for number, part in enumerate(parts):
            part[...] = number
        assert [part.shape for part in parts] == shapes
        assert all(bool((part == number).all()) for number, part in enumerate(parts))


@pytest.mark.parametrize("items", [1, 7])
def test_a_bound_call_reads_what_arrays_hold_now(device, items):
    with array_module(device) as xp:
        indptr, indices = xp.arange(items + 1), xp.arange(items)
        values, out = xp.ones(items), xp.zeros(items)
        call = row_sums.bound(items, indptr, indices, values, 1.0, False, out, device=device)
        call()
        once = host(out).tolist()
        values *= 3
        call()
        again = host(out).tolist()
    assert once == [1.0 + i for i in range(items)]
    assert again == [3.0 + i for i in range(items)]


def test_what_a_call_refuses_is_not_bound():
    gaps = np.arange(8.0)[::2]
    with pytest.raises(InvalidValue, match="argument 0 has gaps"):
        row_sums.bound(1, gaps, gaps, gaps, 1.0, False, gaps, device="cpu")
