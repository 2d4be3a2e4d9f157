"""mxm, mxv and vxm against SuiteSparse: semirings, transposes, masks, accumulators, directions."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.helpers.every import every
from tests.helpers.pgb import (
    UNDEFINED,
    cover,
    examples,
    find,
    mirror,
    result_dtype,
    suitesparse,
    works,
)
from tests.helpers.strategies import (
    DTYPES,
    MASK_FORMS,
    covered,
    matrices,
    sizes,
    vectors,
    write_axes,
    writes,
    written,
)

import semira as gb
from semira.ops.registry import binary, monoid

#: `any` may return any of the values it met: see `test_any_is_one_of_the_products`.
EXACT_ANY = ("pair",)
#: Every term is rounded, so sums depend on their order; terms are at most this large.
LARGEST_TERM = 2.0**10


def semirings() -> list[tuple[str, str, str]]:
    """Return (monoid, multiply, dtype) wherever both libraries have the semiring."""
    return [
        (add, multiply, dtype)
        for add in monoid
        for multiply in binary
        for dtype in DTYPES
        if multiply not in UNDEFINED
        and (add != "any" or multiply in EXACT_ANY)
        and multiply != "any"
        and dtype in gb.semiring.from_string(f"{add}_{multiply}")
        and works("semiring", f"{add}_{multiply}", dtype)
    ]


CASES = cover(semirings(), default=3, seed=1)
COMMON = [
    ("plus", "times", "FP64"),
    ("min", "plus", "FP32"),
    ("lor", "land", "BOOL"),
    ("any", "pair", "BOOL"),
    ("plus", "pair", "INT64"),
]
ACCUMS = ("plus", "min", "second")
OTHER_DTYPES = ("FP64", "INT8", "BOOL")


def name_of(case: tuple[str, str, str]) -> str:
    return f"{case[0]}_{case[1]}-{case[2]}"


def outputs(case: tuple[str, str, str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the output dtypes and the accumulator a case is tried with.

    One other dtype and one accumulator each, chosen by the case: kernels are compiled.
    """
    number = sum(map(ord, name_of(case)))
    natural = result_dtype("semiring", f"{case[0]}_{case[1]}", case[2])
    other = OTHER_DTYPES[number % len(OTHER_DTYPES)]
    accum = ACCUMS[number % len(ACCUMS)]
    usable = all(works("binary", accum, dtype) for dtype in (natural, other))
    return (natural, natural, other), (accum,) if usable else ()


_BOTH = (False, True)
PRODUCT_AXES = {
    "mxm": {"left_t": _BOTH, "right_t": _BOTH, "direction": (None,)},
    "mxv": {"left_t": _BOTH, "right_t": (False,), "direction": (None, "push", "pull")},
    "vxm": {"left_t": (False,), "right_t": _BOTH, "direction": (None, "push", "pull")},
}


def product(kind: str, case: tuple[str, str, str], draw: Any) -> None:
    """Draw operands and an output, and compare ``out(...) << product``."""
    device, data = draw
    add, multiply, dtype = case
    row = data.draw(covered(**write_axes(*outputs(case)), **PRODUCT_AXES[kind]))
    left_t, right_t, direction = row["left_t"], row["right_t"], row["direction"]
    rows, inner, cols = (data.draw(sizes) for _ in range(3))
    special = data.draw(st.booleans()) and multiply not in ("hypot", "atan2", "truediv")
    left = matrices(dtype, *((inner, rows) if left_t else (rows, inner)), special=special)
    right = matrices(dtype, *((cols, inner) if right_t else (inner, cols)), special=special)
    a = data.draw(vectors(dtype, inner, special=special) if kind == "vxm" else left)
    b = data.draw(vectors(dtype, inner, special=special) if kind == "mxv" else right)
    shape = {"mxm": (rows, cols), "mxv": (rows,), "vxm": (cols,)}[kind]
    if inner == 0:
        row = row | {"accum": None}  # SuiteSparse 9.4 refuses: accumulator and monoid agree
    write = data.draw(written(shape, row))

    def program(library: Any) -> Any:
        x, y = a.build(library), b.build(library)
        x = x.T if left_t and kind != "vxm" else x
        y = y.T if right_t and kind != "mxv" else y
        out, keywords = write.build(library)
        options = {"direction": direction} if library is gb and direction else {}
        op = find(library, "semiring", f"{add}_{multiply}")
        out(**keywords, **options) << getattr(x, kind)(y, op)
        return out, getattr(x, kind)(y, op).new()

    mirror(device, program, steps=2 * inner + 4, scale=LARGEST_TERM)


