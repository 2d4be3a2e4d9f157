"""Registering methods: which rows are refused, and what the message names."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from types import ModuleType

import numpy as np
import pytest

import semira as gb
from semira.contract import Compare, Const, Count, MethodRow
from semira.methods import register, unregister

GOOD = MethodRow(
    name="given",
    ops=("mxv", "vxm"),
    instead_of=("pull",),
    walks="its lines",
    balance="thread",
    because="rows are short",
)


@pytest.fixture
def package(monkeypatch):
    """Return a function that makes a package with rows; its methods are forgotten afterwards."""

    def make(rows) -> str:
        plan = ModuleType("given_methods.plan")
        if rows is not None:
            plan.ROWS = rows
        monkeypatch.setitem(sys.modules, "given_methods", ModuleType("given_methods"))
        monkeypatch.setitem(sys.modules, "given_methods.plan", plan)
        return "given_methods"

    yield make
    unregister("given_methods")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"name": "pull"}, "the core has a method of this name"),
        ({"name": 3}, "Python identifier"),
        ({"ops": ()}, "some of mxv, vxm, mxm"),
        ({"ops": ("select",)}, "some of mxv, vxm, mxm"),
        ({"instead_of": ("pul",)}, "some of push, pull"),
        ({"instead_of": "pull"}, "some of push, pull"),
        ({"instead_of": ("hash",)}, "some of push, pull"),
        ({"balance": "zzz"}, "edges, rows, thread"),
        ({"parameters": {"width": 8}}, "give a tuple of values"),
        ({"parameters": {"width": ()}}, "give a tuple of values"),
        ({"parameters": {"direction": ("a",)}}, "no name of a pin"),
        ({"cost": 3.0}, "a function of Features, a Rule or None"),
        (
            {"cost": Compare("*", Const(0.1), Count("nnz")), "instead_of": ("push",)},
            "give a function of Features",
        ),
    ],
)
def test_a_row_with_a_fault_is_refused(package, change, said) -> None:
    with pytest.raises(gb.exceptions.InvalidValue, match=said):
        register(package((replace(GOOD, **change),)))
    assert register(package((GOOD,))) == ("given",)


@pytest.mark.parametrize("rows", [None, (), GOOD, ("a",)])
def test_rows_are_a_tuple_of_rows(package, rows) -> None:
    with pytest.raises(gb.exceptions.InvalidValue, match="tuple of MethodRow"):
        register(package(rows))


def test_the_name_of_a_package_is_needed() -> None:
    with pytest.raises(gb.exceptions.InvalidValue, match="package=''"):
        register("")
    with pytest.raises(ImportError):
        register("no_such_package")


@pytest.mark.parametrize("cost", ["cheap", -1.0, float("nan"), 0])
def test_a_cost_that_is_no_number_names_the_method(package, monkeypatch, cost) -> None:
    def made(features):
        return features.nvals / cost if cost == 0 else cost

    name = package((replace(GOOD, name="costed", cost=made),))
    monkeypatch.setitem(sys.modules, f"{name}.cpu", ModuleType(f"{name}.cpu"))
    monkeypatch.setattr("semira.contract.methods.has_part", lambda *_: True)
    register(name)
    A = gb.Matrix.from_coo([0], [1], [1.0], nrows=2, ncols=2)
    with gb.device("reference"), pytest.raises(gb.exceptions.InvalidValue, match="'costed'"):
        A.dup().mxv(gb.Vector.from_dense(np.ones(2))).new()


def test_parameters_follow_the_pin_through_algorithms(package) -> None:
    register(package((replace(GOOD, parameters={"width": (8, 16)}),)))
    with gb.device("reference"):
        A = gb.Matrix.from_coo([0, 1], [1, 2], [1.0, 1.0], nrows=3, ncols=3)
        found = gb.algorithms.bfs(A, 0, method="given", width=16)
        assert found.level.to_dict() == {0: 0, 1: 1, 2: 2}
        # A parameter that one method alone has asks for it.
        assert gb.algorithms.bfs(A, 0, width=16).level.isequal(found.level)
        with pytest.raises(gb.exceptions.InvalidValue, match="unknown option 'height'"):
            gb.algorithms.bfs(A, 0, height=16)


def test_the_package_is_there_after_the_import() -> None:
    code = "import semira as gb; print(gb.methods.register.__name__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "register"
