"""The device every test runs on, and the one place that decides whether a GPU is there."""

from __future__ import annotations

import contextlib
import functools
import gc
import importlib.util
import itertools
import os
import random
import signal
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from tests.helpers import emulated, every

if TYPE_CHECKING:
    from tests.helpers.kernels import Recorder

# A shell starts what it puts into the background with Ctrl-C ignored, and tests press it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

DEVICES = ("reference", "cpu", "cuda", "suitesparse")
DEFAULT_DEVICES = ("reference", "cpu")
#: Seed of the drawn conformance cases: the same ones every time, unless asked otherwise.
DEFAULT_SEED = 20_261_121

_RECORDER = pytest.StashKey["Recorder"]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--device",
        action="append",
        choices=DEVICES,
        help=f"run device tests here; repeatable (default: {' and '.join(DEFAULT_DEVICES)})",
    )
    parser.addoption(
        "--device-tests",
        action="store_true",
        help="leave out tests that are the same whatever --device says",
    )
    parser.addoption(
        "--conformance-seed",
        type=int,
        default=DEFAULT_SEED,
        help=f"seed of the drawn conformance cases (default: {DEFAULT_SEED})",
    )
    parser.addoption(
        "--conformance-case",
        help="run only this drawn case; its name (such as 17:3) stands in the failure",
    )
    parser.addoption(
        "--case",
        default="",
        help="of tests with many cases (tests.helpers.every): run only those whose names, which "
        "stand in the failure, contain this text",
    )
    parser.addoption(
        "--kernels",
        choices=("record", "check"),
        help="without a GPU: let the reference compute for device cuda, and write the list of "
        "kernels that the tests ask for, or fail where one asks for another",
    )
    parser.addoption(
        "--gpu-aid",
        action="append",
        default=[],
        choices=("exact", "permuted", "backwards"),
        help="on the GPU: one exact allocation for each buffer; blocks in another order; with "
        "--emulate: blocks and threads from the last to the first",
    )
    parser.addoption(
        "--emulate",
        action="store_true",
        help="let device cuda be an emulation on the host, which needs g++ and no GPU",
    )


class Examples:
    """Looks for examples only in files that have some: two thirds of all, tests among them."""

    @pytest.hookimpl(wrapper=True)
    def pytest_collect_file(self, file_path: Path) -> Iterator[None]:
        found = yield
        if file_path.suffix != ".py" or b">>> " in file_path.read_bytes():
            return found
        return [each for each in found if type(each).__name__ != "DoctestModule"]


def pytest_configure(config: pytest.Config) -> None:
    # What is tested is what stays: no kernel that another one is about to replace.
    os.environ.setdefault("SEMIRA_QUICK", "0")
    # Reference counts free nearly all; cycles are looked for after each module (see below).
    gc.set_threshold(20_000)
    config.pluginmanager.register(Examples())
    _draw_the_same_everywhere()
    every.chosen = config.getoption("--case")
    _emulate(config)
    _set_gpu_aids(config.getoption("--gpu-aid"))
    if config.getoption("--kernels"):
        if config.getoption("numprocesses", None):
            raise pytest.UsageError("--kernels sees one process: leave --numprocesses out")
        from tests.helpers import data, kernels, pgb

        kernels.install_stand_in()
        config.stash[_RECORDER] = kernels.Recorder()
        config.stash[_RECORDER].watch()
        data.KEPT_VERTICES, pgb.only_ours = 40, True


def _emulate(config: pytest.Config) -> None:
    """Let device cuda be the emulation, if that was asked for."""
    is_backwards = "backwards" in config.getoption("--gpu-aid")
    if not config.getoption("--emulate"):
        if is_backwards:
            raise pytest.UsageError("--gpu-aid backwards is for the emulation: add --emulate")
        return
    if config.getoption("--kernels"):
        raise pytest.UsageError("--kernels computes on the reference: leave --emulate out")
    from tests.helpers.emulated import build, driver

    if not build.has_compiler():
        raise pytest.UsageError("--emulate needs g++ on an x86-64 processor, and Linux")
    driver.install()
    driver.EmulatedDriver.backwards = is_backwards


def _set_gpu_aids(aids: list[str]) -> None:
    """Make errors show that the pool's rounding and the order of blocks hide."""
    if "permuted" in aids:
        from semira.backends.cuda.jit import render
        from semira.backends.registry import backend_for

        render.defines.append("SEMIRA_PERMUTED")
        # Small objects would get one block, which has no order.
        backend_for("cuda").blocks = 100
    if "exact" in aids:
        from tests.helpers.gpu_memory import be_exact

        from semira.backends.registry import backend_for

        be_exact(backend_for("cuda").runtime)


