"""The gradient at permutations and at the barycentre, as a sparse matrix and a low-rank product."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semira import Matrix, Vector, binary, device, monoid
from semira.apps.arrays import on_host
from semira.apps.graph_matching.problem import Pairs, Problem
from semira.base.locks import cached_property
from semira.kernels import ArrayKernel, rows_of

_PICK = ArrayKernel("semira.apps.graph_matching.kernels:pick", "pick")

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Atom:
    """A permutation of the vertices that are matched, or a part of one."""

    #: ndarray, shape (m,). Position of the partner of each one; -1: none.
    of: Pairs
    #: Vertices without partner are spread evenly over the partners that are left; else they have
    #: none.
    spread: bool = False

    @property
    def lone(self) -> NDArray[np.bool_]:
        """Which vertices have no partner."""
        return self.of < 0

    @property
    def left(self) -> NDArray[np.bool_]:
        """Which partners are left."""
        left = np.ones(len(self.of), bool)
        left[self.of[self.of >= 0]] = False
        return left

    def overlap(self, other: Atom) -> float:
        """Return the sum of products with a whole permutation, or with itself."""
        both = float(((self.of == other.of) & (self.of >= 0)).sum())
        if self.spread and other.spread:
            return both + float(self.lone.any())
        if self.spread:
            count = int(self.lone.sum())
            both += float(self.left[other.of[self.lone]].sum()) / max(count, 1)
        return both


@dataclass(frozen=True, slots=True)
class Term:
    """The product of a column and a row."""

    #: `fixed`, `moving`: ndarray, shape (m,). Terms of several permutations that have the same
    #: fixed side are added up on the other.
    fixed: Floats
    moving: Floats
    #: Whether the fixed side is the column.
    is_left: bool = True

    def scaled(self, share: float) -> Term:
        """Return a part of it."""
        return Term(self.fixed, share * self.moving, self.is_left)

    def adds_to(self, other: Term) -> bool:
        """Whether the two have the same fixed side."""
        return self.is_left == other.is_left and np.array_equal(self.fixed, other.fixed)

    @property
    def sides(self) -> tuple[Floats, Floats]:
        """Column and row."""
        return (self.fixed, self.moving) if self.is_left else (self.moving, self.fixed)


def summed(terms: Iterable[Term]) -> tuple[Term, ...]:
    """Return terms with as few products as possible."""
    found: list[Term] = []
    for term in terms:
        for place, other in enumerate(found):
            if term.adds_to(other):
                found[place] = Term(term.fixed, other.moving + term.moving, term.is_left)
                break
        else:
            found.append(term)
    return tuple(term for term in found if term.fixed.any() and term.moving.any())


@dataclass(frozen=True, slots=True)
class Gradient:
    """A sparse matrix and products of a column and a row, over the vertices that are matched."""

    #: Matrix, shape (m, m), FP64.
    S: Matrix
    terms: tuple[Term, ...]

    @property
    def factors(self) -> tuple[Floats, Floats]:
        """X and Y of shape (m, terms): the products are ``X @ Y.T``."""
        m = self.S.nrows
        X, Y = (
            np.array([term.sides[side] for term in self.terms]).reshape(-1, m).T for side in (0, 1)
        )
        return X, Y

    def mixed(self, other: Gradient, share: float) -> Gradient:
        """Return ``(1 - share) * self + share * other``."""
        if share == 1:
            return other
        near = self.S.apply(binary.times, right=1 - share).new()
        far = other.S.apply(binary.times, right=share).new()
        terms = [term.scaled(1 - share) for term in self.terms]
        terms += [term.scaled(share) for term in other.terms]
        return Gradient(near.ewise_add(far, monoid.plus).new(), summed(terms))

    def along(self, atom: Atom, xp: Any) -> float:
        """Return the sum of products with a permutation, or a part of one."""
        rows, here = rows_of(self.S), self.S.device
        out = xp.zeros(len(atom.of))
        _PICK(
            len(atom.of), rows.indptr, rows.indices, rows.values, xp.asarray(atom.of), out,
            device=here,
        )  # fmt: skip
        known = ~atom.lone
        X, Y = self.factors
        # On the host in one order: a step has the same length on every device.
        picked = on_host(out)
        total = float(picked.sum()) + float((X[known] * Y[atom.of[known]]).sum())
        if atom.spread and not known.all():
            left = atom.left.astype(float)
            sums = times(self.S, left)[atom.lone]
            low = (X[atom.lone].sum(0) * (left @ Y)).sum()
            total += (float(sums.sum()) + float(low)) / float(left.sum())
        return total


def times(A: Matrix, x: Floats) -> Floats:
    """Return the product of a matrix and a full vector, on the host."""
    with device(A.device):
        made: Vector = A.mxv(Vector.from_dense(x), "plus_times").new()
    return np.asarray(made.to_dense(0.0))


class Gradients:
    """Gradients of the objective of one problem.

    For A and B and a full permutation (or mixture) P the objective is the sum of the products of
    ``A P B.T`` and P, and the gradient ``A P B.T + A.T P B``. With ``padding="adopted"`` A is
    ``2 A - a a.T`` where `a` is 1 at vertices that are no padding, and B alike.
    """

    def __init__(self, problem: Problem) -> None:
        self._p = problem
        p = problem
        self._sides = [(p.A[p.rest_a, :].new(), p.B[p.rest_b, :].T.new())]
        if not p.symmetric:
            self._sides.append((p.A[:, p.rest_a].T.new(), p.B[:, p.rest_b].new()))
        self._weight = (2.0 if p.symmetric else 1.0) * (4.0 if p.adopted else 1.0)
        self._added = None
        if p.similarity is not None:
            self._added = p.similarity[p.rest_a, p.rest_b].new()

    @cached_property
    def _real(self) -> tuple[Floats, Floats]:
        """1 at vertices that are no padding, of both graphs."""
        n = self._p.n
        a, b = ((np.arange(n) < size).astype(float) for size in self._p.sizes)
        return a, b

    def at(self, atom: Atom) -> Gradient:
        """Return the gradient at a permutation, a part of one, or a mixture of permutations."""
        to = self._p.full(atom.of)
        known = np.flatnonzero(to >= 0)
        S: Any = self._added
        for left, right in self._sides:
            if len(known) == len(to):
                part = left.mxm(right[to, :].new(), "plus_times").new()
            else:
                part = left[:, known].new().mxm(right[to[known], :].new(), "plus_times").new()
            if self._weight != 1:
                part = part.apply(binary.times, right=self._weight).new()
            S = part if S is None else S.ewise_add(part, monoid.plus).new()
        return Gradient(S, summed(self._terms(atom, to)))

    def _terms(self, atom: Atom, to: Pairs) -> list[Term]:
        """Return the products: of even shares of vertices, and of pairs without edges."""
        p = self._p
        lone, left = np.zeros(p.n), np.zeros(p.n)
        if atom.spread:
            lone[p.rest_a[atom.lone]], left[p.rest_b[atom.left]] = 1.0, 1.0
        count = max(lone.sum(), 1.0)
        terms = []
        if lone.any():
            for one, other in self._sides:
                y = _times_left(left, other) * (self._weight / count)
                terms.append(Term(times(one, lone), y))
        if p.adopted:
            terms += self._without_edges(to, lone, left, count)
        return terms

    def _without_edges(self, to: Pairs, lone: Floats, left: Floats, count: float) -> list[Term]:
        """Return what pairs that have no edge add, of both graphs."""
        p = self._p
        a, b = self._real
        known = to >= 0
        # P b and P.T a.
        pb, pa = lone * (left @ b) / count, left * (lone @ a) / count
        pb[known] += b[to[known]]
        np.add.at(pa, to[known], a[known])
        factor = 2.0 if p.symmetric else 1.0
        x = np.sum([times(one, pb) for one, _ in self._sides], 0)
        y = np.sum([_times_left(pa, other) for _, other in self._sides], 0)
        both = 2.0 * float(a @ pb)
        near, far = a[p.rest_a], b[p.rest_b]
        return [
            Term(-2.0 * far, factor * x, is_left=False),
            Term(near, both * far - 2.0 * factor * y),
        ]


def _times_left(x: Floats, A: Matrix) -> Floats:
    with device(A.device):
        made: Vector = Vector.from_dense(x).vxm(A, "plus_times").new()
    return np.asarray(made.to_dense(0.0))
