"""Drawn cases: which statement, how it is written, on which operands; all from a seed.

A `Kind` fixes what decides about compiled kernels (operation, operator, dtypes, accumulator), a
`Situation` everything else (mask, replace, transposes, aliasing, storage, shape). A `Case` is
both with a seed for entries and numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from functools import cache
from itertools import count
from operator import itemgetter
from typing import Any

import numpy as np
from tests.conformance.statements import (
    OPERATIONS,
    Operation,
    draw_operator,
    natural_dtype,
    rounding,
)
from tests.helpers.pairwise import pairwise
from tests.helpers.pgb import works
from tests.helpers.stored import HAS_HYPER, MATRIX_STORAGES, VECTOR_STORAGES, Operand
from tests.helpers.strategies import DTYPES

from semira.contract import INTERSECTIONS, alias_values
from semira.methods.b2sr.arrays import SIZES
from semira.ops.registry import binary

ACCUMS = (None, "plus", "min", "second", "times", "first")
MASKS = (None, "S", "V", "~S", "~V")
#: Which objects of one statement are the same: ``w=a``: the output is the first operand.
ALIASES = ("none", "w=a", "w=b", "w=mask", "a=b", "a=mask", "w=a=b=mask")
SHAPES = ("empty", "row", "column", "empty_rows", "dense_row", "square", "any", "wide")
_VECTOR_PRODUCTS = ("vxm", "mxv", "vxm-one_value")
_MATRIX_PRODUCTS = ("mxm", "mxm-full", "mxm-one_value")
#: What each hint pins, and the operations that it is drawn for.
PINS: dict[str, tuple[dict[str, Any], tuple[str, ...]]] = {
    "push": ({"direction": "push"}, (*_VECTOR_PRODUCTS, *_MATRIX_PRODUCTS)),
    "pull": ({"direction": "pull"}, (*_VECTOR_PRODUCTS, *_MATRIX_PRODUCTS)),
    "rows": ({"direction": "pull", "balance": "rows"}, _VECTOR_PRODUCTS),
    "positions": ({"direction": "push", "balance": "positions"}, _VECTOR_PRODUCTS),
    "queue": ({"direction": "push", "balance": "thread", "queue": "global"}, _VECTOR_PRODUCTS),
    "block_queue": ({"direction": "push", "balance": "thread", "queue": "block"}, _VECTOR_PRODUCTS),
    "radix": ({"direction": "push", "merge": "radix"}, _VECTOR_PRODUCTS),
    "sort": ({"direction": "push", "merge": "sort"}, _VECTOR_PRODUCTS),
    "scatter": ({"direction": "push", "merge": "scatter"}, ("vxm-one_value",)),
    "hash": ({"method": "hash"}, _MATRIX_PRODUCTS),
    "blocks": ({"method": "pull"}, _MATRIX_PRODUCTS),
    "edges": ({"method": "hash", "balance": "edges"}, _MATRIX_PRODUCTS),
    **{
        f"full_{balance}": ({"method": "hash", "balance": balance}, ("mxm-full",))
        for balance in ("rows", "thread", "pieces")
    },
    **{
        storage: ({"matrix_storage": storage}, (*_VECTOR_PRODUCTS, "mxm-full"))
        for storage in ("coo", "ell", "ellr", "pell", "sell", "csc")
    },
    "dense": ({"matrix_storage": "dense"}, _VECTOR_PRODUCTS),
    **{
        f"lists_{way}": ({"method": "dot", "intersect": way}, _MATRIX_PRODUCTS)
        for way in (*INTERSECTIONS, *alias_values("intersect"))
    },
}
HINTS = (None, *PINS)
#: Tiles of bits keep no values: they have a cover of their own (test_bits.py).
PINS |= {
    f"bits_{bits}": ({"bits": bits, "direction": "pull"}, _VECTOR_PRODUCTS[:2]) for bits in SIZES
} | {f"mxm_bits_{bits}": ({"bits": bits}, ("mxm",)) for bits in SIZES[1:]}
_STORAGES = tuple(dict.fromkeys((*VECTOR_STORAGES, *MATRIX_STORAGES)))
_SIZES = (1, 2, 3, 5, 8, 13, 40)
_MASK_DTYPES = ("BOOL", "BOOL", "INT64", "UINT8")
_OUT_DTYPES = ("FP64", "INT8", "BOOL", "UINT32", "FP32", "INT64")


@dataclass(frozen=True)
class Kind:
    """What decides about kernels."""

    operation: str
    operator: str | None
    dtype: str
    out_dtype: str
    accum: str | None
    steps: int

    def __str__(self) -> str:
        parts = [self.operation, self.operator, self.dtype]
        parts += [f"to_{self.out_dtype}", self.accum]
        return "-".join(part for part in parts if part)

    @property
    def row(self) -> Operation:
        return OPERATIONS[self.operation]


@dataclass(frozen=True)
class Situation:
    """How the statement is written and what its operands look like."""

    mask: str | None = None
    replace: bool = False
    left_transposed: bool = False
    right_transposed: bool = False
    alias: str = "none"
    left: str = "sparse"
    right: str = "sparse"
    out: str = "sparse"
    shape: str = "any"
    hint: str | None = None


#: The values of each field of a `Situation`.
AXES: dict[str, tuple[Any, ...]] = {
    "mask": MASKS,
    "replace": (False, True),
    "left_transposed": (False, True),
    "right_transposed": (False, True),
    "alias": ALIASES,
    "left": _STORAGES,
    "right": _STORAGES,
    "out": _STORAGES,
    "shape": SHAPES,
    "hint": HINTS,
}


@dataclass(frozen=True)
class Case:
    """One statement, run in both libraries."""

    name: str
    kind: Kind
    situation: Situation
    operands: tuple[Operand, ...]
    out: Operand | None
    mask: Operand | None
    extra: Any

    def __str__(self) -> str:
        lines = [f"case {self.name}: {self.kind}"]
        lines += [f"  {field.name}: {getattr(self.situation, field.name)}"
                  for field in fields(Situation)]  # fmt: skip
        for name, operand in zip("ab", self.operands, strict=False):
            lines.append(f"  {name} = {operand}")
        lines += [f"  out = {self.out}", f"  mask = {self.mask}", f"  extra = {self.extra!r}"]
        return "\n".join(lines)


# ------------------------------------------------------------------------------------- kinds
def make_kind(
    operation: str, dtype: str, accum: str | None, other: bool, rng: np.random.Generator
) -> Kind | None:
    """Return a kind with a drawn operator; None if no operator takes the dtype."""
    row = OPERATIONS[operation]
    operator = draw_operator(row, dtype, rng) if row.space else None
    if row.space and operator is None:
        return None
    natural = natural_dtype(row, operator, dtype)
    steps = rounding(row, operator, dtype, natural)
    # A cast of a rounded result may land on either side of a step.
    out_dtype = str(rng.choice(_OUT_DTYPES)) if other and not steps else natural
    if accum is not None and not (works("binary", accum, natural, out_dtype)):
        accum = None
    return Kind(operation, operator, dtype, out_dtype, accum, steps)


def few_kinds(seed: int) -> list[Kind]:
    """Return one kind per operation; dtypes, accumulators and casts take turns."""
    rng = np.random.default_rng([seed, 1])
    dtypes = list(rng.permutation(DTYPES))
    kinds = []
    for number, operation in enumerate(OPERATIONS):
        for shift in range(len(dtypes)):
            dtype = str(dtypes[(number + shift) % len(dtypes)])
            accum = ACCUMS[number % len(ACCUMS)]
            kind = make_kind(operation, dtype, accum, number % 3 == 0, rng)
            if kind is not None:
                kinds.append(kind)
                break
    return kinds


def many_kinds(seed: int, count: int) -> list[Kind]:
    """Return kinds in which every operation meets every dtype, accumulator and cast."""
    axes = {"operation": tuple(OPERATIONS), "dtype": DTYPES, "accum": ACCUMS, "other": (0, 1)}
    rows = pairwise(axes, seed)
    rng = np.random.default_rng([seed, 2])
    kinds: dict[Kind, None] = {}
    for row in rows:
        kind = make_kind(row["operation"], row["dtype"], row["accum"], bool(row["other"]), rng)
        if kind is not None:
            kinds[kind] = None
    while len(kinds) < count:
        drawn = {name: values[int(rng.integers(len(values)))] for name, values in axes.items()}
        kind = make_kind(
            drawn["operation"], drawn["dtype"], drawn["accum"], bool(drawn["other"]), rng
        )
        if kind is not None:
            kinds[kind] = None
    return list(kinds)[:count]


# -------------------------------------------------------------------------------- situations
def is_allowed(kind: Kind, given: dict[str, Any]) -> bool:
    """Whether a (partial) situation makes sense for the kind; unused fields stay at one value."""
    # A cover asks the same of thousands of rows: what a check said of its fields is kept.
    known = _verdicts.get(kind)
    if known is None:
        known = _verdicts[kind] = [{} for _ in _CHECKS]
    full = {**_ALL_OPEN, **given}
    for verdicts, (check, read, names) in zip(known, _CHECKS, strict=True):
        key = read(full)
        verdict = verdicts.get(key)
        if verdict is None:
            known_fields = {name: full[name] for name in names if full[name] is not _OPEN}
            verdict = verdicts[key] = check(kind, kind.row, known_fields)
        if not verdict:
            return False
    return True


def _check_mask(kind: Kind, row: Operation, given: dict[str, Any]) -> bool:
    if row.out == "scalar":
        return given.get("mask") is None and not given.get("replace")
    if kind.operation == "ewise_mult-matrix" and kind.accum and given.get("mask") is not None:
        return False  # SuiteSparse 9.4 crashes if the output and one operand are full
    # python-graphblas refuses replace without a mask.
    return not (given.get("replace") and "mask" in given and given["mask"] is None)


def _check_transposes(kind: Kind, row: Operation, given: dict[str, Any]) -> bool:
    del kind
    ranks = [len(letters) for letters in row.arguments]
    if given.get("left_transposed") and ranks[0] != 2:
        return False
    return not (given.get("right_transposed") and (len(ranks) < 2 or ranks[1] != 2))


def _check_storages(kind: Kind, row: Operation, given: dict[str, Any]) -> bool:
    del kind
    ranks = {"left": len(row.arguments[0]), "out": {"vector": 1, "matrix": 2}.get(row.out, 0)}
    ranks["right"] = len(row.arguments[1]) if len(row.arguments) > 1 else 0
    known = {0: ("sparse",), 1: VECTOR_STORAGES, 2: MATRIX_STORAGES}
    return all(given[at] in known[rank] for at, rank in ranks.items() if at in given)


def _check_full_right(kind: Kind, row: Operation, given: dict[str, Any]) -> bool:
    del kind
    # One object as both operands has the left one's entries.
    shares = {"a", "b"} <= set(given.get("alias", "none").split("="))
    return not row.full_right or (given.get("right", "full") == "full" and not shares)


def _check_alias(kind: Kind, row: Operation, given: dict[str, Any]) -> bool:
    alias = given.get("alias", "none")
    if alias == "none":
        return True
    members = alias.split("=")
    if not row.can_alias or kind.operation in ("kronecker", "diag-vector", "diag-matrix"):
        return False
    ranks = {name: len(letters) for name, letters in zip("ab", row.arguments, strict=False)}
    ranks["w"] = ranks["mask"] = {"vector": 1, "matrix": 2}.get(row.out, 0)
    meant = ranks.get("a", 0) if alias == "a=b" else ranks["w"]
    if any(ranks.get(member, -1) != meant for member in members):
        return False
    if "w" in members and {"a", "b"} & set(members):
        # The output then has the dtype of the operand.
        if kind.steps and not kind.dtype.startswith("F"):
            return False
        if kind.accum and not works("binary", kind.accum, kind.dtype):
            return False
    if "mask" not in members:
        return True
    if row.region and "a" not in members:
        return False
    if "mask" in given and given["mask"] is None:
        return False
    # SuiteSparse looks at the bits of a mask, where -0.0 is true.
    holder = kind.dtype if {"a", "b"} & set(members) else kind.out_dtype
    return not (holder.startswith("F") and str(given.get("mask", "S")).endswith("V"))


def _check_shape(kind: Kind, row: Operation, given: dict[str, Any]) -> bool:
    if given.get("shape") != "wide":
        return True
    if given.get("alias") == "w=a=b=mask" and kind.accum:
        return False  # SuiteSparse 9.4 writes zeros: min(w, second(w, w)) is w
    is_vector_only = row.out != "matrix" and all(len(x) == 1 for x in row.arguments)
    return row.wide and (HAS_HYPER or (is_vector_only and "index" not in kind.operation))


def _check_hint(kind: Kind, row: Operation, given: dict[str, Any]) -> bool:
    hint = given.get("hint")
    if hint is None:
        return True
    pins, operations = PINS[hint]
    if kind.operation not in operations:
        return False
    if "intersect" in pins:
        # Dot products need a mask that names the results; bits hold no values.
        names_results = given.get("mask", "S") in ("S", "V")
        has_bits = pins["intersect"] != "bitmap" or not _reads_left(kind)
        return names_results and has_bits
    if hint == "csc" and row.full_right:
        # The columns of a transposed left operand are no csc; rows of both may be.
        return not given.get("left_transposed") or bool(given.get("right_transposed", True))
    return True


def _reads_left(kind: Kind) -> bool:
    assert kind.operator is not None
    _, _, multiply = kind.operator.partition("_")
    return binary[multiply].reads_a


#: A field of a partial situation without a value.
_OPEN = object()
_ALL_OPEN = dict.fromkeys(AXES, _OPEN)
#: Each check, what takes the fields that it reads from a situation, and their names.
_CHECKS = tuple(
    (check, itemgetter(*names), names)
    for check, *names in (
        (_check_mask, "mask", "replace"),
        (_check_transposes, "left_transposed", "right_transposed"),
        (_check_storages, "left", "right", "out"),
        (_check_full_right, "alias", "right"),
        (_check_alias, "alias", "mask"),
        (_check_shape, "alias", "shape"),
        (_check_hint, "hint", "mask", "left_transposed", "right_transposed"),
    )
)
_verdicts: dict[Kind, list[dict[tuple[Any, ...], bool]]] = {}


def drawn_situation(kind: Kind, rng: np.random.Generator) -> Situation:
    """Return a random allowed situation."""
    given: dict[str, Any] = {}
    for name, values in AXES.items():
        for at in rng.permutation(len(values)):
            if is_allowed(kind, {**given, name: values[at]}):
                given[name] = values[at]
                break
        else:  # an earlier choice left nothing: the first value always fits
            given[name] = values[0]
    # Most statements have no aliases and common shapes.
    if rng.random() < 0.5:
        given["alias"] = "none"
    return Situation(**given)


# ------------------------------------------------------------------------------------- cases
def draw_case(name: str, kind: Kind, situation: Situation, rng: np.random.Generator) -> Case:
    """Return a case with operands drawn for the kind and the situation."""
    row = kind.row
    sizes = _drawn_sizes(kind, situation, rng)
    shapes = [tuple(sizes[letter] for letter in letters) for letters in row.arguments]
    base = tuple(sizes[letter] for letter in row.target)
    extra = None
    if row.extra is not None:
        extra = row.extra(rng, kind.operator or "", kind.dtype, [base] if base else shapes)
    if situation.alias != "none" and kind.operation.startswith(("assign", "subassign", "extract")):
        extra = _whole(base or shapes[0], rng)
    if row.target:
        shapes = [region_shape(base, extra)]
    transposed = (situation.left_transposed, situation.right_transposed)
    stored = [
        shape[::-1] if is_transposed else shape
        for shape, is_transposed in zip(shapes, transposed, strict=False)
    ]
    storages = (situation.left, situation.right)
    operands = tuple(
        _operand(shape, kind.dtype, storage, situation, rng, special=_may_be_special(kind))
        for shape, storage in zip(stored, storages, strict=False)
    )
    out_shape = base or output_shape(kind, shapes, extra)
    out = None
    if out_shape:
        out = _operand(out_shape, kind.out_dtype, situation.out, situation, rng)
    elif rng.random() < 0.7 or extra is False:
        # (python-graphblas accumulates onto 0, not onto nothing, without `allow_empty`.)
        out = Operand((), kind.out_dtype, "sparse", 1, int(rng.integers(2**31)))
    mask = None
    if situation.mask is not None:
        mask_shape = shapes[0] if row.region else out_shape
        storage = "bitmap" if len(mask_shape) == 1 else "csr"
        mask = _operand(mask_shape, str(rng.choice(_MASK_DTYPES)), storage, situation, rng)
    return Case(name, kind, situation, operands, out, mask, extra)


def output_shape(kind: Kind, shapes: list[tuple[int, ...]], extra: Any) -> tuple[int, ...]:
    """Return the shape of the result."""
    first, last = shapes[0], shapes[-1]
    special: dict[str, Any] = {
        "mxv": lambda: first[:1],
        "vxm": lambda: last[1:],
        "vxm-one_value": lambda: last[1:],
        "mxm": lambda: (first[0], last[1]),
        "mxm-full": lambda: (first[0], last[1]),
        "mxm-one_value": lambda: (first[0], last[1]),
        "reduce_rowwise": lambda: first[:1],
        "reduce_columnwise": lambda: first[1:],
        "reduce_matrix": lambda: (),
        "reduce_vector": lambda: (),
        "inner": lambda: (),
        "outer": lambda: (first[0], last[0]),
        "kronecker": lambda: (first[0] * last[0], first[1] * last[1]),
        "extract-vector": lambda: region_shape(first, extra),
        "extract-matrix": lambda: region_shape(first, extra),
        "diag-vector": lambda: (first[0] + abs(extra),) * 2,
        "diag-matrix": lambda: (_diagonal_length(first, extra),),
    }
    return tuple(special.get(kind.operation, lambda: first)())


def _diagonal_length(shape: tuple[int, ...], k: int) -> int:
    nrows, ncols = shape
    return max(0, min(nrows, ncols - k) if k >= 0 else min(nrows + k, ncols))


def region_shape(shape: tuple[int, ...], keys: Any) -> tuple[int, ...]:
    """Return the shape of ``x[keys]``."""
    keys = keys if isinstance(keys, tuple) else (keys,)
    return tuple(
        len(range(*key.indices(size))) if isinstance(key, slice) else len(key)
        for size, key in zip(shape, keys, strict=True)
    )


def _whole(shape: tuple[int, ...], rng: np.random.Generator) -> Any:
    # Everything, in order or backwards; SuiteSparse refuses to walk nothing backwards.
    choices = (slice(None), slice(None, None, -1))
    keys = tuple(choices[0] if size in (0, 2**33) else choices[rng.integers(2)] for size in shape)
    return keys[0] if len(keys) == 1 else keys


def _may_be_special(kind: Kind) -> bool:
    # Sums of rounded terms may overflow on one way only; C leaves infinite complex numbers open.
    summed = kind.row.space in ("semiring", "monoid")
    return not (kind.dtype.startswith("FC") or (summed and kind.steps))


def _drawn_sizes(kind: Kind, situation: Situation, rng: np.random.Generator) -> dict[str, int]:
    letters = sorted(set(kind.row.shapes + kind.row.target) - {","})
    pool = _SIZES[:4] if kind.operation == "kronecker" else _SIZES
    if kind.accum and situation.mask:
        # SuiteSparse 9.4 crashes: mask, accumulator and a full operand with sides of 40.
        pool = pool[:-1]
    sizes = {letter: int(rng.choice(pool)) for letter in letters}
    shape = situation.shape
    if shape == "empty":
        gone = letters if rng.random() < 0.4 else [str(rng.choice(letters))]
        # SuiteSparse 9.4 refuses an empty sum if accumulator and monoid agree.
        keeps = set("jk") if kind.operation in ("mxv", *_MATRIX_PRODUCTS) else set("i")
        safe = kind.accum is None or kind.row.space != "semiring"
        sizes.update({letter: 0 for letter in gone if safe or letter not in keeps})
    elif shape == "row":
        sizes[letters[0]] = 1
    elif shape == "column":
        sizes[letters[-1]] = 1
    elif shape == "wide":
        wide = [letter for letter in letters if rng.random() < 0.6] or letters[-1:]
        sizes.update(dict.fromkeys(wide, 2**33))
    if shape == "square" or situation.alias != "none" or kind.operation == "power":
        return dict.fromkeys(letters, max(sizes.values()) if shape == "wide" else sizes[letters[0]])
    return sizes


def _operand(
    shape: tuple[int, ...],
    dtype: str,
    storage: str,
    situation: Situation,
    rng: np.random.Generator,
    *,
    special: bool = False,
) -> Operand:
    density = float(rng.choice((0.0, 0.1, 0.3, 0.5, 0.5, 0.9, 1.0)))
    return Operand(
        shape, dtype, storage, density, int(rng.integers(2**31)),
        empty_rows=situation.shape == "empty_rows" and len(shape) == 2,
        dense_row=situation.shape == "dense_row" and len(shape) == 2,
        special=special and rng.random() < 0.4,
    )  # fmt: skip


def cover(seed: int, draws: int) -> dict[Kind, list[Case]]:
    """Return the cases of CI: every kind meets every value of every axis, and these each other.

    Parameters
    ----------
    draws : int
        Operands drawn for each row of the pairwise cover.
    """
    kinds, rows = _rows(seed)
    cases: dict[Kind, list[Case]] = {kind: [] for kind in kinds}
    for row in rows:
        at = row["kind"]
        for _ in range(draws):
            number = len(cases[kinds[at]])
            rng = np.random.default_rng([seed, at, number])
            name = f"{at}:{number}"
            cases[kinds[at]].append(
                draw_case(name, kinds[at], Situation(**_without_kind(row)), rng)
            )
    return cases


@cache
def _rows(seed: int) -> tuple[list[Kind], list[dict[str, Any]]]:
    """Return the kinds of a cover, and its rows; the kind of a row is a number."""
    kinds = few_kinds(seed)

    class Takers(dict[tuple[Any, ...], int]):
        """Which kinds pass a check of some values: bits of integers."""

        def __init__(self, check: Any, names: list[str]) -> None:
            self.check, self.names = check, names

        def __missing__(self, values: tuple[Any, ...]) -> int:
            named = zip(self.names, values, strict=True)
            given = {name: x for name, x in named if x is not _OPEN}
            passing = (self.check(kind, kind.row, given) for kind in kinds)
            self[values] = taken = sum(1 << at for at, passes in enumerate(passing) if passes)
            return taken

    # Hints are refused most often.
    checks = [(Takers(check, names), read) for check, read, names in reversed(_CHECKS)]

    def allowed(row: dict[str, Any]) -> bool:
        if "kind" not in row:
            return True
        full, bit = _ALL_OPEN | row, 1 << row["kind"]
        for takers, read in checks:  # noqa: SIM110 - a million rows are asked about
            if not takers[read(full)] & bit:
                return False
        return True

    return kinds, pairwise({"kind": range(len(kinds)), **AXES}, seed, allowed)


def _without_kind(row: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name != "kind"}


def long_cases(kind: Kind, seed: int, at: int, start: int, count: int) -> Iterator[Case]:
    """Yield cases of one kind of the long run, from number `start` on."""
    for number in range(start, start + count):
        rng = np.random.default_rng([seed, at, number])
        yield draw_case(f"{at}:{number}", kind, drawn_situation(kind, rng), rng)


def listed_cases(seed: int, rows: list[Case], at: int, start: int) -> Iterator[Case]:
    """Yield cases without end whose statements are those of `rows`, on other operands.

    `rows` are the cases of a cover for one kind: mask, replace, transposes, aliases and direction
    stay as they are, storages, shapes, entries and numbers are drawn anew.
    """
    for number in count(start):
        rng = np.random.default_rng([seed, at, number])
        row = rows[number % len(rows)]
        drawn = drawn_situation(row.kind, rng)
        situation = replace(
            row.situation, left=drawn.left, right=drawn.right, out=drawn.out, shape=drawn.shape
        )
        if is_allowed(row.kind, vars(situation)):
            yield draw_case(f"{at}:{number}", row.kind, situation, rng)
