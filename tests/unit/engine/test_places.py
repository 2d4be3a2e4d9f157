"""Places in the user's code: which line an error names where there is no plain one."""

from __future__ import annotations

from typing import Any

from semira.engine.places import body_line, line_of, user_line, user_place


class Endless:
    """Something that can be called and says that it wraps itself."""

    def __init__(self) -> None:
        self.__wrapped__ = self

    __call__ = len


def test_a_place_is_the_line_that_was_running() -> None:
    place, line = user_place(), user_line()
    first = test_a_place_is_the_line_that_was_running.__code__.co_firstlineno
    assert line_of(place) == line == f"{__file__}:{first + 1}"


def test_frames_of_semira_and_of_what_it_is_called_through_are_passed_over() -> None:
    for module in ("semira.engine.anything", "contextlib", "functools"):
        names: dict[str, Any] = {"__name__": module, "user_line": user_line}
        exec("def inside(): return user_line()", names)
        assert names["inside"]() == user_line()
    names["__name__"] = "semirage"
    assert names["inside"]() == "<string>:1"


def test_without_a_place_nothing_is_named() -> None:
    assert line_of(None) == "unknown line"
    assert line_of(lambda: "here:1") == "here:1"


def test_what_wraps_itself_is_not_followed_for_ever() -> None:
    assert body_line(Endless(), None) == user_line()


def test_code_without_a_file() -> None:
    names: dict[str, Any] = {"__name__": "drawn"}
    exec(compile("def step():\n    x = 1\n    return x", "<cell 3>", "exec"), names)
    assert body_line(names["step"], 1) == "<cell 3>:3"
