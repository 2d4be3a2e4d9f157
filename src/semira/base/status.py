"""A status line on the terminal or in a notebook, erased when what it reports is done."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from importlib import import_module
from typing import Any

from semira.base import locks
from semira.base.config import config

#: Terminal codes: remember the place of the cursor; go back there and erase what follows.
_START, _ERASE = "\x1b7", "\x1b8\x1b[J"


def terminal() -> Any:
    """Return standard error if it is a terminal that progress may be shown on, else None.

    ``semira.config["progress"]`` switches it off.
    """
    stream = sys.stderr
    try:
        is_terminal = stream is not None and stream.isatty()
    except ValueError:  # it is closed
        return None
    return stream if is_terminal and config["progress"] else None


class StatusLine:
    """One line of text, shown at the cursor and erased again; for one thing at a time.

    Nothing is shown where standard error is neither a terminal nor a notebook, on a terminal
    without codes for the cursor, and while Rich draws there. Showing it never fails.
    """

    def __init__(self) -> None:
        self._lock = locks.lock()
        self._erase: Any = None
        self._cell: tuple[Any, Any] = (None, None)

    def show(self, text: str) -> None:
        """Show `text` in place of what was shown before."""
        with self._lock, suppress(Exception):
            self._clear()
            shell = _notebook()
            if shell is not None:
                self._erase = self._show_in_cell(shell, text)
                return
            stream = terminal()
            if stream is not None and _moves_cursor(stream):
                stream.write(f"{_START}{text}")
                stream.flush()
                self._erase = lambda: (stream.write(_ERASE), stream.flush())

    def clear(self) -> None:
        """Erase what is shown."""
        with self._lock, suppress(Exception):
            self._clear()

    def _clear(self) -> None:
        erase, self._erase = self._erase, None
        if erase is not None:
            erase()

    def _show_in_cell(self, shell: Any, text: str) -> Any:
        """Show `text` in the output of the running cell, in the same place each time."""
        cell, shown = self._cell
        if shown is None or cell != shell.execution_count:
            display = import_module("IPython.display").display
            shown = display({"text/plain": text}, raw=True, display_id=True)
            self._cell = (shell.execution_count, shown)
        else:
            shown.update({"text/plain": text}, raw=True)
        return lambda: shown.update({"text/plain": ""}, raw=True)


def _notebook() -> Any:
    """Return IPython's shell if a notebook runs this process and progress may be shown."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return shell if hasattr(shell, "kernel") and config["progress"] else None


def _moves_cursor(stream: Any) -> bool:
    is_plain = os.name == "nt" or os.environ.get("TERM", "dumb") == "dumb"
    return not is_plain and not hasattr(stream, "rich_proxied_file")
