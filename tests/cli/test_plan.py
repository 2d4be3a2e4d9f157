"""``semira plan``."""

from __future__ import annotations

import pytest

from semira.base import settings
from semira.cli.catalogue import CATALOGUE
from semira.cli.plan import Plan
from semira.cli.plans import methods_line, runs_of_methods
from semira.contract import TraceRow


@pytest.fixture(autouse=True)
def on_reference():
    before = settings.override(device="reference")
    yield
    settings.restore(before)


def rows(methods: str) -> list[TraceRow]:
    """Return products by letter: u pushes, l pulls, U pushes from the other side."""
    names = {"u": ("vxm", "push"), "l": ("vxm", "pull"), "U": ("mxv", "push")}
    return [TraceRow(at, *names[each], 1, 1, 1) for at, each in enumerate(methods)]


def test_every_algorithm_is_explained(invoke_json):
    assert {*Plan.names()} == {*CATALOGUE, "vxm", "mxv", "mxm"}
    for algorithm in CATALOGUE:
        record = invoke_json("plan", algorithm, "kron:3")
        assert record["algorithm"] == algorithm
        # A spanning forest takes no product, nor do searches that share words of bits.
        takes_one = algorithm not in ("msf", "msbfs", "closeness", "apsp")
        assert (bool(record["products"]), bool(record["ran"])) == (takes_one, takes_one)


def test_product_is_explained_with_exact_counts(invoke_json, invoke, labelled):
    record = invoke_json("plan", "vxm", labelled, "--source", "a")
    assert record["methods"] == ["push", "pull"]
    assert record["touched"]["push (SpMSpV)"] == 2
    assert record["touched"]["pull, every row (SpMV)"] == 6
    text = invoke("plan", "vxm", labelled, "--source", "a").stdout
    assert text.startswith("vxm: w = f any_pair A\n")
    assert "because" in text


def test_mxv_reads_columns(invoke_json, labelled):
    # One edge ends at a: the one from d.
    record = invoke_json("plan", "mxv", labelled, "--source", "a")
    assert record["touched"]["push (SpMSpV)"] == 1


def test_mxm_is_explained_under_its_own_mask(invoke_json):
    record = invoke_json("plan", "mxm", "kron:4")
    assert record["formula"].startswith("mxm: C<")
    assert record["chosen"] in ("dot", "hash", "dense")


def test_pins_and_policies(invoke_json, invoke):
    pinned = invoke_json("plan", "vxm", "kron:5", "--direction", "pull")
    assert pinned["chosen"] == "pull"
    assert invoke_json("plan", "vxm", "kron:5", "--policy", "beamer")["policy"] == "beamer"
    assert invoke("plan", "vxm", "kron:5", "--policy", "whim").exit_code == 1
    sideways = invoke("plan", "vxm", "kron:5", "--direction", "sideways")
    assert "direction='sideways'; choose one of push, pull\n" in sideways.stderr
    assert invoke("plan", "vxm", "kron:5", "--semiring", "no_such").exit_code == 1


def test_options_of_algorithms_are_passed_on(invoke_json):
    plain, other = (
        invoke_json("plan", "sssp", "kron:5", "--weights", "random", *options)["ran"]
        for options in ((), ("--algorithm", "delta_stepping", "--delta", "4"))
    )
    assert plain != other
    assert len(invoke_json("plan", "pagerank", "kron:4", "--max-iterations", "3")["ran"]) == 3


def test_algorithm_lists_the_products_that_ran(invoke_json, invoke):
    record = invoke_json("plan", "bfs", "grid:5x5", "--source", "0", "--levels", "3")
    assert [row["product"] for row in record["ran"]] == [0, 1, 2]
    assert [row["frontier"] for row in record["ran"]] == [1, 2, 3]
    assert record["not_listed"] == 6
    assert record["products"][0]["chosen"] is None
    text = invoke("plan", "bfs", "grid:5x5", "--source", "0", "--levels", "3").stdout
    assert "9 products ran" in text
    assert "... 6 more" in text


