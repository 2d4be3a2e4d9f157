"""Wrong calls: the error python-graphblas' users catch, and nothing changed by it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.helpers.every import every
from tests.helpers.pgb import suitesparse

import semira as gb
from semira import exceptions


def operands(library: Any) -> dict[str, Any]:
    return {
        "A": library.Matrix.from_coo([0, 1], [2, 0], [1, 2], nrows=2, ncols=3),
        "v": library.Vector.from_coo([0, 2], [3, 4], size=3),
        "w": library.Vector.from_coo([1], [5], size=2),
        "b": library.Vector.from_coo([0], [True], size=3),
    }


#: What is wrong, and a call that does it: (library, operands) -> anything.
DIMENSIONS: dict[str, Callable[[Any, Any], Any]] = {
    "mxv inner": lambda gb, x: x["A"].mxv(x["w"]).new(),
    "vxm inner": lambda gb, x: x["v"].vxm(x["A"]).new(),
    "mxm inner": lambda gb, x: x["A"].mxm(x["A"]).new(),
    "inner product": lambda gb, x: x["v"].inner(x["w"]).new(),
    "infix": lambda gb, x: (x["A"] @ x["w"]).new(),
    "ewise_add": lambda gb, x: x["v"].ewise_add(x["w"], gb.binary.plus).new(),
    "ewise_mult": lambda gb, x: x["A"].ewise_mult(x["A"].T, gb.binary.plus).new(),
    "ewise_union": lambda gb, x: x["v"].ewise_union(x["w"], gb.binary.plus, 0, 0).new(),
    "output": lambda gb, x: x["w"] << x["v"].apply(gb.unary.ainv),
    "output of a product": lambda gb, x: x["v"] << x["A"].mxv(x["v"]),
    "copy": lambda gb, x: x["w"] << x["v"],
    "mask": lambda gb, x: x["w"](x["b"].S) << x["w"].apply(gb.unary.ainv),
    "mask of new": lambda gb, x: x["w"].apply(gb.unary.ainv).new(mask=x["b"].S),
    "mask of a scalar": lambda gb, x: x["w"](x["b"].S) << 1,
    "region": lambda gb, x: x["v"][:2] << x["v"],
    "row": lambda gb, x: x["A"][0, :] << x["w"],
    "submask": lambda gb, x: x["v"][:2](x["b"].S) << 1,
    "outer mask": lambda gb, x: x["w"](x["b"].S)[:] << 1,
}

INDICES: dict[str, Callable[[Any, Any], Any]] = {
    "vector": lambda gb, x: x["v"][3].new(),
    "negative": lambda gb, x: x["v"][-4].new(),
    "row": lambda gb, x: x["A"][2, 0].new(),
    "column": lambda gb, x: x["A"][0, 3].new(),
    "list": lambda gb, x: x["v"][[0, 3]].new(),
    "assign": lambda gb, x: x["A"].__setitem__((5, 0), 1),
    "from_coo": lambda gb, x: gb.Vector.from_coo([3], [1], size=3),
    "matrix from_coo": lambda gb, x: gb.Matrix.from_coo([3], [0], [1], nrows=3, ncols=1),
}

TYPES: dict[str, Callable[[Any, Any], Any]] = {
    "mask of integers": lambda gb, x: x["v"](x["v"]) << 1,
    "replace without mask": lambda gb, x: x["v"](replace=True) << 1,
    "matrix index": lambda gb, x: x["A"][0],
    "bool index": lambda gb, x: x["v"][[True, False, True]],
    "float index": lambda gb, x: x["v"][[0.5]],
    "empty list index": lambda gb, x: x["v"][[]],
    "invert": lambda gb, x: ~x["v"],
    "truth": lambda gb, x: bool(x["v"]),
    "numpy": lambda gb, x: np.array(x["A"]),
    "to_dense": lambda gb, x: x["v"].to_dense(),
    "binary without operand": lambda gb, x: x["v"].apply(gb.binary.plus),
    "two bound operands": lambda gb, x: x["v"].apply(gb.binary.plus, 1, left=2),
    "select lambda": lambda gb, x: x["v"].select(lambda a: a),
    "assign None": lambda gb, x: x["v"].__setitem__(0, None),
    "assign text": lambda gb, x: x["v"] << "x",
}

DTYPES: dict[str, Callable[[Any, Any], Any]] = {
    "reduce bool by plus": lambda gb, x: x["b"].reduce(gb.monoid.plus).new(),
    "plus_times on bool": lambda gb, x: x["b"].inner(x["b"], gb.semiring.plus_times).new(),
    "band on floats": lambda gb, x: x["v"].dup("FP64").apply(gb.binary.band, right=1.0).new(),
    "isnan on integers": lambda gb, x: x["v"].apply(gb.unary.isnan).new(),
    "typed operator": lambda gb, x: gb.binary.band["FP64"],
    "unknown dtype": lambda gb, x: gb.Vector("INT7", 3),
}


def state(x: dict[str, Any]) -> list[Any]:
    return [[part.tolist() for part in value.to_coo()] for value in x.values()]


def check_refused(call: Callable[[Any, Any], Any], errors: Any, device: str) -> None:
    """Both libraries refuse the call; ours with one of `errors`, changing nothing."""
    pgb = suitesparse()
    with pytest.raises(
        (TypeError, ValueError, KeyError, IndexError, pgb.exceptions.GraphblasException)
    ):
        call(pgb, operands(pgb))
    with gb.device(device):
        mine = operands(gb)
        before = state(mine)
        with pytest.raises(errors) as caught:
            call(gb, mine)
        assert len(str(caught.value)) > 10
        assert state(mine) == before


@every("call", DIMENSIONS)
def test_dimensions(call: str, device: str) -> None:
    check_refused(DIMENSIONS[call], exceptions.DimensionMismatch, device)


@every("call", INDICES)
def test_indices(call: str, device: str) -> None:
    check_refused(INDICES[call], exceptions.IndexOutOfBound, device)


@every("call", TYPES)
def test_types(call: str, device: str) -> None:
    check_refused(TYPES[call], TypeError, device)


@every("call", DTYPES)
def test_dtypes(call: str, device: str) -> None:
    check_refused(DTYPES[call], (exceptions.DomainMismatch, KeyError), device)


def test_repeated_positions_need_a_dup_op(device: str) -> None:
    for make in (
        lambda library: library.Vector.from_coo([1, 1], [1, 2]),
        lambda library: library.Matrix.from_coo([1, 1], [0, 0], [1, 2]),
    ):
        with pytest.raises(ValueError, match="dup_op"):
            make(suitesparse())
        with gb.device(device), pytest.raises(ValueError, match="dup_op"):
            make(gb)


@every(
    "arguments",
    [
        ([1, 2], [0]),
        ([0, 2, 1], [0, 1]),
        ([0, 1, 5], [0, 1]),
        ([], []),
        ([0.0, 1.0], [0]),
        (np.array([0, 2, 1, 2], np.uint64), [0, 1]),
    ],
    ids=["no zero", "decreasing", "end", "empty", "floats", "unsigned decreasing"],
)
def test_broken_indptr(arguments: Any, device: str) -> None:
    with gb.device(device), pytest.raises(exceptions.InvalidValue):
        gb.Matrix.from_csr(*arguments, ncols=3)


@every("size", [-1, 2**60 + 1, 1.5, True])
def test_sizes(size: Any, device: str) -> None:
    with gb.device(device):
        for make in (lambda: gb.Vector("INT8", size), lambda: gb.Matrix("INT8", 1, size)):
            with pytest.raises(exceptions.InvalidValue):
                make()


def test_build_wants_an_empty_object(device: str) -> None:
    with gb.device(device):
        v = gb.Vector.from_coo([0], [1], size=3)
        with pytest.raises(exceptions.OutputNotEmpty):
            v.build([1], [2])
        assert v.to_dict() == {0: 1}
        matrix = gb.Matrix.from_coo([0], [0], [1])
        with pytest.raises(exceptions.OutputNotEmpty):
            matrix.build([0], [0], [2])


def test_unknown_options_are_named(device: str) -> None:
    with gb.device(device):
        v = gb.Vector.from_coo([0], [1], size=3)
        with pytest.raises(exceptions.InvalidValue, match="direction"):
            v(dirrection="push") << v
        with pytest.raises(exceptions.InvalidValue, match="push"):
            v(direction="sideways") << v
