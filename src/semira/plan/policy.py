"""Switch policies between push and pull: every constant, with its source.

A policy is two switches. Starting from push, `to_pull` says when to change; from pull,
`to_push` says when to change back; in between the last direction is kept (hysteresis).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from semira.base.errors import PlanError

#: What a switch may compare. ``~`` marks an estimate that replaces a pass over the data.
MEASURES = {
    "frontier": "entries of the driving vector",
    "n": "length of the driving vector",
    "nnz": "entries of the matrix",
    "frontier_edges": "entries push touches",
    "open_edges": "entries pull touches without early exit",
    "~frontier_edges": "frontier * nnz / n: every row is taken to have the average degree",
    "~open_edges": "open_rows * nnz / rows: the same for the rows the mask lets through",
    "pull_cost": "what pull touches, with the looks at the mask and the effect of early exit",
}


@dataclass(frozen=True, slots=True)
class Number:
    """A constant of a policy and where it comes from."""

    value: float
    source: str


@dataclass(frozen=True, slots=True)
class Switch:
    """Change direction when ``measure > fraction * against`` (to pull; ``<`` to push)."""

    #: Keys of `MEASURES`.
    measure: str
    against: str
    fraction: Number
    #: One of "", "rising", "falling". Whether the driving vector must also have gained or lost
    #: entries since last time.
    trend: str = ""


@dataclass(frozen=True, slots=True)
class Policy:
    """A named rule for changing direction."""

    name: str
    to_pull: Switch
    to_push: Switch
    #: Entries that looking at the mask of one row counts for; part of ``pull_cost``.
    scan: Number = Number(0.0, "not part of this policy")
    #: On devices of many threads, where a pull leaves rows at the first operand: entries that a
    #: look counts for, and the whole pull before its first look; part of ``pull_cost``.
    look: Number = Number(1.0, "not part of this policy")
    start: Number = Number(0.0, "not part of this policy")
    #: On devices of many threads, where a pull reads all of every open row: entries that one it
    #: reads counts for, and the whole pull where a mask leaves some rows open; part of
    #: ``pull_cost``.
    read: Number = Number(1.0, "not part of this policy")
    here_and_there: Number = Number(0.0, "not part of this policy")
    #: The same as `look` and `start`, entries that a push counts for before its first one, and the
    #: first entries of it that count twice, beside a pull that reads whole rows, where no mask
    #: closes any and the product stands by itself: not in a loop.
    alone_look: Number = Number(1.0, "not part of this policy")
    alone_start: Number = Number(0.0, "not part of this policy")
    alone_push: Number = Number(0.0, "not part of this policy")
    alone_slow: Number = Number(0.0, "not part of this policy")

    def numbers_of_looks(self, *, alone: bool) -> tuple[Number, Number]:
        """Return what a pull counts for before its first look, and a look."""
        return (self.alone_start, self.alone_look) if alone else (self.start, self.look)

    def with_switch_point(self, fraction: float) -> Policy:
        """Return the policy with `fraction` as its push-to-pull threshold.

        Where the policy switches back at the same point, or would switch back above the new
        one (and so alternate), the way back moves along.
        """
        there, back = self.to_pull, self.to_push
        same = (there.measure, there.against) == (back.measure, back.against)
        one_point = same and back.fraction.value == there.fraction.value
        overtaken = same and fraction < back.fraction.value < there.fraction.value
        if one_point or overtaken:
            back = replace(back, fraction=Number(fraction, "follows the pinned switch point"))
        there = replace(there, fraction=Number(fraction, "pinned by the caller"))
        return replace(self, to_pull=there, to_push=back)


_TABLE_7_7 = (
    "C. Yang, High-performance linear algebra-based graph framework on the GPU, 2019, Table 7.7"
)
_BEAMER = (
    f"Beamer, Asanović, Patterson, Direction-optimizing breadth-first search, 2012; {_TABLE_7_7}"
)
_LIGRA = f"Shun, Blelloch, Ligra, 2013; {_TABLE_7_7}"
_GUNROCK = f"Wang et al., Gunrock, 2017; {_TABLE_7_7}"
_PUSHPULL = (
    "Yang, Buluç, Owens, Implementing push-pull efficiently in GraphBLAS, 2018; Yang's thesis of "
    "2019, section 5.4.3, which prints the signs of the rule reversed"
)
_OWN_PULL = (
    "an entry pushed costs about two pulled: an H200 does 72 to 168 billion gathers a second "
    "but 35 to 101 billion atomicMin"
)
_OWN_PUSH = "half of the way to pull, so that two directions of about equal cost do not alternate"
_OWN_SCAN = "the mask is read 32 rows to a word"
_OWN_LEVELS = "one H200, bench/results/levels.jsonl of 2026-11-23"
_OWN_LOOK = (
    "levels of searches look 22 to 62 billion times a second where they push 26 to 79 billion "
    f"entries, a test of a bit each: looks at a row wait for one another; {_OWN_LEVELS}"
)
_OWN_START = (
    "a level of few vertices takes 4 to 5 us more pulled than pushed, in which 100,000 entries and "
    f"more are pushed; {_OWN_LEVELS}"
)
_OWN_READ = (
    "pulls read 150 to 240 billion entries a second in the order in which they lie, where pushes "
    "of random frontiers add 25 to 48 billion; one H200, bench/results/spmspv.jsonl at f839b85"
)
_OWN_HERE_AND_THERE = (
    "a pull of 1 to 16,384 rows of kron:18 takes 19 to 52 us, as long as the longest of them, in "
    "which 150,000 to 1,500,000 entries are pushed; one H200, bench/results/masks.jsonl"
)

_OWN_ALONE = "one H200, bench/results/spmspv.jsonl at f839b85"
_OWN_ALONE_LOOK = (
    "all rows in their order look 90 to 400 billion times a second where random frontiers push 14 "
    f"to 25 billion entries; {_OWN_ALONE}"
)
_OWN_ALONE_START = (
    "such a pull takes 1.5 to 2 us more than a push of few entries, in which 30,000 are pushed; "
    f"{_OWN_ALONE}"
)
_OWN_ALONE_PUSH = (
    "a push of one entry takes 1 to 2 us more than the pull of a matrix of 240,000 to 400,000; "
    f"{_OWN_ALONE}"
)
_OWN_ALONE_SLOW = (
    "pushes of 0.1 to 0.6 million entries add 4 to 13 billion a second, of 2 million 15 to 29, of "
    "8 million 41 to 49; one H100, bench/results/spmspv.jsonl of 2026-11-26"
)

_OWN_SOLO = (
    "one H200, breadth-first search: a level of all blocks takes 7.5 us, one of a single block "
    "4.5 us and 2.6 ns an item, so that they meet at about 1,150 items"
)

#: Items of an iteration below which one worker runs it alone, and above which all do again; apart,
#: so that an iteration of about that size does not call the others for nothing.
SOLO_ENTER = Number(768, _OWN_SOLO)
SOLO_LEAVE = Number(1536, _OWN_SOLO)

_ROWS = [
    Policy(
        "auto",
        Switch("frontier_edges", "pull_cost", Number(1 / 2, _OWN_PULL)),
        Switch("frontier_edges", "pull_cost", Number(1 / 4, _OWN_PUSH)),
        scan=Number(1 / 32, _OWN_SCAN),
        look=Number(2.0, _OWN_LOOK),
        start=Number(2e5, _OWN_START),
        read=Number(1 / 3, _OWN_READ),
        here_and_there=Number(5e5, _OWN_HERE_AND_THERE),
        alone_look=Number(0.2, _OWN_ALONE_LOOK),
        alone_start=Number(6e4, _OWN_ALONE_START),
        alone_push=Number(8e4, _OWN_ALONE_PUSH),
        alone_slow=Number(3e5, _OWN_ALONE_SLOW),
    ),
    Policy(
        "beamer",
        Switch("frontier_edges", "open_edges", Number(1 / 14, _BEAMER), "rising"),
        Switch("frontier", "n", Number(1 / 24, _BEAMER), "falling"),
    ),
    Policy(
        "ligra",
        Switch("frontier_edges", "nnz", Number(1 / 20, _LIGRA)),
        Switch("frontier_edges", "nnz", Number(1 / 20, _LIGRA)),
    ),
    Policy(
        "gunrock",
        Switch("~frontier_edges", "~open_edges", Number(1 / 1000, _GUNROCK)),
        Switch("~frontier_edges", "~open_edges", Number(1 / 5, _GUNROCK)),
    ),
    Policy(
        "pushpull18",
        Switch("frontier", "n", Number(0.01, _PUSHPULL), "rising"),
        Switch("frontier", "n", Number(0.01, _PUSHPULL), "falling"),
    ),
    Policy(
        "graphblast",
        Switch("~frontier_edges", "nnz", Number(1 / 10, _TABLE_7_7)),
        Switch("~frontier_edges", "nnz", Number(1 / 10, _TABLE_7_7)),
    ),
]

_OWN_BLOCK = "what a block of warps keeps track of; counted, not measured"

#: A left operand of ``mxm`` is a block of vectors driven together, for which push and pull are
#: weighed, if it has at most `BLOCK_ROWS` rows, and at least `BLOCK_SHARE` columns for each row.
BLOCK_ROWS = Number(1024, _OWN_BLOCK)
BLOCK_SHARE = Number(16, "presence of every position is then small beside the matrix; a guess")

_OWN_PRODUCTS = "counted from kernels/mxm/rows.cuh, not measured"

#: Of ``mxm`` under a plain mask: entries that dot products look at in the time in which a pair of
#: entries is multiplied row by row.
MASKED_PRODUCT = Number(
    16.0,
    "a pair is walked twice, to count and to fill, and searched for in the mask's row each time, "
    f"at 8 looks a search; {_OWN_PRODUCTS}",
)

#: Entries that dot products look at, by mean lengths, below which nobody counts them exactly.
WORTH_COUNTING = Number(
    float(1 << 22),
    "at 100 billion gathers a second they take 40 us, and counting takes two passes and a wait, "
    f"about 20 us; {_OWN_PRODUCTS}",
)

#: Every policy by name; ``auto`` is the default.
POLICIES = {row.name: row for row in _ROWS}


def policy_named(policy: str | Policy | None) -> Policy:
    """Return a policy by name; None is ``auto``, a `Policy` is returned as it is.

    The message of PlanError lists the names that there are.

    Examples
    --------
    >>> policy_named("ligra").to_pull.fraction.value
    0.05
    """
    if isinstance(policy, Policy):
        return policy
    name = "auto" if policy is None else policy
    if name not in POLICIES:
        raise PlanError(f"policy={name!r} is unknown; choose one of {', '.join(POLICIES)}")
    return POLICIES[name]
