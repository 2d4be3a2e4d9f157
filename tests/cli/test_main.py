"""The program as a whole: help, exit codes, what errors look like."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from semira.cli import info

SOURCE = Path(__file__).resolve().parents[2] / "src"
COMMANDS = ("run", "info", "generate", "convert", "plan", "datasets", "doctor", "demo")
HEAVY = ("numba", "scipy", "matplotlib", "cupy", "networkx", "pydantic")

PROBE = """
import sys
from semira.cli.main import app, main
sys.argv = ["semira", "--help"]
try:
    main()
except SystemExit as ended:
    assert ended.code == 0
app(["info", "grid:2x2", "--json"], standalone_mode=False)
print(*sorted(name for name in sys.modules if "." not in name), file=sys.stderr)
"""


def start(*command: str, **how: object) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, *command],
        env=os.environ | {"PYTHONPATH": str(SOURCE)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        **how,
    )


def test_short_commands_load_nothing_heavy():
    with start("-c", PROBE) as process:
        _, errors = process.communicate()
    assert process.returncode == 0, errors.decode()
    assert not set(errors.decode().split()).intersection(HEAVY)


def test_help_lists_every_command_with_examples(invoke):
    result = invoke("--help")
    assert result.exit_code == 0
    for command in COMMANDS:
        assert f" {command} " in result.stdout
        page = invoke(command, "--help")
        assert page.exit_code == 0
        assert f"semira {command}" in page.stdout


def test_version_is_printed(invoke):
    import semira

    assert invoke("--version").stdout == f"semira {semira.__version__}\n"


@pytest.mark.parametrize(
    "args", [("nonsense",), ("info",), ("run", "dfs", "kron:4"), ("info", "kron:4", "--wrong")]
)
def test_wrong_usage_exits_with_2(invoke, args):
    result = invoke(*args)
    assert result.exit_code == 2
    assert result.stderr


def test_semira_error_is_one_line_and_exit_code_1(invoke, tmp_path):
    result = invoke("info", tmp_path / "absent.mtx")
    assert result.exit_code == 1
    assert result.stdout == ""
    assert result.stderr.startswith("semira: MissingFile: ")
    assert result.stderr.count("\n") == 1
    assert "absent.mtx" in result.stderr


@pytest.mark.parametrize("at", [0, 1, 2])
def test_debug_shows_the_traceback_wherever_it_stands(invoke, tmp_path, at):
    args = ["info", tmp_path / "absent.mtx"]
    args.insert(at, "--debug")
    result = invoke(*args)
    assert result.exit_code == 1
    assert "Traceback (most recent call last)" in result.stderr
    assert result.stderr.strip().split("\n")[-1].startswith("semira: MissingFile: ")


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (MemoryError("4 TB"), 1, "out of memory: 4 TB"),
        (OSError(5, "Input/output error", "x.csv"), 1, "x.csv: Input/output error"),
        (KeyboardInterrupt(), 130, "interrupted"),
        (ZeroDivisionError("by 0"), 1, "internal error: ZeroDivisionError: by 0"),
    ],
)
def test_everything_else_is_reported_on_one_line(invoke, monkeypatch, error, code, words):
    def fail(*args: object) -> None:
        raise error

    monkeypatch.setattr(info, "load_graph", fail)
    result = invoke("info", "kron:4")
    assert result.exit_code == code
    assert words in result.stderr
    assert result.stderr.count("\n") == 1


#: Runs commands with unusual streams, each in a child that ends as any process does; prints how.
CHILDREN = """
import contextlib, json, os, sys, tempfile
from semira.cli.main import app, main

# Loads what the commands need, once.
with open(os.devnull, "w") as nothing, contextlib.redirect_stdout(nothing):
    for line in ("info grid:2x2", "run bfs grid:2x2 --device reference", "convert grid:2x2"):
        app(line.split(), standalone_mode=False)

def redirect(how, errors):
    os.dup2(errors.fileno(), 2)
    if how == "full":
        os.dup2(os.open("/dev/full", os.O_WRONLY), 1)
    elif how == "closed pipe":
        reading, writing = os.pipe()
        os.dup2(writing, 1)
        os.close(reading)
        os.close(writing)
    else:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        for number, name in enumerate(("stdin", "stdout", "stderr")):
            if name in how:
                os.close(number)
                # As at the start of an interpreter.
                setattr(sys, name, None)
                setattr(sys, f"__{name}__", None)

