"""Per-call options."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from semira.base.errors import InvalidValue
from semira.base.text import did_you_mean
from semira.contract import (
    WORDS,
    Hints,
    alias_values,
    format_names,
    method_names,
    method_with,
    parameters_of,
)

_FIELDS = {item.name for item in fields(Hints)} - {"parameters"}

#: python-graphblas' descriptor options that change nothing for us.
_IGNORED = {"nthreads", "chunk", "sort", "secure_import", "gpu_id", "compression"}

#: Names of the options of a call: what a product or another operation takes by keyword.
CALL_OPTIONS = tuple(sorted(_FIELDS | _IGNORED | {"axb_method"}))

#: Those of them that are on or off.
_SWITCHES = {"sort", "secure_import"}

_AXB_METHODS = {
    "gustavson": "dense",
    "saxpy": "dense",
    "dot": "dot",
    "hash": "hash",
    "default": None,
}


def parse_hints(options: dict[str, Any], op: str = "mxm", *, can_dot: bool = True) -> Hints:
    """Return the hints of a call's keyword options.

    ``axb_method`` is python-graphblas' wish, not a pin: it counts for ``mxm`` only, and ``"dot"``
    only where the mask allows it (`can_dot`). Raises InvalidValue if an option is unknown or has an
    unknown value; the message lists the valid ones.
    """
    if not options:
        return Hints()
    chosen: dict[str, Any] = {}
    given = _in_lower_case(options)
    for name, value in given.items():
        if name == "axb_method":
            _check_choice(name, value, tuple(sorted(_AXB_METHODS)))
            if op == "mxm" and (value != "dot" or can_dot):
                chosen["method"] = _AXB_METHODS[value]
        elif name in _FIELDS:
            _check_choice(name, value, (None, *_choices(name, value)))
            chosen[name] = value
        elif name not in _IGNORED:
            method = given.get("method") or method_with(name)
            _check_parameter(name, method)
            if value is None:
                continue
            # A parameter that only one method has asks for it.
            chosen["method"] = method
            chosen["parameters"] = (*chosen.get("parameters", ()), (name, value))
    point = chosen.get("switch_point")
    if point is not None and not 0 < point <= 1:
        raise InvalidValue(f"switch_point={point} must lie in (0, 1]")
    return Hints(**chosen)


def _check_choice(name: str, value: Any, choices: tuple[Any, ...]) -> None:
    if value not in choices:
        named = ", ".join(each for each in choices if each is not None)
        raise InvalidValue(f"{name}={value!r}; choose one of {named}")


def _check_parameter(name: str, method: str | None) -> None:
    """Check that an option which is no other is a parameter of the pinned method."""
    known = () if method is None else tuple(parameters_of(method))
    if name not in known:
        valid = sorted({*_FIELDS, "axb_method", *known})
        raise InvalidValue(
            f"unknown option {name!r}: neither a parameter of what was called nor a descriptor "
            f"option of its products, which are {', '.join(valid)}{did_you_mean(name, valid)}"
        )


def _choices(name: str, value: Any) -> tuple[Any, ...]:
    """Return the values that an option may have; any, if it is not a word."""
    choices: tuple[Any, ...] = WORDS.get(name, (value,))
    if value is None or value in choices:
        return choices
    folders = {"method": method_names, "matrix_storage": format_names}
    found = folders[name]() if name in folders else alias_values(name)
    return tuple(dict.fromkeys((*choices, *found)))


def _in_lower_case(options: dict[str, Any]) -> dict[str, Any]:
    """Return the options by their names in lower case; what is on or off is checked."""
    lower = {given.lower(): value for given, value in options.items()}
    if len(lower) < len(options):
        raise InvalidValue(f"Duplicate descriptor options in {', '.join(options)}: case is ignored")
    for name in _SWITCHES & lower.keys():
        if lower[name] not in (False, True, None):
            raise InvalidValue(
                f"descriptor option {name}={lower[name]!r}; choose one of False, True"
            )
    return lower
