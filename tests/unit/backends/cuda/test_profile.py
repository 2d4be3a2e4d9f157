"""What a profile says of the launches it was told of."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

pytest.importorskip("cuda.core")

from semira.backends.cuda.runtime.profile import Profile


def kernel(*, fitting: int = 3, as_methods: bool = False) -> SimpleNamespace:
    figures = {"num_regs": 40, "shared_size_bytes": 1024, "local_size_bytes": 16}
    given = {name: (lambda value=value: value) if as_methods else value
             for name, value in figures.items()}  # fmt: skip
    occupancy = SimpleNamespace(
        max_active_blocks_per_multiprocessor=lambda threads, shared: fitting
    )
    return SimpleNamespace(attributes=SimpleNamespace(**given), occupancy=occupancy)


OWNER = SimpleNamespace(code_bytes=5000, workspace_bytes=64)


def test_launches_of_a_kernel_are_summed_and_the_longest_comes_first() -> None:
    profile, one, other = Profile(2048), kernel(), kernel()
    profile.add("one", (0.0, 1.0), one, OWNER, 7, 256)
    profile.add("one", (2.0, 2.5), one, OWNER, 9, 256)
    profile.add("other", (3.0, 6.0), other, OWNER, 1, 256)
    assert profile.device_ms == pytest.approx(4.5)
    first, second = profile.kernels()
    assert (first.name, first.launches, first.device_ms) == ("other", 1, pytest.approx(3.0))
    assert (second.launches, second.device_ms, second.blocks) == (2, pytest.approx(1.5), 9)


@pytest.mark.parametrize("as_methods", [False, True])
def test_a_kernel_has_its_registers_and_occupancy(as_methods: bool) -> None:
    profile = Profile(2048)
    profile.add("one", (0.0, 1.0), kernel(as_methods=as_methods), OWNER, 7, 512)
    (use,) = profile.kernels()
    assert (use.registers, use.shared_bytes, use.local_bytes) == (40, 1024, 16)
    assert (use.blocks_per_sm, use.occupancy) == (3, 0.75)
    assert (use.code_bytes, use.workspace_bytes) == (5000, 64)


def test_launches_of_other_shapes_count_apart() -> None:
    profile, one = Profile(2048), kernel()
    profile.add("one", (0.0, 1.0), one, OWNER, 7, 256)
    profile.add("one", (0.0, 2.0), one, OWNER, 7, 256, 4096)
    profile.add("one", (0.0, 3.0), one, OWNER, 7, 512)
    assert [(use.threads, use.shared_bytes, use.device_ms) for use in profile.kernels()] == [
        (512, 1024, 3.0),
        (256, 1024 + 4096, 2.0),
        (256, 1024, 1.0),
    ]


def test_a_librarys_call_has_a_time_only() -> None:
    profile = Profile(2048)
    profile.add("cupy argsort", (0.0, 2.0))
    (use,) = profile.kernels()
    assert use.device_ms == pytest.approx(2.0)
    assert use.registers is use.occupancy is use.code_bytes is None
