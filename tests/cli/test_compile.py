"""``semira compile``: later runs find every kernel, and a miss says why."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.helpers.emulated import build
from tests.unit.backends.cuda.test_compile import needs_nvrtc

from semira.backends.cuda.jit.cache import digest
from semira.backends.cuda.jit.known import known_texts

ROOT = Path(__file__).resolve().parents[2]


def python(folder: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a fresh interpreter with an own cache."""
    known = {"SEMIRA_CACHE_DIR": str(folder), "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}"}
    given = {**os.environ, "SEMIRA_THREADS": "2", **known, **variables}
    return subprocess.run(
        [sys.executable, *arguments], env=given, capture_output=True, text=True, check=False
    )


def semira(folder: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return python(folder, "-m", "semira", *arguments, **variables)


@pytest.mark.slow
def test_a_run_on_cpu_compiles_nothing_afterwards(tmp_path):
    made = semira(tmp_path, "compile", "bfs", "--dtype", "BOOL", "--jobs", "1", "--json")
    assert made.returncode == 0, made.stderr
    told = json.loads(made.stdout)
    assert told["compiled"] >= 3
    assert told["megabytes"] > 0
    graphs = ("kron:11", "er:500", "road:30x20", "grid:3x3")
    ran = python(tmp_path, "-c", SEARCHES, *graphs, SEMIRA_NO_COMPILE="1")
    searched, missed = ran.stderr.split("searched all")
    assert not searched
    assert ran.returncode == 1
    assert "does not ask for it (algorithms bfs; dtypes BOOL)" in missed
    logged = python(tmp_path, "-c", LOGGED)
    assert logged.stderr.count("does not ask for it (algorithms bfs; dtypes BOOL)") == 1


#: Searches in several graphs, and then asks for what was not compiled.
SEARCHES = """
import sys
from semira.cli.main import app
for graph in sys.argv[1:]:
    app(["run", "bfs", graph], standalone_mode=False)
print("searched all", end="", file=sys.stderr, flush=True)
app(["run", "pagerank", "kron:6"])
"""

#: Two kernels are compiled; the log explains the first.
LOGGED = """
import logging
logging.basicConfig()
logging.getLogger("semira").setLevel(logging.INFO)
import semira as gb
v = gb.Vector.from_coo([0, 1], [1, 2], size=3, dtype="INT8")
v.apply(gb.unary.sqrt).new().wait()
v.ewise_add(v, gb.binary.max).new().wait()
"""

#: Asks for one kernel.
ADDED = "import semira as gb; v = gb.Vector.from_coo([0, 2], [1, 2], size=3); (v + v).new().wait()"


def test_a_processor_takes_code_for_any(tmp_path):
    assert python(tmp_path, "-c", ADDED, SEMIRA_NO_COMPILE="1").returncode == 1
    assert python(tmp_path, "-c", ADDED, NUMBA_CPU_NAME="generic").returncode == 0
    found = python(tmp_path, "-c", ADDED, SEMIRA_NO_COMPILE="1")
    assert found.returncode == 0, found.stderr


#: Prints the texts that a search asks for on an emulated GPU, as digests.
EMULATED = """
from tests.helpers.emulated import driver
driver.install()
import semira as gb
from semira.backends.cuda.jit import compile
from semira.backends.cuda.jit.cache import digest
asked = []
compile.witnesses.append(lambda text: asked.append(digest(text.root, text.source)))
A = gb.Matrix.from_coo([0, 1, 2, 2, 5], [1, 2, 0, 3, 4], 1.5, nrows=6, ncols=6).to("cuda")
for parents in (False, True):
    gb.algorithms.bfs(A, 2, parents=parents).level.wait()
print(*asked)
"""

#: Prints those that are compiled ahead of time.
LISTED = """
from semira.backends.cuda.jit.cache import digest
from semira.cli.ahead import texts_for_cuda
print(*(digest(text.root, text.source) for text in texts_for_cuda("bfs", ["FP64"])[0]))
"""


@pytest.mark.skipif(not build.has_compiler(), reason="needs g++ on an x86-64 processor, and Linux")
def test_a_gpu_asks_for_no_other_text(tmp_path):
    asked, listed = python(tmp_path, "-c", EMULATED), python(tmp_path, "-c", LISTED)
    assert asked.returncode == listed.returncode == 0, asked.stderr + listed.stderr
    assert len(asked.stdout.split()) >= 2
    assert not {*asked.stdout.split()} - {*listed.stdout.split()}
    # Those that threads compile beforehand: python -m tests.helpers.known_texts --record
    known = {digest(text.root, text.source) for text in known_texts("bfs", "FP64")}
    assert known
    assert not known - {*listed.stdout.split()}


#: The command line, which compiles few of the texts that no algorithm owns; so do its processes.
FEW = """
from semira.backends.cuda import listing
listing.BASE = listing.BASE[-3:]
if __name__ == "__main__":
    from semira.cli.main import main
    main()
"""


@needs_nvrtc
@pytest.mark.slow
def test_cubins_are_kept_without_a_gpu(tmp_path):
    program = tmp_path / "few.py"
    program.write_text(FEW)
    options = ("--dtype", "BOOL", "--arch", "sm_90", "--small", "--json", "--jobs")
    command = [str(program), "compile", "graph_colouring", *options]
    told = [json.loads(python(tmp_path, *command, jobs).stdout) for jobs in "21"]
    assert told[0]["compiled"] == told[1]["found"] > 10
    assert told[0]["found"] == told[1]["compiled"] == 0
    assert len(list((tmp_path / "cuda").glob("program-*.cubin"))) >= 1


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["pagerenk"], "did you mean 'pagerank'?"),
        (["bfs", "--dtype", "FP65"], "FP65"),
        (["bfs", "--dtype", ","], "give names separated by commas"),
        (["bfs", "--arch", "90"], "give names such as sm_80,sm_90"),
        (["bfs", "--arch", "sm_90", "--device", "cpu"], "add --device cuda"),
        (["bfs", "--arch", "sm_90", "--cpu", "generic"], "--cpu is for --device cpu"),
    ],
)
def test_what_cannot_be_meant_is_refused(invoke, arguments, told):
    result = invoke("compile", *arguments)
    assert result.exit_code != 0
    assert told in " ".join(result.output.replace("│", " ").split())
