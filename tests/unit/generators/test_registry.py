"""Specs: every row of the table works, every mistake is named with the valid choices."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from tests.helpers.every import every

from semira.base.errors import InvalidValue, OutOfMemory
from semira.generators import (
    GENERATORS,
    edges,
    generate,
    generate_erdos_renyi,
    generate_geometric,
    generate_kronecker,
    generate_road,
    is_generator_spec,
)


def assert_same(graph, expected):
    assert (graph.nrows, graph.symmetric) == (expected.nrows, expected.symmetric)
    np.testing.assert_array_equal(graph.rows, expected.rows)
    np.testing.assert_array_equal(graph.cols, expected.cols)
    if expected.values is None:
        assert graph.values is None
    else:
        np.testing.assert_array_equal(graph.values, expected.values)


@pytest.mark.parametrize("name", GENERATORS)
def test_spec_example_of_every_row_works(name):
    spec = GENERATORS[name].example
    if name == "rmat":
        spec = spec.replace("18", "10")
    assert is_generator_spec(spec)
    graph = generate(spec)
    graph.validate()
    assert graph.nnz > 0
    assert graph.meta["name"] == spec


@every(
    ("spec", "make"),
    [
        ("kron:8", lambda: generate_kronecker(8)),
        (
            "kron:8,ef=4,seed=3,a=0.5,b=0.2,c=0.2,permute=no,self_loops=yes,weights=uniform",
            lambda: generate_kronecker(
                8, 4, seed=3, a=0.5, b=0.2, c=0.2, permute=False, self_loops=True, weights="uniform"
            ),
        ),
        ("rmat:7,symmetric=no", lambda: generate_kronecker(7, symmetric=False)),
        ("KRON: 7 , ef = 2", lambda: generate_kronecker(7, 2)),
        ("rgg:9,weights=distance", lambda: generate_geometric(512, weights="distance")),
        ("rgg:9,radius=0.2", lambda: generate_geometric(512, 0.2)),
        ("road:30x20", lambda: generate_road(30, 20, removed=0.2)),
        ("road:30x20,removed=0,weights=none", lambda: generate_road(30, 20, weights=None)),
        ("grid:5X4", lambda: generate_road(5, 4, weights=None)),
        ("er:100,degree=8", lambda: generate_erdos_renyi(100, 8)),
    ],
)
def test_spec_passes_its_options_on(spec, make):
    assert_same(generate(spec), make())


@every(
    ("spec", "reason"),
    [
        ("kron", "not a generator spec"),
        ("krom:8", "not a generator spec"),
        ("", "not a generator spec"),
        ("kron:", "the size ''"),
        ("kron:big", "the size 'big'"),
        ("kron:8.5", "the size '8.5'"),
        ("kron:-3", "scale=-3"),
        ("kron:99", "scale=99"),
        ("rgg:99", "scale=99"),
        ("road:300", "the size '300'"),
        ("road:3x4x5", "the size '3x4x5'"),
        ("grid:ax4", "the size 'ax4'"),
        ("kron:8,degree=4", "'degree=4' is not one of its options"),
        ("kron:8,ef", "'ef' is not one of its options"),
        ("kron:8,", "'' is not one of its options"),
        ("kron:8,ef=", "'ef' cannot be ''"),
        ("kron:8,ef=x", "'ef' cannot be 'x'"),
        ("kron:8,permute=maybe", "'permute' cannot be 'maybe'"),
        ("kron:8,ef=4,ef=5", "'ef' is given twice"),
        ("kron:8,seed=-1", "seed=-1"),
        ("kron:8,weights=heavy", "weights='heavy'"),
        ("road:3x4,removed=2", "removed=2"),
        ("er:10,degree=nan", "degree=nan"),
        ("kron:" + "9" * 5000, "the size"),
    ],
)
def test_spec_mistake_is_named(spec, reason):
    with pytest.raises(InvalidValue) as caught:
        generate(spec)
    assert reason in str(caught.value)


def test_spec_unknown_generator_lists_all():
    with pytest.raises(InvalidValue) as caught:
        generate("torus:8")
    for row in GENERATORS.values():
        assert row.example in str(caught.value)


def test_spec_unknown_option_lists_options():
    with pytest.raises(InvalidValue, match=r"ef=, a=, b=, c=, permute=, self_loops=, seed="):
        generate("kron:8,speed=9")


@pytest.mark.parametrize("spec", ["kron:40", "rgg:45", "grid:9999999x9999999", "er:2000000000"])
def test_spec_too_large_is_refused_with_the_bytes_needed(spec):
    with pytest.raises(OutOfMemory, match=r"needs \d+ bytes"):
        generate(spec)


@pytest.mark.parametrize("text", ["graph.mtx", "kron", "kron.mtx", "C:\\graph.mtx", "-", ""])
def test_file_names_are_no_specs(text):
    assert not is_generator_spec(text)


@pytest.mark.parametrize(
    "spec",
    ["kron:17,weights=uniform", "kron:16,permute=no", "er:100000", "rgg:17", "road:500x400"],
)
def test_spec_needs_no_more_than_its_peak(spec, monkeypatch):
    asked = []
    monkeypatch.setattr(edges, "require_bytes", lambda needed, *_: asked.append(needed))
    tracemalloc.start()
    graph = generate(spec)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    # The list that is returned, and at most what there is at once while it is made.
    assert 0.98 * graph.nnz * 8 <= asked[0] <= peak
