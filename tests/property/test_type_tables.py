"""Result dtypes of every operator, against what python-graphblas says of itself."""

from __future__ import annotations

from typing import Any

from tests.helpers.every import every
from tests.helpers.pgb import find, suitesparse
from tests.helpers.strategies import DTYPES

import semira as gb
from semira.base.dtypes import unify
from semira.ops.registry import NAMESPACES

NAMES = {
    "unary": "UnaryOp",
    "binary": "BinaryOp",
    "monoid": "Monoid",
    "select": "SelectOp",
    "indexunary": "IndexUnaryOp",
}
#: Where we have instances that python-graphblas lacks, on purpose.
OURS_ONLY = {("indexunary", "diagindex")}

#: Operators that python-graphblas lacks.
OURS_ALONE = {("indexunary", f"random_{what}") for what in ("bits", "uniform", "below")}


def return_dtype(op: Any, dtype: str) -> str | None:
    try:
        return op[dtype].return_type.name  # type: ignore[no-any-return]
    except KeyError:
        return None


@every(
    ("namespace", "name"),
    [(space, name) for space, opclass in NAMES.items() for name in NAMESPACES[opclass]],
)
def test_return_dtypes(namespace: str, name: str) -> None:
    theirs = find(suitesparse(), namespace, name)
    if (namespace, name) in OURS_ALONE:
        assert theirs is None
        return
    assert theirs is not None
    ours = getattr(getattr(gb, namespace), name)
    for dtype in DTYPES:
        expected = return_dtype(theirs, dtype)
        if expected is None and (namespace, name) in OURS_ONLY:
            continue
        assert return_dtype(ours, dtype) == expected, dtype


def test_return_dtypes_of_semirings() -> None:
    compared = 0
    for name in dir(suitesparse().semiring):
        ours = NAMESPACES["Semiring"].get(name)
        if ours is None:
            continue
        theirs = find(suitesparse(), "semiring", name)
        for dtype in DTYPES:
            expected = return_dtype(theirs, dtype)
            if expected is not None:
                assert return_dtype(ours, dtype) == expected, (name, dtype)
                compared += 1
    assert compared > 1500


@every("name", sorted(NAMESPACES["Monoid"]))
def test_identities(name: str) -> None:
    theirs = getattr(suitesparse().monoid, name)
    ours = NAMESPACES["Monoid"][name]
    identities = {dtype.name: value for dtype, value in theirs.identities.items()}
    for dtype, value in ours.identities.items():
        assert value == identities[dtype.name], dtype
    assert ours.is_idempotent == theirs.is_idempotent


@every("name", sorted(NAMESPACES["BinaryOp"]))
def test_algebra_of_binary_operators(name: str) -> None:
    theirs = find(suitesparse(), "binary", name)
    ours = NAMESPACES["BinaryOp"][name]
    assert ours.is_commutative == theirs.is_commutative
    assert ours.is_positional == theirs.is_positional
    assert (ours.monoid is None) == (theirs.monoid is None)
    if ours.commutes_to is not None:
        assert ours.commutes_to.name == theirs.commutes_to.name.removeprefix("ss.")


def test_unification_of_dtypes() -> None:
    pgb = suitesparse()
    for left in DTYPES:
        for right in DTYPES:
            theirs = pgb.dtypes.unify(pgb.dtypes.lookup_dtype(left), pgb.dtypes.lookup_dtype(right))
            assert unify(left, right).name == theirs.name
