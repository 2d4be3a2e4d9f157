"""Options that have another name than before: `renamed`."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Collection
from typing import Any, ParamSpec, TypeVar

from semira.exceptions import InvalidValue

_P = ParamSpec("_P")
_R = TypeVar("_R")


def renamed(
    old: str, new: str, values: Collection[str]
) -> Callable[[Callable[_P, _R]], Callable[_P, _R]]:
    """Let an algorithm take an option by its old name too, with a warning.

    It takes `values`. Any other one under the old name is left alone: it may be an option of that
    name which the algorithm passes on to its products.

    Examples
    --------
    >>> @renamed("way", "route", ("short", "long"))
    ... def go(route="short", **opts):
    ...     return route, opts
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     go(way="long"), go(way="left")
    (('long', {}), ('short', {'way': 'left'}))
    """

    def decorate(function: Callable[_P, _R]) -> Callable[_P, _R]:
        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> _R:
            if old in kwargs and kwargs[old] in values:
                name, value = function.__name__, kwargs.pop(old)
                if new in kwargs:
                    raise InvalidValue(f"{name}: {old}= is the old name of {new}=; give {new} only")
                warnings.warn(
                    f"{name}({old}={value!r}) is now {new}={value!r}; the old name will go",
                    FutureWarning,
                    stacklevel=2,
                )
                kwargs[new] = value
            return function(*args, **kwargs)

        return call

    return decorate
