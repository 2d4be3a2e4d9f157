"""Tables of the documentation that follow from the code.

``python -m tests.docs.tables`` writes them between ``<!-- table:NAME -->`` and
``<!-- /table -->``; a test fails while a page differs.
"""

from __future__ import annotations

import re
import statistics
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from benchmarks.algorithm_tables import (
    algorithms_table,
    losses_to,
    means_table,
    versus_means,
    versus_table,
)
from benchmarks.studies.adaptive import adaptive_table
from benchmarks.studies.applications import applications_table
from benchmarks.studies.bfs_methods import methods_table
from benchmarks.studies.blocks import levels_table as block_levels_table
from benchmarks.studies.blocks import shown_walks, widths_table
from benchmarks.studies.choices import chance_table, choices_table, reads_table
from benchmarks.studies.first_calls import first_table, goals_table
from benchmarks.studies.formats_tables import (
    calls_table,
    copies_table,
    failures_table,
    formats_table,
    textbook_table,
)
from benchmarks.studies.frontiers import frontiers_table
from benchmarks.studies.goals import render_goals
from benchmarks.studies.ideas import fired_table, ideas_table
from benchmarks.studies.levels import levels_table, policy_table, quantiles_table
from benchmarks.studies.masks import masks_table
from benchmarks.studies.mxm import mxm_summary, mxm_table
from benchmarks.studies.roofline import GATHERS, LEVEL_S, losses_table, roofline_table
from benchmarks.studies.scales import scales_table
from benchmarks.studies.spmm import spmm_table, summary_table
from benchmarks.studies.spmspv import (
    crossings_table,
    parts_table,
    searches_table,
    series_of,
    times_table,
    verdicts_table,
)
from benchmarks.studies.spmv import spmv_table
from benchmarks.studies.variants import variants_table
from benchmarks.studies.versus import render_operations, render_versus, runs_of
from benchmarks.studies.versus import summary_table as versus_summary
from tests.docs import algorithm_tables, application_tables, host_tables, line_tables, push_tables
from tests.docs.stored import read_records
from tests.docs.studies import diagonals, memory_policies, phases

import semira as gb
from semira.bench.record import Record
from semira.bench.report import markdown_table
from semira.bench.sources import sources_table
from semira.bench.traffic import ROOF
from semira.bench.versus import Peers, read_peers
from semira.ops import registry

ROOT = Path(__file__).resolve().parents[2]
DECISIONS = ROOT / "docs" / "decisions"
RESULTS = ROOT / "bench" / "results"
HOW_FAST = ROOT / "docs" / "guide" / "how-fast.md"
NAMESPACES = ("unary", "binary", "monoid", "semiring", "select", "indexunary")

#: Names of python-graphblas' modules that are no operators.
_NO_OPERATORS = {"from_string", "get_semiring", "numpy", "ss", "register_new", "register_anonymous"}

#: Methods of its classes that are not part of what it documents, or belong to SuiteSparse.
_INTERNAL = {"gb_obj", "ss"}

_INFIX = {"%": "__mod__", "**": "__pow__", "divmod": "__divmod__"}


def _quoted(names: Iterable[str]) -> str:
    return " ".join(f"`{name}`" for name in names)


def _table(columns: tuple[str, str], rows: Iterable[tuple[str, str]]) -> str:
    lines = [f"| {columns[0]} | {columns[1]} |", "|---|---|"]
    return "\n".join([*lines, *(f"| {left} | {right} |" for left, right in rows)])


def operators() -> str:
    """Return the operators by module."""
    select = set(registry.select)
    rows = []
    for name in NAMESPACES:
        if name == "semiring":
            text = "every `<monoid>_<binary>` whose dtypes fit, such as `min_plus`"
        elif name == "indexunary":
            others = [each for each in registry.indexunary if each not in select]
            text = f"those of `select`, and {_quoted(others)}"
        else:
            text = _quoted(getattr(registry, name))
        rows.append((f"`gb.{name}`", text))
    return _table(("module", "names"), rows)


