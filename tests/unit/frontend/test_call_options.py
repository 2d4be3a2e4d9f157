"""Options of calls: what is accepted, and what the errors say."""

from __future__ import annotations

import pytest

import semira as gb
from semira.exceptions import InvalidValue


@pytest.fixture
def A():
    return gb.Matrix.from_coo([0, 1], [1, 0], [1, 2], nrows=2, ncols=2)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"nthreads": 4, "Nthreads": 5}, "Duplicate descriptor"),
        ({"sort": "hi"}, "False, True"),
        ({"secure_import": 3}, "False, True"),
        ({"axb_method": "bad"}, "saxpy"),
        ({"bad_opt": True}, "unknown option 'bad_opt'"),
    ],
)
def test_bad_options_say_which_are_good(A, options, message):
    before = A.dup()
    with pytest.raises(InvalidValue, match=message):
        A(**options) << A @ A
    with pytest.raises(InvalidValue, match=message):
        A.mxm(A).new(**options)
    with pytest.raises(InvalidValue, match=message):
        A.__setitem__((0, 0), 1, **options)
    with pytest.raises(InvalidValue, match=message):
        A.__delitem__((0, 1), **options)
    assert A.isequal(before)


def test_options_without_effect_are_accepted(A):
    expected = A.mxm(A).new()
    assert A.mxm(A).new(Nthreads=2, sort=None, AxB_method="saxpy").isequal(expected)
    A.__setitem__((0, 0), 9, nthreads=4)
    assert A[0, 0].new(sort=True) == 9
