"""When each policy changes direction, with made-up counts."""

from dataclasses import replace

import pytest
from tests.helpers.every import every
from tests.helpers.plans import ABLE, numbers, plan_of, product
from tests.helpers.rules import evaluate

from semira.contract import Hints
from semira.plan import POLICIES, Policy
from semira.plan.policy import MEASURES, Number, Switch
from semira.plan.reasons import sentence

PUSH, PULL = 0, 1


def direction(policy, previous, *, capabilities=ABLE, statement=None, hints=None, **counts):
    statement = product() if statement is None else statement
    plan = plan_of(statement, capabilities, policy, hints)
    assert len(plan.methods) == 2
    return evaluate(plan.rule, numbers(**counts).__getitem__, previous)


def rising(frontier):
    return {"frontier": frontier, "previous_frontier": frontier - 1}


def falling(frontier):
    return {"frontier": frontier, "previous_frontier": frontier + 1}


def flat(frontier):
    return {"frontier": frontier, "previous_frontier": frontier}


#: policy, previous method, counts, expected: on a graph of n = 1,000 and nnz = 10,000.
CASES = [
    # 1/14 of the edges of open rows, and rising
    ("beamer", PUSH, {"open_edges": 1400, "frontier_edges": 101} | rising(50), PULL),
    ("beamer", PUSH, {"open_edges": 1400, "frontier_edges": 99} | rising(50), PUSH),
    ("beamer", PUSH, {"open_edges": 1400, "frontier_edges": 101} | falling(50), PUSH),
    ("beamer", PUSH, {"open_edges": 1400, "frontier_edges": 101} | flat(50), PUSH),
    ("beamer", -1, {"open_edges": 1400, "frontier_edges": 101, "frontier": 1}, PULL),
    # 1/24 of the vertices, and falling
    ("beamer", PULL, falling(41), PUSH),
    ("beamer", PULL, falling(42), PULL),
    ("beamer", PULL, rising(41), PULL),
    ("beamer", PULL, flat(41), PULL),
    # 1/20 of all edges, both ways
    ("ligra", PUSH, {"frontier_edges": 501}, PULL),
    ("ligra", PUSH, {"frontier_edges": 499}, PUSH),
    ("ligra", PULL, {"frontier_edges": 499}, PUSH),
    ("ligra", PULL, {"frontier_edges": 501}, PULL),
    # exactly at the point the last direction stays
    ("ligra", PUSH, {"frontier_edges": 500}, PUSH),
    ("ligra", PULL, {"frontier_edges": 500}, PULL),
    # 1/1000 of the open edges, 1/5 back, by average degree: frontier against open rows
    ("gunrock", PUSH, {"frontier": 1, "open_rows": 900}, PULL),
    ("gunrock", PUSH, {"frontier": 0, "open_rows": 900}, PUSH),
    ("gunrock", PULL, {"frontier": 179, "open_rows": 900}, PUSH),
    ("gunrock", PULL, {"frontier": 181, "open_rows": 900}, PULL),
    # 0.01 of the vertices, with trend
    ("pushpull18", PUSH, rising(11), PULL),
    ("pushpull18", PUSH, rising(9), PUSH),
    ("pushpull18", PUSH, falling(11), PUSH),
    ("pushpull18", PULL, falling(9), PUSH),
    ("pushpull18", PULL, falling(11), PULL),
    ("pushpull18", PULL, rising(9), PULL),
    # 1/10 of all edges by average degree, both ways, no trend
    ("graphblast", PUSH, falling(101), PULL),
    ("graphblast", PUSH, rising(99), PUSH),
    ("graphblast", PULL, rising(99), PUSH),
    ("graphblast", PULL, falling(101), PULL),
]


@every(("policy", "previous", "counts", "expected"), CASES)
def test_policy_switches_where_its_source_says(policy, previous, counts, expected):
    assert direction(policy, previous, **counts) == expected


#: Counts of a BFS-like product where pull expects 10,000 * 400 / 2,000 = 2,000 looks.
MIDDLE = {"open_rows": 400, "frontier_edges": 2000}


def test_auto_compares_push_with_expected_looks():
    # Half of (1000 / 32 + 2000) is 1015.6: an entry pushed counts for two pulled.
    assert direction("auto", PUSH, **MIDDLE) == PULL
    # 10,000 * 400 / 1,000 = 4,000 looks, at most 400 * 10: half is 2,015.6
    assert direction("auto", PUSH, open_rows=400, frontier_edges=1000) == PUSH


def test_auto_keeps_its_direction_in_between():
    between = {"open_rows": 400, "frontier_edges": 1200}
    assert direction("auto", PUSH, **between) == PUSH
    assert direction("auto", PULL, **between) == PULL
    assert direction("auto", PULL, open_rows=400, frontier_edges=500) == PUSH