def _public(thing: Any) -> set[str]:
    return {name for name in dir(thing) if not name.startswith("_")}


def _missing_operators(theirs: Any, name: str) -> list[str]:
    ours = getattr(gb, name)
    names = _public(getattr(theirs, name)) - _NO_OPERATORS
    registers = {"register_new", "register_anonymous"}
    return sorted(each for each in names | registers if not hasattr(ours, each))


def missing() -> str:
    """Return what python-graphblas (which must be installed) has and Semira has not."""
    import graphblas as theirs

    # Its sub-modules are found by `dir` before they are loaded.
    rows = [("package", sorted(_public(theirs) - _public(gb) - {"core"}))]
    rows.append(("`dtypes`", [n for n in ("FC32", "FC64") if not hasattr(gb.dtypes, n)]))
    rows += [(f"`{name}`", _missing_operators(theirs, name)) for name in NAMESPACES]
    for name in ("Matrix", "Vector", "Scalar"):
        gone = _public(getattr(theirs, name)) - _public(getattr(gb, name)) - _INTERNAL
        rows.append((f"`{name}`", sorted(gone)))
    rows.append(("infix", [sign for sign, name in _INFIX.items() if not hasattr(gb.Vector, name)]))
    rows.append(("`io`", sorted(_public(theirs.io) - _public(gb.io))))
    rows.append(("display", [n for n in ("_repr_html_",) if not hasattr(gb.Matrix, n)]))
    found = [(where, _quoted(names)) for where, names in rows if names]
    return _table(("where", "names"), found) if found else "Nothing of its modules and classes."


def _h200() -> Peers:
    return read_peers(ROOT / "bench" / "peers" / "h200.json")


def cuda() -> str:
    """Return the tables of the last run on a GPU, beside its peers."""
    records = read_records(ROOT / "bench" / "results" / "cuda.jsonl")
    return render_versus(records, _h200())


def peers() -> str:
    """Return how far ahead of its peers the last run on a GPU was, over graphs."""
    records = read_records(RESULTS / "cuda.jsonl")
    return markdown_table(*versus_summary(records, _h200()))


def goals() -> str:
    """Return the goals, and which of them the last run on a GPU met."""
    return render_goals(read_records(RESULTS / "cuda.jsonl"), _h200())


def sources() -> str:
    """Return the table of searches from many vertices in the last run on a GPU, if it made them."""
    head, rows = sources_table(read_records(RESULTS / "cuda.jsonl"))
    return markdown_table(head, rows) if rows else "Not measured yet."


def cuda_micro() -> str:
    """Return the tables of single operations on a GPU, if they were measured."""
    path = ROOT / "bench" / "results" / "cuda_micro.jsonl"
    return render_operations(read_records(path)) if path.is_file() else "Not measured yet."


#: The last column of the table of frontiers.
_WITHIN = re.compile(r"\| (\d+) of (\d+) \|$", re.MULTILINE)


def _measured(
    name: str,
    *tables: Callable[[list[Record]], tuple[list[str], list[list[str]]]],
    assets: str = "../assets",
) -> str:
    """Return tables of the records of one file, if it was measured, and its picture, if drawn.

    `assets` is the folder of pictures as the page names it.
    """
    path = RESULTS / f"{name}.jsonl"
    if not path.is_file():
        return "Not measured yet."
    records = read_records(path)
    picture = ROOT / "docs" / "assets" / f"{name}.svg"
    drawn = [f"![{name}]({assets}/{picture.name})"] if picture.is_file() else []
    made = [markdown_table(*table(records)) for table in tables]
    return "\n\n".join([runs_of(records), *drawn, *made])


def spmv() -> str:
    """Return the products with a full vector on every family of matrices, beside cuSPARSE."""
    return _measured("spmv", spmv_table)


