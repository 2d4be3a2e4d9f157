"""The options of products as type checkers know them."""

from __future__ import annotations

from dataclasses import fields
from typing import get_args, get_type_hints

from semira.contract import WORDS, Hints, parameters_of
from semira.contract.hints import ProductOptions, VectorProductOptions
from semira.frontend import hints

KNOWN = get_type_hints(ProductOptions)


def test_checkers_know_the_options_that_calls_take() -> None:
    known = {item.name for item in fields(Hints)} - {"parameters"}
    # Bits are a parameter that asks for its method.
    assert KNOWN.keys() == known | {"axb_method", "bits"} | hints._IGNORED
    assert KNOWN.keys() - get_type_hints(VectorProductOptions).keys() == {"method"}


def test_checkers_know_the_values_that_are_words() -> None:
    words = {
        name: {word for each in get_args(kind) for word in get_args(each)} or set(get_args(kind))
        for name, kind in KNOWN.items()
    }
    # Methods can be added: any word may be one.
    for name in WORDS.keys() - {"method"}:
        assert words[name] == {*hints._choices(name, "")}, name
    assert {*get_args(get_args(KNOWN["bits"])[0])} == {*parameters_of("b2sr")["bits"]}
    assert words["axb_method"] == set(hints._AXB_METHODS)
