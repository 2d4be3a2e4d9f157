"""What objects show at a prompt and in a notebook."""

from __future__ import annotations

from collections.abc import Callable
from html.parser import HTMLParser
from typing import Any

from tests.helpers.every import every

import semira as gb
from semira.base.shown import table_html, table_text
from semira.contract import TRACE_COLUMNS, RowList, Rows, TraceRow


class Cells(HTMLParser):
    """Collects the text of an HTML fragment, cell by cell."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.texts: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: Any) -> None:  # noqa: ARG002
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def product() -> Any:
    A = gb.io.read("grid:3x3")
    return gb.Vector.from_coo([0], True, size=A.nrows).vxm(A, "any_pair")


def halve() -> Callable[[], None]:
    total = gb.Vector.from_dense([1.0, 2.0])
    mask = gb.Vector.from_coo([0], True, size=2)

    def step() -> None:
        total(mask.V) << total.apply("truediv", right=2.0)

    return step


def traced() -> Any:
    with gb.tracing() as found:
        product().new()
    return found


SHOWN = {
    "explanation": lambda: gb.explain(product()),
    "plan": lambda: gb.explain(product()).plan,
    "method": lambda: gb.explain(product()).chosen,
    "phases": lambda: gb.explain(halve(), max_iterations=3),
    "phases on a GPU": lambda: gb.explain(halve(), max_iterations=3, device="cuda"),
    "trace": traced,
    "rows": lambda: traced().rows,
    "program": lambda: traced().programs[0],
    "loop": lambda: gb.repeat(halve(), max_iterations=3),
}


@every("name", SHOWN)
def test_a_prompt_shows_what_print_writes(name):
    with gb.device("reference"):
        item = SHOWN[name]()
        assert repr(item) == str(item)
    # No names of classes with their fields.
    assert type(item).__name__ not in repr(item)
    assert "=(" not in repr(item)
    html = Cells(item._repr_html_())
    assert html.tags[0] in ("pre", "p", "table")
    if html.tags[0] == "pre":
        assert "".join(html.texts) == str(item)


def test_html_is_escaped():
    with gb.device("reference"):
        text = gb.explain(halve(), max_iterations=3, device="cuda")._repr_html_()
    assert "total&lt;mask.V&gt;" in text
    assert "<mask" not in text
    assert "<b>" not in table_html(("a<b>",), [("<b>",)])


def test_a_trace_is_a_table_of_its_products():
    with gb.device("reference"):
        found = traced()
    first, head, row = str(found).splitlines()
    assert first == "1 program, 1 matrix product"
    assert tuple(head.split()) == TRACE_COLUMNS
    assert row.split()[:6] == ["0", "vxm", "push", "1", "2", "2"]
    assert Cells(found._repr_html_()).texts[1:9] == [*head.split(), "\n"]


def test_long_traces_show_their_ends_and_say_what_is_missing():
    rows = [TraceRow(at, "vxm", "push", 1, 1, 1) for at in range(1000)]
    for shown in (RowList(rows), Rows.after(7, rows)):
        lines = str(shown).splitlines()
        assert len(lines) == 1 + 20 + 1 + 20 + 1
        assert lines[20].split()[0] == "19"
        assert set(lines[21].split()) == {"..."}
        assert lines[22].split()[0] == "980"
        assert "960 rows in the middle are not shown" in lines[-1]
        assert "960 rows" in shown._repr_html_()
    assert "7 earlier rows are lost" in lines[-1]
    assert str(RowList()) == "no matrix product ran"


def test_a_loop_says_how_it_ended():
    with gb.device("reference"):
        loop = gb.repeat(halve(), max_iterations=3)
    assert repr(loop).splitlines() == [
        "3 iterations, stopped by the limit",
        "no matrix product ran",
    ]


def test_columns_of_figures_are_flush_right():
    assert table_text(("name", "count"), [("a", "1,204"), ("bcdef", "-")]).splitlines() == [
        "name   count",
        "a      1,204",
        "bcdef      -",
    ]
