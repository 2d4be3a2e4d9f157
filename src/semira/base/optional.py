"""Libraries that only some functions need."""

from __future__ import annotations

import importlib
from typing import Any

from semira.base.errors import MissingLibrary


def need(module: str, what: str, extra: str) -> Any:
    """Import and return `module`.

    Parameters
    ----------
    module : str
        Dotted name.
    what : str
        The function that needs it, for the message.
    extra : str
        The optional dependency of Semira that brings it.

    Raises
    ------
    MissingLibrary
        It is not installed; the message says how to install it.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        library = module.partition(".")[0]
        raise MissingLibrary(
            f"{what} needs {library}, which cannot be imported ({error}); install it with "
            f"pip install 'semira[{extra}]'"
        ) from error
