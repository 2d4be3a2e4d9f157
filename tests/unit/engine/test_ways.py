"""Which executable a product that is weighed before gets, by what the host knows."""

from types import SimpleNamespace

import pytest

import semira as gb
from semira.engine.values import Value
from semira.engine.ways import Ways, way_of


class Weighed(SimpleNamespace):
    """Stands for a `Beforehand`: notes what it is asked."""

    vector, matrix, out = 0, 1, 2

    def way(self, *counts):
        self.asked.append(counts)
        return "push" if counts[0] < 3 else "pull"


@pytest.fixture
def weighed():
    return Weighed(asked=[])


def bound(entries, nnz=4, size=5):
    u = gb.Vector.from_coo(range(entries), 1.0, size=size)
    A = gb.Matrix.from_coo(range(nnz), range(nnz), 1.0, nrows=size, ncols=7)
    return [u._value, A._value, gb.Vector(float, 7)._value]


def test_each_way_is_prepared_once_and_weighed_once_for_equal_counts(weighed):
    prepared = []
    ways = Ways(weighed, lambda way: prepared.append(way) or f"made {way}")
    asked = [bound(entries) for entries in (1, 4, 1, 2, 4)]
    found = [ways.executable_for(each) for each in asked]
    assert found == [f"made {way}" for way in ("push", "pull", "push", "push", "pull")]
    assert prepared == ["push", "pull"]
    assert weighed.asked == [(1, 5, 7, 4), (4, 5, 7, 4), (2, 5, 7, 4)]


def test_counts_about_equal_are_weighed_once(weighed):
    ways = Ways(weighed, lambda way: way)
    for entries in (15, 16, 17, 18, 1023, 1024, 1151, 1152):
        ways.executable_for(bound(entries, size=2000))
    assert [asked[0] for asked in weighed.asked] == [15, 16, 18, 960, 1024, 1152]


def test_few_counts_are_kept(monkeypatch, weighed):
    monkeypatch.setattr("semira.engine.ways._KEPT", 3)
    ways = Ways(weighed, lambda way: way)
    for entries in (*range(1, 9), 8, 1):
        ways.executable_for(bound(entries, size=9))
    # The last is known yet, the first is not.
    assert [asked[0] for asked in weighed.asked] == [*range(1, 9), 1]


@pytest.mark.parametrize("which", [0, 1])
def test_who_does_not_know_leaves_the_choice_open(weighed, which):
    values = bound(1)
    values[which]._handle, values[which]._arrays = object(), None
    ways = Ways(weighed, lambda way: f"made {way!r}")
    assert ways.executable_for(values) == "made ''"
    assert way_of(weighed, values) == ""
    assert not weighed.asked
    values[which].count = 2
    assert way_of(weighed, values) == "push"


def test_a_count_is_kept_until_its_value_is_written():
    value = bound(3)[0]
    assert value.last_count() == 3
    value.handle_on("reference")
    assert (value.known_nvals(), value.last_count()) == (None, 3)
    assert value.copy().last_count() == 3
    value.forget_facts()
    assert value.last_count() is None
    value.replace_contents(bound(2)[0])
    assert value.last_count() == 2


def test_a_statement_makes_its_output_unknown():
    u, w = (gb.Vector.from_coo([0, 1], 1.0, size=4) for _ in range(2))
    held: list[Value] = [u._value, w._value]
    for value in held:
        value.place("reference")
    w << u.apply("ainv")
    assert [value.last_count() for value in held] == [2, None]
