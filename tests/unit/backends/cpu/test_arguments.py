"""What code for some types of arguments does with others: it must not read them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from semira.backends.cpu import cache
from semira.backends.cpu.compiler.arguments import type_of
from semira.backends.cpu.compiler.kernels import Kernels
from semira.backends.cpu.compiler.types import scalar_of
from semira.base.settings import override, restore

TEXT = '''"""Kernels of this test."""

from semira.backends.cpu.jit import kernel


@kernel
def last(array):
    return array[array.shape[0] - 1]


@kernel
def same(number):
    return number


@kernel
def put(array, item):
    array[0] = item
'''

#: Of equal dtypes code compares with the first that it has met, whatever test has made it.
PAIR = scalar_of(np.dtype([("x", np.int64), ("y", np.float64)])).dtype
#: Of the same length.
OTHER_PAIR = np.dtype([("x", np.float64), ("y", np.int64)])


class Subclass(np.ndarray):
    """Whose items may be anything."""


def unaligned() -> np.ndarray:
    """Return integers at odd addresses."""
    return np.frombuffer(bytes(25), np.uint8)[1:].view(np.int64)


NUMBERS = (np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64,
           np.float32, np.float64, np.complex64, np.complex128, np.bool_)  # fmt: skip

#: Arrays that kernels take, by the name of what differs.
TAKEN: dict[str, Any] = {type_.__name__: np.arange(5).astype(type_) for type_ in NUMBERS}
TAKEN["strided"] = np.arange(9, dtype=np.int64)[::2]
TAKEN["backwards"] = np.arange(5, dtype=np.int64)[::-1]

#: What no kernel of ours takes, or none of vectors.
REFUSED: dict[str, Any] = {
    "swapped": np.arange(5, dtype=np.int64).astype(">i8"),
    "unaligned": unaligned(),
    "two axes": np.arange(6, dtype=np.int64).reshape(2, 3),
    "no axis": np.array(5, np.int64),
    "subclass": np.arange(5, dtype=np.int64).view(Subclass),
    "texts": np.array(["a", "b"]),
    "objects": np.array([1, None], object),
    "days": np.array(["2020-01-01"], "datetime64[D]"),
    # NumPy's number of this dtype is 2056: 8, that of an unsigned integer, and 2048.
    "long texts": np.array(["a"], np.dtypes.StringDType()),
    "records": np.zeros(2, PAIR),
    "list": [1, 2, 3],
    "nothing": None,
    "number": 5,
    "number of NumPy": np.int64(5),
}

ONE: dict[str, Any] = {
    "int": 7, "negative": -1, "true": True, "false": False, "float": 2.5, "complex": 1 - 2j,
    **{type_.__name__: type_(1) for type_ in NUMBERS},
}  # fmt: skip


@pytest.fixture(scope="module")
def entry(tmp_path_factory):
    """What returns the function of machine code for a kernel and its arguments."""
    before = override(cache_dir=tmp_path_factory.mktemp("cache"))
    module = Kernels("probe", TEXT, cache.digest_of, [], lambda: pytest.fail("the other compiler"))

    def of(name: str, *given: Any) -> Any:
        return getattr(module, name).bound(*given).func

    yield of
    restore(before)


@pytest.mark.parametrize("name", TAKEN)
def test_arrays_of_other_types_are_not_read(entry, name):
    function, type_ = entry("last", TAKEN[name]), type_of(TAKEN[name])
    assert function(TAKEN[name]) == TAKEN[name][-1]
    for other, given in (TAKEN | REFUSED).items():
        # Steps are read where arrays need not lie in one piece.
        fits = other in TAKEN and type_of(given).item == type_.item
        if fits and (type_of(given).is_contiguous or not type_.is_contiguous):
            assert function(given) == given[-1], other
        else:
            assert function(given) is NotImplemented, other


@pytest.mark.parametrize("name", ONE)
def test_numbers_of_other_types_are_not_read(entry, name):
    function = entry("same", ONE[name])
    assert function(ONE[name]) == ONE[name]
    for other, given in ONE.items():
        if type_of(given) == type_of(ONE[name]):
            assert function(given) == given, other
        else:
            assert function(given) is NotImplemented, other
    for given in (None, [1], "1", np.arange(3), np.zeros(1, PAIR)[0], 2 + 0 * np.longdouble(1)):
        assert function(given) is NotImplemented


def test_two_dtypes_of_one_number_are_one_type(entry):
    function = entry("last", np.arange(3, dtype=np.dtype("l")))
    assert function(np.arange(4, dtype=np.dtype("q"))) == 3


def test_integers_beyond_64_bits_are_an_error(entry):
    function = entry("same", 1)
    assert (function(2**63 - 1), function(-(2**63))) == (2**63 - 1, -(2**63))
    for number in (2**63, -(2**63) - 1):
        with pytest.raises(OverflowError):
            function(number)


def test_more_and_fewer_arguments_are_not_read(entry):
    function, array = entry("last", np.arange(3)), np.arange(3)
    assert function(array, array) is NotImplemented
    assert function() is NotImplemented
    function = entry("put", array, 1)
    assert function(array) is NotImplemented
    assert array.tolist() == [0, 1, 2]


def test_records_of_other_dtypes_are_not_read(entry):
    array, one = np.zeros(2, PAIR), np.ones(1, PAIR)[0]
    function = entry("put", array, one)
    others = np.ones(1, OTHER_PAIR)
    wrong = [
        (array, others[0]), (others, one), (array, 1), (array, np.zeros(1, PAIR)), (array, None),
        (np.zeros(2), one), (array[::2].reshape(1, 1), one), (array, np.void(bytes(16))),
    ]  # fmt: skip
    for given in wrong:
        assert function(*given) is NotImplemented
    assert array.tolist() == [(0, 0), (0, 0)]
    assert function(array, one) is None
    assert array.tolist() == [(1, 1), (0, 0)]
