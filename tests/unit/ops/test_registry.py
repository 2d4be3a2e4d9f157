"""Operators by name, by string and by dtype."""

from __future__ import annotations

import copyreg
import pickle

import pytest
from tests.helpers.every import every

import semira as gb
from semira.base.dtypes import ALL_DTYPES
from semira.base.errors import InvalidValue
from semira.ops.operator import Operator
from semira.ops.registry import NAMESPACES, find_operator
from semira.ops.user import Parameterized


@every(
    ("opclass", "text", "expected"),
    [
        ("BinaryOp", "plus", "binary.plus"),
        ("BinaryOp", "+", "binary.plus"),
        ("BinaryOp", "//", "binary.floordiv"),
        ("BinaryOp", "|", "binary.lor"),
        ("BinaryOp", "plus[int32]", "binary.plus[INT32]"),
        ("UnaryOp", "-", "unary.ainv"),
        ("UnaryOp", "~", "unary.lnot"),
        ("Monoid", "*", "monoid.times"),
        ("SelectOp", "<=", "select.valuele"),
        ("IndexUnaryOp", ">", "indexunary.valuegt"),
        ("Semiring", "min_plus", "semiring.min_plus"),
        ("Semiring", "min.plus", "semiring.min_plus"),
        ("Semiring", "+.*", "semiring.plus_times"),
        ("Semiring", "min_plus[float]", "semiring.min_plus[FP64]"),
        ("Semiring", "any_secondi1", "semiring.any_secondi1"),
    ],
)
def test_strings(opclass: str, text: str, expected: str) -> None:
    assert repr(find_operator(opclass, text)) == expected


@pytest.mark.parametrize(
    ("opclass", "text", "hint"),
    [
        ("BinaryOp", "plsu", "did you mean 'plus'?"),
        ("BinaryOp", "last", "did you mean 'second'?"),
        ("Monoid", "sum", "did you mean 'plus'?"),
        ("Semiring", "min", "there is semira.binary.min and semira.monoid.min"),
        ("Semiring", "qq_ww", "see dir(semira.semiring)"),
        ("UnaryOp", "+", "see dir(semira.unary)"),
    ],
)
def test_unknown_names_are_told_what_exists(opclass: str, text: str, hint: str) -> None:
    with pytest.raises(InvalidValue) as caught:
        find_operator(opclass, text)
    assert str(caught.value).endswith(f"{text!r}; {hint}")


def test_from_string_of_a_namespace() -> None:
    assert gb.binary.from_string("+") is gb.binary.plus
    assert gb.semiring.from_string("min_plus") is gb.semiring.min_plus


@pytest.mark.parametrize("namespace", ["unary", "binary", "monoid", "semiring", "select"])
def test_missing_attributes(namespace: str) -> None:
    with pytest.raises(AttributeError, match="no_such"):
        getattr(getattr(gb, namespace), "no_such")  # noqa: B009


def test_semirings_are_made_once() -> None:
    table = NAMESPACES["Semiring"]
    assert table["plus_hypot"] is table["plus_hypot"]
    assert "plus_hypot" in table
    assert "hypot_plus" not in table


@pytest.mark.parametrize("opclass", NAMESPACES)
def test_operators_survive_pickling(opclass: str) -> None:
    for name, operator in list(NAMESPACES[opclass].items())[:40]:
        assert pickle.loads(pickle.dumps(operator)) is operator, name
        if not operator.types:
            continue  # plus_eq and its like: no monoid for what the multiply returns
        typed = operator[next(iter(operator.types))]
        assert pickle.loads(pickle.dumps(typed)) is typed, name


def test_dtypes_of_an_operator() -> None:
    plus = gb.binary.plus
    assert repr(plus["INT8"]) == "binary.plus[INT8]"
    assert plus["INT8", "UINT8"] is plus["INT16"]
    assert plus[int] is plus["INT64"]
    assert "FP32" in plus
    assert "BOOL" not in gb.monoid.plus
    with pytest.raises(KeyError, match="plus does not work with BOOL"):
        gb.monoid.plus["BOOL"]


def test_types_and_coercions() -> None:
    sqrt = gb.unary.sqrt
    assert {key.name for key in sqrt.types} == {dtype.name for dtype in ALL_DTYPES}
    assert {key.name for key in sqrt.types if key not in sqrt.coercions} == {
        "FP32", "FP64", "FC32", "FC64",
    }  # fmt: skip
    assert sqrt["BOOL"] is sqrt["INT16"] is sqrt["FP32"]
    assert {key.name: value.name for key, value in sqrt.coercions.items()} == {
        "BOOL": "FP32", "INT8": "FP32", "INT16": "FP32", "UINT8": "FP32", "UINT16": "FP32",
        "INT32": "FP64", "INT64": "FP64", "UINT32": "FP64", "UINT64": "FP64",
    }  # fmt: skip
    assert {value.name for value in gb.binary.eq.types.values()} == {"BOOL"}


def test_calling_without_an_operand() -> None:
    with pytest.raises(TypeError, match="called with an expression"):
        gb.unary.sqrt()


def test_keys_tell_operators_apart() -> None:
    typed = {
        operator[dtype]
        for opclass in ("UnaryOp", "BinaryOp", "Monoid", "SelectOp")
        for operator in NAMESPACES[opclass].values()
        for dtype in operator.types
    }
    assert len({op.key for op in typed}) == len(typed)


@every(
    ("name", "dtype", "multiply", "result"),
    [
        ("plus_pair", "BOOL", "INT64", "INT64"),
        ("max_pair", "BOOL", "INT64", "INT64"),
        ("any_pair", "BOOL", "BOOL", "BOOL"),
        ("eq_first", "INT8", "BOOL", "BOOL"),
        ("eq_eq", "INT8", "INT8", "BOOL"),
        ("bor_band", "INT8", "UINT16", "UINT16"),
        ("bxor_bxor", "INT64", "UINT64", "UINT64"),
        ("lor_land", "FP32", "BOOL", "BOOL"),
        ("plus_truediv", "INT8", "FP64", "FP64"),
        ("min_secondi", "FP32", "INT64", "INT64"),
    ],
)
def test_dtypes_of_semirings(name: str, dtype: str, multiply: str, result: str) -> None:
    typed = getattr(gb.semiring, name)[dtype]
    assert (typed.type.name, typed.return_type.name) == (multiply, result)


@pytest.mark.parametrize(("name", "dtype"), [("plus_lor", "BOOL"), ("bor_plus", "FP32")])
def test_semirings_without_a_meaning(name: str, dtype: str) -> None:
    with pytest.raises(KeyError, match=name):
        getattr(gb.semiring, name)[dtype]


def subclasses(cls):
    for each in cls.__subclasses__():
        yield each
        yield from subclasses(each)


def test_every_class_of_operators_says_how_it_is_pickled():
    found = {*subclasses(Operator), Parameterized, *subclasses(Parameterized)}
    assert len(found) == 11
    assert not [cls for cls in found if cls not in copyreg.dispatch_table]