found = []
for how, line in json.load(sys.stdin):
    with tempfile.TemporaryFile() as errors:
        child = os.fork()
        if not child:
            sys.argv = ["semira", *line]
            redirect(how, errors)
            main()
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        errors.seek(0)
        found.append((code, errors.read().decode()))
print(json.dumps(found))
"""

_GONE = [("convert", "er:20000"), ("generate", "--list")]
_BFS = ("run", "bfs", "grid:3x3", "--device", "reference")
_HELP = [("run", "--help"), ("run", "bfs", "--help")]
_FULL = [_BFS, (*_BFS, "--json"), ("generate", "--list"), *_HELP]
_CLOSED = ["stdout", "stderr", "stdout and stderr"]
#: Streams and commands, and how they must end.
ENDS = {
    **{("closed pipe", line): (141, "") for line in _GONE},
    **{("full", line): (1, "semira: standard output: No space left on device\n") for line in _FULL},
    **{(how, line): (0, "") for how in _CLOSED for line in (("info", "er:10"), _BFS)},
}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_streams_that_cannot_be_written_are_no_bug():
    with start("-c", CHILDREN, stdin=subprocess.PIPE) as process:
        output, errors = process.communicate(json.dumps([*ENDS]).encode())
    assert not errors
    found = dict(zip(ENDS, map(tuple, json.loads(output)), strict=True))
    assert found == ENDS


def test_reader_that_goes_away_is_no_error():
    with start("-m", "semira.cli.main", "generate", "--list") as process:
        process.stdout.close()
        errors = process.stderr.read()
        assert process.wait() == 141
    assert errors == b""


@pytest.mark.skipif(os.name == "nt", reason="needs a shell")
def test_a_process_without_standard_output_works():
    line = f"{sys.executable} -m semira info er:10 >&- 2>&-"
    done = subprocess.run(
        ["/bin/sh", "-c", line], env=os.environ | {"PYTHONPATH": str(SOURCE)},
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_a_full_disk_is_no_bug():
    full = os.open("/dev/full", os.O_WRONLY)
    try:
        ended = subprocess.run(
            [sys.executable, "-m", "semira.cli.main", "info", "grid:3x3"],
            env=os.environ | {"PYTHONPATH": str(SOURCE)},
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
        )
    finally:
        os.close(full)
    assert ended.returncode == 1
    assert ended.stderr.decode() == "semira: standard output: No space left on device\n"


def test_wrong_usage_of_the_process_is_exit_code_2():
    """The other codes are those of the processes above."""
    with start("-m", "semira.cli.main", "inform") as process:
        process.communicate()
    assert process.returncode == 2


EVIL = "\x1b[31m\x07\x9b31m\u202e"


@pytest.mark.parametrize(
    "line",
    [
        ["run", "pagerank", "{file}"],
        ["run", "pagerank", "{file}", "--json"],
        ["run", "bfs", "{file}", "--source", "nobody"],
        ["info", "{file}"],
        ["info", "{file}", "--json"],
        ["info", "{file}.missing"],
        ["info", "{file}", "--format", "mtx"],
        ["plan", "bfs", "{file}"],
        ["convert", "{file}", "{file}.xyz"],
        ["info", "{file}", "--columns", EVIL],
        ["info", "{file}", "--x" + EVIL],
        [EVIL],
    ],
    ids=" ".join,
)
def test_names_and_labels_cannot_control_the_terminal(invoke, tmp_path, on_reference, line):
    path = tmp_path / f"g{EVIL}.txt"
    path.write_text(f"a{EVIL} b{EVIL}\nb{EVIL} c\n", encoding="utf-8")
    result = invoke(*(part.format(file=path) for part in line))
    text = result.stdout + result.stderr
    assert "internal error" not in text
    assert r"\x1b[31m" in text or r"\u001b[31m" in text
    assert not {"\x1b", "\x07", "\x9b", "\u202e"} & set(text)


def test_data_keeps_its_control_characters(invoke, tmp_path, on_reference):
    path = tmp_path / "g.txt"
    path.write_text(f"a{EVIL} b\nb c\n", encoding="utf-8")
    result = invoke("run", "pagerank", path, "--out", tmp_path / "ranks.csv")
    assert result.exit_code == 0
    assert f"a{EVIL}" in (tmp_path / "ranks.csv").read_text(encoding="utf-8")


def test_warnings_of_the_package_reach_whoever_runs_the_program():
    text = (
        "from semira.cli import main; "
        "main.app = lambda **_: main.logger.warning('the cache is full'); main.main()"
    )
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    assert done.stderr == "semira: the cache is full\n"
