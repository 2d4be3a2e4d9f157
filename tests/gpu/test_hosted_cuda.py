"""Recorded loops that write matrices on the GPU, against the reference."""

from __future__ import annotations

import pytest

import semira as gb
from semira import exceptions, monoid, select, semiring
from semira.backends.registry import backend_for
from semira.base import settings

pytestmark = pytest.mark.gpu


def graph(device: str) -> gb.Matrix:
    return gb.io.read("kron:7", device=device).dup("INT64")


def entries(thing) -> list:
    return [part.tolist() for part in thing.to_coo()]


def truss(device: str, k: int):
    """Keep the edges of k - 2 triangles among the edges kept."""
    edges = graph(device)
    edges(edges.S, replace=True) << 1
    before = gb.Scalar.from_value(-1)
    degrees = gb.Vector("INT64", edges.nrows)

    def step():
        support = edges.mxm(edges.T, semiring.plus_pair).new(mask=edges.S)
        before << edges.nvals
        edges << support.select(select.valuege, k - 2)
        degrees << edges.reduce_rowwise(monoid.plus)
        return edges.nvals != before

    done = gb.repeat(step)
    return done.iterations, entries(edges), entries(degrees)


@pytest.mark.parametrize("k", [3, 5, 9])
def test_a_loop_of_matrix_statements(k):
    assert truss("cuda", k) == truss("reference", k)


def spread(device: str):
    """A loop around a loop: closes a relation, each time after some products with a vector."""
    edges = graph(device)
    reach = edges.dup()
    seen = gb.Vector.from_coo([0], [1], size=edges.nrows, dtype="INT64").to(device)
    sizes = gb.Scalar.from_value(0)

    def inner():
        seen(accum=gb.binary.max) << seen.vxm(reach, semiring.max_first)

    def step():
        gb.repeat(inner, max_iterations=2)
        reach(edges.S, accum=gb.binary.max) << reach.mxm(edges, semiring.max_first)
        sizes << sizes + seen.nvals

    done = gb.repeat(step, max_iterations=3)
    return done.iterations, entries(seen), entries(reach), sizes.value


def test_nested_loops():
    assert spread("cuda") == spread("reference")


def test_a_broken_iteration_is_undone():
    edges = graph("cuda")
    before = entries(edges)
    index = gb.Vector.from_coo([0], [10**6], size=4, dtype="INT64").to("cuda")
    values = gb.Vector.from_scalar(1, 8, "INT64").to("cuda")
    found = gb.Vector("INT64", 4).to("cuda")

    def step():
        edges << edges.select(select.tril)
        values << values.apply(gb.unary.ainv)
        found << values.gather(index)

    with pytest.raises(exceptions.IndexOutOfBound):
        gb.repeat(step, max_iterations=3)
    assert entries(edges) == before
    assert values.to_coo()[1].tolist() == [1] * 8


def test_the_default_limit_ends_it():
    edges = graph("cuda")

    def step():
        edges << edges.T
        return edges.nvals > 0

    before = settings.override(max_iterations=7)
    try:
        with pytest.raises(exceptions.IterationLimit, match="7"):
            gb.repeat(step)
    finally:
        settings.restore(before)


def test_a_scalar_that_an_iteration_empties_is_noticed():
    edges, nothing = graph("cuda"), gb.Vector("INT64", 4).to("cuda")
    values = gb.Vector.from_scalar(1, 8, "INT64").to("cuda")
    found = gb.Vector("INT64", 8).to("cuda")
    with gb.device("cuda"):
        greatest = gb.Scalar.from_value(5)

    def step():
        edges << edges.T
        greatest << nothing.reduce(monoid.max)
        found << values.apply(gb.binary.plus, right=greatest)

    with pytest.raises(exceptions.EmptyObject):
        gb.repeat(step, max_iterations=2)
    assert greatest.value == 5
    assert found.nvals == 0


def test_a_summed_product_is_launched_as_explained():
    edges = graph("cuda").select(select.tril, -1).new()
    count = gb.Scalar(int)

    def step():
        found = edges.mxm(edges.T, semiring.plus_pair).new(mask=edges.S)
        count << found.reduce_scalar(monoid.plus, allow_empty=False)

    explained = gb.explain(step, max_iterations=1)
    assert [launch.statements for launch in explained.launches if launch.is_one] == [(0, 1)]
    gb.repeat(step, max_iterations=1)
    with backend_for("cuda").profiled() as profile:
        gb.repeat(step, max_iterations=1)
    assert sum(use.launches for use in profile.kernels()) == len(explained.launches) == 1
