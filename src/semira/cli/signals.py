"""Ctrl-C of the program: one line at most and code 130, within a second, whatever is going on.

While a command runs, Ctrl-C is a `KeyboardInterrupt`. Before it (imports, the command line) there
is nothing to tidy up, and the process ends at once; after it the work is done. A thread ends the
process where the main thread does not get to it: in a compiler, in a long call of another library.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

#: Exit code after Ctrl-C, as shells have it.
EXIT_INTERRUPTED = 130

#: Seconds that a command may take to end by itself.
_GRACE_S = 0.5

#: Terminal codes: erase the line, show the cursor, which a progress bar hides.
_TIDY = "\r\x1b[K\x1b[?25h"

_is_running = False
_is_ending = False


@contextmanager
def command_running() -> Iterator[None]:
    """Let Ctrl-C raise `KeyboardInterrupt` in this block; whoever catches it reports it."""
    global _is_running, _is_ending
    _is_running = True
    try:
        yield
    except KeyboardInterrupt:
        _is_ending = True
        raise
    finally:
        _is_running = False


def take_over() -> None:
    """Handle Ctrl-C for this process from now on, unless it is ignored or handled already."""
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        return
    signal.signal(signal.SIGINT, _handle)
    if os.name == "nt":
        return  # takes sockets only
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    threading.Thread(target=_watch, args=(reading,), daemon=True, name="semira-ctrl-c").start()


def finish() -> None:
    """End the process if Ctrl-C ended its command; the outcome of one that is done stays."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if _is_ending:
        # Not as usual: to tidy up after a compiler takes a second.
        with suppress(OSError, ValueError, AttributeError):
            sys.stdout.flush()
        os._exit(EXIT_INTERRUPTED)


def _handle(signum: int, frame: Any) -> None:
    if _is_running:
        signal.default_int_handler(signum, frame)
    os._exit(EXIT_INTERRUPTED)


def _watch(reading: int) -> None:
    """End the process some time after Ctrl-C; the signal arrives here even if Python is busy."""
    while signal.SIGINT not in os.read(reading, 64):
        pass
    time.sleep(_GRACE_S)
    output = sys.modules.get("semira.files.output")
    for part in () if output is None else tuple(output.PARTS):
        with suppress(OSError):
            os.unlink(part)  # noqa: PTH108
    with suppress(OSError, ValueError, AttributeError):
        text = "" if _is_ending else "semira: interrupted\n"
        os.write(sys.stderr.fileno(), ((_TIDY if sys.stderr.isatty() else "") + text).encode())
    os._exit(EXIT_INTERRUPTED)