def formats() -> str:
    """Return the products of random matrices in every storage, beside dense ones."""
    return _measured(
        "formats", formats_table, calls_table, textbook_table, copies_table, failures_table
    )


def spmm() -> str:
    """Return sparse times dense by every way to share it out, beside cuSPARSE."""
    return _measured("spmm", summary_table, spmm_table)


def spmm_columns() -> str:
    """Return the same for other numbers of columns, from one to 1,250."""
    return _measured("spmm_columns", summary_table, spmm_table)


def mxm() -> str:
    """Return the products of sparse matrices, beside cuSPARSE."""
    return _measured("mxm", mxm_summary, mxm_table)


def spmspv() -> str:
    """Return the strategies of a push on random frontiers, and in searches."""

    def times(records: list[Record]) -> tuple[list[str], list[list[str]]]:
        # The other graphs' are in the file.
        drawn = [each for each in records if each.dataset.name.startswith("kron")]
        return times_table(series_of(drawn))

    def crossings(records: list[Record]) -> tuple[list[str], list[list[str]]]:
        return crossings_table(series_of(records))

    return _measured("spmspv", times, crossings, parts_table, searches_table)


def spmspv_verdicts() -> str:
    """Return whether a size or a fraction says where the dense product wins."""
    return markdown_table(*verdicts_table(series_of(read_records(RESULTS / "spmspv.jsonl"))))


def spmspv_choices() -> str:
    """Return how often the planner comes near the best way, and how often chance keeps it off."""
    found = series_of(read_records(RESULTS / "spmspv.jsonl"))
    return "\n\n".join(markdown_table(*table(found)) for table in (choices_table, chance_table))


def spmspv_reads() -> str:
    """Return what a factor of the policy does to products of whole rows, graph by graph."""
    return markdown_table(*reads_table(series_of(read_records(RESULTS / "spmspv.jsonl"))))


def bfs_methods() -> str:
    """Return one search by every method of the textbook."""
    return _measured("bfs-methods", methods_table)


def blocks() -> str:
    """Return products of blocks of vectors by width and direction, and level by level."""

    def walks(records: list[Record]) -> tuple[list[str], list[list[str]]]:
        # The other widths' levels are in the file.
        return block_levels_table(shown_walks(records))

    return _measured("blocks", widths_table, walks, assets="assets")


def roofline() -> str:
    """Return what bounds each case of the last run on a GPU."""
    roofs = (
        f"Roofs, measured on an H200: a copy moves {ROOF / 1e12:g} TB/s; random gathers of 4 bytes "
        f"{GATHERS[0] / 1e9:g} to {GATHERS[1] / 1e9:g} billion a second; a level with next to "
        f"nothing in it takes {1e6 * LEVEL_S:g} us. They were measured once, with programs that "
        "are not part of the project; there is no record of them."
    )
    table = roofline_table(read_records(RESULTS / "cuda.jsonl"))
    return "\n\n".join([roofs, markdown_table(*table)])


def losses() -> str:
    """Return the cases of the last run on a GPU in which a peer is faster."""
    head, rows = losses_table(read_records(RESULTS / "cuda.jsonl"), _h200())
    return markdown_table(head, rows) if rows else "None."


def ideas() -> str:
    """Return what each idea adds to a search, and which algorithm makes use of which."""
    return _measured("ideas", ideas_table, fired_table)


def frontiers() -> str:
    """Return where push and pull cross, and how far the planner is from the better."""
    text = _measured("frontiers", frontiers_table)
    near, points = (sum(map(int, part)) for part in zip(*_WITHIN.findall(text), strict=True))
    return f"{text}\n\nWithin a tenth of the better way: {near} of {points} points."


def masks() -> str:
    """Return what it saves to look at the mask first, by what it lets through, if measured."""
    return _measured("masks", masks_table)


