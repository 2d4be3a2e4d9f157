"""assign and extract against SuiteSparse: regions, submask and mask, accumulate, replace."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.helpers.pgb import examples, mirror
from tests.helpers.strategies import MASK_FORMS, SIZES, covered, matrices, shaped, sizes, vectors

import semira as gb

ACCUMS = (None, "plus", "second", "min")
DTYPES = ("INT32", "FP64")
KINDS = ("all", "range", "list", "one")
#: What decides about kernels; a vector has no second region.
KEYS = {"first": KINDS, "second": (None, *KINDS)}
UPDATE = {"form": (None, *MASK_FORMS), "accum": ACCUMS, "replace": (False, True)}


@st.composite
def regions(draw: Any, size: int, kind: str, *, repeats: bool = False) -> Any:
    """Draw an index of an axis: everything, a range, a list, or a single position."""
    if kind == "one":
        return draw(st.integers(-size, size - 1))
    if kind == "list":
        count = draw(st.integers(0, size))
        rng = np.random.default_rng(draw(st.integers(0, 999)))
        if repeats and size:
            return rng.integers(0, size, count)
        return rng.permutation(size)[:count]
    if kind == "all":
        return slice(None)
    start, stop = sorted((draw(st.integers(0, size)), draw(st.integers(0, size))))
    ranges = (slice(start, stop), slice(start, stop, 2), slice(None, None, -1))
    return draw(st.sampled_from(ranges))


def region_shape(shape: tuple[int, ...], keys: tuple[Any, ...]) -> tuple[int, ...]:
    """Return the shape NumPy gives ``x[keys]`` taken axis by axis."""
    lengths = []
    for size, key in zip(shape, keys, strict=True):
        if isinstance(key, slice):
            lengths.append(len(range(*key.indices(size))))
        elif not isinstance(key, int):
            lengths.append(len(key))
    return tuple(lengths)


def drawn_target(
    data: Any, dtype: str, row: dict[str, Any], *, repeats: bool = False
) -> tuple[Any, tuple[Any, ...]]:
    """Draw a vector or matrix and an index for each axis, of the kinds of a row over `KEYS`."""
    kinds = [kind for kind in (row["first"], row["second"]) if kind]
    # A single position needs an axis that has one.
    shape = tuple(data.draw(st.sampled_from(SIZES[kind == "one" :])) for kind in kinds)
    pairs = zip(shape, kinds, strict=True)
    keys = tuple(data.draw(regions(size, kind, repeats=repeats)) for size, kind in pairs)
    return data.draw(shaped(dtype, shape)), keys


def drawn_mask(data: Any, shape: tuple[int, ...], row: dict[str, Any]) -> Any:
    return None if row["form"] is None else data.draw(shaped("BOOL", shape))


def keywords_of(library: Any, mask: Any, row: dict[str, Any]) -> dict[str, Any]:
    """Return the keywords of an update, of a row over `UPDATE`."""
    form = row["form"]
    replace = row["replace"] and mask is not None
    keywords: dict[str, Any] = {"accum": row["accum"], "replace": replace}
    if mask is not None:
        built = mask.build(library)
        chosen = built.S if form.endswith("S") else built.V
        keywords["mask"] = ~chosen if form.startswith("~") else chosen
    return keywords


def index(keys: tuple[Any, ...]) -> Any:
    return keys[0] if len(keys) == 1 else keys


@examples(200)
@given(data=st.data())
def test_extract(device: str, data: Any) -> None:
    row = data.draw(covered(**KEYS, **UPDATE, transposed=(False, True)))
    a, keys = drawn_target(data, "INT32", row, repeats=True)
    shape = region_shape(a.shape, keys)
    mask = drawn_mask(data, shape, row) if shape else None
    transposed = len(keys) == 2 and row["transposed"]
    out = data.draw(shaped("FP64", shape)) if shape else None

    def program(library: Any) -> Any:
        x = a.build(library)
        taken = x.T[keys[::-1]] if transposed and not shape else x[index(keys)]
        if out is None:
            return taken.new()
        built = out.build(library)
        built(**keywords_of(library, mask, row)) << taken
        return built, taken.new(), taken.new("INT8")

    mirror(device, program)


@examples(60)
@given(data=st.data())
def test_extract_from_a_transpose(device: str, data: Any) -> None:
    row = data.draw(covered(first=KINDS, second=KINDS))
    a, keys = drawn_target(data, "INT32", row)
    mirror(device, lambda library: a.build(library).T[keys[::-1]].new())


@pytest.mark.parametrize("submask", [True, False], ids=["submask", "mask"])
@examples(200)
@given(data=st.data())
def test_assign(submask: bool, device: str, data: Any) -> None:
    row = data.draw(covered(**KEYS, **UPDATE, dtype=DTYPES, value=(None, 0, 2.5)))
    out, keys = drawn_target(data, row["dtype"], row)
    shape = region_shape(out.shape, keys)
    value = 7 if row["value"] is None else row["value"]
    x = data.draw(shaped("INT32", shape)) if shape and row["value"] is None else None
    # A single element takes no submask.
    mask = drawn_mask(data, shape if submask else out.shape, row) if shape or not submask else None

    def program(library: Any) -> Any:
        built = out.build(library)
        keywords = keywords_of(library, mask, row)
        given = value if x is None else x.build(library)
        if submask:
            built[index(keys)](**keywords) << given
        else:
            built(**keywords)[index(keys)] << given
        return built

    mirror(device, program)


@examples(80)
@given(data=st.data())
def test_setitem(device: str, data: Any) -> None:
    kinds = ("number", "scalar", "empty", "object", "expression")
    row = data.draw(covered(**KEYS, given=kinds))
    out, keys = drawn_target(data, "INT32", row)
    shape = region_shape(out.shape, keys)
    kind = row["given"]
    x = data.draw(shaped("INT8", shape)) if shape else None

    def program(library: Any) -> Any:
        built = out.build(library)
        if x is not None and kind == "object":
            built[index(keys)] = x.build(library)
        elif x is not None and kind == "expression":
            built[index(keys)] = x.build(library).apply(library.unary.ainv)
        elif kind == "number":
            built[index(keys)] = 5
        else:
            value = None if kind == "empty" else 3
            built[index(keys)] = library.Scalar.from_value(value, "INT32")
        return built

    mirror(device, program)


@examples(80)
@given(data=st.data())
def test_whole_objects_and_scalars(device: str, data: Any) -> None:
    row = data.draw(covered(ndim=(1, 2), **UPDATE))
    shape = tuple(data.draw(sizes) for _ in range(row["ndim"]))
    out, x = data.draw(shaped("INT32", shape)), data.draw(shaped("FP64", shape))
    mask = drawn_mask(data, shape, row)

    def program(library: Any) -> Any:
        first, second, third = out.build(library), out.build(library), out.build(library)
        first(**keywords_of(library, mask, row)) << x.build(library)
        second(**keywords_of(library, mask, row)) << 4
        number = library.Scalar.from_value(2.5)
        third(**keywords_of(library, mask, row)) << number
        return first, second, third

    mirror(device, program)


@examples(40)
@given(data=st.data())
def test_transposed_source(device: str, data: Any) -> None:
    n, m = data.draw(sizes), data.draw(sizes)
    out, x = data.draw(matrices("INT32", n, m)), data.draw(matrices("INT32", m, n))
    row = data.draw(covered(**UPDATE))
    mask = drawn_mask(data, (n, m), row)

    def program(library: Any) -> Any:
        built = out.build(library)
        built(**keywords_of(library, mask, row)) << x.build(library).T
        return built, x.build(library).T.new("FP32")

    mirror(device, program)


@examples(60)
@given(data=st.data())
def test_rows_and_columns(device: str, data: Any) -> None:
    n, m = data.draw(st.sampled_from((1, 3, 5))), data.draw(st.sampled_from((1, 2, 8)))
    out = data.draw(matrices("INT32", n, m))
    row, col = data.draw(vectors("INT32", m)), data.draw(vectors("INT32", n))
    i, j = data.draw(st.integers(0, n - 1)), data.draw(st.integers(0, m - 1))
    update = data.draw(covered(form=UPDATE["form"], accum=ACCUMS))
    mask = drawn_mask(data, (m,), update)

    def program(library: Any) -> Any:
        built = out.build(library)
        keywords = keywords_of(library, mask, update | {"replace": True})
        built[i, :](**keywords) << row.build(library)
        built[:, j](accum=update["accum"]) << col.build(library)
        built[i, :](accum="plus") << 1
        return built, built[i, :].new(), built[:, j].new()

    mirror(device, program)


@examples(30)
@given(data=st.data())
def test_single_elements(device: str, data: Any) -> None:
    n = data.draw(st.sampled_from((1, 3, 8)))
    out, u = data.draw(matrices("INT32", n, n)), data.draw(vectors("FP32", n))
    i, j = data.draw(st.integers(-n, n - 1)), data.draw(st.integers(0, n - 1))

    def program(library: Any) -> Any:
        matrix, vector = out.build(library), u.build(library)
        matrix[i, j] = 9
        matrix[j, j](accum="plus") << 2
        vector[i] = matrix[i, j].new()
        vector[j](accum="times") << 3
        return matrix, vector, matrix[i, i].new(), vector[i].new("INT8")

    mirror(device, program)
    with gb.device(device):
        matrix = out.build(gb)
        entries = matrix.to_dicts()
        assert matrix.get(i, j, -5) == entries.get(i % n, {}).get(j, -5)
        assert ((i, j) in matrix) == (j in entries.get(i % n, {}))


@examples(20)
@given(data=st.data())
def test_deleting_entries(device: str, data: Any) -> None:
    n = data.draw(st.sampled_from((1, 3, 8)))
    out, u = data.draw(matrices("INT32", n, n)), data.draw(vectors("INT32", n))
    i, j = data.draw(st.integers(0, n - 1)), data.draw(st.integers(0, n - 1))

    def program(library: Any) -> Any:
        matrix, vector = out.build(library), u.build(library)
        del matrix[i, j]
        del vector[i]
        return matrix, vector

    mirror(device, program)
