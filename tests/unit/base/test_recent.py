"""A dictionary of limited size."""

from __future__ import annotations

from semira.base.recent import Recent


def test_the_oldest_go_first_and_are_told_of() -> None:
    gone = []
    kept: Recent[int, str] = Recent(3, lambda key, value: gone.append((key, value)))
    for number in range(5):
        kept[number] = str(number)
    assert kept == {2: "2", 3: "3", 4: "4"}
    assert gone == [(0, "0"), (1, "1")]


def test_a_new_value_of_a_key_drops_nothing() -> None:
    kept: Recent[str, int] = Recent(2)
    kept["a"], kept["b"], kept["a"] = 1, 2, 3
    assert kept == {"a": 3, "b": 2}
