"""Objects by the path ``module:name``: a table states where they are, and imports none."""

from __future__ import annotations

import importlib
from typing import Any

from semira.base.errors import InvalidValue


def load(path: str) -> Any:
    """Return what ``"module:name"`` names.

    Raises
    ------
    InvalidValue
        There is no such thing.

    Examples
    --------
    >>> load("semira.base.loading:load") is load
    True
    """
    module, _, name = path.partition(":")
    try:
        return getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise InvalidValue(f"{path!r} names nothing that can be loaded: {error}") from error
