"""A progress bar for files that take longer than a second, on a terminal only."""

from __future__ import annotations

import time
from types import TracebackType
from typing import Any

from semira.base.status import terminal
from semira.base.text import printable

#: Seconds of reading before a bar appears.
PATIENCE_S = 1.0


class ReadProgress:
    """Shows how much of a file has been read, once reading has taken `PATIENCE_S`.

    The `label` stands in front of the bar, whose `verb` is what is being done; a `total` of None (a
    pipe) shows a pulse. Nothing is shown, and Rich is not even imported, for quick files, where
    standard error is no terminal, and if not `is_enabled`.
    """

    def __init__(
        self, label: str, total: int | None, *, is_enabled: bool = True, verb: str = "reading"
    ) -> None:
        self._label = label
        self._verb = verb
        self._total = total
        self._done = 0
        self._start_s = time.monotonic()
        self._bar: Any = None
        self._task: Any = None
        self._is_enabled = is_enabled and terminal() is not None

    def advance(self, count: int) -> None:
        """Report that `count` more bytes were read."""
        self._done += count
        if not self._is_enabled:
            return
        if self._bar is None:
            if time.monotonic() - self._start_s < PATIENCE_S:
                return
            self._open()
        self._bar.update(self._task, completed=self._done)

    def _open(self) -> None:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            DownloadColumn,
            Progress,
            TextColumn,
            TimeRemainingColumn,
        )

        self._bar = Progress(
            TextColumn(f"{self._verb} {{task.description}}"),
            BarColumn(),
            DownloadColumn(),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        # A path may hold brackets, which Rich would read as markup.
        label = printable(self._label).replace("[", r"\[")
        self._task = self._bar.add_task(label, total=self._total)
        self._bar.start()

    def __enter__(self) -> ReadProgress:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.stop()
