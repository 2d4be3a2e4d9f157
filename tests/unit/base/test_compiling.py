"""The status line while kernels compile: on a terminal, in a notebook, nowhere else."""

from __future__ import annotations

import io
import os
import sys
import threading
from types import ModuleType, SimpleNamespace

import pytest

from semira.base import compiling as module
from semira.base.compiling import compiling
from semira.base.config import config
from semira.base.status import StatusLine

pty = pytest.importorskip("pty", reason="this system has no pseudo-terminals")

SHOWN = "\x1b7compiling kernels for the first use ({})...\x1b8\x1b[J"


class Terminal:
    """A pseudo-terminal as standard error, and what was written to it."""

    def __init__(self) -> None:
        self.screen, inner = pty.openpty()
        self.stream = open(inner, "w", encoding="utf-8")  # noqa: PTH123, SIM115

    def written(self) -> str:
        print(end="\0", file=self.stream, flush=True)
        read = b""
        while not read.endswith(b"\0"):
            read += os.read(self.screen, 65536)
        return read[:-1].decode()


@pytest.fixture(autouse=True)
def first_kernel(monkeypatch):
    monkeypatch.setattr(module, "_count", 0)
    monkeypatch.setattr(module, "_line", StatusLine())


@pytest.fixture
def open_terminal(monkeypatch):
    """Make standard error a terminal; to be called in the test: pytest sets it before each one."""
    opened = []

    def open_one() -> Terminal:
        opened.append(Terminal())
        monkeypatch.setattr(sys, "stderr", opened[-1].stream)
        monkeypatch.setenv("TERM", "xterm")
        return opened[-1]

    yield open_one
    for one in opened:
        one.stream.close()
        os.close(one.screen)


def compile_some(count: int) -> None:
    for _ in range(count):
        with compiling():
            pass


def test_a_terminal_shows_the_number_of_kernels_and_erases_it(open_terminal):
    terminal = open_terminal()
    compile_some(2)
    assert terminal.written() == SHOWN.format(1) + SHOWN.format(2)


def test_the_line_goes_after_an_error(open_terminal):
    terminal = open_terminal()
    with pytest.raises(KeyboardInterrupt), compiling():
        raise KeyboardInterrupt
    assert terminal.written() == SHOWN.format(1)


def test_a_switch_and_a_dumb_terminal_show_nothing(open_terminal, monkeypatch):
    terminal = open_terminal()
    with config.set(progress=False):
        compile_some(1)
    monkeypatch.setenv("TERM", "dumb")
    compile_some(1)
    assert terminal.written() == ""


def test_the_environment_switches_it_off(open_terminal, monkeypatch):
    terminal = open_terminal()
    monkeypatch.setenv("SEMIRA_PROGRESS", "0")
    config.refresh()
    try:
        compile_some(1)
    finally:
        monkeypatch.delenv("SEMIRA_PROGRESS")
        config.refresh()
    assert terminal.written() == ""


def test_rich_keeps_the_terminal_to_itself(open_terminal):
    terminal = open_terminal()
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True, force_terminal=True)) as bar:
        bar.add_task("reading", total=1)
        compile_some(1)
    assert "compiling" not in terminal.written()
    compile_some(1)
    assert terminal.written().endswith(SHOWN.format(2))


@pytest.mark.parametrize("stream", [None, io.StringIO()])
def test_what_is_no_terminal_shows_nothing(monkeypatch, stream):
    monkeypatch.setattr(sys, "stderr", stream)
    compile_some(1)
    assert stream is None or stream.getvalue() == ""


def test_a_closed_stream_is_no_error(monkeypatch):
    closed = io.StringIO()
    closed.close()
    monkeypatch.setattr(sys, "stderr", closed)
    compile_some(1)


def test_threads_leave_a_clean_line(open_terminal):
    terminal = open_terminal()
    workers = [threading.Thread(target=compile_some, args=(20,)) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    written = terminal.written()
    assert written.count("\x1b7compiling") == written.count("\x1b8\x1b[J") == 80
    assert written.endswith("\x1b8\x1b[J")


@pytest.fixture
def notebook(monkeypatch):
    """Stand-ins for IPython and its display: what each output area shows, in turn."""
    shown: list[list[str]] = []

    class Handle:
        def __init__(self, place: int) -> None:
            self.place = place

        def update(self, data: dict[str, str], *, raw: bool) -> None:
            assert raw
            shown[self.place].append(data["text/plain"])

    def display(data: dict[str, str], *, raw: bool, display_id: bool) -> Handle:
        assert raw
        assert display_id
        shown.append([data["text/plain"]])
        return Handle(len(shown) - 1)

    shell = SimpleNamespace(kernel=object(), execution_count=1)
    root, part = ModuleType("IPython"), ModuleType("IPython.display")
    root.get_ipython, part.display = lambda: shell, display
    monkeypatch.setitem(sys.modules, "IPython", root)
    monkeypatch.setitem(sys.modules, "IPython.display", part)
    return SimpleNamespace(shell=shell, shown=shown)


def test_a_notebook_shows_one_line_in_each_cell(notebook):
    text = "compiling kernels for the first use ({})..."
    compile_some(2)
    notebook.shell.execution_count = 2
    compile_some(1)
    assert notebook.shown == [[text.format(1), "", text.format(2), ""], [text.format(3), ""]]
    with config.set(progress=False):
        compile_some(1)
    assert len(notebook.shown) == 2


def test_ipython_in_a_terminal_uses_the_terminal(notebook, open_terminal):
    terminal = open_terminal()
    del notebook.shell.kernel
    compile_some(1)
    assert not notebook.shown
    assert terminal.written() == SHOWN.format(1)
