"""How much memory is left, and what is refused for lack of it."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from semira.base import memory
from semira.base.errors import OutOfMemory

GIB = 2**30

MEMINFO = "MemTotal: 16777216 kB\nMemAvailable: 8388608 kB\nSwapFree: {swap} kB\n"


@pytest.fixture
def system(tmp_path, monkeypatch):
    """A machine with 8 GiB free, whose files the test adds to."""
    monkeypatch.setattr(memory, "_PROC", tmp_path / "proc")
    monkeypatch.setattr(memory, "_CGROUP", tmp_path / "cgroup")
    monkeypatch.setattr(memory, "_process_bytes", list)
    memory._groups.cache_clear()

    def write(files: dict[str, str]) -> None:
        for name, text in files.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(text)

    write({"proc/meminfo": MEMINFO.format(swap=0), "proc/self/cgroup": ""})
    yield write
    memory._groups.cache_clear()


def test_free_memory_of_the_machine_counts_swap(system):
    assert memory.available_bytes() == 8 * GIB
    system({"proc/meminfo": MEMINFO.format(swap=2 * 2**20)})
    assert memory.available_bytes() == 10 * GIB


def group(folder: str, limit: object, used: int, version: int, cached: int = 0) -> dict[str, str]:
    """Return the files of a control group; `cached` bytes each of active and inactive files."""
    limit_name, used_name, prefix = (
        ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_")
        if version == 1
        else ("memory.max", "memory.current", "")
    )
    stat = f"anon 7\n{prefix}inactive_file {cached}\n{prefix}active_file {cached}\n"
    return {
        f"{folder}/{limit_name}": f"{limit}\n",
        f"{folder}/{used_name}": f"{used}\n",
        f"{folder}/memory.stat": stat,
    }


V1, V2 = "cgroup/memory", "cgroup"


@pytest.mark.parametrize(
    ("lines", "files", "expected"),
    [
        ("0::/a/b\n", group(f"{V2}/a/b", 3 * GIB, GIB, 2), 2 * GIB),
        # The group around it has the lower limit.
        (
            "0::/a/b\n",
            group(f"{V2}/a", 2 * GIB, GIB, 2) | group(f"{V2}/a/b", "max", 0, 2),
            GIB,
        ),
        # In a container: the path is the host's, the root is its own.
        ("0::/docker/123\n", group(V2, 3 * GIB, GIB, 2), 2 * GIB),
        ("9:cpu:/x\n4:cpuset,memory:/a\n0::/\n", group(f"{V1}/a", 3 * GIB, GIB, 1), 2 * GIB),
        ("4:memory:/docker/123\n", group(V1, 3 * GIB, GIB, 1), 2 * GIB),
        ("4:memory:/a\n", group(f"{V1}/a", 9223372036854771712, GIB, 1), 8 * GIB),
        ("0::/a\n", group(f"{V2}/a", "max", GIB, 2), 8 * GIB),
        # Files that are only cached are given back.
        ("0::/a\n", group(f"{V2}/a", 3 * GIB, 3 * GIB, 2, GIB // 2), GIB),
        ("4:memory:/a\n", group(f"{V1}/a", 3 * GIB, 3 * GIB, 1, GIB // 2), GIB),
        # More in use than a limit set since.
        ("0::/a\n", group(f"{V2}/a", GIB, 3 * GIB, 2), 0),
    ],
)
def test_limits_of_control_groups(system, lines, files, expected):
    system({"proc/self/cgroup": lines} | files)
    assert memory.available_bytes() == expected


def test_a_group_may_swap(system):
    system({"proc/meminfo": MEMINFO.format(swap=2**20), "proc/self/cgroup": "0::/a\n"})
    system(group(f"{V2}/a", 3 * GIB, GIB, 2))
    assert memory.available_bytes() == 3 * GIB


@pytest.mark.parametrize("limit", ["RLIMIT_AS", "RLIMIT_DATA"])
@pytest.mark.skipif(sys.platform != "linux", reason="the use of a limit is read from /proc")
def test_limits_of_the_process(limit):
    code = (
        "import resource\n"
        "from semira.base.memory import available_bytes\n"
        f"resource.setrlimit(resource.{limit}, (3 << 30, 3 << 30))\n"
        "before = available_bytes()\n"
        "held = bytearray(1 << 27)\n"
        "print(before, before - available_bytes())\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    before, taken = map(int, done.stdout.split())
    assert 1 << 30 < before < 3 << 30
    assert abs(taken - (1 << 27)) < 1 << 24


def test_what_does_not_fit_is_refused_with_both_figures(monkeypatch):
    monkeypatch.setattr(memory, "available_bytes", lambda: 2 * GIB)
    memory.require_bytes(2 * GIB, "a graph")
    expected = r"^a graph needs 3221225472 bytes \(3 GiB\), but 2147483648 bytes \(2 GiB\) are "
    with pytest.raises(OutOfMemory, match=expected + "available; take less$"):
        memory.require_bytes(3 * GIB, "a graph", "take less")
    with pytest.raises(OutOfMemory, match="a vector needs 3221225472 bytes"):
        memory.empty(3 * GIB // 8, np.float64, "a vector")
    with pytest.raises(OutOfMemory, match="3221225472 bytes"):
        memory.repeated(np.ones(1), 3 * GIB // 8)


def test_small_requests_ask_nobody(monkeypatch):
    monkeypatch.setattr(memory, "available_bytes", lambda: pytest.fail("asked"))
    memory.require_bytes(memory.LARGE - 1, "a graph")
    assert len(memory.empty(1000, np.int32)) == 1000


def test_a_system_that_tells_nothing_refuses_nothing(monkeypatch):
    monkeypatch.setattr(memory, "available_bytes", lambda: None)
    memory.require_bytes(2**80, "a graph")


def test_memory_kept_for_later_is_given_back_first(monkeypatch):
    left = [GIB]
    monkeypatch.setattr(memory, "available_bytes", lambda: left[0])
    monkeypatch.setattr(memory, "spares", [lambda: left.__setitem__(0, 3 * GIB)])
    memory.require_bytes(2 * GIB, "a graph")
    with pytest.raises(OutOfMemory):
        memory.require_bytes(4 * GIB, "a graph")


def test_errors_of_numpy_get_figures(monkeypatch):
    monkeypatch.setattr(memory, "available_bytes", lambda: 5 * 2**20)

    @memory.tells_shortage("work", "take less")
    def work(length: int) -> int:
        """Return nothing."""
        return len(np.empty((length, 3), np.int16))

    assert work(2) == 2
    assert (work.__name__, work.__doc__) == ("work", "Return nothing.")
    expected = (
        r"^work ran out of memory: an array of shape \(1152921504606846976, 3\) and dtype int16 "
        r"needs 6917529027641081856 bytes \(6,442,450,944 GiB\), but 5242880 bytes \(5 MiB\) are "
        r"available; take less$"
    )
    with pytest.raises(OutOfMemory, match=expected) as raised:
        work(2**60)
    assert isinstance(raised.value.__cause__, MemoryError)


def test_an_error_keeps_what_it_was_given(monkeypatch):
    error = MemoryError("out.")
    error.semira_iterations = 3  # type: ignore[attr-defined]
    with pytest.raises(OutOfMemory, match=r"^cpu ran out of memory: out, but \d+") as raised:
        memory.raise_with_figures(error, "cpu")
    assert raised.value.semira_iterations == 3
    with pytest.raises(OutOfMemory) as again:
        memory.raise_with_figures(raised.value, "another")
    assert again.value is raised.value
