"""Libraries that only some functions need."""

from __future__ import annotations

import importlib
from typing import Any

from semira.base.errors import MissingLibrary


def need(module: str, what: str, extra: str) -> Any:
    """Import `module`; MissingLibrary says that `what` needs it, and which `extra` brings it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        library = module.partition(".")[0]
        raise MissingLibrary(
            f"{what} needs {library}, which cannot be imported ({error}); install it with "
            f"pip install 'semira[{extra}]'"
        ) from error