def levels() -> str:
    """Return the ways of every level of a search, and how far the planner is from an oracle."""
    return _measured("levels", policy_table, levels_table)


def level_sources() -> str:
    """Return what levels take over the searches from a thousand sources, if they were measured."""
    return _measured("level_sources", quantiles_table, policy_table)


def scales() -> str:
    """Return edges a second of a search on graphs of growing size."""
    return _measured("scales", scales_table)


def formulations() -> str:
    """Return shortest paths by every formulation, the device's milliseconds side by side."""
    return _measured("formulations", _by_method)


def _by_method(records: list[Record]) -> tuple[list[str], list[list[str]]]:
    methods = list(dict.fromkeys(map(_formulation, records)))
    methods.sort(key=lambda name: name != "auto")
    found: dict[tuple[str, str], dict[str, str]] = {}
    for record in records:
        median = statistics.median(record.device_s or record.warm_s) * 1e3
        cells = found.setdefault((record.dataset.name, record.dtype), {})
        cells[_formulation(record)] = f"{median:.3g} ({record.iterations})"
    rows = [[*case, *(cells.get(name, "-") for name in methods)] for case, cells in found.items()]
    return ["graph", "dtype", *methods], rows


def _formulation(record: Record) -> str:
    # Older records have the option by its name before.
    return str(record.plan.get("algorithm", record.plan.get("method", "auto")))


def adaptive() -> str:
    """Return adaptive PageRank beside the plain one."""
    return _measured("adaptive", adaptive_table)


def variants() -> str:
    """Return what an iteration of other bodies takes beside that of a plain search."""
    return _measured("variants", variants_table)


def first_calls() -> str:
    """Return the times of first calls, with an empty and a filled cache."""
    return _measured("first_calls", goals_table, first_table)


def application_times() -> str:
    """Return the times of the applications, and what their results say of themselves."""
    return _measured("applications", applications_table)


def algorithm_times() -> str:
    """Return the times of the algorithms beyond those five that have peers everywhere."""
    return _measured("algorithms", algorithms_table)


def algorithm_means() -> str:
    """Return how many times as long other libraries take, and where NetworkX is faster."""
    records = read_records(RESULTS / "algorithms.jsonl")
    means, (head, rows) = means_table(records), losses_to("networkx")(records)
    losses = markdown_table(head, rows) if rows else "NetworkX is faster nowhere."
    return "\n\n".join([markdown_table(*means), losses])


def algorithm_gpu() -> str:
    """Return the algorithms on a GPU beside cuGraph."""
    peers = read_peers(ROOT / "bench" / "peers" / "h200_algorithms.json")
    records = read_records(RESULTS / "algorithms.jsonl")
    tables = versus_means(records, peers), versus_table(records, peers)
    return "\n\n".join([peers.about["how"], *(markdown_table(*table) for table in tables)])


