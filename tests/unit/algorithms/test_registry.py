"""The registry: its rows are complete and true, and a row is all that a new algorithm needs."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from benchmarks.algorithm_runs import CASES, AlgorithmsRequest, run_algorithms
from benchmarks.algorithm_tables import algorithms_table
from tests.docs import algorithm_tables, line_tables
from tests.helpers.arguments import needed_by
from tools import docs_nav
from typer.testing import CliRunner

import semira as gb
from semira import algorithms
from semira.algorithms.checks import KNOWN
from semira.algorithms.registry import REGISTRY
from semira.algorithms.row import Kind, Peer, Row, load
from semira.apps.registry import rows as applications
from semira.cli.catalogue import CATALOGUE
from semira.cli.main import app

ROOT = Path(__file__).resolve().parents[3]

ALL = pytest.mark.parametrize("row", REGISTRY.values(), ids=REGISTRY)


def test_every_algorithm_has_a_row() -> None:
    for path in (ROOT / "src" / "semira" / "algorithms").glob("*.py"):
        if path.stem not in ("__init__", "registry"):
            load(f"semira.algorithms.{path.stem}:__doc__")
    # Or a row among the applications, as those between two vertices have.
    rows = [each for each in applications().values() if each.module.startswith(algorithms.__name__)]
    assert all(each.function.__module__ == each.module for each in rows)
    assert {*KNOWN} == {*REGISTRY} | {each.name for each in rows}


@ALL
def test_what_a_row_names_is_there(row: Row) -> None:
    assert callable(row.function)
    assert row.summary
    assert (ROOT / "docs" / "algorithms" / row.page).is_file()
    assert callable(load(row.oracle))
    parameters = row.parameters
    assert row.texts.keys() <= parameters.keys()
    assert row.start in ("", "source", "sources")
    for case in row.measured():
        assert case.options.keys() <= parameters.keys()
    assert row.fields()[0] == row.main
    assert row.kind() in Kind


IN_KERNELS = {
    "all_pairs_shortest_paths",
    "betweenness_centrality",
    "closeness_centrality",
    "eccentricity",
    "k_hop",
    "k_truss",
    "local_clustering_coefficient",
    "multi_source_bfs",
    "pagerank",
    "personalised_pagerank",
    "transitive_closure",
}


@ALL
def test_costs_are_about_what_a_call_reads(row: Row) -> None:
    A = gb.io.read("kron:7", device="cpu")
    # Without an option, these search in kernels, which tell no products.
    opts = {"policy": "auto"} if row.name in IN_KERNELS else {}
    with gb.device("cpu"):
        read = sum(each.touched for each in row.function(A, *needed_by(row), **opts).trace)
    cost = row.cost(A.nrows, int(A.nvals))
    assert read / 30 < cost < 30 * max(read, A.nvals)
    assert row.cost(2 * A.nrows, 2 * int(A.nvals)) >= 2 * cost


def test_nothing_is_found_where_a_path_is_wrong() -> None:
    for path in ("semira.algorithms.bfs:nothing", "no.such.module:bfs"):
        with pytest.raises(gb.exceptions.InvalidValue, match="names nothing"):
            load(path)


TOY = '''
"""Degrees of vertices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from semira import Matrix, Vector, tracing
from semira.algorithms.naming import takes_graph
from semira.algorithms.results import rows_of
from semira.algorithms.run import Layout, Run


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ToyResult(Run):
    """Result of `toy_degree`."""

    layout = Layout("degree", ranked=True)

    degree: Vector


@takes_graph()
def toy_degree(A: Matrix, /, *, scale: float = 1.0, rounds: int = 1, **opts: Any) -> ToyResult:
    """Return the share of other vertices that edges lead to, for every vertex.

    Parameters
    ----------
    A : Matrix or Graph
    scale : float
        Multiply shares by this. They are shares of n - 1.
    rounds : int >= 1
        How often to count.
    **opts
        Options of the product.

    Returns
    -------
    ToyResult
    """
    ones = Vector(float, A.ncols)
    ones[:] << scale / (A.nrows - 1)
    with tracing() as run:
        for _ in range(rounds):
            degree = A.mxv(ones, "plus_second").new(**opts)
            degree(~degree.S) << 0
    return ToyResult(rounds, rows_of(run), degree)
