"""Many small diffusions at once: a worker takes a problem, with scratch for what it touches."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semira import device_traits, free_memory
from semira.apps.arrays import on_host
from semira.apps.local_clustering.problem import Problem
from semira.apps.local_clustering.whole import fista_everywhere, push_everywhere
from semira.exceptions import OutOfMemory
from semira.kernels import ArrayKernel, Rows

_PLACE = "semira.apps.local_clustering.kernels:diffuse"
_GATHER = ArrayKernel(_PLACE, "gather", lanes=64, threads=64)

#: Few problems have a block of many threads each; of many, more run at once.
_MANY = 132
_KERNELS = {
    (name, wide): ArrayKernel(_PLACE, name, lanes=threads, threads=threads)
    for name in ("push", "fista")
    for wide, threads in ((True, 1024), (False, 512))
}

#: Slots of a hash table at first, twice as many for many problems; and at most: what touches more
#: takes the whole device.
SLOTS, MOST_SLOTS = 1 << 16, 1 << 19

#: So few problems take the whole device already where the graph has so many times the vertices that
#: the next table has room for.
_FEW, _NEAR = 8, 8

#: Slots for a single problem of FISTA on a GPU. A step of one block takes about 12 ns for each
#: vertex that it touches; a step of all blocks 12 us, and 20 ps for each vertex of the graph and
#: 12 ps for each entry. A problem that needs more slots takes the whole device if that costs less.
_ALONE, _SPREAD = 1 << 13, 750

#: Most bytes of the workers of a launch, and of its pool of results.
_LAUNCH_BYTES, _POOL_BYTES = 2 << 30, 1 << 28

#: Bytes of scratch for a slot: the table, and what is kept for each touched vertex.
_SLOT_BYTES = 45

#: Problems that a worker may draw: `8` in the kernels.
_DRAWS = 8

_ONE = 2.0**61

#: What a problem needs more of.
_TABLE, _POOL = 1, 2

Progress = Callable[[int, int], None]


@dataclass(slots=True)
class Diffusion:
    """What came of all problems."""

    #: ndarray of int64. Where the entries of each problem begin.
    ptr: NDArray[np.int64]
    #: `vertices`, `values`: array of the device.
    vertices: Any
    values: Any
    #: `iterations`, `edges`, `proof`: ndarray of int64, one for each problem. Rounds or steps;
    #: entries of the matrix that were walked; all mass in units of 2**-61 (push), or whether the
    #: tolerance was met (FISTA).
    iterations: NDArray[np.int64]
    edges: NDArray[np.int64]
    proof: NDArray[np.int64]
    #: ndarray of float64.
    residual: NDArray[np.float64]


@dataclass(slots=True)
class _Launch:
    """The problems that one launch finished; entries as of `Diffusion`."""

    ids: NDArray[np.int64]
    sizes: NDArray[np.int64]
    vertices: Any
    values: Any


def memory(n: int, problems: int, slots: int = SLOTS) -> int:
    """Return the bytes of a launch for some problems on a graph of n vertices, at most.

    `slots` is the size of a hash table.

    Examples
    --------
    >>> memory(1_000_000, 1) // 2**20
    3
    """
    slots, limit = _sizes(n, slots)
    return problems * (_SLOT_BYTES * slots + 12 * _room(limit, problems))


def _sizes(n: int, slots: int) -> tuple[int, int]:
    """Return the slots of a table, and how many vertices may be touched.

    Threads that enter a vertex at the same time may exceed the limit by their number.
    """
    while slots > 4096 and slots // 4 >= n:
        slots //= 2
    return slots, min(n, slots * 5 // 8)


def _room(limit: int, problems: int) -> int:
    """Return the entries of the pool for each problem at first; they share it."""
    return min(limit, max(8192, _POOL_BYTES // 12 // problems))


def copy_entries(
    xp: Any, device: str, starts: NDArray[np.int64], sizes: NDArray[np.int64],
    targets: NDArray[np.int64], given: tuple[Any, Any], into: tuple[Any, Any],
) -> None:  # fmt: skip
    """Copy the vertices and values of problems, each from its start to its target."""
    plan = xp.asarray(np.stack([starts, sizes, targets]))
    _GATHER(len(sizes), *plan, *given, *into, device=device, work=int(sizes.sum()))


class Solver:
    """Runs the problems, and those again that had too little room."""

    def __init__(self, problem: Problem, rows: Rows, xp: Any) -> None:
        self.problem, self.rows, self.xp = problem, rows, xp
        self.n = rows.shape[0]
        self.done: list[_Launch] = []
        self.told = np.zeros((problem.count, 6), np.int64)
        self.residual = np.zeros(problem.count)

    def run(self, progress: Progress | None = None) -> Diffusion:
        """Run all problems."""
        pending = np.arange(self.problem.count)
        spreads = self._spreads(len(pending))
        slots = _ALONE if spreads else SLOTS if len(pending) < _MANY else 2 * SLOTS
        while len(pending):
            pending = self._level(pending, slots, progress)
            is_cheap = spreads and self._step_of_all() <= _SPREAD * _sizes(self.n, slots)[1]
            slots *= 4
            is_near = self.n <= _NEAR * _sizes(self.n, slots)[1]
            if slots > MOST_SLOTS or (len(pending) <= _FEW and is_near) or is_cheap:
                break
        for each in pending.tolist():
            self._everywhere(each)
            self._report(progress)
        return self._collected()

    def _spreads(self, count: int) -> bool:
        """Tell whether all blocks of a GPU may be faster than the one that a problem has."""
        problem = self.problem
        has_blocks = device_traits(problem.graph.device).own_memory
        return count == 1 and problem.method == "fista" and has_blocks

    def _step_of_all(self) -> int:
        """Return what a step of the whole device reads, in vertices."""
        return self.n + 3 * len(self.rows.indices) // 5

    def _level(
        self, pending: NDArray[np.int64], slots: int, progress: Progress | None
    ) -> NDArray[np.int64]:
        """Run problems with tables of one size; return those that touch more."""
        slots, limit = _sizes(self.n, slots)
        has_room = np.diff(self.problem.seed_ptr)[pending] <= limit
        larger, pending = [pending[~has_room]], pending[has_room]
        workers = self._workers(slots, len(pending))
        most = _DRAWS * workers
        room = _room(limit, min(len(pending), most))
        while len(pending):
            chunk, pending = pending[:most], pending[most:]
            status = self._launch(chunk, workers, slots, limit, room)
            larger.append(chunk[status == _TABLE])
            pending = np.concatenate([chunk[status == _POOL], pending])
            if not (status == 0).any():
                room = min(limit, 4 * room)
            self._report(progress)
        return np.concatenate(larger)

    def _workers(self, slots: int, problems: int) -> int:
        """Return how many problems are worked on at the same time."""
        wanted = max(1, min(problems, _LAUNCH_BYTES // (_SLOT_BYTES * slots)))
        if wanted <= _FEW and slots <= SLOTS:
            return wanted
        free = free_memory(self.problem.graph.device)
        least = memory(self.n, 1, slots)
        if free is None or free // 2 >= wanted * least:
            return wanted
        if free < least:
            raise OutOfMemory(
                f"local_clusters needs {least:,} bytes for one problem; {free:,} are free; "
                "release objects, or give a larger rho or a smaller volume"
            )
        return max(1, free // 2 // least)

    def _report(self, progress: Progress | None) -> None:
        if progress is not None:
            progress(sum(len(each.ids) for each in self.done), self.problem.count)

    def _launch(
        self, ids: NDArray[np.int64], workers: int, slots: int, limit: int, room: int
    ) -> NDArray[np.int64]:
        """Run problems, and keep those that had room; return what each lacked."""
        xp, problem, count = self.xp, self.problem, len(ids)
        sizes = np.diff(problem.seed_ptr)[ids]
        seed_ptr = np.concatenate([[0], np.cumsum(sizes)])
        places = np.arange(seed_ptr[-1]) + np.repeat(problem.seed_ptr[ids] - seed_ptr[:-1], sizes)
        given = xp.asarray(np.concatenate([seed_ptr, problem.seeds[places]]))
        pool_v, pool_x = self._arrays(room * count)
        # Six facts and the residual of each problem, which come back in one copy.
        words = xp.empty(7 * count, xp.int64)
        kind, numbers, scratch = self._method(slots, limit)
        _KERNELS[kind, count < _MANY](
            min(workers, count), self.rows.indptr, self.rows.indices, given[: count + 1],
            given[count + 1 :], *numbers, slots, limit, room * count, pool_v, pool_x,
            xp.zeros(2, xp.int64), count, words[: 6 * count], words[6 * count :].view(xp.float64),
            device=problem.graph.device, scratch=scratch, work=count * self._most_entries(),
            stops=True,
        )  # fmt: skip
        found = on_host(words)
        told = found[: 6 * count].reshape(count, 6)
        status = told[:, 2]
        kept = status == 0
        self.told[ids[kept]] = told[kept]
        self.residual[ids[kept]] = found[6 * count :].view(np.float64)[kept]
        starts, sizes = told[kept, 0], told[kept, 1]
        if count == 1 and kept[0]:
            size = int(sizes[0])
            self.done.append(_Launch(ids, sizes, pool_v[:size], pool_x[:size]))
            return status
        into = self._arrays(int(sizes.sum()))
        targets = np.cumsum(sizes) - sizes
        copy_entries(xp, problem.graph.device, starts, sizes, targets, (pool_v, pool_x), into)
        self.done.append(_Launch(ids[kept], sizes, *into))
        return status

    def _most_entries(self) -> int:
        """Return about how many entries a problem may walk; steps of FISTA walk no more of them."""
        problem = self.problem
        is_push = problem.method == "push"
        return int((1 / problem.alpha if is_push else problem.max_iterations) / problem.rho)

    def _arrays(self, size: int) -> tuple[Any, Any]:
        return self.xp.empty(size, self.xp.int32), self.xp.empty(size)

    def _method(self, slots: int, limit: int) -> tuple[str, tuple[Any, ...], list[Any]]:
        """Return the kernel, its numbers and its scratch."""
        problem, table = self.problem, ("int64", 2 * slots + 2 * limit, 0)
        alpha = problem.alpha
        if problem.method == "push":
            numbers: tuple[Any, ...] = (2 * alpha / (1 + alpha), problem.rho * _ONE)
            rest = [("int64", slots, 0), ("int32", 3 * limit, None)]
        else:
            numbers = (alpha, problem.rho * alpha, problem.tolerance, problem.max_iterations)
            rest = [("int32", 2 * limit, None), ("float64", 3 * limit, None)]
        return problem.method, numbers, [table, *rest]

    def _everywhere(self, number: int) -> None:
        problem = self.problem
        seeds = problem.seeds[problem.seed_ptr[number] : problem.seed_ptr[number + 1]]
        run = push_everywhere if problem.method == "push" else fista_everywhere
        vertices, values, told, residual = run(problem, seeds, self.rows, self.xp)
        self.told[number, 3:] = told
        self.residual[number] = residual
        sizes = np.array([vertices.size])
        self.done.append(_Launch(np.array([number]), sizes, vertices, values))

    def _collected(self) -> Diffusion:
        count = self.problem.count
        sizes = np.zeros(count, np.int64)
        for each in self.done:
            sizes[each.ids] = each.sizes
        ptr = np.concatenate([[0], np.cumsum(sizes)])
        if len(self.done) == 1 and len(self.done[0].ids) == count:
            into = self.done[0].vertices, self.done[0].values
        else:
            into = self._arrays(int(ptr[-1]))
            device = self.problem.graph.device
            for each in self.done:
                starts, given = np.cumsum(each.sizes) - each.sizes, (each.vertices, each.values)
                copy_entries(self.xp, device, starts, each.sizes, ptr[each.ids], given, into)
        told = self.told
        return Diffusion(ptr, *into, told[:, 3], told[:, 4], told[:, 5], self.residual)