def test_auto_expects_no_more_looks_than_the_average_row_has():
    # A single pushed edge expects 10,000 looks a row, but rows have ten entries.
    assert direction("auto", PUSH, open_rows=1, frontier_edges=21) == PULL
    assert direction("auto", PUSH, open_rows=1, frontier_edges=20) == PUSH


def test_auto_does_not_pull_for_a_handful_of_open_rows_of_a_long_vector():
    # Looking at the mask costs n / 32 words; a frontier of a grid stays below that.
    grid = {"n": 24_010_000, "rows": 24_010_000, "nnz": 96_020_400, "frontier": 4900}
    assert direction("auto", PULL, frontier_edges=19_600, open_rows=5, **grid) == PUSH
    assert direction("auto", PUSH, frontier_edges=19_600, open_rows=5, **grid) == PUSH


def test_auto_reads_no_open_counts_for_small_frontiers():
    asked = []

    def count(name):
        asked.append(name)
        return numbers(n=100_000, rows=100_000)[name]

    for semiring in ("any_pair[BOOL]", "plus_times[FP64]"):
        rule = plan_of(product("vxm", semiring)).rule
        assert evaluate(rule, count, PUSH) == PUSH
        assert evaluate(rule, count, PULL) == PUSH
    assert set(asked) == {"frontier_edges", "rows"}


def test_auto_pulls_a_full_vector_and_pushes_a_sparse_one():
    statement = product("vxm", "plus_times[FP64]", mask=None, replace=False)
    full = {"frontier": 1000, "frontier_edges": 10_000, "open_rows": 1000, "open_edges": 10_000}
    assert direction("auto", -1, statement=statement, **full) == PULL
    assert direction("auto", -1, statement=statement) == PUSH


#: A device of many threads.
WIDE = replace(ABLE, many_threads=True)

#: Counts where half of the cost of a pull is (1,024,000 / 64 + 100,000) and the expected looks.
WEB = {"n": 1_024_000, "rows": 1_024_000, "nnz": 10_000_000, "open_rows": 50_000}


def test_many_threads_push_while_a_pull_begins():
    few = WEB | {"open_rows": 0}
    assert direction("auto", PUSH, frontier_edges=100_000, **few) == PULL
    assert direction("auto", PUSH, capabilities=WIDE, frontier_edges=100_000, **few) == PUSH
    assert direction("auto", PUSH, capabilities=WIDE, frontier_edges=116_001, **few) == PULL
    # A quarter is the way back.
    assert direction("auto", PULL, capabilities=WIDE, frontier_edges=58_001, **few) == PULL
    assert direction("auto", PULL, capabilities=WIDE, frontier_edges=57_999, **few) == PUSH


def test_many_threads_push_as_fast_as_they_look():
    # 10,000,000 * 50,000 / 600,000 = 833,333 looks; half of them without many threads.
    assert direction("auto", PUSH, frontier_edges=600_000, **WEB) == PULL
    assert direction("auto", PUSH, capabilities=WIDE, frontier_edges=600_000, **WEB) == PUSH
    assert direction("auto", PUSH, capabilities=WIDE, frontier_edges=800_000, **WEB) == PULL


@pytest.mark.parametrize(
    ("edges", "previous", "narrow", "wide"),
    [
        # To pull at a half of 6,032,000, and at a half of 532,000 and a third of 6,000,000.
        (1_266_000, PUSH, PUSH, PUSH),
        (1_266_001, PUSH, PUSH, PULL),
        (3_016_000, PUSH, PUSH, PULL),
        (3_016_001, PUSH, PULL, PULL),
        # Back at a quarter.
        (1_507_999, PULL, PUSH, PULL),
        (633_000, PULL, PUSH, PULL),
        (632_999, PULL, PUSH, PUSH),
    ],
)
def test_many_threads_read_whole_rows_faster_than_they_push(edges, previous, narrow, wide):
    statement = product("vxm", "min_plus[FP64]")
    counts = WEB | {"open_edges": 6_000_000, "frontier_edges": edges}
    for able, expected in ((ABLE, narrow), (WIDE, wide)):
        chosen = direction("auto", previous, capabilities=able, statement=statement, **counts)
        assert chosen == expected


def test_many_threads_change_nothing_where_the_policy_is_another():
    for statement in (product(), product("vxm", "min_plus[FP64]")):
        wide, narrow = plan_of(statement, WIDE, "ligra"), plan_of(statement, ABLE, "ligra")
        assert wide.rule == narrow.rule
        assert wide.reasons == narrow.reasons


def test_many_threads_are_a_reason():
    told = " ".join(map(sentence, plan_of(product(), WIDE).reasons))
    assert "200,000 entries before its first look, and a look for 2" in told
    assert "first look" not in " ".join(map(sentence, plan_of(product(), ABLE).reasons))
    whole = product("vxm", "min_plus[FP64]")
    told = " ".join(map(sentence, plan_of(whole, WIDE).reasons))
    assert "in the order in which they lie: an entry counts for 0.333" in told
    assert "rows that a mask leaves open counts for 500,000 entries" in told
    assert "first look" not in told
    told = " ".join(map(sentence, plan_of(replace(whole, mask=None), WIDE).reasons))
    assert "500,000" not in told
    assert "in the order" not in " ".join(map(sentence, plan_of(whole, ABLE).reasons))