@pytest.mark.parametrize("case", CASES, ids=name_of)
@pytest.mark.parametrize("kind", ["mxv", "vxm", "mxm"])
@examples(8)
@given(data=st.data())
def test_semirings(kind: str, case: tuple[str, str, str], device: str, data: Any) -> None:
    product(kind, case, (device, data))


@pytest.mark.parametrize("case", COMMON, ids=name_of)
@pytest.mark.parametrize("kind", ["mxv", "vxm", "mxm"])
@examples(40)
@given(data=st.data())
def test_common_semirings(kind: str, case: tuple[str, str, str], device: str, data: Any) -> None:
    product(kind, case, (device, data))


@pytest.mark.parametrize(
    ("left", "right"), [("INT8", "FP32"), ("INT64", "UINT64"), ("BOOL", "INT16"), ("FP64", "INT8")]
)
@examples(12)
@given(data=st.data())
def test_mixed_dtypes_are_unified(left: str, right: str, device: str, data: Any) -> None:
    n, m = data.draw(sizes), data.draw(sizes)
    a, b = data.draw(matrices(left, n, m)), data.draw(matrices(right, m, n))
    u = data.draw(vectors(right, m))

    def program(library: Any) -> Any:
        x = a.build(library)
        return (
            x.mxv(u.build(library), library.semiring.plus_times).new(),
            u.build(library).vxm(x.T, library.semiring.min_plus).new(),
            x.mxm(b.build(library), library.semiring.max_second).new(),
        )

    mirror(device, program, steps=m + 1)


@examples(40)
@given(data=st.data())
def test_infix_products(device: str, data: Any) -> None:
    n = data.draw(sizes)
    a, u = data.draw(matrices("INT32", n, n)), data.draw(vectors("INT32", n))

    def program(library: Any) -> Any:
        x, v = a.build(library), u.build(library)
        return (
            (x @ v).new(),
            (v @ x).new(),
            (x @ x.T).new(),
            (v @ v).new(),
            library.semiring.min_plus(x.T @ v).new(),
            library.semiring.max_first(v @ v).new(),
            v.inner(v, library.semiring.plus_pair).new(),
            x.mxv(v).new("FP32"),
        )

    mirror(device, program)


@examples(20)
@given(data=st.data())
def test_new_with_mask_and_dtype(device: str, data: Any) -> None:
    n, m = data.draw(sizes), data.draw(sizes)
    a, u = data.draw(matrices("INT32", n, m)), data.draw(vectors("INT32", m))
    write = data.draw(writes((n,), ("INT32",)))

    def program(library: Any) -> Any:
        _, keywords = write.build(library)
        expression = a.build(library).mxv(u.build(library), library.semiring.plus_times)
        return expression.new("FP64", mask=keywords.get("mask"))

    mirror(device, program)


@pytest.mark.parametrize("kind", ["mxv", "vxm", "mxm"])
@pytest.mark.parametrize("multiply", ["first", "second", "plus"])
@examples(12)
@given(data=st.data())
def test_any_is_one_of_the_products(kind: str, multiply: str, device: str, data: Any) -> None:
    n, inner, m = (data.draw(sizes) for _ in range(3))
    a = data.draw(vectors("INT32", inner) if kind == "vxm" else matrices("INT32", n, inner))
    b = data.draw(vectors("INT32", inner) if kind == "mxv" else matrices("INT32", inner, m))
    with gb.device(device):
        ours = getattr(a.build(gb), kind)(b.build(gb), f"any_{multiply}").new()
    pgb = suitesparse()
    theirs = getattr(a.build(pgb), kind)(b.build(pgb), f"any_{multiply}").new()
    assert [part.tolist() for part in ours.to_coo()[:-1]] == [
        part.tolist() for part in theirs.to_coo()[:-1]
    ]
    admissible = meeting_products(kind, multiply, a, b)
    *positions, values = ours.to_coo()
    for *at, value in zip(*positions, values, strict=True):
        assert value in admissible[tuple(map(int, at))]


