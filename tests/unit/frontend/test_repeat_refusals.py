"""Recorded loops: what a body refuses says what it is and what to write, and that works."""

from __future__ import annotations

import copy
import pickle
import re
from pathlib import Path

import pytest
from tests.helpers.every import every

import semira as gb
from semira.exceptions import InvalidValue, RecordError

HERE = Path(__file__).name

REFUSED = {
    "del v[0]": (lambda v, A, s: v.__delitem__(0), "deleting entries of v", "replace=True"),
    "del v[:]": (lambda v, A, s: v.__delitem__(slice(None)), "deleting", "select"),
    "del A[0, :]": (lambda v, A, s: A.__delitem__((0, slice(None))), "deleting entries of A", ""),
    "del v(m)[0]": (lambda v, A, s: v(v.S).__delitem__(0), "deleting entries of v", ""),
    "v.clear": (lambda v, A, s: v.clear(), "clearing v", "x.dup(clear=True)"),
    "A.clear": (lambda v, A, s: A.clear(), "clearing A", "x.dup(clear=True)"),
    "v.build": (lambda v, A, s: v.build([0], [1]), "building v", "before the loop"),
    "A.build": (lambda v, A, s: A.build([0], [1], [1]), "building A", "before the loop"),
    "v.resize": (lambda v, A, s: v.resize(9), "resizing v", "before"),
    "A.resize": (lambda v, A, s: A.resize(9, 9), "resizing A", "before"),
    "v[...] = list": (lambda v, A, s: v.__setitem__([0, 1], [1, 2]), "a list", "make a Vector"),
    "v[s] = 1": (lambda v, A, s: v.__setitem__(s, 1), "a Scalar as an index", "gather"),
    "pickle": (lambda v, A, s: pickle.dumps(v), "pickling or copying v", "x.dup()"),
    "pickle s": (lambda v, A, s: pickle.dumps(s), "pickling or copying s", "x.dup()"),
    "copy": (lambda v, A, s: copy.copy(v), "pickling or copying v", "x.dup()"),
    "deepcopy": (lambda v, A, s: copy.deepcopy(A), "pickling or copying A", "x.dup()"),
    "setdiag": (lambda v, A, s: A.setdiag(1), "setdiag makes objects", "before the loop"),
    "outer": (lambda v, A, s: A << v.outer(v), "outer makes objects", "before the loop"),
    "reposition": (lambda v, A, s: v << v.reposition(1), "reposition makes", "before the loop"),
    "power": (lambda v, A, s: A << A.power(0), "power(0) makes", "before the loop"),
    "broadcast": (lambda v, A, s: A << v.ewise_add(A), "ewise_add of a Vector and a", "outer"),
    "write": (lambda v, A, s: gb.io.write("never.mtx", A), "write reads values", "after the loop"),
}


@every(("do", "what", "remedy"), REFUSED.values(), ids=REFUSED.keys())
def test_what_is_refused_is_named_with_line_and_remedy(do, what, remedy) -> None:
    v = gb.Vector.from_coo([1], [2], size=3, name="v")
    A = gb.Matrix.from_coo([1], [2], [3], nrows=3, ncols=3, name="A")
    s = gb.Scalar.from_value(1, name="s")

    def step():
        do(v, A, s)

    with pytest.raises(RecordError, match=rf"{HERE}:\d+: {re.escape(what)}") as caught:
        gb.repeat(step, max_iterations=2)
    said, _, way_out = str(caught.value).partition(" inside a recorded loop body; ")
    assert said
    assert remedy in way_out
    assert (v.to_dict(), A.to_dicts(), s.value) == ({1: 2}, {1: {2: 3}}, 1)


def test_entries_go_by_masks_and_select(device) -> None:
    with gb.device(device):
        v = gb.Vector.from_dense([1, 2, 3, 4])
        stays = gb.Vector.from_coo([1, 2, 3], True, size=4)

    def step():
        v(stays.S, replace=True) << v
        v << v.select("!=", 3)

    gb.repeat(step, max_iterations=2)
    assert v.to_dict() == {1: 2, 3: 4}


def test_an_object_is_cleared_by_an_empty_copy(device) -> None:
    with gb.device(device):
        v = gb.Vector.from_dense([1, 2])
        total = gb.Scalar.from_value(0)

    def step():
        total << total + v.nvals
        v << v.dup(clear=True)

    gb.repeat(step, max_iterations=3)
    assert (int(total), v.nvals) == (2, 0)


def test_masks_make_temporaries(device) -> None:
    with gb.device(device):
        v = gb.Vector.from_coo([0, 1], [1, 1], size=4)
        w = gb.Vector.from_coo([1, 2], [1, 1], size=4)
        both, either, rest = (gb.Vector(int, 4) for _ in range(3))

    def step():
        both(v.S & w.S) << 1
        either(v.S | w.S) << 2
        rest(v.S.new(complement=True).S) << 3

    gb.repeat(step, max_iterations=2)
    assert both.to_dict() == {1: 1}
    assert either.to_dict() == {0: 2, 1: 2, 2: 2}
    assert rest.to_dict() == {2: 3, 3: 3}


def test_a_scalar_made_inside_is_no_condition() -> None:
    def step():
        return gb.Scalar(bool)

    with pytest.raises(RecordError, match="a scalar made inside the loop body is used; make it"):
        gb.repeat(step, max_iterations=3)


@pytest.mark.parametrize("limit", [2**63, 2**70])
def test_a_limit_beyond_the_counter_is_refused(limit) -> None:
    s = gb.Scalar.from_value(0)

    def step():
        s << s + 1
        return s < 3

    with pytest.raises(InvalidValue, match=rf"max_iterations={limit} .* ends at {2**63 - 1}"):
        gb.repeat(step, max_iterations=limit)
    assert gb.repeat(step, max_iterations=2**63 - 1).iterations == 3
