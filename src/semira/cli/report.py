"""The demo's report: one HTML file that needs no network and no scripts."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from semira.base.errors import FileWriteError
from semira.cli.output import cell, is_figure
from semira.files import check_output

_STYLE = """
:root { --ink: #1f2933; --soft: #5b6875; --line: #d9dfe5; --paper: #fff; --wash: #f4f6f8;
        --accent: #0072b2; }
* { box-sizing: border-box; }
body { margin: 0; background: var(--wash); color: var(--ink);
       font: 16px/1.55 system-ui, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }
main { max-width: 62rem; margin: 0 auto; padding: 2.5rem 1.25rem 4rem; }
h1 { font-size: 1.9rem; line-height: 1.2; margin: 0 0 .4rem; }
h2 { font-size: 1.3rem; margin: 0; }
p { margin: .4rem 0 .9rem; max-width: 46rem; }
.soft { color: var(--soft); }
section { background: var(--paper); border: 1px solid var(--line); border-radius: .6rem;
          padding: 1.4rem 1.5rem; margin-top: 1.6rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; margin: .9rem 0 .3rem; font-size: .93rem; }
th { text-align: left; font-weight: 600; color: var(--soft);
     border-bottom: 2px solid var(--line); }
th, td { padding: .4rem .8rem .4rem 0; vertical-align: top; }
tbody tr + tr td { border-top: 1px solid var(--line); }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap;
          padding-right: 1.4rem; }
th { white-space: nowrap; }
td:last-child { min-width: 11rem; }
.error { color: #a4262c; }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(22rem, 1fr));
           gap: 1.2rem 1.6rem; margin-top: 1rem; }
figure { margin: 0; min-width: 0; }
figure svg { display: block; width: 100%; height: auto; }
figcaption { font-size: .9rem; color: var(--soft); margin-bottom: .2rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .15rem 1rem; margin: .8rem 0 0;
     font-size: .93rem; }
dt { color: var(--soft); } dd { margin: 0; overflow-wrap: anywhere; }
code { font: .92em ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
@media (max-width: 30rem) { .figures { grid-template-columns: 1fr; } section { padding: 1rem; } }
@media print { body { background: #fff; } section { break-inside: avoid; } }
"""


@dataclass(frozen=True, slots=True)
class Figure:
    """A drawing and what it shows."""

    caption: str
    svg: str


@dataclass(frozen=True, slots=True)
class Section:
    """One graph of the report."""

    title: str
    #: What kind of graph it is.
    text: str
    facts: list[tuple[str, Any]]
    columns: tuple[str, ...]
    #: One for each algorithm; a row that is a single text is a reason why there is no result.
    rows: list[tuple[Any, ...]]
    figures: list[Figure] = field(default_factory=list)


def _escape(value: Any) -> str:
    return html.escape(cell(value))


def _table_cell(value: Any) -> str:
    kind = ' class="number"' if is_figure(value) else ""
    return f"<td{kind}>{_escape(value)}</td>"


def _table(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    complete = [row for row in rows if len(row) == len(columns)]
    heads = []
    for at, name in enumerate(columns):
        kind = ' class="number"' if complete and all(is_figure(row[at]) for row in complete) else ""
        heads.append(f"<th{kind}>{_escape(name)}</th>")
    lines = []
    for row in rows:
        if len(row) == len(columns):
            cells = "".join(_table_cell(value) for value in row)
        else:
            name, reason = row
            span = len(columns) - 1
            cells = (
                f'<td>{_escape(name)}</td><td class="error" colspan="{span}">{_escape(reason)}</td>'
            )
        lines.append(f"<tr>{cells}</tr>")
    head, body = "".join(heads), "\n".join(lines)
    return (
        f'<div class="scroll"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>\n{body}\n</tbody></table></div>"
    )


def _facts(pairs: Sequence[tuple[str, Any]]) -> str:
    lines = [f"<dt>{_escape(name)}</dt><dd>{_escape(value)}</dd>" for name, value in pairs]
    return "<dl>" + "".join(lines) + "</dl>"


def _figure(figure: Figure) -> str:
    caption = _escape(figure.caption)
    svg = figure.svg.replace("<svg", f'<svg role="img" aria-label="{caption}"', 1)
    return f"<figure><figcaption>{caption}</figcaption>{svg}</figure>"


def _section(section: Section, *, can_draw: bool) -> str:
    figures = "\n".join(_figure(figure) for figure in section.figures)
    if not can_draw:
        figures = (
            '<p class="soft">No figures: Matplotlib is not installed '
            "(<code>pip install 'semira[plot]'</code>).</p>"
        )
    return "\n".join(
        [
            "<section>",
            f"<h2>{_escape(section.title)}</h2>",
            f'<p class="soft">{_escape(section.text)}</p>',
            _facts(section.facts),
            _table(section.columns, section.rows),
            _PLAN,
            f'<div class="figures">{figures}</div>',
            "</section>",
        ]
    )


_INTRODUCTION = """
<h1>Semira: five algorithms as sparse linear algebra</h1>
<p>Every algorithm below is a short program of sparse products over a semiring. The planner
chooses, at every step, between <em>push</em> (follow the edges that leave the frontier) and
<em>pull</em> (let every open vertex look for a neighbour in it).</p>
<p class="soft">The time is the median of warm calls, without reading and compiling; the first
call is listed beside it. MTEPS is the sum of the degrees of the visited vertices over that time,
in millions a second.</p>
"""


#: Stands below each table.
_PLAN = """<p class="soft">The plan is the method of each product of a call, in order:
<em>pull x16</em> is sixteen products in a row by pull, one for each iteration. Words beside push
and pull are ways to multiply two matrices.</p>"""


def render(
    sections: Sequence[Section], environment: Sequence[tuple[str, Any]], *, can_draw: bool
) -> str:
    """Return the report as one HTML document; a line says so if figures cannot be drawn.

    `environment` is what the figures were measured on.
    """
    body = "\n".join(_section(section, can_draw=can_draw) for section in sections)
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en"><head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            "<title>Semira demo</title>",
            f"<style>{_STYLE}</style></head><body><main>",
            _INTRODUCTION,
            f"<section><h2>Measured on</h2>{_facts(environment)}</section>",
            body,
            "</main></body></html>\n",
        ]
    )


def prepare_report(folder: Path) -> Path:
    """Return the file of the report in `folder`, which is made if it is not there.

    Raises FileWriteError if nothing can be written there.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileWriteError(f"{folder}: cannot be made: {error.strerror or error}") from error
    target = folder / "report.html"
    check_output(target)
    return target
