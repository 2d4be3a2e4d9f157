"""Groups of options: what the command line sees of them, and what a command gets."""

from __future__ import annotations

import dataclasses
import inspect
from typing import Any

import pytest

from semira.cli.graphs import Reading
from semira.cli.groups import READING, Group, with_options

PLACE = Group({"real": (float, 0.5), "imag": (float, 0.0)}, complex)


@with_options(place=PLACE)
def show(name: str, *, place: complex, last: bool = False) -> Any:
    raise LookupError(name, place, last)


def test_options_of_a_group_stand_in_its_place():
    parameters = inspect.signature(show).parameters
    assert list(parameters) == ["name", "real", "imag", "last"]
    assert [each.default for each in parameters.values()][1:] == [0.5, 0.0, False]
    assert show.__annotations__ == {"name": str, "real": float, "imag": float, "last": bool}


def test_a_command_gets_each_group_as_one_argument():
    with pytest.raises(LookupError) as told:
        show(name="a", real=1.0, imag=2.0, last=True)
    assert told.value.args == ("a", 1 + 2j, True)


def test_groups_have_the_names_of_what_they_become():
    assert list(READING.options) == [each.name for each in dataclasses.fields(Reading)]
    defaults = {name: default for name, (_, default) in READING.options.items()}
    assert READING.make(**defaults) == Reading()
