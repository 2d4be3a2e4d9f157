"""The long run: hundreds of thousands of drawn cases against SuiteSparse.

    python -m tests.conformance --cases 200000 --seed 1 --record bench/results/conformance.json
    python -m tests.conformance --seed 1 --only 17:345

The second line repeats one case of a run with the same seed and number of kinds.

    python -m tests.conformance --device cuda --listed --cases 50000

stays within the list of kernels (tests/helpers/kernels.py): the statements are those of the
cover that CI runs, the operands are drawn. What is not in the list is left out before anything
is compiled, and counted.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from tests.conformance.cases import (
    Case,
    Kind,
    cover,
    draw_case,
    drawn_situation,
    listed_cases,
    long_cases,
    many_kinds,
)
from tests.conformance.running import Difference, compare, run_theirs
from tests.conftest import DEFAULT_SEED
from tests.helpers import kernels

SCHEMA = 1
_SHOWN = 60
#: Cases drawn for each one that is to be in the list.
_PATIENCE = 20


def main(arguments: list[str] | None = None) -> int:
    """Run the cases; the exit status is 1 if any of them differs."""
    given = _parse(arguments)
    if given.listed:
        return _listed(given)
    kinds = many_kinds(given.seed, given.kinds)
    if given.only:
        return _again(kinds, given)
    run = _Run(given)
    for case in _progress(_all_cases(kinds, given), given.cases):
        run.check(case)
    return _report(run, kinds, given)


def _listed(given: argparse.Namespace) -> int:
    """Run cases of the cover's statements until so many of them were in the list."""
    kernels.Guard().watch()
    drawn = cover(DEFAULT_SEED, 1)
    run = _Run(given)
    with kernels.watched(None) as asked:
        _run_listed(run, drawn, given)
    outside = kernels.outside(asked)
    _say(*(f"not in the list:\n{source}" for source in outside[:3]))
    return _report(run, list(drawn), given) or int(bool(outside))


def _run_listed(run: _Run, drawn: dict[Kind, list[Case]], given: argparse.Namespace) -> None:
    for at, (kind, rows) in enumerate(drawn.items()):
        last = given.cases * (at + 1) // len(drawn)
        left = _PATIENCE * (last - run.cases)
        for case in islice(listed_cases(given.seed, rows, at, 0), left):
            if run.cases >= last:
                break
            run.check(case)
        sys.stderr.write(f"{kind}: {run.cases} cases, {run.left_out} left out\n")


def _report(run: _Run, kinds: list[Kind], given: argparse.Namespace) -> int:
    summary = run.summary(kinds)
    _say(json.dumps(summary, indent=1), *run.shown.values())
    if given.record:
        given.record.write_text(json.dumps(summary, indent=1) + "\n", encoding="utf-8")
    return 1 if run.differences else 0


def _say(*texts: str) -> None:
    sys.stdout.write("".join(text + "\n" for text in texts))


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.conformance",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--cases", type=int, default=200_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kinds", type=int, default=120, help="operation x operator x dtypes")
    parser.add_argument("--device", action="append", help="repeatable; default: cpu")
    parser.add_argument("--only", help="run one case, such as 17:345")
    parser.add_argument("--listed", action="store_true", help="stay within the listed kernels")
    parser.add_argument("--record", type=Path, help="write the summary to this file")
    given = parser.parse_args(arguments)
    given.device = given.device or ["cpu"]
    return given


def _again(kinds: list[Kind], given: argparse.Namespace) -> int:
    import numpy as np

    at, number = (int(part) for part in given.only.split(":"))
    rng = np.random.default_rng([given.seed, at, number])
    case = draw_case(given.only, kinds[at], drawn_situation(kinds[at], rng), rng)
    _say(str(case))
    theirs = run_theirs(case)
    for device in given.device:
        compare(case, theirs, device)
        _say(f"{device}: equal")
    return 0


def _all_cases(kinds: list[Kind], given: argparse.Namespace) -> Iterator[Case]:
    """Yield the cases kind by kind: a kernel is compiled once and used hundreds of times."""
    for at, kind in enumerate(kinds):
        first, last = (given.cases * k // len(kinds) for k in (at, at + 1))
        yield from long_cases(kind, given.seed, at, 0, last - first)


def _progress(cases: Iterator[Case], total: int) -> Iterator[Case]:
    start = said = time.monotonic()
    for number, case in enumerate(cases):
        yield case
        now = time.monotonic()
        if now - said > 20:
            said = now
            left = (now - start) * (total - number) / (number + 1)
            sys.stderr.write(f"{number + 1} of {total} cases, about {left:.0f} s left\n")


class _Run:
    """Counts of one run."""

    def __init__(self, given: argparse.Namespace) -> None:
        self.given = given
        self.cases = 0
        self.differences = 0
        self.left_out = 0
        self.refused: Counter[str] = Counter()
        self.by_operation: Counter[str] = Counter()
        self.shown: dict[str, str] = {}
        self.start = time.monotonic()

    def check(self, case: Case) -> None:
        """Run one case in SuiteSparse and on every device."""
        self.cases += 1
        self.by_operation[case.kind.operation] += 1
        try:
            theirs = run_theirs(case)
        except Exception as error:  # noqa: BLE001 - what SuiteSparse refuses is counted by name
            self.refused[f"{case.kind.operation}: {type(error).__name__}"] += 1
            self._show(f"refused: {case.kind}", f"SuiteSparse: {error!r}\n{case}")
            return
        for device in self.given.device:
            try:
                compare(case, theirs, device)
            except Difference as difference:
                if isinstance(difference.__cause__, kernels.NotListed):
                    self.left_out += 1
                    self.cases -= 1
                    self.by_operation[case.kind.operation] -= 1
                    return
                self.differences += 1
                self._show(f"{device}: {case.kind}", str(difference))

    def _show(self, group: str, text: str) -> None:
        """Keep one text of each group."""
        if len(self.shown) < _SHOWN:
            self.shown.setdefault(group, text)

    def summary(self, kinds: list[Kind]) -> dict[str, Any]:
        """Return the record of the run."""
        from semira.backends.cpu import cache
        from semira.bench.environment import describe_environment

        seconds = time.monotonic() - self.start
        met = cache.kernels_met()
        return {
            "schema": SCHEMA,
            "environment": describe_environment(),
            "seed": self.given.seed,
            "devices": self.given.device,
            "cases": self.cases,
            "kinds": len(kinds),
            "differences": self.differences,
            "left_out_of_the_list": self.left_out,
            "refused_by_suitesparse": dict(self.refused),
            "seconds": round(seconds, 1),
            "cases_per_s": round(self.cases / seconds, 1),
            "distinct_kernels": len(met),
            "compiled_functions": sum(met.values()),
            "functions_compiled_in_this_run": len(cache.compiled),
            "dtypes": dict(sorted(Counter(kind.dtype for kind in kinds).items())),
            "cases_by_operation": dict(sorted(self.by_operation.items())),
        }


if __name__ == "__main__":
    raise SystemExit(main())
