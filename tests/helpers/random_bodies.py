"""Loop bodies drawn at random: neighbouring statements that read each other's results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import semira as gb
from semira import binary, indexunary, monoid, select, semiring, unary

#: Vectors that a body reads and writes; more are made inside of it.
OBJECTS = 4

Namespace = dict[str, Any]
Step = Callable[[list[Any], Namespace], None]


def _mask(rng: np.random.Generator) -> tuple[int, bool, bool] | None:
    if rng.random() < 0.4:
        return None
    return int(rng.integers(OBJECTS)), bool(rng.random() < 0.5), bool(rng.random() < 0.4)


def _masked(vectors: list[Any], mask: tuple[int, bool, bool] | None) -> dict[str, Any]:
    if mask is None:
        return {}
    number, structural, complement = mask
    found = vectors[number].S if structural else vectors[number].V
    return {"mask": ~found if complement else found}


def _expression(kind: int, u: Any, v: Any, space: Namespace) -> Any:
    return [
        lambda: u.ewise_mult(v, binary.plus),
        lambda: u.ewise_add(v, binary.minus),
        lambda: u.ewise_union(v, binary.max, left_default=1, right_default=2),
        lambda: u.apply(unary.ainv),
        lambda: u.apply(binary.plus, right=3),
        lambda: u.apply(indexunary.rowindex, right=1),
        lambda: u.select(select.valuege, 0),
        lambda: v.vxm(space["A"], semiring.min_plus),
        lambda: space["A"].mxv(u, semiring.plus_second),
        lambda: u.gather(space["places"]),
        lambda: u.apply(binary.max, right=space["total"]),
    ][kind]()


#: Kinds of statements: all, and those of bodies where products stand next to each other.
ALL_KINDS = tuple(range(11))
PRODUCTS = (0, 3, 7, 7, 7, 8, 8)


def draw_statement(rng: np.random.Generator, kinds: tuple[int, ...] = ALL_KINDS) -> Step:
    """Return one statement on vectors of INT64."""
    which, out, left, right = (
        int(rng.integers(top)) for top in (len(kinds), OBJECTS, OBJECTS, OBJECTS)
    )
    kind = kinds[which]
    mask, replace = _mask(rng), bool(rng.random() < 0.5)
    form = rng.choice(["write", "write", "temporary", "accumulate", "assign", "sum"])

    def write(vectors: list[Any], space: Namespace) -> None:
        masked = _masked(vectors, mask)
        given = masked | ({"replace": replace} if masked else {})
        target, found = vectors[out], _expression(kind, vectors[left], vectors[right], space)
        if form == "write":
            target(**given) << found
        elif form == "temporary":
            made = found.new()
            target(**given) << made.ewise_add(vectors[right], binary.max)
        elif form == "accumulate":
            target(accum=binary.max, **masked) << found
        elif form == "assign":
            target(**given) << space["total"]
        else:
            space["total"] << vectors[left].reduce(monoid.max, allow_empty=False)

    return write


def run_body(
    device: str,
    seed: int,
    size: int,
    iterations: int = 3,
    kinds: tuple[int, ...] = ALL_KINDS,
) -> list[Any]:
    """Return what the vectors and the scalar hold after a few iterations of a drawn body."""
    rng = np.random.default_rng(seed)
    with gb.device(device):
        count = 3 * size
        A = gb.Matrix.from_coo(
            rng.integers(0, size, count), rng.integers(0, size, count),
            rng.integers(0, 5, count), nrows=size, ncols=size, dup_op=binary.plus, dtype="INT64",
        )  # fmt: skip
        vectors = []
        for density in rng.choice([0.02, 0.3, 1.0], OBJECTS):
            where = np.flatnonzero(rng.random(size) < density)
            values = rng.integers(-3, 9, len(where))
            vectors.append(gb.Vector.from_coo(where, values, size=size, dtype="INT64"))
        places = gb.Vector.from_dense(rng.integers(0, size, size))
        space: Namespace = {"A": A, "places": places, "total": gb.Scalar.from_value(0, "INT64")}
        steps = [draw_statement(rng, kinds) for _ in range(int(rng.integers(2, 7)))]

        def step() -> None:
            for each in steps:
                each(vectors, space)

        gb.repeat(step, max_iterations=iterations)
        entries = [[part.tolist() for part in vector.to_coo()] for vector in vectors]
        return [*entries, space["total"].value]
