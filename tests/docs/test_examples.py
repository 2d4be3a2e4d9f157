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
from tests.docs import tables
from tests.docs.line_tables import called_by

from semira.base import settings
from semira.plan.pins import VALUES

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
@pytest.mark.parametrize("page", WITH_EXAMPLES, ids=name_of)
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


@pytest.mark.parametrize(("page", "line"), list(command_lines()))
def test_command_lines_are_accepted(page: str, line: str) -> None:
    from semira.cli.main import app

    program = typer.main.get_command(app)
    name, *arguments = shlex.split(line)[1:] or ["--help"]
    if name.startswith("-"):
        assert any(name in option.opts for option in program.params) or name == "--help", page
        return
    command = program.commands.get(name)
    assert command is not None, f"{page}: there is no command {name!r}"
    # Unknown options, values outside a choice and missing arguments raise.
    with contextlib.suppress(typer.Exit):  # options that print and end
        context = command.make_context(name, arguments)
        while hasattr(command, "resolve_command"):
            words = [*context._protected_args, *context.args]
            name, command, arguments = command.resolve_command(context, words)
            context = command.make_context(name, arguments, parent=context)


def shown_code() -> Iterator[tuple[str, str]]:
    """Yield the lines of code beside the formulas: last column of tables headed `code`."""
    for page in sorted((ROOT / "docs" / "algorithms").glob("*.md")):
        is_table = False
        for line in page.read_text("utf-8").splitlines():
            cells = [cell.strip() for cell in line.strip().strip("|").split(" | ")]
            is_table = line.startswith("|") and (is_table or cells[-1] == "code")
            if is_table and cells[-1] != "code" and cells[-1].startswith("`"):
                yield page.stem, cells[-1].strip("`")


@pytest.mark.parametrize(("page", "code"), list(shown_code()))
def test_code_beside_a_formula_is_in_the_source(page: str, code: str) -> None:
    name = page.replace("-", "_")
    names = {name, *called_by(name)}
    sources = "".join((ALGORITHMS / f"{name}.py").read_text("utf-8") for name in names)
    assert code in sources


@pytest.mark.parametrize("name", tables.TABLES)
def test_tables_follow_the_code(name: str) -> None:
    if name == "missing":
        pytest.importorskip("graphblas")
    made = tables.TABLES[name][1]()
    assert tables.written(name) == made, "write it anew: python -m tests.docs.tables"


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
    assert {name: sorted(values) for name, values in found.items()} == {
        name: sorted(map(str, values)) for name, values in VALUES.items()
    }


@pytest.mark.parametrize("page", [page for page in PAGES if page.name != "install.md"], ids=name_of)
def test_pages_install_from_a_checkout(page: Path) -> None:
    # There is no package to install by its name yet; what that does to an installed one, the page
    # on installing says.
    assert not re.findall(r"pip install '?semira|`'?semira\[", page.read_text("utf-8"))


def lower_for_cuda(program: Any) -> None:
    """Write the kernels of a program, without compiling them."""
    from semira.backends.cuda.hosted import is_hosted, prepare_hosted
    from semira.backends.cuda.lower import lower_program
    from semira.backends.cuda.own_launches import is_own, own_text
    from semira.backends.cuda.staged.executable import is_staged, is_summed, source_of

    if is_hosted(program) and not is_summed(program):
        prepare_hosted(program, lower_for_cuda, is_summed)
    elif is_staged(program):
        source_of(program)
    elif is_own(program):
        own_text(program)
    else:
        lower_program(program)


def cuda_rows() -> list[tuple[str, str]]:
    """Return (call, yes or no) of the table of algorithms on the cuda device."""
    text = (ROOT / "docs" / "limits.md").read_text("utf-8")
    return re.findall(r"^\| `(\w+\(A.*?\))` \| (yes|no)\b", text, re.MULTILINE)


@pytest.mark.parametrize(("call", "runs"), cuda_rows())
def test_the_table_of_what_runs_on_cuda_is_true(call: str, runs: str) -> None:
    pytest.importorskip("cuda.core")
    import semira as gb
    from semira.backends.cuda.backend import CudaBackend
    from semira.base.errors import NotImplementedException, PlanError
    from semira.plan import plan_program

    capabilities = CudaBackend.capabilities(None)  # type: ignore[arg-type]
    A = gb.io.read("road:5x5", device="reference")
    A_float = A.dup("FP64")
    with gb.device("reference"), gb.tracing() as trace:
        names = {name: getattr(gb.algorithms, name) for name in gb.algorithms.__all__}
        eval(call, {**names, "A": A, "A_float": A_float})
    assert trace.programs
    refused = None
    try:
        for program in trace.programs:
            lower_for_cuda(plan_program(program, capabilities))
    except (NotImplementedException, PlanError) as error:
        refused = error
    found = "yes" if refused is None else "no"
    assert runs == found, f"docs/limits.md: {call}: {refused or 'it runs'}"
