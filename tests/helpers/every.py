"""Many cases in one test: all of them run, and every one that fails is reported by its name.

A parametrised test is an item for each case, and an item costs more than most cases do: fixtures,
reports, and the search for it in every process. `every` takes what `pytest.mark.parametrize` takes.
``pytest --case TEXT`` runs only the cases whose names contain the text.
"""

from __future__ import annotations

import functools
import inspect
import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from typing import Any

import pytest

#: Part of the names of the cases that are to run; set by ``--case``.
chosen = ""

_PARAMETERS = type(pytest.param(None))
_SKIPPED = pytest.skip.Exception
_FAILURES = (Exception, pytest.fail.Exception)


class Case:
    """Arguments of a test and what they are called in a report."""

    def __init__(self, name: str, arguments: dict[str, Any]) -> None:
        self.name = name
        self.arguments = arguments


def every(
    names: str | Sequence[str],
    values: Iterable[Any],
    *,
    ids: Iterable[str] | Callable[[Any], Any] | None = None,
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return a decorator that runs a test with each of `values`; several of them multiply."""
    listed = [name.strip() for name in names.split(",")] if isinstance(names, str) else names
    told = list(ids) if ids is not None and not callable(ids) else ids
    cases = [_case(tuple(listed), value, told, at) for at, value in enumerate(values)]
    if not cases:
        return pytest.mark.skip(reason=f"no values for {names}")

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        parts = [cases, *getattr(test, "parts", ())]
        return _test_of_all(getattr(test, "body", test), parts)

    return decorate


def count(test: Any) -> int:
    """Return the cases of a test."""
    return math.prod(map(len, getattr(test, "parts", ())))


def _case(names: tuple[str, ...], value: Any, ids: Any, at: int) -> Case:
    if isinstance(value, _PARAMETERS):
        assert not value.marks, f"{names}: a case has no marks of its own"
        return Case(
            value.id or _told(names, value.values), dict(zip(names, value.values, strict=True))
        )
    values = (value,) if len(names) == 1 else tuple(value)
    assert len(values) == len(names), f"{len(names)} names and {values}"
    if ids is None:
        told = _told(names, values)
    else:
        told = "-".join(str(ids(each)) for each in values) if callable(ids) else ids[at]
    return Case(told, dict(zip(names, values, strict=True)))


def _told(names: tuple[str, ...], values: Sequence[Any]) -> str:
    return ", ".join(f"{name}={_short(each)}" for name, each in zip(names, values, strict=True))


def _short(value: Any) -> str:
    text = getattr(value, "__name__", None) or repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _test_of_all(body: Callable[..., None], parts: list[list[Case]]) -> Callable[..., None]:
    """Return the test that runs `body` with one case of each part, in every combination."""

    @functools.wraps(body)
    def test(**fixtures: Any) -> None:
        failed, skipped, count = [], [], 0
        for name, arguments in _products(parts):
            count += 1
            try:
                with ExitStack() as stack:
                    fresh = _fresh(fixtures, count, stack)
                    body(**fresh, **arguments)
            except _SKIPPED as reason:
                skipped.append(reason)
            except _FAILURES as error:
                error.add_note(f"case: {name}")
                failed.append(error)
        if len(failed) == 1:
            raise failed[0]
        if failed:
            raise BaseExceptionGroup(f"{len(failed)} of {count} cases failed", failed)
        if skipped and len(skipped) == count:
            raise skipped[0]

    given = {name for part in parts for name in part[0].arguments}
    signature = inspect.signature(body)
    missing = given - signature.parameters.keys()
    assert not missing, f"{body.__name__} takes no {missing}"
    kept = [each for name, each in signature.parameters.items() if name not in given]
    test.__signature__ = signature.replace(parameters=kept)
    test.body, test.parts = body, parts
    return test


def _products(parts: list[list[Case]]) -> Iterator[tuple[str, dict[str, Any]]]:
    for combined in itertools.product(*parts):
        name = ", ".join(case.name for case in combined)
        if chosen in name:
            yield name, {key: value for case in combined for key, value in case.arguments.items()}


def _fresh(fixtures: dict[str, Any], number: int, stack: ExitStack) -> dict[str, Any]:
    """Return the fixtures of a case; what a case leaves in them is not there for the next one."""
    found = dict(fixtures)
    if "monkeypatch" in found:
        found["monkeypatch"] = stack.enter_context(pytest.MonkeyPatch.context())
    if "tmp_path" in found:
        found["tmp_path"] = fixtures["tmp_path"] / f"case{number}"
        found["tmp_path"].mkdir()
    for name, forget in (("caplog", "clear"), ("capsys", "readouterr"), ("recwarn", "clear")):
        if name in found:
            getattr(found[name], forget)()
    return found
