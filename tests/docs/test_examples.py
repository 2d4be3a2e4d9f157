"""The documentation is run: examples, command lines, and the code that pages show."""

from __future__ import annotations

import contextlib
import doctest
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from tests.docs import algorithm_tables, tables
from tests.docs.line_tables import called_by
from tests.helpers.every import every

from semira.base import settings
from semira.plan.pins import VALUES, values_of

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
ALGORITHMS = ROOT / "src" / "semira" / "algorithms"

FENCE = re.compile(r"^(```.*)$", re.MULTILINE)
TEXT = re.compile(r"^```text\n(.*?)^```", re.MULTILINE | re.DOTALL)
SHELL = re.compile(r"^```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def examples_of(page: Path) -> doctest.DocTest:
    """Return the examples of a page as one session; line numbers are the file's."""
    # The fence that closes a block would count as the last line of the expected output.
    text = FENCE.sub("", page.read_text("utf-8"))
    return doctest.DocTestParser().get_doctest(text, {}, page.stem, name_of(page), 0)


WITH_EXAMPLES = [page for page in PAGES if examples_of(page).examples]


@pytest.fixture
def cpu() -> Iterator[None]:
    """Make the cpu the default device, whatever the environment says."""
    before = settings.override(device="cpu")
    yield
    settings.restore(before)


@pytest.mark.usefixtures("cpu")
@every("page", WITH_EXAMPLES, ids=name_of)
def test_examples_give_what_the_page_prints(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Pages may write files.
    monkeypatch.chdir(tmp_path)
    report: list[str] = []
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    runner.run(examples_of(page), out=report.append)
    assert not runner.failures, "".join(report)


GPU_PAGE = ROOT / "docs" / "guide" / "gpu.md"


def gpu_blocks() -> list[str]:
    """Return the blocks of the page on the GPU that are no sessions: they need one."""
    return TEXT.findall(GPU_PAGE.read_text("utf-8"))


def test_blocks_for_the_gpu_are_python() -> None:
    assert gpu_blocks()
    for block in gpu_blocks():
        compile(block, name_of(GPU_PAGE), "exec")


@pytest.mark.gpu
def test_blocks_for_the_gpu_run() -> None:
    names: dict[str, Any] = {}
    for block in gpu_blocks():
        exec(block, names)
    assert {names[name].device for name in ("A", "C", "G", "degree", "rank")} == {"cuda"}


@pytest.mark.gpu
def test_sessions_of_the_page_on_the_gpu_give_the_same_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = settings.override(device="cuda")
    try:
        test_examples_give_what_the_page_prints(GPU_PAGE, tmp_path, monkeypatch)
    finally:
        settings.restore(before)


def command_lines() -> Iterator[tuple[str, str]]:
    for page in PAGES:
        for block in SHELL.findall(page.read_text("utf-8")):
            for line in block.splitlines():
                # What stands after a pipe is a command as well.
                for part in line.partition("#")[0].split("|"):
                    if part.split()[:1] == ["semira"]:
                        yield name_of(page), part.strip()


@every(("page", "line"), list(command_lines()))
def test_command_lines_are_accepted(page: str, line: str) -> None:
    from semira.cli.main import app

    program = typer.main.get_command(app)
    name, *arguments = shlex.split(line)[1:] or ["--help"]
    if name.startswith("-"):
        assert any(name in option.opts for option in program.params) or name == "--help", page
        return
    command = program.get_command(None, name)
    assert command is not None, f"{page}: there is no command {name!r}"
    # Unknown options, values outside a choice and missing arguments raise.
    with contextlib.suppress(typer.Exit):  # options that print and end
        context = command.make_context(name, arguments)
        while hasattr(command, "resolve_command"):
            words = [*context._protected_args, *context.args]
            name, command, arguments = command.resolve_command(context, words)
            context = command.make_context(name, arguments, parent=context)


def shown_code(folder: str) -> Iterator[tuple[str, str]]:
    """Yield the code beside formulas: the last column of tables that is headed by `code`."""
    for page in sorted((ROOT / "docs" / folder).glob("*.md")):
        is_table = False
        for line in page.read_text("utf-8").splitlines():
            cells = [cell.strip() for cell in line.strip().strip("|").split(" | ")]
            is_table = line.startswith("|") and (is_table or cells[-1].startswith("code"))
            if is_table and cells[-1].startswith("`"):
                yield page.stem, cells[-1].strip("`")


@every(("page", "code"), list(shown_code("algorithms")))
def test_code_beside_a_formula_is_in_the_source(page: str, code: str) -> None:
    name = page.replace("-", "_")
    names = {name, *called_by(name)}
    sources = "".join((ALGORITHMS / f"{name}.py").read_text("utf-8") for name in names)
    assert code in sources


@every(("page", "code"), list(shown_code("apps")))
def test_code_of_an_application_is_in_its_folder(page: str, code: str) -> None:
    folder = ALGORITHMS.parent / "apps" / page.replace("-", "_")
    sources = "".join(path.read_text("utf-8") for path in folder.rglob("*.py"))
    assert all(part in sources for part in code.split("` and `"))


@every("name", tables.TABLES)
def test_tables_follow_the_code(name: str) -> None:
    if needed := {"missing": "graphblas", "on_cuda": "cuda.core"}.get(name):
        pytest.importorskip(needed)
    made = tables.TABLES[name][1]()
    assert tables.written(name) == made, "write it anew: python -m tests.docs.tables"


def test_type_checkers_read_the_names_of_the_registry() -> None:
    found = algorithm_tables.STUB.read_text("utf-8")
    assert found == algorithm_tables.stub(), "write it anew: python -m tests.docs.tables"


def test_the_table_of_pins_names_each_value_once() -> None:
    text = (ROOT / "docs" / "planner.md").read_text("utf-8")
    table = text.partition("| option | values | meaning |")[2].partition("\n\n")[0]
    found: dict[str, list[str]] = {}
    names: list[str] = []
    for line in table.strip().splitlines()[1:]:
        option, values, _ = line.strip("|").split("|", 2)
        names = re.findall(r"`(\w+)`", option) or names  # a row may go on with the one before
        found.setdefault(names[0], []).extend(re.findall(r"`(\w+)`", values))
    found = {name: values for name, values in found.items() if values}
    known = {name: {*values_of(name, "mxv"), *values_of(name, "mxm")} for name in VALUES}
    assert {name: sorted(values) for name, values in found.items()} == {
        name: sorted(map(str, values)) for name, values in known.items()
    }


@every("page", [page for page in PAGES if page.name != "install.md"], ids=name_of)
def test_pages_install_from_a_checkout(page: Path) -> None:
    # There is no package to install by its name yet; what that does to an installed one, the page
    # on installing says.
    assert not re.findall(r"pip install '?semira|`'?semira\[", page.read_text("utf-8"))
