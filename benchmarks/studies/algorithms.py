"""Measure all algorithms in whole calls, beside NetworkX, SciPy, igraph and NetworKit.

SciPy or NumPy checks every result by another method or by sufficient properties; checks that would
take too long are skipped with a note. Other libraries run where they are installed and have the
same algorithm, on the same graph, which is converted before the clock starts.

Examples
--------
python -m benchmarks algorithms --quick
python -m benchmarks algorithms --graphs minnesota --out algorithms.jsonl
python -m benchmarks algorithms --device cuda --processes 12 --limit 130 --out algorithms.jsonl
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.algorithm_runs import CASES, AlgorithmsRequest, run_algorithms
from benchmarks.algorithm_tables import algorithms_table, losses_to, means_table
from benchmarks.harness import Options, Say, Study, option
from benchmarks.studies.selection import choose_cases
from semira.bench.record import Record
from semira.cli.bench import split_names


def cases_of(text: str) -> tuple[str, ...]:
    """Return the algorithms whose names contain one of the parts.

    Raises
    ------
    InvalidValue
        There is none.

    Examples
    --------
    >>> cases_of("truss,HITS")
    ('4-truss', '10-truss', 'HITS')
    """
    return tuple(choose_cases(CASES, split_names(text), "algorithm"))


@dataclass(frozen=True, slots=True)
class AlgorithmsOptions(Options):
    """Options of the study."""

    graphs: Sequence[str] = option(AlgorithmsRequest().graphs, quick=("kron:7", "road:12x12"))
    trials: int = option(3, quick=1)
    seconds: float = option(0.5, quick=0.05)
    names: Sequence[str] = option(
        tuple(CASES), "Parts of names of algorithms.", flag="--only", parse=cases_of
    )
    peers: bool = option(True, "Run other libraries too, up to 5 s a call.")
    processes: int = option(1, "Processes that compile first, if above 1.", least=1)


class _Algorithms(Study):
    """The study that runs the sweep of `benchmarks.algorithm_runs`."""

    def run(
        self,
        options: Any = None,
        *,
        out: Path | None = None,
        append: bool = False,
        say: Say = lambda _text: None,
        done: Callable[[Record], None] = lambda _record: None,
    ) -> list[Record]:
        """Measure and check every case; see `Study.run`."""
        asked = asdict(options or self.options())
        request = AlgorithmsRequest(limit_s=asked.pop("limit"), append=append, **asked)
        return run_algorithms(request, out=out, say=say, done=done)


STUDY = _Algorithms(
    __doc__,
    AlgorithmsOptions,
    lambda _options, _point: (),
    {
        "Algorithms": algorithms_table,
        "Times of other libraries over ours": means_table,
        "Cases in which NetworkX is faster": losses_to("networkx"),
    },
)
