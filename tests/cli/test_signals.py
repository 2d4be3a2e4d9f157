"""Ctrl-C of the program: code 130, one line at most and no traceback, within a second."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2] / "src"

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals are others here")

PRESS = """
import os, signal, sys, time
def press():
    os.kill(os.getpid(), signal.SIGINT)
"""

#: Ctrl-C while a module is imported: one of the program, and one that a command needs.
IMPORTING = """
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            press()
            time.sleep(0.01)
sys.meta_path.insert(0, Finder())
sys.argv = ["semira", *{args!r}]
from semira.__main__ import main
main()
"""

#: A command that does not get to its end: Ctrl-C waits, and a file is half written.
STUCK = """
from semira.base.interrupts import deferred
from semira.cli import signals
from semira.files.output import open_output
signals.take_over()
with signals.command_running(), open_output({path!r}) as file, deferred():
    file.write(b"half")
    print("ready", flush=True)
    time.sleep(60)
"""


def run(text: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", PRESS + text],
        env=os.environ | {"PYTHONPATH": str(SOURCE)},
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip


# All of them are imported before anything of the command line is read.
@pytest.mark.parametrize(
    ("module", "args"),
    [
        ("typer", ["--version"]),
        ("semira.cli.run", ["generate", "grid:2x2"]),
        ("numpy", ["--version"]),
    ],
)
def test_while_the_program_starts_it_ends_silently(module, args):
    done = run(IMPORTING.format(module=module, args=args))
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


def test_while_a_command_imports_it_is_one_line():
    done = run(IMPORTING.format(module="semira.algorithms.bfs", args=["run", "bfs", "grid:2x2"]))
    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr == "semira: interrupted\n"


def test_ignored_stays_ignored(tmp_path):
    text = "signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
    done = run(text + IMPORTING.format(module="typer", args=["--version"]))
    assert (done.returncode, done.stderr) == (0, "")


def test_what_does_not_end_is_ended_and_leaves_no_half_file(tmp_path):
    target = tmp_path / "out.bin"
    with subprocess.Popen(
        [sys.executable, "-c", PRESS + STUCK.format(path=str(target))],
        env=os.environ | {"PYTHONPATH": str(SOURCE)},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        assert process.stdout.readline() == "ready\n"
        start_s = time.monotonic()
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
        elapsed_s = time.monotonic() - start_s
    assert process.returncode == 130
    assert errors == "semira: interrupted\n"
    assert not list(tmp_path.iterdir())
    assert elapsed_s < 10  # half a second where the machine is not busy


def test_after_the_command_its_outcome_stays():
    text = """
import atexit
atexit.register(press)
sys.argv = ["semira", "--version"]
from semira.__main__ import main
main()
"""
    done = run(text)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("semira ")
