"""The score: how many of upstream's tests pass, per file, measured and compared with the docs."""

from __future__ import annotations

import argparse
import itertools
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from tests.pgb.aliases import WrongModuleError, find_tests

import semira

BEGIN = "<!-- conformance: begin -->"
END = "<!-- conformance: end -->"

_ROOT = Path(__file__).resolve().parents[2]

#: Seconds a process may take; files that take longer count as broken.
_LIMIT_S = 900

#: Bytes of files that have a process each, and others that have: they look at modules as
#: they are before anything is used, or compile for long.
_LARGE = 100_000
_ALONE = ("test_auto_init.py", "test_core.py", "test_external_init.py", "test_numpyops.py")


@dataclass(frozen=True, slots=True)
class FileScore:
    """Outcomes of one test file.

    Attributes
    ----------
    name : str
    counts : Counter of str
        ``passed``, ``xfailed`` (listed, with a reason), ``failed``, ``xpassed``, ``skipped``.
    problems : tuple of str
        What was not expected, one line each.
    reasons : Counter of str
        Reasons of the expected failures.
    """

    name: str
    counts: Counter[str]
    problems: tuple[str, ...]
    reasons: Counter[str]

    @property
    def ran(self) -> int:
        """Number of tests that were not skipped."""
        return sum(self.counts.values()) - self.counts["skipped"]


def score_of(name: str, outcomes: dict[str, dict[str, str]]) -> FileScore:
    """Return the score of the outcomes that the plugin wrote for one file."""
    counts: Counter[str] = Counter()
    problems, reasons = [], []
    for test, found in outcomes.items():
        outcome = found["outcome"]
        counts[outcome] += 1
        if outcome == "failed":
            problems.append(f"{test}: {' '.join(found['reason'].split())[:160]}")
        elif outcome == "xfailed":
            reasons.append(found["reason"])
    return FileScore(name, counts, tuple(problems), Counter(reasons))


