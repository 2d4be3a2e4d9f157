"""Time of an iteration on the GPU, split at the barriers of the program.

    python -m benchmarks.scripts.phases_gpu minnesota,USA-road-NE pagerank,sssp --out phases.json

`benchmarks.studies.phases` defines the phases and what counts as a product; * marks products.
The file is written after each case.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from pathlib import Path
from typing import Any

from benchmarks.studies.phases import (
    CASES,
    is_product_launch,
    is_product_phase,
    measure_phases,
    times_of,
)

from semira.bench.environment import describe_environment


def report(case: dict[str, Any]) -> None:
    """Print a case."""
    whole, products = times_of(case)
    lines = [
        f"\n{case['graph']} {case['algorithm']}: {case['iterations']} iterations, {whole:.3f} ms",
        f"  {products / whole:.1%} in products",
        *(
            f"  {row['program']}:{row['from']:>2} ->{row['to']:>2} x{row['times']:<6} "
            f"{row['us']:8.2f} us {row['us'] * row['times'] / 1e3 / whole:6.1%} "
            f"{'*' if is_product_phase(row) else ' '} {' '.join(row['what'])[:90]}"
            for row in case["phases"]
        ),
        *(
            f"  launches x{row['launches']:<6} {1e3 * row['ms']:8.2f} us {row['ms'] / whole:6.1%} "
            f"{'*' if is_product_launch(row) else ' '} {row['name']}"
            for row in case["launches"]
        ),
    ]
    if case["lost"]:
        lines.append(f"  {case['lost']} launches of programs are missing here")
    if case["each"]:
        steps = [f"{before}>{here} {us}" for _, before, here, us in case["each"]]
        lines.append("  " + ", ".join(steps))
    print("\n".join(lines), flush=True)


def main() -> int:
    """Measure, print, and write the record after each case; 1 if there are no cases."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("graphs", help="names, separated by commas")
    parser.add_argument("algorithms", help=f"of {', '.join(CASES)}")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--data", type=Path, help="folder of named graphs")
    parser.add_argument("--limit", type=float, default=math.inf, help="latest start of a case, s")
    parser.add_argument("--each", action="store_true", help="also print each phase in order")
    given = parser.parse_args()
    names = given.algorithms.split(",")
    if unknown := [name for name in names if name not in CASES]:
        parser.error(f"{', '.join(unknown)}: there are {', '.join(CASES)}")
    found: dict[str, Any] = {
        "schema": "semira-phases/1", "environment": describe_environment("cuda"), "results": [],
    }  # fmt: skip
    cases = measure_phases(
        given.graphs.split(","), names, data=given.data, limit=given.limit, each=given.each,
        say=lambda text: print(text, file=sys.stderr),
    )  # fmt: skip
    for case in cases:
        report(case)
        found["results"].append({key: value for key, value in case.items() if key != "each"})
        if given.out:
            part = given.out.with_suffix(".part")
            part.write_text(json.dumps(found, indent=1) + "\n")
            part.replace(given.out)
    return 0 if found["results"] else 1


if __name__ == "__main__":
    raise SystemExit(main())