def test_auto_counts_every_open_edge_where_rows_are_not_left_at_once():
    statement = product("vxm", "min_plus[FP64]")
    few_looks = {"open_rows": 400, "open_edges": 8000, "frontier_edges": 3000}
    assert direction("auto", PUSH, **few_looks) == PULL
    assert direction("auto", PUSH, statement=statement, **few_looks) == PUSH
    few_edges = few_looks | {"open_edges": 5000}
    assert direction("auto", PUSH, statement=statement, **few_edges) == PULL


def test_without_mask_or_with_a_late_one_all_rows_are_open():
    open_row = {"open_rows": 1, "open_edges": 1, "frontier_edges": 1000}
    late = {"hints": Hints(mask_order="after")}
    statement = product("vxm", "plus_times[FP64]")
    unmasked = product("vxm", "plus_times[FP64]", mask=None, replace=False)
    assert direction("auto", PUSH, statement=statement, **open_row) == PULL
    assert direction("auto", PUSH, statement=statement, **late, **open_row) == PUSH
    assert direction("auto", PUSH, statement=unmasked, **open_row) == PUSH


def test_average_degree_stands_in_where_degrees_are_dear():
    dear = replace(ABLE, cheap_degrees=False)
    # 60 entries of average degree 10 make 600 > 500, whatever the frontier's degrees are.
    assert direction("ligra", PUSH, capabilities=dear, frontier=60, frontier_edges=1) == PULL
    assert direction("ligra", PUSH, capabilities=dear, frontier=40, frontier_edges=9999) == PUSH


@pytest.mark.parametrize("policy", POLICIES)
def test_empty_vector_and_empty_matrix_stay_with_push(policy):
    empty = dict.fromkeys(numbers(), 0) | {"previous_frontier": 0}
    assert direction(policy, PUSH, **empty) == PUSH
    nothing = {"frontier": 0, "frontier_edges": 0, "previous_frontier": 5}
    assert direction(policy, PULL, **nothing) == PUSH


def test_switch_point_replaces_the_threshold():
    pinned = {"hints": Hints(switch_point=0.5)}
    assert direction("ligra", PUSH, **pinned, frontier_edges=4999) == PUSH
    assert direction("ligra", PUSH, **pinned, frontier_edges=5001) == PULL
    # one point both ways, as in the thesis
    assert direction("ligra", PULL, **pinned, frontier_edges=4999) == PUSH
    beamer = {"open_edges": 1000} | pinned
    assert direction("beamer", PUSH, **beamer, frontier_edges=499, **rising(50)) == PUSH
    assert direction("beamer", PUSH, **beamer, frontier_edges=501, **rising(50)) == PULL
    # the way back has a measure of its own
    assert direction("beamer", PULL, **beamer, **falling(41)) == PUSH
    assert direction("beamer", PULL, **beamer, **falling(43)) == PULL


def test_switch_point_below_the_way_back_moves_it_along():
    policy = POLICIES["auto"].with_switch_point(0.1)
    assert policy.to_pull.fraction.value == 0.1
    assert policy.to_push.fraction.value == 0.1
    kept = POLICIES["auto"].with_switch_point(0.9)
    assert kept.to_push.fraction.value == POLICIES["auto"].to_push.fraction.value


def test_every_number_has_a_source_and_every_measure_is_known():
    for name, policy in POLICIES.items():
        assert policy.name == name
        for switch in (policy.to_pull, policy.to_push):
            assert switch.fraction.source
            assert {switch.measure, switch.against} <= MEASURES.keys()
        assert policy.scan.source
        assert policy.look.source
        assert policy.start.source
        assert policy.read.source
        assert policy.here_and_there.source
        assert policy.alone_look.source
        assert policy.alone_start.source
        assert policy.alone_push.source


def test_numbers_of_the_sources():
    table = {
        name: (policy.to_pull.fraction.value, policy.to_push.fraction.value)
        for name, policy in POLICIES.items()
    }
    assert table == {
        "auto": (1 / 2, 1 / 4),
        "beamer": (1 / 14, 1 / 24),
        "ligra": (1 / 20, 1 / 20),
        "gunrock": (1 / 1000, 1 / 5),
        "pushpull18": (0.01, 0.01),
        "graphblast": (1 / 10, 1 / 10),
    }


def test_policies_are_frozen_and_a_policy_of_one_s_own_is_taken():
    with pytest.raises(AttributeError):
        POLICIES["auto"].name = "other"
    always = Number(1.0, "test")
    mine = Policy("mine", Switch("frontier", "n", always), Switch("frontier", "n", always))
    assert plan_of(product(), policy=mine).policy == "mine"
    assert direction(mine, PUSH, frontier=999) == PUSH