'''


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Row:
    """One file, and one row."""
    (tmp_path / "toy_degree.py").write_text(TOY)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr("semira.algorithms.checks.KNOWN", dict(KNOWN))
    monkeypatch.setattr("semira.algorithms.naming.KNOWN", dict(KNOWN))
    row = Row(
        name="toy_degree", title="degrees of a toy", section="Toys", module="toy_degree",
        command="toy", result="ToyResult", cost=lambda n, nvals: nvals,
        peers=(Peer("networkx:out_degree_centrality"),),
    )  # fmt: skip
    kept = dict(REGISTRY)
    REGISTRY["toy_degree"] = row
    yield row
    # In the order of before, which tables keep.
    REGISTRY.clear()
    REGISTRY.update(kept)
    sys.modules.pop("toy_degree", None)


def said(*args: Any) -> str:
    found = CliRunner().invoke(app, [str(each) for each in args])
    assert found.exit_code == 0, found.output
    return found.stdout


@pytest.mark.usefixtures("toy")
def test_a_row_is_a_name_of_the_package() -> None:
    assert {"toy_degree", "ToyResult"} <= {*gb.algorithms.__all__, *dir(gb.algorithms)}
    A = gb.Matrix.from_coo([0, 0, 1], [1, 2, 2], nrows=3, ncols=3)
    found = gb.algorithms.toy_degree(A)
    assert type(found) is gb.algorithms.ToyResult
    assert found.to_dict() == {0: 1.0, 1: 0.5, 2: 0.0}


@pytest.mark.usefixtures("toy")
def test_a_row_is_a_command(tmp_path: Path) -> None:
    listed = said("run", "--help")
    (line,) = (line for line in listed.splitlines() if line.startswith(" toy "))
    assert line.split()[:4] == ["toy", "share", "of", "other"]
    assert "--scale  --rounds" in listed
    text = " ".join(said("run", "toy", "--help").replace("│", " ").split())
    assert "Multiply shares by this; default 1." in text
    assert "How often to count; default 1." in text
    out = tmp_path / "degrees.csv"
    args = ("toy", "grid:3x3", "--device", "reference")
    given = ("--scale", "2", "--rounds", "3", "--top", "1", "--json", "--out", out)
    record = json.loads(said("run", *args, *given))
    assert record["result"] == {"iterations": 3, "top": [{"vertex": 4, "degree": 1.0}]}
    assert len(record["plan"]["products"]) == 1
    assert len(out.read_text().splitlines()) == 10
    assert "3 products ran" in said("plan", *args, "--rounds", "3")
    wrong = CliRunner().invoke(app, ["run", *args, "--rounds", "0"])
    assert wrong.exit_code == 2


@pytest.mark.usefixtures("toy")
def test_a_row_is_measured_and_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "degrees of a toy" in CASES
    request = AlgorithmsRequest(("kron:4",), 1, 0.01, names=("degrees of a toy",))
    mine, peer = run_algorithms(request)
    assert (mine.verified, mine.verified_by) == (True, "networkx's out_degree_centrality")
    assert peer.library == "networkx"
    assert [row[0] for row in algorithms_table([mine, peer])[1]] == ["degrees of a toy"]
    toy_degree = sys.modules["toy_degree"].toy_degree
    monkeypatch.setattr(
        sys.modules["toy_degree"], "toy_degree", lambda A, **given: toy_degree(A, scale=1.01)
    )
    wrong, _ = run_algorithms(request)
    assert (wrong.verified, wrong.note) == (False, "degree differs")


@pytest.mark.usefixtures("toy")
def test_a_row_is_in_the_documentation() -> None:
    assert "[degrees of a toy](algorithms/toy-degree.md)" in algorithm_tables.ready()
    assert "[toy_degree](algorithms/toy-degree.md)" in algorithm_tables.functions()
    assert "| `toy` | [`toy_degree`](../algorithms/toy-degree.md) |" in algorithm_tables.commands()
    assert "[toy_degree](toy-degree.md)" in line_tables.algorithms()
    assert docs_nav.sections()[-1] == {"Toys": [{"Degrees of a toy": "algorithms/toy-degree.md"}]}
    assert "from toy_degree import ToyResult as ToyResult" in algorithm_tables.stub()


@pytest.mark.usefixtures("toy")
def test_a_row_is_among_what_runs_on_cuda() -> None:
    pytest.importorskip("cuda.core")
    for name in [*REGISTRY][:-1]:
        del REGISTRY[name]
    assert algorithm_tables.on_cuda().splitlines()[2:] == ["| `toy_degree(A)` | yes |"]
    assert list(CATALOGUE) == ["toy"]
