"""Geolocation: the report's sample, a literal version beside it, bad input, every device."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as settings_of_tests
from hypothesis import strategies as st
from tests.helpers import chesapeake
from tests.helpers import geolocation as oracle

import semira as gb
from semira.apps.geolocation import memory, solve
from semira.base import settings
from semira.exceptions import DimensionMismatch, DomainMismatch, InvalidValue

NAN = np.nan


@pytest.fixture
def device(device):
    with gb.device(device):
        yield device


def matrix(rows, cols, n):
    return gb.Matrix.from_coo(rows, cols, True, nrows=n, ncols=n)


def random_case(seed, n=300, degree=6, known=0.3, spread=60.0):
    """Return a directed graph as lists of neighbours, and its positions, most of them unknown."""
    rng = np.random.default_rng(seed)
    near = [np.unique(rng.integers(0, n, rng.poisson(degree))) for _ in range(n)]
    lat = rng.uniform(-spread, spread, n)
    lon = rng.uniform(-180, 180, n) if spread > 50 else rng.uniform(-spread, spread, n)
    is_known = rng.random(n) < known
    return near, np.where(is_known, lat, NAN), np.where(is_known, lon, NAN)


def of_lists(near):
    rows = np.repeat(np.arange(len(near)), [len(each) for each in near])
    return matrix(rows, np.concatenate(near), len(near))


def close_places(found, lat, lon, degrees=1e-9):
    got_lat, got_lon = found.to_arrays()
    assert np.array_equal(np.isnan(got_lat), np.isnan(lat))
    turned = np.abs(got_lon - lon) % 360
    assert np.nanmax(np.abs(got_lat - lat), initial=0) < degrees
    assert np.nanmax(np.minimum(turned, 360 - turned), initial=0) < degrees


def test_the_sample_of_the_report(device):
    A = matrix(*chesapeake.edges(), 39)
    found = gb.apps.geolocate(A, *oracle.sample(), iterations=2)
    lat, lon = found.to_arrays()
    printed = {
        0: (37.744907, -122.009430), 1: (37.866806, -122.257973), 2: (9.427616, -110.640709),
        3: (37.869114, -122.259109), 35: (37.864429, -122.199409), 36: (37.807079, -122.134163),
        37: (37.053719, -115.913628), 38: (9.427616, -110.640709),
    }  # fmt: skip
    for vertex, place in printed.items():  # of the report, in single precision
        assert (lat[vertex], lon[vertex]) == pytest.approx(place, abs=2e-5)
    computed = {
        35: (37.864425, -122.199396), 36: (37.807075, -122.134164), 37: (37.053717, -115.913643)
    }  # fmt: skip
    for vertex, place in computed.items():  # in double precision
        assert (lat[vertex], lon[vertex]) == pytest.approx(place, abs=1e-6)
    assert (lat[2], lon[2]) == (lat[38], lon[38])
    assert found.iteration.to_dense().tolist() == (np.isnan(oracle.sample()[0]) * 1).tolist()
    assert (found.iterations, found.complete) == (1, True)


@pytest.mark.parametrize("spread", [0.02, 3.0, 60.0])
@pytest.mark.parametrize("known", [0.05, 0.6])
def test_places_are_those_of_the_literal_version(device, spread, known):
    near, lat, lon = random_case(7, known=known, spread=spread)
    found = gb.apps.geolocate(of_lists(near), lat, lon)
    expected_lat, expected_lon, located = oracle.geolocate(near, lat, lon)
    close_places(found, expected_lat, expected_lon)
    assert found.table()["iteration"].tolist() == located.tolist()


@pytest.mark.parametrize("steps", [1, 5, 8, 30])
def test_medians_end_after_some_steps(device, steps):
    near, lat, lon = random_case(8, known=0.8, spread=3.0)
    found = gb.apps.geolocate(of_lists(near), lat, lon, spatial_iterations=steps, tolerance=0)
    close_places(found, *oracle.geolocate(near, lat, lon, steps=steps, tolerance=0)[:2])


@pytest.mark.parametrize("caps", [(8, 8, 16), (1, 2, 3), (1000,)])
def test_launches_of_few_steps_change_nothing(device, monkeypatch, caps):
    # As a GPU does with many vertices.
    monkeypatch.setattr(solve, "_SMALL", 0)
    monkeypatch.setattr(solve, "_CAPS", caps)
    near, lat, lon = random_case(10, known=0.7, spread=3.0)
    found = gb.apps.geolocate(of_lists(near), lat, lon)
    expected_lat, expected_lon, located = oracle.geolocate(near, lat, lon)
    close_places(found, expected_lat, expected_lon)
    assert found.table()["iteration"].tolist() == located.tolist()


def test_a_larger_tolerance_ends_sooner(device):
    near, lat, lon = random_case(9, known=0.8, spread=3.0)
    found = gb.apps.geolocate(of_lists(near), lat, lon, tolerance=0.1)
    close_places(found, *oracle.geolocate(near, lat, lon, tolerance=0.1)[:2])


def test_neighbours_of_every_number(device):
    # Vertex v has v known neighbours: every way of a GPU to share them out.
    counts = [*range(12), 31, 32, 33, 64, 100, 300, 700]
    total = max(counts)
    rng = np.random.default_rng(2)
    lat = np.concatenate([rng.uniform(-50, 50, total), np.full(len(counts), NAN)])
    lon = np.concatenate([rng.uniform(150, 200, total), np.full(len(counts), NAN)])
    lon = np.where(lon > 180, lon - 360, lon)
    near = [np.array([], int)] * total + [
        np.sort(rng.choice(total, count, replace=False)) for count in counts
    ]
    found = gb.apps.geolocate(of_lists(near), lat, lon)
    close_places(found, *oracle.geolocate(near, lat, lon)[:2])


def test_longitudes_go_the_shorter_way_round(device):
    A = matrix([0] * 3, [1, 2, 3], 4)
    lat = np.array([NAN, 10.0, 12.0, 14.0])
    for shift in (0.0, 177.0, 179.5, -178.0):
        lon = np.array([NAN, 1.0, 2.0, 4.0]) + shift
        lon = np.where(lon > 180, lon - 360, lon)
        x, y = (each[0] for each in gb.apps.geolocate(A, lat, lon).to_arrays())
        first = gb.apps.geolocate(A, lat, np.array([NAN, 1.0, 2.0, 4.0])).to_arrays()
        assert x == pytest.approx(first[0][0], abs=1e-9)
        assert (y - shift - first[1][0]) % 360 == pytest.approx(0, abs=1e-9) or (
            y - shift - first[1][0]
        ) % 360 == pytest.approx(360, abs=1e-9)
        assert -180 <= y <= 180


def test_one_neighbour_is_copied_and_two_are_halved(device):
    A = matrix([0, 1, 1], [2, 2, 3], 4)
    found = gb.apps.geolocate(A, [NAN, NAN, 50.0, 50.0], [NAN, NAN, 170.0, -170.0])
    lat, lon = found.to_arrays()
    assert (lat[0], lon[0]) == (50.0, 170.0)
    # North of the parallel, and on the date line.
    assert lat[1] == pytest.approx(50.4321, abs=1e-3)
    assert abs(lon[1]) == pytest.approx(180, abs=1e-9)


def test_equal_neighbours_are_where_the_vertex_is(device):
    found = gb.apps.geolocate(
        matrix([0] * 4, [1, 2, 3, 4], 5), [NAN] + [7.25] * 4, [NAN] + [-3.5] * 4
    )
    assert (found.latitude[0].value, found.longitude[0].value) == (7.25, -3.5)


def test_a_median_that_meets_a_neighbour_stays_there(device):
    # The mean is the third place, whose pull the others do not exceed.
    near = [np.array([1, 2, 3]), *[np.array([], int)] * 3]
    lat, lon = np.array([NAN, 10.0, 20.0, 15.0]), np.array([NAN, 5.0, 5.0, 5.0])
    found = gb.apps.geolocate(of_lists(near), lat, lon)
    assert (found.latitude[0].value, found.longitude[0].value) == (15.0, 5.0)


def chain(n):
    return matrix(np.arange(1, n), np.arange(n - 1), n)


def test_a_chain_is_located_one_by_one(device):
    n = 70
    lat, lon = np.full(n, NAN), np.full(n, NAN)
    lat[0], lon[0] = 4.0, 5.0
    found = gb.apps.geolocate(chain(n), lat, lon)
    assert (found.iterations, found.complete) == (10, False)
    assert found.iteration.to_dense(-1).tolist() == [*range(11), *[-1] * 59]
    seen = []
    found = gb.apps.geolocate(
        chain(n), lat, lon, to_completion=True, progress=lambda *told: seen.append(told)
    )
    assert (found.iterations, found.complete) == (69, True)
    assert found.iteration.to_dense().tolist() == list(range(n))
    assert seen == [(known, n) for known in range(2, n + 1)]


def test_components_without_a_label_stay_unknown(device):
    A = matrix([0, 1, 2, 3, 4], [1, 0, 3, 2, 4], 5)
    found = gb.apps.geolocate(A, [1.0, *[NAN] * 4], [2.0, *[NAN] * 4], to_completion=True)
    assert found.located.tolist() == [True, True, False, False, False]
    facts = found.facts()
    assert (facts["given"], facts["located"], facts["unlocated"]) == (1, 1, 3)
    assert found.complete
    assert found.latitude.to_dict() == {0: 1.0, 1: 1.0}


def test_edges_are_read_from_rows(device):
    A = matrix([0], [1], 2)
    assert gb.apps.geolocate(A, [NAN, 1.0], [NAN, 2.0]).located.tolist() == [True, True]
    assert gb.apps.geolocate(A, [1.0, NAN], [2.0, NAN]).located.tolist() == [True, False]


def test_vectors_and_arrays_are_the_same_input(device):
    near, lat, lon = random_case(3)
    A = of_lists(near)
    arrays = gb.apps.geolocate(A, lat, lon)
    vectors = gb.apps.geolocate(
        A, gb.Vector.from_dense(lat, missing_value=NAN), gb.Vector.from_dense(lon)
    )
    for a, b in zip(arrays.to_arrays(), vectors.to_arrays(), strict=True):
        assert np.array_equal(a, b, equal_nan=True)
    single = gb.apps.geolocate(A, lat.astype("float32"), lon.astype("float32"))
    close_places(single, *arrays.to_arrays(), degrees=1e-2)
    assert np.isnan(lat).any()  # the caller's array is as it was


def test_hidden_locations_are_measured(device):
    # A grid of places one degree apart: neighbours tell the place of each vertex but the rim's.
    side = 20
    at = np.arange(side * side).reshape(side, side)
    pairs = [(at[:, 1:], at[:, :-1]), (at[1:], at[:-1])]
    one = np.concatenate([a.ravel() for a, _ in pairs])
    two = np.concatenate([b.ravel() for _, b in pairs])
    A = matrix(np.concatenate([one, two]), np.concatenate([two, one]), side * side)
    lat, lon = (at // side).ravel() - 10.0, (at % side).ravel() + 0.0
    found = gb.apps.geolocate(A, lat, lon, hide=0.2, seed=5)
    facts = found.facts()
    assert 40 < facts["hidden"] < 120
    assert facts["given"] == 400 - facts["hidden"]
    assert facts["hidden_located"] == facts["located"] == facts["hidden"]
    got = np.column_stack(found.to_arrays())
    expected = [oracle.haversine(got[v], (lat[v], lon[v])) for v in found.hidden]
    assert found.errors_km == pytest.approx(expected, abs=1e-6)
    assert found.median_error_km == pytest.approx(np.median(expected), abs=1e-6)
    assert 1 < found.median_error_km < 111  # within the next places
    shown = gb.apps.geolocate(A, lat, lon)
    assert shown.median_error_km is None
    assert "hidden" not in shown.facts()


def test_what_is_hidden_depends_on_the_seed_alone(device):
    n = 4000
    A = matrix([], [], n)
    lat = lon = np.zeros(n)
    chosen = [gb.apps.geolocate(A, lat, lon, hide=0.25, seed=seed).hidden for seed in (1, 1, 2)]
    assert chosen[0].tolist() == chosen[1].tolist() != chosen[2].tolist()
    assert abs(len(chosen[0]) - n / 4) < 5 * np.sqrt(n * 3 / 16)
    assert chosen[0][:6].tolist() == HIDDEN


#: With seed 1 and a quarter hidden, on every device.
HIDDEN = [17, 26, 31, 33, 38, 44]


def test_small_graphs(device):
    empty = gb.apps.geolocate(gb.Matrix(bool, 0, 0), [], [])
    assert (empty.iterations, empty.complete, len(empty.located)) == (0, True, 0)
    single = gb.apps.geolocate(gb.Matrix(bool, 1, 1), [3.0], [4.0])
    assert single.facts() == {
        "given": 1, "located": 0, "unlocated": 0, "iterations": 0, "complete": True
    }  # fmt: skip
    loop = gb.apps.geolocate(matrix([0, 1], [0, 1], 2), [NAN, 1.0], [NAN, 1.0])
    assert loop.located.tolist() == [False, True]


def test_what_cannot_be_located_is_refused(device):
    A = matrix([0, 1], [1, 0], 2)
    locate = gb.apps.geolocate
    with pytest.raises(InvalidValue, match="no vertex has a known location"):
        locate(A, [NAN, NAN], [NAN, NAN])
    with pytest.raises(InvalidValue, match="vertex 1 has a latitude but no longitude"):
        locate(A, [NAN, 1.0], [NAN, NAN])
    with pytest.raises(InvalidValue, match=r"latitude 95.0 of vertex 0 is outside \[-90, 90\]"):
        locate(A, [95.0, 1.0], [0.0, 0.0])
    with pytest.raises(InvalidValue, match=r"longitude 190.0 of vertex 1 .* subtract 360"):
        locate(A, [5.0, 1.0], [0.0, 190.0])
    with pytest.raises(InvalidValue, match="inf"):
        locate(A, [np.inf, 1.0], [0.0, 0.0])
    with pytest.raises(
        DimensionMismatch, match=r"latitude has shape \(3,\); pass one for each of the 2"
    ):
        locate(A, [NAN] * 3, [NAN] * 3)
    with pytest.raises(DimensionMismatch, match=r"shape \(2, 3\)"):
        locate(gb.Matrix(bool, 2, 3), [NAN] * 2, [NAN] * 2)
    with pytest.raises(DomainMismatch, match="latitude is of"):
        locate(A, ["a", "b"], [NAN, NAN])
    with pytest.raises(DomainMismatch, match="needs a Matrix"):
        locate(np.eye(2), [NAN, 1.0], [NAN, 1.0])
    for name, value in (
        ("hide", 1.0),
        ("iterations", 0),
        ("spatial_iterations", 0),
        ("tolerance", -1.0),
    ):
        with pytest.raises(InvalidValue, match=f"{name} is {value}"):
            locate(A, [1.0, NAN], [1.0, NAN], **{name: value})
    with pytest.raises(InvalidValue, match="hides all 1 known"):
        locate(A, [1.0, NAN], [1.0, NAN], hide=0.9999)


def test_memory_is_asked_for_before_it_is_taken(monkeypatch):
    A = matrix([0, 1], [1, 0], 2)
    monkeypatch.setattr("semira.apps.arrays.free_memory", lambda device: memory(2) - 1)
    with pytest.raises(MemoryError, match="2 vertices take 104 bytes"):
        gb.apps.geolocate(A, [1.0, NAN], [1.0, NAN])


@settings_of_tests(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10**6), shift=st.floats(-180, 180), known=st.floats(0.1, 0.9))
def test_a_turn_of_the_globe_turns_the_places(seed, shift, known):
    near, lat, lon = random_case(seed, n=60, known=known)
    lat[:1], lon[:1] = 1.0, 2.0  # one is known
    turned = (lon + shift + 180) % 360 - 180
    A = of_lists(near)
    plain, other = (gb.apps.geolocate(A, lat, each) for each in (lon, turned))
    got_lat, got_lon = plain.to_arrays()
    close_places(other, got_lat, got_lon + shift, degrees=1e-6)
    assert np.nanmax(np.abs(other.to_arrays()[1])) <= 180


@settings_of_tests(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10**6), spread=st.floats(0.001, 1))
def test_places_lie_among_those_of_neighbours(seed, spread):
    rng = np.random.default_rng(seed)
    count = int(rng.integers(3, 12))
    lat = np.append(NAN, rng.uniform(-spread, spread, count))
    lon = np.append(NAN, rng.uniform(-spread, spread, count))
    A = matrix([0] * count, np.arange(1, count + 1), count + 1)
    got_lat, got_lon = gb.apps.geolocate(A, lat, lon).to_arrays()
    assert lat[1:].min() - 1e-9 <= got_lat[0] <= lat[1:].max() + 1e-9
    assert lon[1:].min() - 1e-9 <= got_lon[0] <= lon[1:].max() + 1e-9

    def total(place):
        return sum(oracle.haversine(place, other) for other in zip(lat[1:], lon[1:], strict=True))

    # Near the equator degrees are all alike, and the search goes down from the mean.
    assert total((got_lat[0], got_lon[0])) <= total((lat[1:].mean(), lon[1:].mean())) * (1 + 1e-4)


def test_the_compiler_of_the_cpu_takes_the_kernels(tmp_path):
    text = (
        "import sys, semira as gb\n"
        "A = gb.Matrix.from_coo([0, 1], [1, 0])\n"
        "gb.apps.geolocate(A, [1.0, 2.0], [1.0, 2.0], hide=0.5, seed=1).facts()\n"
        "assert 'numba' not in sys.modules"
    )
    variables = os.environ | {"SEMIRA_CACHE_DIR": str(tmp_path), "SEMIRA_DEVICE": "cpu"}
    ran = subprocess.run(
        [sys.executable, "-c", text], env=variables, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_threads_change_nothing(threads, monkeypatch):
    monkeypatch.setattr("semira.backends.cpu.threads.PARALLEL_ENTRIES", 1000)
    near, lat, lon = random_case(11, n=1000, known=0.1)
    with gb.device("cpu"):
        A = of_lists(near)
        expected = gb.apps.geolocate(A, lat, lon, hide=0.1)
        before = settings.override(threads=threads)
        try:
            found = gb.apps.geolocate(A, lat, lon, hide=0.1)
        finally:
            settings.restore(before)
    for a, b in zip(expected.table().values(), found.table().values(), strict=True):
        assert np.array_equal(a, b, equal_nan=True)
    assert expected.facts() == found.facts()