def meeting_products(kind: str, multiply: str, a: Any, b: Any) -> dict[tuple[int, ...], set[int]]:
    """Return every product that lands on each position."""
    combine = {
        "first": lambda x, y: x,
        "second": lambda x, y: y,
        "plus": lambda x, y: x + y,
    }[multiply]
    left = [((), *entry) if kind == "vxm" else ((entry[0],), *entry[1:]) for entry in listed(a)]
    right = [(k, (), y) if kind == "mxv" else (k, (rest[0],), rest[1]) for k, *rest in listed(b)
             for y in rest[-1:]]  # fmt: skip
    found: dict[tuple[int, ...], set[int]] = {}
    for i, k, x in left:
        for other, j, y in right:
            if k == other:
                found.setdefault((*i, *j), set()).add(combine(x, y))
    return found


def listed(spec: Any) -> list[tuple[int, ...]]:
    """Return (index, ..., value) of every entry."""
    *positions, values = spec.entries()
    if spec.iso:
        values = [values] * len(positions[0])
    return [tuple(map(int, entry)) for entry in zip(*positions, values, strict=True)]


@pytest.mark.parametrize("case", COMMON, ids=name_of)
@examples(15)
@given(data=st.data())
def test_push_equals_pull(case: tuple[str, str, str], device: str, data: Any) -> None:
    add, multiply, dtype = case
    n, m = data.draw(sizes), data.draw(sizes)
    a, u = data.draw(matrices(dtype, n, m)), data.draw(vectors(dtype, m))
    result = result_dtype("semiring", f"{add}_{multiply}", dtype)
    replace = {"form": (None, *MASK_FORMS), "case": COMMON, "replace": (False, True)}
    row = data.draw(covered(("case", case), **replace)) | {"dtype": result, "accum": None}
    write = data.draw(written((n,), row))
    results = []
    with gb.device(device):
        matrix, vector = a.build(gb), u.build(gb)
        for direction in ("push", "pull"):
            for kind in ("mxv", "vxm"):
                out, keywords = write.build(gb)
                expression = (
                    matrix.mxv(vector, f"{add}_{multiply}")
                    if kind == "mxv"
                    else vector.vxm(matrix.T, f"{add}_{multiply}")
                )
                out(**keywords, direction=direction) << expression
                results.append(out)
    assert all(results[0].isequal(result, check_dtype=True) for result in results[1:])


@pytest.mark.parametrize("semiring", ["plus_times", "min_plus", "max_second", "any_pair"])
@examples(15)
@given(data=st.data())
def test_transpose_of_a_product(semiring: str, device: str, data: Any) -> None:
    n, k, m = (data.draw(sizes) for _ in range(3))
    a, b = data.draw(matrices("INT32", n, k)), data.draw(matrices("INT32", k, m))
    swapped = {"max_second": "max_first"}.get(semiring, semiring)
    with gb.device(device):
        x, y = a.build(gb), b.build(gb)
        left = x.mxm(y, semiring).new().T.new()
        assert left.isequal(y.T.mxm(x.T, swapped).new(), check_dtype=True)


@every("multiply", ["firsti", "firstj", "secondi", "secondj1"])
def test_positions_in_an_inner_product(multiply: str, device: str) -> None:
    def program(library: Any) -> Any:
        u = library.Vector.from_coo([2, 3], [1, 1], size=5)
        v = library.Vector.from_coo([3, 4], [1, 1], size=5)
        return u.inner(v, find(library, "semiring", f"min_{multiply}")).new()

    mirror(device, program)