def _draw_the_same_everywhere() -> None:
    """Keep hypothesis from drawing what depends on more than the test and its seed.

    It draws numbers that it reads in the modules loaded so far: examples would depend on the
    device, and on the tests that ran before. And it repeats parts of an example in others
    ("mutations"), where it does not do the same on every version of Python.
    """
    from hypothesis import control, core
    from hypothesis.internal import reflection
    from hypothesis.internal.conjecture import engine, providers
    from hypothesis.strategies._internal import core as strategies

    if hasattr(providers, "_get_local_constants"):
        nothing = providers.Constants()
        providers._get_local_constants = lambda: nothing
    if hasattr(engine.ConjectureRunner, "generate_mutations_from"):
        engine.ConjectureRunner.generate_mutations_from = lambda self, data: None
    # It saves the states of the global generators, and compares them around each draw, which takes
    # as long as a small example: here they only begin equal.
    core.deterministic_PRNG = _seeded
    for module in (control, strategies):
        module.deprecate_random_in_strategy = lambda *text: contextlib.nullcontext()
    # Seeds are digests of a test's text, which it has on every device.
    if hasattr(reflection, "_clean_source"):
        reflection._clean_source = functools.cache(reflection._clean_source)


@contextlib.contextmanager
def _seeded() -> Iterator[None]:
    random.seed(0)
    np.random.seed(0)  # noqa: NPY002 - libraries may draw from it
    yield


def pytest_sessionfinish(session: pytest.Session) -> None:
    if session.config.getoption("--kernels") == "record":
        session.config.stash[_RECORDER].write()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Let processes begin with the files of most cases: the last one to end bounds the run."""
    if config.getoption("--device-tests"):
        same = [item for item in items if not _depends_on_device(item)]
        config.hook.pytest_deselected(items=same)
        items[:] = [item for item in items if item not in {*same}]
    if not hasattr(config, "workerinput"):
        return
    cases: Counter[Path] = Counter()
    for item in items:
        cases[item.path] += every.count(getattr(item, "function", None))
    items.sort(key=lambda item: (-cases[item.path], item.path))


def _depends_on_device(item: pytest.Item) -> bool:
    takes = {"device", "place"} & {*getattr(item, "fixturenames", ())}
    return bool(takes) or item.get_closest_marker("gpu") is not None


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "device" in metafunc.fixturenames:
        chosen = metafunc.config.getoption("--device") or DEFAULT_DEVICES
        metafunc.parametrize("device", chosen, indirect=True)


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("gpu"):
        require_gpu()
    if emulated.is_installed and (found := item.get_closest_marker("hardware")):
        pytest.skip(f"not on the emulated GPU: {found.kwargs['reason']}")


_modules_run = itertools.count(1)


@pytest.fixture(scope="module", autouse=True)
def what_stays_is_not_searched() -> Iterator[None]:
    """Keep the garbage collector from walking all kernels of a process again and again.

    What was dropped meanwhile is looked for now and then: a thousand kernels take a second.
    """
    yield
    if next(_modules_run) % 64 == 0:
        gc.unfreeze()
    gc.collect()
    gc.freeze()


@pytest.fixture
def device(request: pytest.FixtureRequest) -> str:
    """Name of the device to run on; `pytest --device` chooses."""
    if request.param == "cuda":
        require_gpu_or_stand_in(request.config)
    return request.param


def require_gpu_or_stand_in(config: pytest.Config) -> None:
    """As `require_gpu`, unless the reference computes in the GPU's place (``--kernels``)."""
    if recorder_of(config) is None:
        require_gpu()


def recorder_of(config: pytest.Config) -> Recorder | None:
    """Return what notes the programs planned for cuda, if ``--kernels`` was given."""
    return config.stash.get(_RECORDER, None)


def require_gpu() -> None:
    """Skip the running test if no GPU can be used; fail it if SEMIRA_REQUIRE_GPU=1."""
    reason = _why_no_gpu()
    if reason is None:
        return
    if os.environ.get("SEMIRA_REQUIRE_GPU", "") not in ("", "0"):
        pytest.fail(f"SEMIRA_REQUIRE_GPU is set, but {reason}", pytrace=False)
    pytest.skip(reason)


@functools.cache
def _why_no_gpu() -> str | None:
    if emulated.is_installed:
        return None
    if importlib.util.find_spec("cuda") is None or importlib.util.find_spec("cuda.core") is None:
        return "cuda.core is not installed (pip install 'semira[cuda13]')"
    from cuda.bindings import driver

    try:
        (status,) = driver.cuInit(0)
    except RuntimeError as error:  # the driver's library is not on this machine
        return f"there is no CUDA driver: {error}"
    if status != driver.CUresult.CUDA_SUCCESS:
        return f"the CUDA driver does not start: {status.name}"
    status, count = driver.cuDeviceGetCount()
    if status != driver.CUresult.CUDA_SUCCESS or count == 0:
        return f"the CUDA driver sees no GPU ({status.name}, {count} devices)"
    return None
