"""Find the texts that algorithms ask for on a GPU.

    python -m tests.helpers.known_texts              # compares with those that are recorded
    python -m tests.helpers.known_texts --emulate    # without a GPU, by g++: takes half an hour
    python -m tests.helpers.known_texts --record     # records them, in the package

Every algorithm runs on two small graphs of each dtype, each time in a process of its own.
"""

from __future__ import annotations

import argparse
import itertools
import json
import lzma
import os
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from importlib import resources

from semira.algorithms.registry import REGISTRY
from semira.backends.cuda.jit import compile as compiling
from semira.backends.cuda.jit.compile import Compiled
from semira.backends.cuda.jit.known import FILE, Known, known_texts
from semira.base.errors import GraphblasException, JitError
from semira.cli.ahead import calls_of, graph_of, options_of, wait

_compile = compiling.compile_source

DTYPES = ("BOOL", "INT64", "FP64")
GRAPHS = ("kron:12", "road:48x48")


def asked(algorithm: str, dtype: str, graph: str) -> list[Known]:
    """Return the texts that an ordinary call asks for, each once, in this order.

    The process must not have run anything on device ``cuda`` before.
    """
    row, found = REGISTRY[algorithm], dict[Known, None]()
    matrix = graph_of(graph, dtype, undirected=not row.directed).dup(dtype=dtype).to("cuda")
    matrix.wait()
    places, given = next(calls_of(row))
    witness = found.setdefault
    compiling.witnesses.append(witness)
    try:
        wait(row, row.function(matrix, *places, **options_of(row, given, symmetric=False)))
    except GraphblasException as error:
        # Such as an algorithm that does not take this dtype.
        sys.stderr.write(f"{algorithm} of {dtype}: {error}\n")
    finally:
        compiling.witnesses.remove(witness)
    return list(found)


def asked_apart(task: tuple[str, str, str], *, emulate: bool) -> list[Known]:
    """Return the texts of a call of an algorithm on a graph, in a process of its own."""
    command = [sys.executable, "-m", "tests.helpers.known_texts", "--call", *task]
    env = {**os.environ, "SEMIRA_QUICK": "0", "SEMIRA_OPTIMISE": "0"}
    if emulate:
        command.append("--emulate")
    ran = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    if ran.returncode:
        raise SystemExit(f"{' '.join(task)}: {ran.stderr.strip().rpartition(chr(10))[2]}")
    return [Known(*each) for each in json.loads(ran.stdout)]


def all_asked(
    algorithms: Sequence[str], jobs: int, *, emulate: bool
) -> dict[tuple[str, str], list[Known]]:
    """Return the texts by algorithm and dtype, of all graphs."""
    keys = list(itertools.product(algorithms, DTYPES))
    tasks = [(*key, graph) for key in keys for graph in GRAPHS]
    ask = partial(asked_apart, emulate=emulate)
    with ThreadPoolExecutor(jobs) as pool:
        found = dict(zip(tasks, pool.map(ask, tasks), strict=True))
    return {
        key: list(dict.fromkeys(text for graph in GRAPHS for text in found[(*key, graph)]))
        for key in keys
    }


def record(found: dict[tuple[str, str], list[Known]]) -> int:
    """Write the file; return its size in bytes."""
    numbers: dict[Known, int] = {}
    calls = {
        " ".join(key): [numbers.setdefault(text, len(numbers)) for text in texts]
        for key, texts in found.items()
    }
    packed = lzma.compress(json.dumps({"texts": list(numbers), "calls": calls}).encode(), preset=9)
    path = resources.files("semira.backends.cuda.jit").joinpath(FILE)
    return path.write_bytes(packed)  # type: ignore[attr-defined,no-any-return]


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--record", action="store_true", help="write the file")
    parser.add_argument("--jobs", type=int, default=2, help="processes at a time")
    parser.add_argument("--only", nargs="*", default=list(REGISTRY), help="algorithms to compare")
    parser.add_argument("--emulate", action="store_true", help="on the emulated GPU")
    parser.add_argument("--call", nargs=3, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.call:
        if given.emulate:
            from tests.helpers.emulated import driver

            driver.install()
        else:
            compiling.compile_source = _hurried
        sys.stdout.write(json.dumps(asked(*given.call)))
        return
    if given.record:
        size = record(all_asked(list(REGISTRY), given.jobs, emulate=given.emulate))
        sys.stdout.write(f"{FILE}: {size} bytes\n")
        return
    all_found = all_asked(given.only, given.jobs, emulate=given.emulate)
    for (algorithm, dtype), texts in all_found.items():
        new = set(texts) - set(known_texts(algorithm, dtype))
        sys.stdout.write(f"{algorithm} of {dtype}: {len(new)} of {len(texts)} texts are new\n")


def _hurried(*text: str) -> Compiled:
    """Compile a text, in a hurry where that is possible."""
    try:
        return _compile(*text, hurry=compiling.QUICK)
    except JitError:
        return _compile(*text)


if __name__ == "__main__":
    main()
