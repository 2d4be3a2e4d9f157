"""A model of pushes that write for the next iteration: threads in any order, one barrier each time.

The model follows ``kernels/vxm/push.cuh`` and the text of `lower/epilogue.py` access by access. A
plain load may see what was there at the last barrier, as a cache does.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field

from tests.helpers.every import every

Steps = Iterator[None]


@dataclass
class Plane:
    bits: set[int] = field(default_factory=set)
    values: dict[int, int] = field(default_factory=dict)
    places: dict[int, int] = field(default_factory=dict)

    def listed(self, nvals: int) -> list[int]:
        return [self.places[place] for place in range(nvals)]


class Memory:
    """What threads share; loads that need not be coherent go through `seen`."""

    def __init__(self, draw: random.Random, edges: dict[int, list[int]], source: int) -> None:
        self.draw, self.edges = draw, edges
        self.planes = [Plane({source}, {source: -1}, {0: source}), Plane()]
        self.level: dict[int, int] = {}
        self.parent: dict[int, int] = {}
        # In turn, as the counters of a statement.
        self.inserted, self.marked = [0, 0, 0], [0, 0, 0]
        self.arrived = 0
        self.old: tuple[set[int], set[int], set[int]] = (set(), set(), set())
        self.keep()

    def keep(self) -> None:
        """Remember, at a barrier, what plain loads may still see."""
        first, second = self.planes
        self.old = set(first.bits), set(second.bits), set(self.level)

    def seen(self, which: int, vertex: int) -> bool:
        now = (self.planes[0].bits, self.planes[1].bits, self.level.keys())[which]
        return vertex in (self.old[which] if self.draw.random() < 0.5 else now)


class Thread:
    """One thread, with its share of each list; `methods` of the iterations: u pushes, l pulls."""

    def __init__(self, rank: int, team: int, memory: Memory, limit: int, methods: str) -> None:
        self.rank, self.team, self.memory = rank, team, memory
        self.limit, self.methods = limit, methods
        self.here, self.nvals, self.reached, self.done = 0, 1, 0, 0
        self.target = 0

    def barrier(self) -> Steps:
        memory = self.memory
        self.target += self.team
        memory.arrived += 1
        if memory.arrived == self.target:
            memory.keep()
        while memory.arrived < self.target:
            yield

    def share(self, entries: list[int]) -> list[int]:
        return entries[self.rank :: self.team]

    def mark(self, vertex: int, depth: int, value: int) -> Steps:
        self.memory.level[vertex] = depth
        yield
        self.memory.parent[vertex] = value
        yield

    def push(self, turn: int, *, prepares: bool) -> Steps:
        memory = self.memory
        from_, to = memory.planes[self.here], memory.planes[1 - self.here]
        for vertex in self.share(from_.listed(self.nvals)):
            from_.bits.discard(vertex)
            yield
            for other in memory.edges[vertex]:
                seen = memory.seen(1 - self.here, other)
                yield
                is_open = not memory.seen(2, other)
                yield
                if not is_open or seen or other in to.bits:
                    continue
                # The atomic: whoever sets the bit owns the entry.
                to.bits.add(other)
                yield
                to.values[other] = vertex
                yield
                if prepares:
                    memory.marked[turn] += other not in memory.level
                    yield from self.mark(other, self.done + 1, vertex)
                place = memory.inserted[turn]
                memory.inserted[turn] += 1
                yield
                to.places[place] = other
                yield

    def pull(self, turn: int) -> Steps:
        memory, to = self.memory, self.memory.planes[1 - self.here]
        for row in self.share(sorted(memory.edges)):
            if row in memory.level:
                continue
            before = [v for v, ahead in memory.edges.items() if row in ahead]
            found = []
            for vertex in before:
                # The mask in place of the frontier.
                found += [vertex] if memory.seen(2, vertex) else []
                yield
            if found:
                to.bits.add(row)
                to.values[row] = found[0]
                place = memory.inserted[turn]
                memory.inserted[turn] += 1
                yield
                to.places[place] = row

    def run(self) -> Steps:
        memory, ahead, turn = self.memory, False, 0
        while self.done < self.limit and self.nvals:
            from_ = memory.planes[self.here]
            if not ahead:
                for vertex in self.share(sorted(from_.listed(self.nvals))):
                    yield from self.mark(vertex, self.done, from_.values[vertex])
                self.reached += self.nvals
                yield from self.barrier()
            if self.rank == 0:
                memory.inserted[(turn + 1) % 3] = memory.marked[(turn + 1) % 3] = 0
            pushes = self.methods[self.done % len(self.methods)] == "u"
            prepares = self.done + 1 < self.limit
            if pushes:
                yield from self.push(turn, prepares=prepares)
            else:
                yield from self.pull(turn)
            yield from self.barrier()
            ahead = prepares and pushes
            old, self.here = self.here, 1 - self.here
            self.nvals = memory.inserted[turn]
            assert len(set(memory.planes[self.here].listed(self.nvals))) == self.nvals
            self.reached += memory.marked[turn] if ahead else 0
            if not pushes:
                for vertex in self.share(sorted(memory.edges)):
                    memory.planes[old].bits.discard(vertex)
                    yield
            turn = (turn + 1) % 3
            self.done += 1


def levels(edges: dict[int, list[int]], source: int, limit: int) -> dict[int, int]:
    found, now, depth = {}, {source}, 0
    while now and depth < limit:
        found |= dict.fromkeys(now, depth)
        now = {w for v in now for w in edges[v]} - found.keys()
        depth += 1
    return found


@every("methods", ["u", "uull", "lu", "uuul"])
@every("seed", range(40))
def test_threads_in_any_order_find_the_levels(seed, methods):
    draw = random.Random(seed)
    size = draw.randrange(2, 40)
    # Few ways on: many levels, and many threads at the same vertex.
    edges = {
        v: [draw.randrange(max(0, v - 3), min(size, v + 5)) for _ in range(draw.randrange(5))]
        for v in range(size)
    }
    limit = draw.choice((1, 2, 3, 100))
    memory = Memory(draw, edges, 0)
    team = [Thread(rank, 4, memory, limit, methods) for rank in range(4)]
    running = [thread.run() for thread in team]
    while running:
        one = draw.choice(running)
        for _ in range(draw.randrange(1, 6)):
            if next(one, "ended") == "ended":
                running.remove(one)
                break
    expected = levels(edges, 0, limit)
    assert memory.level == expected
    assert memory.parent.pop(0) == -1
    assert memory.parent.keys() == expected.keys() - {0}
    for vertex, parent in memory.parent.items():
        assert vertex in edges[parent]
        assert expected[parent] == expected[vertex] - 1
    assert len({(t.done, t.nvals, t.reached, t.here) for t in team}) == 1
    assert team[0].reached == len(expected)
    # The plane that is not in use is ready for the next product.
    left = memory.planes[1 - team[0].here]
    assert not left.bits
    assert memory.planes[team[0].here].bits == levels(edges, 0, limit + 1).keys() - expected.keys()
