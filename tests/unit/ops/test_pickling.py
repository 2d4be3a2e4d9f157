"""Anonymous operators survive pickling where their function can be imported by name."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

import semira as gb
from semira.base.errors import UdfParseError


def doubled(x: Any) -> Any:
    return x + x


def summed(x: Any, y: Any) -> Any:
    return x + y


def above(x: Any, i: Any, j: Any, theta: Any) -> Any:
    return x > theta


def again(operator: Any) -> Any:
    return pickle.loads(pickle.dumps(operator))


@pytest.mark.parametrize(
    ("namespace", "function"),
    [("unary", doubled), ("binary", summed), ("indexunary", above), ("select", above)],
)
def test_functions_of_a_module(namespace: str, function: Any) -> None:
    operator = getattr(gb, namespace).register_anonymous(function)
    assert again(operator) is operator
    assert again(operator["INT64"]) is operator["INT64"]
    named = getattr(gb, namespace).register_anonymous(function, "another_name")
    assert again(named) is named


def test_monoids_and_semirings_of_them() -> None:
    add = gb.binary.register_anonymous(summed)
    monoid = gb.monoid.register_anonymous(add, 0, is_idempotent=False)
    copy = again(monoid)
    assert (copy.binaryop, copy.name, copy.identities) == (add, monoid.name, monoid.identities)
    semiring = gb.semiring.register_anonymous(gb.monoid.plus, add)
    assert again(semiring) is semiring


def test_what_cannot_be_imported_is_refused() -> None:
    def inner(x: Any) -> Any:
        return x

    for function in (inner, lambda x: x):
        with pytest.raises(UdfParseError, match="lambda or an inner function"):
            pickle.dumps(gb.unary.register_anonymous(function))
    binary = gb.binary.register_anonymous(lambda x, y: x + y)
    with pytest.raises(UdfParseError, match="imported by name"):
        pickle.dumps(gb.monoid.register_anonymous(binary, 0))


def test_named_operators_are_pickled_by_name() -> None:
    gb.unary.register_new("tests.pickled", lambda x: x + 1)
    assert again(gb.unary.tests.pickled) is gb.unary.tests.pickled
