"""What is given to a local clustering, checked: the graph, the seeds, the parameters."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semira import Matrix, select
from semira.algorithms.checks import check_count, check_number, check_square, check_vertices
from semira.algorithms.neighbours import undirected
from semira.apps.arrays import on_host
from semira.exceptions import InvalidValue
from semira.kernels import Rows

#: Least product of thresholds that fixed-point sums resolve to four digits.
_LEAST = 1e-14

#: Target conductance and volume where neither alpha and rho nor others are given: the report's.
_PHI, _VOLUME = 0.5, 40.0


@dataclass(frozen=True, slots=True)
class Problem:
    """A checked call."""

    #: Its entries in both directions, none on the diagonal.
    graph: Matrix
    #: `seed_ptr`, `seeds`: ndarray of int64. The seeds of problem i are
    #: ``seeds[seed_ptr[i]:seed_ptr[i + 1]]``.
    seed_ptr: NDArray[np.int64]
    seeds: NDArray[np.int64]
    #: One of "fista", "push".
    method: str
    alpha: float
    rho: float
    tolerance: float
    max_iterations: int

    @property
    def count(self) -> int:
        """Number of problems."""
        return len(self.seed_ptr) - 1


def checked(
    A: Matrix, seeds: Any, method: Any, alpha: Any, rho: Any, phi: Any, volume: Any,
    tolerance: Any, max_iterations: Any, symmetric: bool,
) -> Problem:  # fmt: skip
    """Return the problem of a call of `local_clusters`, which says what is raised."""
    n = check_square(A, "local_clusters")
    if method not in ("fista", "push"):
        raise InvalidValue(f"method={method!r} must be 'fista' or 'push'")
    seed_ptr, listed = _seeds(seeds, n)
    graph = _without_loops(undirected(A, symmetric))
    alpha, rho = _parameters(max(graph.nvals // 2, 1), alpha, rho, phi, volume)
    resolved = rho * alpha if method == "fista" else rho
    if resolved < _LEAST:
        what = "rho * alpha" if method == "fista" else "rho"
        raise InvalidValue(
            f"{what}={resolved:.3g} is below {_LEAST:.0e}, which the fixed-point sums resolve; "
            "give a larger rho, or a smaller volume"
        )
    return Problem(
        graph, seed_ptr, listed, method, alpha, rho,
        check_number(tolerance, "tolerance"), check_count(max_iterations, "max_iterations", 1),
    )  # fmt: skip


def _seeds(seeds: Any, n: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the seeds of each problem as running totals and one list."""
    if not isinstance(seeds, Iterable) or isinstance(seeds, (str, bytes)):
        seeds = check_vertices(seeds, n, "seeds")
    if not isinstance(seeds, np.ndarray):
        seeds = list(seeds)
    if len(seeds) == 0:
        raise InvalidValue("local_clusters: seeds is empty; name at least one vertex")
    if isinstance(seeds, np.ndarray) and seeds.ndim == 1 and seeds.dtype.kind in "iu":
        # One check of all, unless one of them is to be named.
        is_fine = seeds.min() >= 0 and seeds.max() < n
        listed = seeds.astype(np.int64) if is_fine else check_vertices(seeds, n, "seeds")
        return np.arange(len(seeds) + 1), listed
    if not any(isinstance(each, Iterable) for each in seeds):
        return np.arange(len(seeds) + 1), check_vertices(seeds, n, "seeds")
    sets = [np.unique(check_vertices(each, n, "seeds")) for each in seeds]
    for number, each in enumerate(sets):
        if len(each) == 0:
            raise InvalidValue(
                f"local_clusters: set {number} of seeds is empty; name at least one vertex in each"
            )
    return np.cumsum([0, *map(len, sets)]), np.concatenate(sets)


def _without_loops(graph: Matrix) -> Matrix:
    """Return a graph without its self-loops; they are no neighbours. Cached with the graph."""

    def found() -> list[Matrix]:
        rest: Matrix = graph.select(select.offdiag).new()
        rest.symmetric = True
        return [rest] if rest.nvals < graph.nvals else []

    rest = graph.derived("without loops", found)
    return rest[0] if rest else graph


def check_degrees(problem: Problem, rows: Rows, xp: Any) -> None:
    """Check that every seed has a neighbour: mass at others goes nowhere.

    Raises InvalidValue if one has none.
    """
    places = xp.asarray(problem.seeds)
    degrees = rows.indptr[places + 1] - rows.indptr[places]
    if int(degrees.min()) == 0:
        alone = problem.seeds[on_host(degrees) == 0]
        raise InvalidValue(
            f"local_clusters: seed {alone[0]} has no neighbours "
            f"({len(alone)} of {len(problem.seeds)} seeds have none); leave them out"
        )


def _parameters(m: int, alpha: Any, rho: Any, phi: Any, volume: Any) -> tuple[float, float]:
    """Return alpha and rho, from a target conductance and volume where they are not given."""
    for given, other, names in ((alpha, phi, "alpha and phi"), (rho, volume, "rho and volume")):
        if given is not None and other is not None:
            raise InvalidValue(f"{names} set the same parameter; give one of them")
    if alpha is None:
        phi = _positive(_PHI if phi is None else phi, "phi", 1.0)
        alpha = phi**2 / (225 * math.log(100 * math.sqrt(m)))
    if rho is None:
        volume = _positive(_VOLUME if volume is None else volume, "volume", math.inf)
        bits = max(math.log2(m), 1.0)
        rho = 2.0 ** -min(1 + math.log2(volume), bits) / (48 * bits)
    return _positive(alpha, "alpha", 1.0), _positive(rho, "rho", 1.0)


def _positive(value: Any, what: str, largest: float) -> float:
    number = check_number(value, what, largest)
    if number == 0:
        raise InvalidValue(f"{what}={value!r} must be greater than 0, and at most {largest}")
    return number
