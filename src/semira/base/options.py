"""Where options come from: the environment, then the user's file, then the default.

Every option has one name. ``SEMIRA_`` and the name in capitals is its variable in the
environment; the name itself is its key in the file ``semira.toml``.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from semira.base.errors import InvalidValue

_TRUE = ("1", "true", "yes", "on")
_FALSE = ("", "0", "false", "no", "off")

#: How alike two names are of which one is taken for a misspelling of the other.
_NEARLY = 0.9


@dataclass(frozen=True, slots=True)
class Option:
    """One option: its default, and what turns the text or value of a place into its type.

    A default that is a function finds one. `parse` raises InvalidValue, which names the place.
    """

    default: Any
    parse: Callable[[Any, str], Any]


def boolean(value: Any, where: str) -> bool:
    """Return a truth value; text may be ``1 true yes on`` or ``0 false no off``.

    Examples
    --------
    >>> boolean("off", "SEMIRA_AUTOCOMPUTE")
    False
    """
    if isinstance(value, str):
        word = value.strip().lower()
        if word in _TRUE + _FALSE:
            return word in _TRUE
    elif value in (False, True):
        return bool(value)
    raise InvalidValue(f"{where}={value!r} is neither true nor false; use 1 or 0")


def at_least(least: int) -> Callable[[Any, str], int]:
    """Return a parser of integers that are not smaller than `least`."""

    def parse(value: Any, where: str) -> int:
        if isinstance(value, (bool, float)):
            raise InvalidValue(f"{where}={value!r} is not an integer")
        try:
            number = int(value)
        except (TypeError, ValueError):
            raise InvalidValue(f"{where}={value!r} is not an integer") from None
        if number < least:
            raise InvalidValue(f"{where}={number} must be at least {least}")
        return number

    return parse


def one_of(*choices: str) -> Callable[[Any, str], str]:
    """Return a parser that accepts the `choices` only."""

    def parse(value: Any, where: str) -> str:
        if value not in choices:
            raise InvalidValue(f"{where}={value!r}; choose one of {', '.join(choices)}")
        return str(value)

    return parse


def folder(value: Any, where: str) -> Path:
    """Return the absolute path of a folder; ``~`` is the user's home.

    Examples
    --------
    >>> folder("graphs", "SEMIRA_DATA_DIR").is_absolute()
    True
    """
    if not isinstance(value, (str, os.PathLike)):
        raise InvalidValue(f"{where}={value!r} is not the path of a folder")
    if not os.fspath(value).strip():
        raise InvalidValue(f"{where}={value!r} is empty; name a folder or unset it")
    try:
        return Path(value).expanduser().absolute()
    except RuntimeError as error:  # no such user
        raise InvalidValue(f"{where}={str(value)!r}: {error}; use an absolute path") from None


def user_folder(variable: str, fallback: str) -> Path:
    """Return the folder of the XDG specification that `variable` names, or InvalidValue."""
    named = Path(os.environ.get(variable, ""))
    if named.is_absolute():  # the specification ignores others
        return named / "semira"
    try:
        return Path.home().absolute() / fallback / "semira"
    except RuntimeError:
        raise InvalidValue(
            f"this user has no home folder; set {variable} to an absolute path"
        ) from None


def config_file() -> Path:
    """Return where the user's file is, whether or not it exists.

    ``SEMIRA_CONFIG`` names it; otherwise it is ``semira.toml`` in the user's configuration
    folder. The working directory is not searched: a file that came with a download must not
    decide where compiled code is loaded from.
    """
    named = os.environ.get("SEMIRA_CONFIG")
    if named:
        return Path(named).expanduser()
    return user_folder("XDG_CONFIG_HOME", ".config") / "semira.toml"


def read_file(known: Collection[str]) -> dict[str, Any]:
    """Return the values of the user's file; none if there is no file.

    Raises InvalidValue if it is not TOML, cannot be read, holds a name that is not `known`, or
    ``SEMIRA_CONFIG`` names one that does not exist.
    """
    path = config_file()
    try:
        text = path.read_bytes().decode()
    except FileNotFoundError:
        if os.environ.get("SEMIRA_CONFIG"):
            raise InvalidValue(
                f"SEMIRA_CONFIG={str(path)!r} does not exist; create the file or unset it"
            ) from None
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidValue(f"{path}: cannot be read: {error}") from error
    # Costs some milliseconds, for those who have a file only.
    import tomllib

    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InvalidValue(f"{path}: {error}") from error
    for name in values:
        if name not in known:
            raise InvalidValue(f"{path}: no option {name!r}; options are {', '.join(known)}")
    return values


def check_variables(known: Collection[str]) -> None:
    """Raise InvalidValue if a variable of the environment has nearly the name of an option.

    Others that begin with ``SEMIRA_`` may be somebody else's.
    """
    options = {"SEMIRA_CONFIG", *(f"SEMIRA_{name.upper()}" for name in known)}
    others = [name for name in os.environ if name.startswith("SEMIRA_") and name not in options]
    if not others:
        return
    from difflib import get_close_matches

    for name in others:
        for meant in get_close_matches(name, options, 1, cutoff=_NEARLY):
            raise InvalidValue(f"{name} is no option; did you mean {meant}? Rename or unset it")


def collect(options: Mapping[str, Option], known: Collection[str]) -> dict[str, Any]:
    """Return the value of each of `options` from the environment, the file or its default.

    The file may hold all names that are `known`. Raises InvalidValue as `check_variables` and
    `read_file` do, or if a value is not what its option accepts.
    """
    check_variables(known)
    in_file = read_file(known)
    found = {}
    for name, option in options.items():
        variable = f"SEMIRA_{name.upper()}"
        text = os.environ.get(variable)
        if text is not None:
            found[name] = option.parse(text, variable)
        elif name in in_file:
            found[name] = option.parse(in_file[name], f"{config_file()}: {name}")
        else:
            found[name] = option.default() if callable(option.default) else option.default
    return found
