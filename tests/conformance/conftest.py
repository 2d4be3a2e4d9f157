"""How the suite runs on each device: listed kernels on the GPU."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import Any

import pytest
from tests.conftest import recorder_of, require_gpu_or_stand_in

from semira.base.errors import NotImplementedException

#: Files whose kernels follow from no listed program: of dtypes that a test registers.
_UNLISTED = frozenset({"test_record_dtypes.py"})


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    """Leave out tests whose kernels are to be recorded where ``cuda`` refuses."""
    try:
        return (yield)
    except NotImplementedException as refusal:
        if recorder_of(item.config) is None:
            raise
        # What the cuda backend refuses asks for no kernel; only kernels count here.
        pytest.skip(str(refusal))


@pytest.fixture(autouse=True)
def only_listed_kernels(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fail a test that asks the cuda backend for a kernel outside of the list.

    On the GPU by what it compiles or loads, with ``--kernels check`` by what it plans.
    """
    asked_for = request.config.getoption("--device") or ()
    is_free = request.path.name in _UNLISTED and recorder_of(request.config) is None
    if "cuda" not in asked_for or is_free or request.config.getoption("--kernels") == "record":
        yield
        return
    from tests.helpers import kernels

    with kernels.watched(recorder_of(request.config)) as asked:
        yield
    outside = kernels.outside(asked)
    if outside:
        pytest.fail(f"{len(outside)} of its kernels are not listed; {kernels.REMEDY}\n{outside[0]}")


@pytest.fixture(scope="module")
def place(request: pytest.FixtureRequest) -> str:
    """Return the device of a test on real graphs."""
    if request.param == "cuda":
        require_gpu_or_stand_in(request.config)
    return request.param


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Let tests on real graphs run on each device asked for; the reference would take hours."""
    asked = metafunc.config.getoption("--device") or ["cpu"]
    if "place" in metafunc.fixturenames and metafunc.module.__name__.endswith("_real_graphs"):
        places = [name for name in asked if name != "reference"]
        metafunc.parametrize("place", places, indirect=True, scope="module")
