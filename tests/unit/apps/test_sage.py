"""GraphSAGE: against the formulas in NumPy, with the samples given or drawn."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from tests.helpers.every import every

import semira as gb
from semira.apps import sage
from semira.exceptions import DimensionMismatch, DomainMismatch, InvalidValue, OutOfMemory


def matrix_of(scipy_matrix, device):
    made = sp.csr_matrix(scipy_matrix)
    with gb.device(device):
        return gb.Matrix.from_csr(made.indptr, made.indices, made.data, ncols=made.shape[1])


def some_graph(n=30):
    made = sp.random(n, n, 0.1, "csr", random_state=4)
    made = (made + made.T).tocsr()
    made.data[made.indptr[3] : made.indptr[4]] = 0
    made.eliminate_zeros()
    return made


def some_network(n, features=6, widths=(4, 5, 3, 7), seed=1):
    rng = np.random.default_rng(seed)
    a, b, c, d = widths
    return {
        "features": rng.normal(size=(n, features)),
        "Wf1": rng.normal(size=(features, a)),
        "Wa1": rng.normal(size=(features, b)),
        "Wf2": rng.normal(size=(a + b, c)),
        "Wa2": rng.normal(size=(a + b, d)),
    }


def length_one(x):
    size = np.sqrt((x * x).sum(axis=-1, keepdims=True))
    return np.divide(x, size, out=np.zeros_like(x), where=size > 0)


def expected_of(net, children, leaves, pooled):
    """The formulas of the report."""
    X = net["features"]
    relu = lambda *parts: length_one(np.maximum(np.concatenate(parts, axis=-1), 0))  # noqa: E731
    h_c = relu(X[children] @ net["Wf1"], pooled(X[leaves], axis=2) @ net["Wa1"])
    h_s = relu(X @ net["Wf1"], pooled(X[children], axis=1) @ net["Wa1"])
    return relu(h_s @ net["Wf2"], pooled(h_c, axis=1) @ net["Wa2"])


def given_samples(n, wide, deep, seed=2):
    rng = np.random.default_rng(seed)
    return rng.integers(0, n, (n, wide)), rng.integers(0, n, (n, wide, deep))


POOLS = {"mean": np.mean, "sum": np.sum, "max": np.max}


@every("aggregator", ["mean", "sum", "max", "callable"])
@every("widths", [(4, 5, 3, 7), (9, 12, 40, 1), (4, 8, 68, 4)])
def test_embeddings_are_those_of_the_formulas(device, aggregator, widths):
    net = some_network(30, features=8 if widths[0] == 4 else 6, widths=widths)
    samples = given_samples(30, 3, 4)
    asked = aggregator
    if aggregator == "callable":
        asked, aggregator = (lambda rows: rows.max(axis=1)), "max"
    A = matrix_of(some_graph(), device)
    found = gb.apps.sage_embedding(A, **net, samples=samples, aggregator=asked)
    expected = expected_of(net, *samples, POOLS[aggregator])
    assert np.abs(found.embedding - expected).max() < 2e-6
    facts = found.facts()
    assert facts["length_error"] < 1e-6
    assert facts["columns"] == widths[2] + widths[3]


@every("columns", [8, 6])
@every("aggregator", ["mean", "max", "callable"])
def test_half_precision_is_kept_and_summed_in_float32(device, aggregator, columns):
    # Wa1 has more bytes a row than features, then fewer; subnormal numbers and zeros among them.
    for widths in ((4, 9, 3, 7), (4, 1, 3, 7)):
        net, samples = some_network(30, columns, widths), given_samples(30, 3, 4)
        features = net["features"].astype(np.float16)
        features[3], features[4] = 3e-7, -0.0
        asked = (lambda rows: rows.max(axis=1)) if aggregator == "callable" else aggregator
        A, given = matrix_of(some_graph(), device), {"samples": samples, "aggregator": asked}
        found = gb.apps.sage_embedding(A, **net | {"features": features}, **given)
        wide = features.astype(np.float32)
        expected = gb.apps.sage_embedding(A, **net | {"features": wide}, **given)
        assert np.abs(found.embedding - expected.embedding).max() < 2e-6
    assert sage.memory(A, 64, half=True) == sage.memory(A, 64) - 2 * 64 * 30


def test_a_function_may_change_the_number_of_columns(device):
    net, samples = some_network(30), given_samples(30, 3, 4)
    both = lambda rows: np.concatenate([rows.mean(axis=1), rows.max(axis=1)], axis=1)  # noqa: E731
    rng = np.random.default_rng(3)
    net["Wa1"], net["Wa2"] = rng.normal(size=(12, 5)), rng.normal(size=(18, 7))
    A = matrix_of(some_graph(), device)
    found = gb.apps.sage_embedding(A, **net, samples=samples, aggregator=both)

    def pooled(x, axis):
        return np.concatenate([x.mean(axis=axis), x.max(axis=axis)], axis=-1)

    assert np.abs(found.embedding - expected_of(net, *samples, pooled)).max() < 2e-6


@pytest.mark.parametrize("h", [300, 700])
def test_wide_layers(device, h):
    if device == "reference":
        pytest.skip("too slow; what is tested is the kernel of the GPU")
    net, samples = some_network(20, widths=(h // 2, h // 2, h, 10)), given_samples(20, 3, 2)
    for aggregator, function in POOLS.items():
        A = matrix_of(some_graph(20), device)
        found = gb.apps.sage_embedding(A, **net, samples=samples, aggregator=aggregator)
        expected = expected_of(net, *samples, function)
        assert np.abs(found.embedding - expected).max() < 5e-6


def test_samples_are_neighbours_and_the_same_on_every_device(device):
    graph = some_graph()
    # Features tell who was drawn: one-hot, and weights that copy them.
    net = {
        "features": np.eye(30), "Wf1": np.eye(30), "Wa1": np.eye(30),
        "Wf2": np.eye(60), "Wa2": np.eye(60),
    }  # fmt: skip
    found = gb.apps.sage_embedding(matrix_of(graph, device), **net, children=3, leaves=2, seed=5)
    expected = gb.apps.sage_embedding(
        matrix_of(graph, "reference"), **net, children=3, leaves=2, seed=5
    )
    assert np.abs(found.embedding - expected.embedding).max() < 1e-6
    hop = graph.toarray() > 0
    # Without neighbours a vertex is its own.
    hop[np.arange(30), np.arange(30)] |= ~hop.any(axis=1)
    z = found.embedding
    assert (z[:, :30] > 0).tolist() == np.eye(30, dtype=bool).tolist()
    assert not (z[:, 30:60] > 0)[~hop].any()
    assert (z[:, 30:60] > 0).any(axis=1).all()
    assert not (z[:, 60:90] > 0)[~hop].any()
    two = hop.astype(int) @ hop > 0
    assert not (z[:, 90:] > 0)[~two].any()
    assert z[3, 33] > 0


@pytest.mark.parametrize("batch", [1, 7, 1000])
def test_batches_and_tables_do_not_matter(device, batch, monkeypatch):
    from semira.apps.sage import solve

    net = some_network(30)
    A = matrix_of(some_graph(), device)
    expected = gb.apps.sage_embedding(A, **net, children=3, leaves=2)
    told = []
    found = gb.apps.sage_embedding(
        A, **net, children=3, leaves=2, batch=batch, progress=lambda *given: told.append(given)
    )
    assert np.abs(found.embedding - expected.embedding).max() < 1e-6
    assert len(told) == found.batches == -(-30 // min(batch, 30))
    assert told[-1] == (30, 30)
    # Without room for tables; with the result on the host.
    rooms = lambda network, n, *rest: (False, np.empty((n, network.width), np.float32))  # noqa: E731
    monkeypatch.setattr(solve, "_rooms", rooms)
    found = gb.apps.sage_embedding(A, **net, children=3, leaves=2, batch=batch)
    assert np.abs(found.embedding - expected.embedding).max() < 1e-6


def test_weighted_samples_follow_the_weights(device):
    # Of vertex 0, neighbour 2 alone has weight.
    graph = sp.csr_matrix(([0.0, 1.0, 1.0, 1.0], [1, 2, 0, 0], [0, 2, 3, 4]), (3, 3))
    net = {"features": np.eye(3), "Wf1": np.eye(3), "Wa1": np.eye(3)}
    found = gb.apps.sage_embedding(
        matrix_of(graph, device), **net, Wf2=np.eye(6), Wa2=np.eye(6), children=4, weighted=True
    )
    assert (found.embedding[0, 3:6] > 0).tolist() == [False, False, True]


def test_rows_that_are_cut_off_stay_zero(device):
    net, samples = some_network(30), given_samples(30, 3, 4)
    for name in ("Wf2", "Wa2"):
        net[name] = -np.abs(net[name])
    found = gb.apps.sage_embedding(matrix_of(some_graph(), device), **net, samples=samples)
    assert not found.embedding.any()
    assert found.facts()["zero_rows"] == 30


def test_defaults_are_those_of_the_report():
    A = matrix_of(some_graph(), "cpu")
    found = gb.apps.sage_embedding(A)
    assert found.embedding.shape == (30, 256)
    assert found.embedding.dtype == np.float32
    again, other = gb.apps.sage_embedding(A), gb.apps.sage_embedding(A, seed=1)
    assert (found.embedding == again.embedding).all()
    assert (found.embedding != other.embedding).any()
    assert [*found.table()][:3] == ["vertex", "e0", "e1"]


def test_empty_graphs(device):
    for n in (0, 1, 2):
        A = matrix_of(sp.csr_matrix((n, n)), device)
        found = gb.apps.sage_embedding(A, np.ones((n, 2)), dims=4)
        assert found.embedding.shape == (n, 8)
        assert found.facts()["vertices"] == n


BAD = [
    ({"features": np.ones((29, 6))}, DimensionMismatch, "29 rows for 30"),
    ({"features": np.ones(30)}, InvalidValue, "table of real numbers"),
    ({"features": np.full((30, 6), np.nan)}, InvalidValue, "finite"),
    ({"Wa1": np.ones((5, 4))}, DimensionMismatch, "Wa1 has 5 rows; it multiplies 6"),
    ({"Wf2": np.ones((5, 4))}, DimensionMismatch, "Wf2 has 5 rows; it multiplies 9"),
    ({"Wf2": [["a"]]}, InvalidValue, "Wf2 must be a table"),
    ({"aggregator": "median"}, InvalidValue, "one of max, mean, sum"),
    ({"aggregator": lambda rows: rows}, InvalidValue, "the aggregator made"),
    ({"children": 0}, InvalidValue, "children=0"),
    ({"leaves": -1}, InvalidValue, "leaves=-1"),
    ({"batch": 0}, InvalidValue, "batch=0"),
    ({"samples": given_samples(20, 3, 2)}, DimensionMismatch, "must have shapes"),
    ({"samples": given_samples(30, 3, 0)}, InvalidValue, "at least one"),
    ({"samples": (np.full((30, 1), 30), np.zeros((30, 1, 1), int))}, InvalidValue, "0 to 29"),
]


@every(("options", "error", "text"), BAD)
def test_bad_arguments_are_named(device, options, error, text):
    with pytest.raises(error, match=text):
        gb.apps.sage_embedding(matrix_of(some_graph(), device), **some_network(30) | options)


def test_bad_matrices_are_named(device):
    with pytest.raises(InvalidValue, match="square"):
        gb.apps.sage_embedding(matrix_of(np.ones((2, 3)), device))
    with pytest.raises(DomainMismatch, match="got int"):
        gb.apps.sage_embedding(3)
    with pytest.raises(OutOfMemory, match="pass a smaller batch"):
        gb.apps.sage_embedding(
            matrix_of(some_graph(), device), children=2**20, leaves=2**20, dims=4
        )


def test_memory_counts_what_is_allocated():
    from semira.apps.sage import memory
    from semira.apps.sage.problem import network_of
    from semira.apps.sage.solve import batch_bytes

    A = matrix_of(some_graph(), "cpu")
    weights = dict.fromkeys(("Wf1", "Wa1", "Wf2", "Wa2"))
    network = network_of(30, None, weights, 64, 16, "mean", 0, np)
    tables = 4 * 30 * (64 + 16 + 16 + network.width)
    assert memory(A, 64, 16) == tables + batch_bytes(network, 10, 10, 30)