#: name -> (page, what makes the table)
TABLES: dict[str, tuple[Path, Callable[[], str]]] = {
    "commands": (ROOT / "docs" / "guide" / "cli.md", algorithm_tables.commands),
    "ready": (ROOT / "docs" / "index.md", algorithm_tables.ready),
    "functions": (ROOT / "docs" / "api.md", algorithm_tables.functions),
    "on_cuda": (ROOT / "docs" / "limits.md", algorithm_tables.on_cuda),
    "algorithms": (ROOT / "docs" / "algorithms" / "index.md", line_tables.algorithms),
    "applications": (ROOT / "docs" / "apps" / "index.md", line_tables.applications),
    "application_times": (ROOT / "docs" / "apps" / "index.md", application_times),
    "application_peers": (
        ROOT / "docs" / "apps" / "index.md",
        application_tables.beside_others,
    ),
    "algorithm_times": (ROOT / "docs" / "algorithms" / "index.md", algorithm_times),
    "algorithm_means": (ROOT / "docs" / "algorithms" / "index.md", algorithm_means),
    "algorithm_gpu": (ROOT / "docs" / "algorithms" / "index.md", algorithm_gpu),
    "operators": (ROOT / "docs" / "guide" / "operators.md", operators),
    "host_summary": (ROOT / "README.md", host_tables.summary),
    "peers": (ROOT / "README.md", peers),
    "host": (ROOT / "docs" / "benchmarks.md", host_tables.algorithms),
    "host_operations": (ROOT / "docs" / "benchmarks.md", host_tables.operations),
    "cuda": (ROOT / "docs" / "benchmarks.md", cuda),
    "goals": (ROOT / "docs" / "benchmarks.md", goals),
    "sources": (ROOT / "docs" / "benchmarks.md", sources),
    "cuda_micro": (ROOT / "docs" / "benchmarks.md", cuda_micro),
    "spmv": (ROOT / "docs" / "benchmarks.md", spmv),
    "formats": (ROOT / "docs" / "benchmarks.md", formats),
    "spmm": (ROOT / "docs" / "benchmarks.md", spmm),
    "spmm_columns": (ROOT / "docs" / "benchmarks.md", spmm_columns),
    "mxm": (ROOT / "docs" / "benchmarks.md", mxm),
    "spmspv": (ROOT / "docs" / "benchmarks.md", spmspv),
    "spmspv_graphs": (ROOT / "docs" / "benchmarks.md", push_tables.graphs),
    "spmspv_search_parts": (ROOT / "docs" / "benchmarks.md", push_tables.search_parts),
    "spmspv_verdicts": (ROOT / "docs" / "planner.md", spmspv_verdicts),
    "spmspv_reads": (DECISIONS / "0036-when-a-gpu-pulls.md", spmspv_reads),
    "spmspv_choices": (ROOT / "docs" / "planner.md", spmspv_choices),
    "blocks": (ROOT / "docs" / "benchmarks.md", blocks),
    "bfs_methods": (ROOT / "docs" / "benchmarks.md", bfs_methods),
    "bfs_winners": (ROOT / "docs" / "textbook-bfs.md", push_tables.winners),
    "roofline": (HOW_FAST, roofline),
    "losses": (HOW_FAST, losses),
    "ideas": (HOW_FAST, ideas),
    "phases": (HOW_FAST, phases),
    "frontiers": (HOW_FAST, frontiers),
    "masks": (HOW_FAST, masks),
    "levels": (HOW_FAST, levels),
    "level_sources": (HOW_FAST, level_sources),
    "scales": (HOW_FAST, scales),
    "formulations": (HOW_FAST, formulations),
    "adaptive": (HOW_FAST, adaptive),
    "variants": (HOW_FAST, variants),
    "first_calls": (ROOT / "docs" / "guide" / "first-call.md", first_calls),
    "memory_policies": (DECISIONS / "0016-measuring-the-gpu.md", memory_policies),
    "diagonals": (DECISIONS / "0042-diagonals.md", diagonals),
    "missing": (ROOT / "docs" / "coming-from-python-graphblas.md", missing),
}


def _block(name: str) -> re.Pattern[str]:
    return re.compile(rf"(<!-- table:{name} -->\n\n).*?(\n\n<!-- /table -->)", re.DOTALL)


def written(name: str) -> str:
    """Return the table as the page has it."""
    page, _ = TABLES[name]
    found = _block(name).search(page.read_text("utf-8"))
    assert found is not None, f"{page} has no table:{name}"
    return found[0].removeprefix(found[1]).removesuffix(found[2])


def main() -> None:
    """Write every table into its page, and the names of the algorithms for type checkers."""
    algorithm_tables.STUB.write_text(algorithm_tables.stub(), "utf-8")
    for name, (page, make) in TABLES.items():
        table = make()
        text = page.read_text("utf-8")
        page.write_text(
            _block(name).sub(lambda found, table=table: found[1] + table + found[2], text), "utf-8"
        )


if __name__ == "__main__":
    main()
