"""Products that stand by themselves, weighed by what the host knows."""

from dataclasses import replace

import pytest
from tests.helpers.every import every
from tests.helpers.plans import ABLE, plan_of, product, program

from semira.contract import Hints
from semira.plan import Facts, plan_program, weighed_beforehand
from semira.plan.beforehand import WAYS
from semira.plan.reasons import sentence

#: A device on which a choice takes longer than a decision.
COSTLY = replace(ABLE, many_threads=True, choice_costs=True)

OPEN = {"mask": None, "replace": False}
#: Rows may be left at the first operand, or not.
LEAVES, READS = product("vxm", "any_pair[BOOL]", **OPEN), product("vxm", "min_plus[FP64]", **OPEN)


def weighed(statement, capabilities=COSTLY, **hints):
    if hints:
        statement = replace(statement, hints=Hints(**hints))
    return weighed_beforehand(program(statement), capabilities)


#: Graph, vertices, entries, entries of the vector, what any_pair and min_plus do: the way that was
#: the fastest by its pin or within a tenth of that, on one H100 (python -m benchmarks spmspv).
MEASURED = [
    ("delaunay_n16", 65_536, 393_150, 1, "whole", "pull"),
    ("delaunay_n16", 65_536, 393_150, 65_536, "whole", "pull"),
    ("luxembourg_osm", 114_599, 239_332, 16_384, "whole", "pull"),
    ("coAuthorsDBLP", 299_067, 1_955_352, 4096, "push", "push"),
    ("coAuthorsDBLP", 299_067, 1_955_352, 65_536, "pull", "pull"),
    ("soc-Slashdot0902", 82_168, 948_464, 256, "push", "push"),
    ("soc-Slashdot0902", 82_168, 948_464, 65_536, "pull", "pull"),
    ("kron:20", 1_048_576, 31_396_318, 16_384, "push", "push"),
    ("kron:20", 1_048_576, 31_396_318, 262_144, "pull", "pull"),
    ("kron:21", 2_097_152, 63_537_056, 262_144, "pull", "push"),
    # Pushes of so few entries are slow yet.
    ("kron:16", 65_536, 1_819_412, 4096, "push", "pull"),
    ("kron:17", 131_072, 3_729_482, 16_384, "pull", "pull"),
    ("kron:17", 131_072, 3_729_482, 4096, "push", "push"),
]


@every(("graph", "n", "nnz", "frontier", "leaves", "reads"), MEASURED)
def test_the_way_is_the_one_that_was_fast(graph, n, nnz, frontier, leaves, reads):
    assert weighed(LEAVES).way(frontier, n, n, nnz) == leaves
    assert weighed(READS).way(frontier, n, n, nnz) == reads


def test_slots_are_those_of_the_operands():
    for op in ("vxm", "mxv"):
        statement = product(op, "min_plus[FP64]", **OPEN)
        found = weighed(statement)
        driver, matrix = statement.args if op == "vxm" else statement.args[::-1]
        assert (found.vector, found.matrix, found.out) == (driver.slot, matrix.slot, statement.out)


@pytest.mark.parametrize(
    ("statement", "capabilities", "hints"),
    [
        (READS, replace(COSTLY, choice_costs=False), {}),
        (product("vxm", "min_plus[FP64]"), COSTLY, {}),
        (product("mxm", "min_plus[FP64]", **OPEN), COSTLY, {}),
        (READS, COSTLY, {"direction": "push"}),
        (READS, COSTLY, {"direction": "pull"}),
    ],
)
def test_what_is_left_to_the_run(statement, capabilities, hints):
    assert weighed(statement, capabilities, **hints) is None


def test_whoever_pins_the_exit_gets_it():
    road = (16_384, 114_599, 114_599, 239_332)
    assert weighed(LEAVES).way(*road) == "whole"
    assert weighed(LEAVES, early_exit=True).way(*road) == "push"
    # Rows are read to their ends then anyway, and weighed as such.
    assert weighed(LEAVES, early_exit=False).way(*road) == "pull"


@pytest.mark.parametrize("policy", ["beamer", "ligra", "gunrock", "pushpull18", "graphblast"])
def test_other_policies_keep_their_numbers(policy):
    found = weighed(LEAVES, policy=policy)
    assert found.way(1, 10_000, 10_000, 100_000) == "push"
    assert found.way(10_000, 10_000, 10_000, 100_000) == "pull"


def settled(statement, way, capabilities=COSTLY):
    planned = plan_program(program(statement), capabilities, facts=Facts(way=way))
    return planned.body[0].plan


@pytest.mark.parametrize("way", WAYS)
def test_a_settled_product_has_one_method(way):
    plan = settled(LEAVES, way)
    (method,) = plan.methods
    pins = {"push": {"direction": "push"}, "pull": {"direction": "pull"}}
    pins["whole"] = {"direction": "pull", "early_exit": False}
    # It runs what whoever pins it gets.
    (pinned,) = plan_of(LEAVES, COSTLY, hints=Hints(**pins[way])).methods
    assert method == pinned
    told = " ".join(map(sentence, plan.reasons))
    assert f"{method.name} is the cheaper way" in told
    assert ("rows are so short" in told) == (way == "whole")


@pytest.mark.parametrize(
    ("way", "statement"), [("whole", LEAVES), ("pull", READS), ("push", READS)]
)
def test_the_numbers_that_settled_it_are_told(way, statement):
    told = " ".join(map(sentence, settled(statement, way).reasons))
    assert "a push counts for 80,000 entries before its first" in told
    assert ("60,000 entries before its first look" in told) == (statement is LEAVES)
    assert ("the first 300,000 entries of a push count twice" in told) == (statement is READS)
    pinned = replace(READS, hints=Hints(switch_point=0.9))
    told = " ".join(map(sentence, settled(pinned, way).reasons))
    assert "the switch point 0.9 is pinned" in told


def test_pins_and_other_devices_overrule_what_was_settled():
    pinned = replace(LEAVES, hints=Hints(direction="push"))
    assert [method.name for method in settled(pinned, "pull").methods] == ["push"]
    stays = replace(LEAVES, hints=Hints(early_exit=True))
    assert settled(stays, "whole").methods[0].early_exit
    # It is demanded of pulls, also where a push is cheaper.
    assert [method.name for method in settled(stays, "push").methods] == ["push"]
    assert len(settled(LEAVES, "pull", ABLE).methods) == 2