def run_together(paths: Sequence[Path], *, raw: bool = False) -> list[FileScore]:
    """Run test files in one process and return their scores.

    Raises
    ------
    WrongModuleError
        The process tested another module than this Semira.
    """
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        # Tracebacks of Python's own: pytest parses a test file for each, and expects most failures.
        command = [
            sys.executable, "-m", "pytest", "-p", "tests.pgb.plugin", "-p", "no:cacheprovider",
            "-c", str(_empty_config(folder)), "--rootdir", str(paths[0].parent), "--quiet",
            "--tb=native", f"--pgb-report={report}", *(["--pgb-raw"] if raw else []),
            *map(str, paths),
        ]  # fmt: skip
        try:
            done = subprocess.run(
                command, cwd=folder, capture_output=True, text=True, timeout=_LIMIT_S, check=False,
                env=_environment(),
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            slow = (f"longer than {_LIMIT_S} s",)
            return [FileScore(path.name, Counter(failed=1), slow, Counter()) for path in paths]
        if done.returncode == 3:
            raise WrongModuleError(done.stdout.strip().splitlines()[-1])
        written = json.loads(report.read_text()) if report.exists() else {}
    crashed = done.returncode not in (0, 1, 5)
    if crashed and len(paths) > 1:
        return [score for path in paths for score in run_together([path], raw=raw)]
    outcomes: dict[str, dict[str, Any]] = {path.name: {} for path in paths}
    for test, found in written.get("tests", {}).items():
        outcomes[test.partition("::")[0]][test] = found
    scores = [score_of(name, found) for name, found in outcomes.items()]
    if crashed:
        (score,) = scores
        last = (done.stdout + done.stderr).strip().splitlines()[-1:]
        problems = (*score.problems, f"{score.name} did not run to its end: {' '.join(last)}")
        return [FileScore(score.name, score.counts + Counter(failed=1), problems, score.reasons)]
    return scores


def _environment() -> dict[str, str]:
    """Return the environment of the process: this very Semira is found first, then the plugin."""
    homes = (str(Path(semira.__file__).parents[1]), str(_ROOT), os.environ.get("PYTHONPATH", ""))
    return {**os.environ, "PYTHONPATH": os.pathsep.join(homes)}


def _empty_config(folder: str) -> Path:
    config = Path(folder) / "pytest.ini"
    config.write_text("[pytest]\n")
    return config


def table(scores: Sequence[FileScore]) -> Iterator[str]:
    """Yield the Markdown table of the scores, then the reasons of the expected failures."""
    columns = ("passed", "xfailed", "failed", "xpassed", "skipped")
    yield "| file | run | passed | expected failures | failed | passed unexpectedly | skipped |"
    yield "|---|---:|---:|---:|---:|---:|---:|"
    total: Counter[str] = Counter()
    for score in scores:
        total += score.counts
        cells = " | ".join(str(score.counts[column]) for column in columns)
        yield f"| `{score.name}` | {score.ran} | {cells} |"
    ran = sum(total.values()) - total["skipped"]
    yield f"| **all** | {ran} | {' | '.join(str(total[column]) for column in columns)} |"
    reasons = sum((score.reasons for score in scores), Counter[str]())
    if reasons:
        yield ""
        yield "| tests | why they are expected to fail |"
        yield "|---:|---|"
        for reason, number in sorted(reasons.items(), key=lambda pair: (-pair[1], pair[0])):
            yield f"| {number} | {reason.replace('|', chr(92) + '|')} |"


def replace_between_markers(text: str, body: str) -> str:
    """Return `text` with what stands between the two markers replaced by `body`.

    Raises
    ------
    ValueError
        A marker is missing.
    """
    if BEGIN not in text or END not in text:
        raise ValueError(f"the page has no markers {BEGIN} ... {END}")
    before, _, rest = text.partition(BEGIN)
    after = rest.partition(END)[2]
    return f"{before}{BEGIN}\n{body}\n{END}{after}"


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "unknown"


def run_files(paths: Sequence[Path], *, raw: bool = False) -> list[FileScore]:
    """Run test files, as many at a time as there are cores; return their scores, by name.

    Raises
    ------
    WrongModuleError
        As `run_together`.
    """
    # What takes longest comes first: large files, and one that compiles for every test. A process
    # takes a second to begin.
    alone = [path for path in paths if path.stat().st_size > _LARGE or path.name in _ALONE]
    alone.sort(key=lambda p: (p.name != "test_numpyops.py", -p.stat().st_size))
    groups = [[path] for path in alone]
    groups[1:1] = filter(None, [[path for path in paths if path not in alone]])
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        found = list(pool.map(lambda group: run_together(group, raw=raw), groups))
    return sorted(itertools.chain(*found), key=lambda score: score.name)


def check_page(page: Path, body: str, *, write: bool) -> str | None:
    """Compare what stands between the markers of a page with `body`, or write it there.

    Returns
    -------
    str or None
        What is wrong with the page; None if it agrees.
    """
    text = page.read_text(encoding="utf-8")
    wanted = replace_between_markers(text, body)
    if text == wanted:
        return None
    if write:
        page.write_text(wanted, encoding="utf-8")
        return None
    if find_spec("fast_matrix_market") is None:
        sys.stdout.write(
            f"{page} is not compared: without fast_matrix_market (Python 3.12 at most) two tests "
            "are skipped\n"
        )
        return None
    differing = sorted(set(body.splitlines()) - set(text.splitlines()))
    listed = "\n    ".join(differing or ["(lines are gone or in another order)"])
    return (
        f"the score in {page} is not that of this run, which says:\n    {listed}\n"
        "`make conformance ARGS=--write` writes it anew"
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the installed tests, print the score, and compare a page with it if asked to.

    Returns
    -------
    int
        0 if every test passed or failed as listed and the page agrees, else 1.
    """
    parser = argparse.ArgumentParser(prog="python -m tests.pgb", description=main.__doc__)
    parser.add_argument("files", nargs="*", help="names such as test_matrix.py; all if none")
    parser.add_argument("--docs", type=Path, help="page whose score must be that of all files")
    parser.add_argument("--write", action="store_true", help="write the score into the page")
    parser.add_argument("--raw", action="store_true", help="do not expect any failure")
    options = parser.parse_args(arguments)
    folder = find_tests()
    names = options.files or sorted(path.name for path in folder.glob("test_*.py"))
    scores = run_files([folder / name for name in names], raw=options.raw)
    for score in scores:
        sys.stdout.write(f"{score.name}: {score.counts['passed']} of {score.ran} passed\n")
        for problem in score.problems:
            sys.stdout.write(f"    {problem}\n")
    heading = (
        f"Measured with python-graphblas {_version('python-graphblas')}, "
        f"Semira {semira.__version__}."
    )
    body = "\n".join(["", heading, "", *table(scores), ""])
    sys.stdout.write(f"{body}\n")
    wrong = None
    if options.docs is not None and not options.files and not options.raw:
        wrong = check_page(options.docs, body, write=options.write)
    if wrong is not None:
        sys.stderr.write(f"{wrong}\n")
    return int(wrong is not None or any(score.problems for score in scores))