def test_compiled_loops_in_place_of_products_are_told(invoke, invoke_json):
    record = invoke_json("plan", "bfs", "kron:6", "--device", "cpu")
    assert record["compiled_loop"]
    assert record["products"]
    told = invoke("plan", "bfs", "kron:6", "--device", "cpu").stdout.splitlines()[0]
    assert told.startswith("bfs on cpu runs compiled loops, without products (push")
    # On the reference, and under the options of a textbook's search, there are products.
    for options in ((), ("--device", "cpu", "--method", "vertex-centric-pull")):
        assert not invoke_json("plan", "bfs", "kron:6", *options)["compiled_loop"]
    assert invoke("plan", "bfs", "kron:6").stdout.startswith("vxm: f<")


def test_phases_of_a_device_that_need_not_be_there(invoke, invoke_json):
    record = invoke_json("plan", "sssp", "kron:4", "--device", "cuda")
    (program,) = record["loops"]
    before, loop = program["phases"]
    assert before["barrier"]["why"] == "blanked"
    assert loop["barriers"] == [2]
    assert loop["solo"] is None
    shared = [step for step in loop["loop"][0] if step.get("by_position")]
    assert [len({part["statement"] for part in step["phase"]}) for step in shared] == [4]
    assert len(shared[0]["unstored"]) == 2
    assert record["ran"]
    # What hosts compute by loops is planned as the products that it stands for.
    for name in ("pagerank", "cc", "khop", "lcc"):
        assert invoke_json("plan", name, "kron:4", "--device", "cuda")["ran"], name
    text = invoke("plan", "bfs", "kron:4", "--device", "cuda").stdout
    assert "loop: 1 barrier and" in text
    assert "phase: 2 (product), 0 (for the next iteration)" in text
    assert "one block runs iterations" in text


def test_pieces_of_loops_that_the_host_runs(invoke, invoke_json):
    record = invoke_json("plan", "tc", "kron:4", "--device", "cuda")
    (loop,) = record["loops"][-1]["phases"]
    (launch,) = loop["host_loop"][0]
    assert (launch["launch"], launch["unstored"], launch["is_one"]) == ([0, 1], ["m2"], True)
    assert "never stores m2" in invoke("plan", "tc", "kron:4", "--device", "cuda").stdout
    text = invoke("plan", "ktruss", "kron:4", "--device", "cuda").stdout
    assert "loop: run by the host, because of statements" in text


def test_a_product_has_phases_where_the_device_has(invoke, invoke_json):
    record = invoke_json("plan", "vxm", "kron:4", "--device", "cuda")
    assert record["phases"][0]["phase"] == [{"statement": 0, "role": "product"}]
    assert "phases" not in invoke_json("plan", "vxm", "kron:4")
    assert "loops" in invoke_json("plan", "tc", "kron:4", "--device", "cuda")


@pytest.mark.parametrize(
    "args",
    [
        ("pagerank", "--source", "1"),
        ("bfs", "--semiring", "any_pair"),
        ("bfs", "--method", "window"),
        ("mxm", "--source", "1"),
        ("vxm", "--k", "2"),
        ("vector",),
    ],
)
def test_options_that_do_not_fit_are_wrong_usage(invoke, args):
    subject, *options = args
    assert invoke("plan", subject, "grid:2x2", *options).exit_code == 2


def test_methods_are_run_length_coded():
    assert runs_of_methods(rows("ulluu")) == [
        ("vxm", "push", 1), ("vxm", "pull", 2), ("vxm", "push", 2),
    ]  # fmt: skip
    assert methods_line(rows("ulluu")) == "push, pull x2, push x2"
    assert methods_line(rows("uUl")) == "push x2, pull"
    assert methods_line([]) == ""


def test_many_changes_are_summed_up():
    line = methods_line(rows("ul" * 10))
    assert line.endswith("then push x6 and pull x6 in turn")
