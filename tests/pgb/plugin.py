"""Running python-graphblas' own tests against Semira.

As a pytest plugin (``pytest -p tests.pgb.plugin``) it registers Semira under the name
``graphblas`` before any test is imported, marks the expected failures, and writes what
happened. ``python -m tests.pgb`` runs the installed tests, prints the score, and
with ``--docs`` writes it into a page.
"""

from __future__ import annotations

import gc
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.pgb import aliases
from tests.pgb.expected import expected_failures

_OUTCOMES = pytest.StashKey[dict[str, dict[str, str]]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of upstream's own root conftest, and ours."""
    group = parser.getgroup("pgb", "python-graphblas' tests against Semira")
    group.addoption("--pgb-report", help="write outcomes as JSON to this file")
    group.addoption("--pgb-raw", action="store_true", help="do not mark the expected failures")
    # Upstream runs the tests of SuiteSparse's operators, dtypes and `.ss` only under this name.
    group.addoption("--backend", default="suitesparse")
    group.addoption("--blocking", default=True)
    # As upstream's default and ours: NumPy's names mean the operators that have their meaning.
    group.addoption("--mapnumpy", default=True)
    group.addoption("--record", default=False)
    group.addoption("--randomly", default=False)
    group.addoption("--runslow", default=True)


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker of upstream's slow tests: they run. Collect garbage as our tests do."""
    gc.set_threshold(20_000)
    config.addinivalue_line("markers", "slow: as upstream")


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Make the alias before upstream's conftest is imported."""
    aliases.register(early_config.known_args_namespace.backend)
    early_config.stash[_OUTCOMES] = {}


def pytest_report_header() -> str:
    """Say which package is under test."""
    import semira

    return f"graphblas is semira {semira.__version__} ({semira.__file__})"


def pytest_sessionstart() -> None:
    """Check that the module under test is Semira."""
    import semira

    if sys.modules.get("graphblas") is not semira:
        pytest.exit("the module registered as `graphblas` is not Semira", returncode=3)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark expected failures: one that passes fails the run."""
    if config.getoption("--pgb-raw"):
        return
    expected = expected_failures()
    for item in items:
        reason = expected.get(_name(item.nodeid)) or expected.get(_name(item.nodeid, bare=True))
        if reason is not None:
            item.add_marker(pytest.mark.xfail(reason=reason, strict=True))


def _name(nodeid: str, *, bare: bool = False) -> str:
    """Return ``test_file.py::test_name[parameter]``, without the parameter if `bare`."""
    name = nodeid.rpartition("/")[2]
    return name.partition("[")[0] if bare else name


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Any:
    """Note how a test ended."""
    report = yield
    outcomes = item.config.stash[_OUTCOMES]
    if report.when == "call" or report.outcome != "passed":
        outcome = report.outcome
        if hasattr(report, "wasxfail"):
            outcome = "xfailed" if report.skipped else "xpassed"
        outcomes[_name(item.nodeid)] = {"outcome": outcome, "reason": _reason(report)}
    return report


def _reason(report: Any) -> str:
    if hasattr(report, "wasxfail"):
        return str(report.wasxfail)
    crash = getattr(report.longrepr, "reprcrash", None)
    if crash is not None:
        return f"{crash.lineno}: {crash.message}"
    return "" if report.longrepr is None else str(report.longrepr)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write the outcomes where ``--pgb-report`` says."""
    target = session.config.getoption("--pgb-report")
    if target:
        import semira

        report = {"module": semira.__file__, "tests": session.config.stash[_OUTCOMES]}
        Path(target).write_text(json.dumps(report, indent=1))
