"""The method of Frank and Wolfe: a permutation along the gradient, then a step to it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from semira import Matrix, monoid
from semira import device as here
from semira.apps.arrays import on_host
from semira.apps.assignment.problem import ADDED, sparse, with_product
from semira.apps.assignment.solve import assign
from semira.apps.graph_matching.gradient import Atom, Gradient, Gradients, Term, summed
from semira.apps.graph_matching.problem import Pairs, Problem
from semira.kernels import rows_of

Progress = Callable[[int, int], None]

#: A gain below this part of the objective is none.
_NO_GAIN = 1e-12


@dataclass(frozen=True, slots=True)
class Settings:
    """How to search.

    Attributes
    ----------
    start : {"barycentre", "seeds"} or ndarray, shape (m,)
    max_iterations : int
    tolerance : float
    restarts : int
    seed : int
    method : str
        Of assignments.
    """

    start: Any
    max_iterations: int
    tolerance: float
    restarts: int
    seed: int
    method: str


@dataclass(slots=True)
class Search:
    """One search, finished.

    Attributes
    ----------
    of : ndarray, shape (m,)
        Positions of the partners.
    objective : float
        Gain of the permutation, as the search knows it.
    steps : list of float
        Shares that the steps took of the permutations.
    converged : bool
    """

    of: Pairs
    steps: list[float]
    converged: bool


def searches(
    problem: Problem, settings: Settings, xp: Any, progress: Progress | None
) -> list[Search]:
    """Return a search from each start."""
    gradients = Gradients(problem)
    found = []
    for number in range(settings.restarts):
        atoms = _starts(problem, settings, number)
        found.append(_search(problem, gradients, atoms, settings, xp))
        if progress is not None:
            progress(number + 1, settings.restarts)
    return found


def _starts(problem: Problem, settings: Settings, number: int) -> list[tuple[float, Atom]]:
    """Return what a search starts from: permutations with weights."""
    m = len(problem.rest_a)
    if not isinstance(settings.start, str) and number == 0:
        return [(1.0, Atom(settings.start))]
    soft = np.full(m, -1, np.int64)
    rows = np.searchsorted(problem.rest_a, problem.soft[:, 0])
    soft[rows] = np.searchsorted(problem.rest_b, problem.soft[:, 1])
    middle = Atom(soft, spread=not (isinstance(settings.start, str) and settings.start == "seeds"))
    if number == 0:
        return [(1.0, middle)]
    # Half way from the barycentre to a permutation that is drawn.
    random = np.random.default_rng([settings.seed, number])
    drawn = soft.copy()
    drawn[middle.lone] = random.permutation(np.flatnonzero(middle.left))
    return [(0.5, Atom(soft, spread=True)), (0.5, Atom(drawn))]


def _search(
    problem: Problem, gradients: Gradients, atoms: list[tuple[float, Atom]], settings: Settings,
    xp: Any,
) -> Search:  # fmt: skip
    """Climb from a mixture of permutations."""
    m, device = len(problem.rest_a), problem.device
    now = gradients.at(atoms[0][1])
    for weight, atom in atoms[1:]:
        now = now.mixed(gradients.at(atom), weight)
    own = sum(weight * now.along(atom, xp) for weight, atom in atoms)
    square = sum(v * w * a.overlap(b) for v, a in atoms for w, b in atoms)
    steps: list[float] = []
    converged = False
    # A part of a permutation is left at once: its objective is that of fewer vertices.
    partial = any(atom.lone.any() and not atom.spread for _, atom in atoms)
    for _ in range(settings.max_iterations):
        target = Atom(_best(now, settings.method, device, xp))
        if len(atoms) == 1 and np.array_equal(target.of, atoms[0][1].of):
            converged = True
            break
        there = gradients.at(target)
        up, far = now.along(target, xp), there.along(target, xp)
        back = sum(weight * there.along(atom, xp) for weight, atom in atoms)
        share = 1.0 if partial else _share(up - own, 0.5 * (far - back - up + own), abs(own))
        if share == 0:
            converged = True
            break
        beside = sum(weight * atom.overlap(target) for weight, atom in atoms)
        moved = share * np.sqrt(max(square - 2 * beside + m, 0.0) / m)
        square = (1 - share) ** 2 * square + 2 * share * (1 - share) * beside + share**2 * m
        own = (1 - share) ** 2 * own + share * (1 - share) * (up + back) + share**2 * far
        atoms = [(weight * (1 - share), atom) for weight, atom in atoms if share < 1]
        atoms.append((share, target))
        now = now.mixed(there, share)
        steps.append(share)
        if moved < settings.tolerance and not partial:
            converged = True
            break
        partial = False
    return Search(_projected(atoms, settings.method, device, xp), steps, converged)


def _share(slope: float, bend: float, scale: float) -> float:
    """Return the share in [0, 1] of the way that gains most: ``slope * t + bend * t**2``."""
    if slope <= _NO_GAIN * scale and slope + bend <= _NO_GAIN * scale:
        return 0.0
    if bend < 0:
        return float(min(max(-slope / (2 * bend), 0.0), 1.0))
    return 1.0


def _best(gradient: Gradient, method: str, device: str, xp: Any) -> Pairs:
    """Return the permutation along a gradient."""
    costs = sparse(rows_of(gradient.S), ADDED, -1.0, xp)
    if gradient.terms:
        # What is the same for all vertices, or for all partners, decides nothing, and would hide
        # what does.
        X, Y = (each - each.mean(0) for each in gradient.factors)
        costs = with_product(costs, xp.asarray(X), xp.asarray(Y), xp)
    found = assign(costs, method, device, xp).column_of
    return on_host(found).astype(np.int64)


def _projected(atoms: list[tuple[float, Atom]], method: str, device: str, xp: Any) -> Pairs:
    whole = [(weight, atom) for weight, atom in atoms if not atom.lone.any()]
    if len(atoms) == len(whole) == 1:
        return whole[0][1].of
    m = len(atoms[0][1].of)
    terms = []
    with here(device):
        S = Matrix("FP64", m, m)
        for weight, atom in atoms:
            rows = np.flatnonzero(~atom.lone)
            given = rows, atom.of[rows], np.full(len(rows), weight)
            S = S.ewise_add(Matrix.from_coo(*given, nrows=m, ncols=m), monoid.plus).new()
            if atom.spread and atom.lone.any():
                even = atom.left.astype(float) * (weight / float(atom.lone.sum()))
                terms.append(Term(atom.lone.astype(float), even))
    return _best(Gradient(S, summed(terms)), method, device, xp)
