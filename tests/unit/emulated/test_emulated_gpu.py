"""The emulated GPU by itself: what kernels compute there, and the faults that it finds."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest
from tests.helpers.emulated import build, driver, operators

from semira.backends.cuda.jit import render
from semira.backends.cuda.jit.linking import Linked
from semira.backends.cuda.jit.render import render_source
from semira.base.dtypes import INT64
from semira.base.errors import JitError, Panic
from semira.ops import user

pytestmark = pytest.mark.skipif(
    not build.has_compiler(), reason="the emulation needs g++ on an x86-64 processor"
)

KERNELS = r"""
using Word = long long;
#define KERNEL extern "C" __global__ void
#define RANK (blockIdx.x * blockDim.x + threadIdx.x)

KERNEL shuffles(Word* out) {
  const int x = 10 * static_cast<int>(threadIdx.x);
  Word* const mine = out + 6 * threadIdx.x;
  mine[0] = __shfl_sync(~0u, x, 5);
  mine[1] = __shfl_sync(~0u, x, 5, 8);
  mine[2] = __shfl_up_sync(~0u, x, 3);
  mine[3] = __shfl_down_sync(~0u, x, 3, 16);
  mine[4] = __shfl_xor_sync(~0u, x, 6);
  mine[5] = __shfl_sync(~0u, static_cast<double>(x) / 4, 31) * 4;
}
KERNEL names_of_blocks(Word* out) {
  if (threadIdx.x == 0) out[blockIdx.x] += blockIdx.x + 1;
}
KERNEL votes(Word* out) {
  const unsigned lane = threadIdx.x;
  Word* const mine = out + 6 * lane;
  mine[0] = __ballot_sync(~0u, lane % 3 == 0);
  mine[1] = __any_sync(~0u, lane == 31) + 2 * __any_sync(~0u, false);
  mine[2] = __all_sync(~0u, lane < 32) + 2 * __all_sync(~0u, lane != 7);
  mine[3] = __reduce_add_sync(~0u, lane);
  mine[4] = __reduce_min_sync(~0u, lane ^ 5);
  mine[5] = __reduce_max_sync(~0u, lane ^ 5);
}
KERNEL halves(Word* out) {
  // The two halves of a warp go different ways, of different lengths.
  const unsigned lane = threadIdx.x;
  if (lane < 16) {
    for (int k = 0; k < 3; ++k) out[lane] = __ballot_sync(0x0000ffffu, lane == k);
  } else {
    out[lane] = __reduce_add_sync(0xffff0000u, lane);
  }
}
KERNEL earlier_calls(Word* out) {
  // Some lanes already wait for all while others have something to tell each other first.
  const unsigned lane = threadIdx.x;
  unsigned seen = 0;
  if (lane % 4 == 1) seen = __ballot_sync(1u << lane, true);
  if (lane >= 24) seen = __ballot_sync(0xff000000u, lane % 2 == 0);
  out[lane] = seen + __popc(__ballot_sync(~0u, true));
}
KERNEL ended_lanes(Word* out) {
  if (threadIdx.x % 4 == 0) return;
  out[threadIdx.x] = __ballot_sync(~0u, true);
}
KERNEL small_block(Word* out) { out[threadIdx.x] = __ballot_sync(~0u, true); }
KERNEL ended_threads(Word* out) {
  __shared__ Word seen[256];
  if (threadIdx.x >= 100) return;
  seen[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = seen[99 - threadIdx.x];
}
KERNEL block_votes(Word* out) {
  const int any = __syncthreads_or(threadIdx.x == 77), none = __syncthreads_or(0);
  const int all = __syncthreads_and(1), but = __syncthreads_and(threadIdx.x != 3);
  out[threadIdx.x] = any + 10 * none + 100 * all + 1000 * but;
}
KERNEL atomics(Word* out) {
  atomicAdd(reinterpret_cast<unsigned long long*>(out), 3ull);
  atomicMin(out + 1, 1000 - static_cast<Word>(RANK));
  atomicMax(reinterpret_cast<int*>(out + 2), static_cast<int>(RANK));
  atomicOr(reinterpret_cast<unsigned*>(out + 3), 1u << RANK % 32);
  atomicAdd(reinterpret_cast<double*>(out + 4), 0.5);
  // A lock, as kernels take one: the holder gives it back before it looks again.
  bool done = false;
  while (!done) {
    if (atomicCAS(reinterpret_cast<unsigned*>(out + 5), 0u, 1u) == 0u) {
      out[6] = out[6] + 1;
      __threadfence();
      atomicExch(reinterpret_cast<unsigned*>(out + 5), 0u);
      done = true;
    }
  }
}
KERNEL garbage(Word* out) {
  __shared__ unsigned char own[8];
  extern __shared__ __align__(16) unsigned char given[];
  if (threadIdx.x == 0) {
    out[2 * blockIdx.x] = own[3];
    out[2 * blockIdx.x + 1] = given[9];
    own[3] = given[9] = 7;
  }
}
KERNEL order(Word* out) { out[RANK] = atomicAdd(reinterpret_cast<unsigned*>(out + 64), 1u); }
KERNEL numbers(Word* out) {
  out[0] = __popc(0xF0Fu) + __popcll(~0ull);
  out[1] = __ffs(8) + 100 * __ffs(0);
  out[2] = __clz(1) + 100 * __clzll(0);
  out[3] = __float_as_int(__int_as_float(77)) + (__fmul_rn(2.f, 3.f) == 6.f);
}

// Wrong ones.
KERNEL no_barrier(Word* out) {
  __shared__ Word seen[64];
  seen[threadIdx.x] = threadIdx.x;
  out[threadIdx.x] = seen[threadIdx.x == 0 ? 0 : threadIdx.x - 1];
}
KERNEL different_calls(Word* out) {
  if (threadIdx.x < 16) {
    __syncwarp();
  } else {
    out[0] = __ballot_sync(~0u, true);
  }
}
KERNEL outside_of_mask(Word* out) { out[threadIdx.x] = __ballot_sync(0x0000ffffu, true); }
KERNEL masks_overlap(Word* out) {
  out[threadIdx.x] = __ballot_sync(threadIdx.x < 16 ? 0x0001ffffu : 0xffff8000u, true);
}
KERNEL reads_outside(Word* out) {
  if (threadIdx.x < 16) out[threadIdx.x] = __shfl_sync(0x0000ffffu, 1, 20);
}
KERNEL reads_ended(Word* out) {
  if (threadIdx.x == 0) return;
  out[threadIdx.x] = __shfl_sync(~0u, 1, 0);
}
KERNEL never_meet(Word* out) {
  if (threadIdx.x < 16) {
    __syncthreads();
  } else {
    __syncwarp();
  }
  out[0] = 1;
}
KERNEL behind(Word* out, Word n) { out[n] = 1; }
KERNEL before(Word* out) { reinterpret_cast<unsigned char*>(out)[-1] = 1; }
KERNEL behind_shared(Word* out, Word n) {
  extern __shared__ __align__(16) unsigned char given[];
  given[n] = static_cast<unsigned char>(out[0]);
}
"""

#: The barrier of the programs.
BARRIERS = r"""
extern "C" __global__ void barriers(long long counter, long long* out) {
  GridBarrier barrier(reinterpret_cast<BarrierCounter*>(counter));
  const Team team = whole_grid();
  for (int round = 1; round <= 5; ++round) {
    if (threadIdx.x == 0) out[team.block] += round;
    barrier.wait();
    // All have written, and none goes on before all have read.
    long long sum = 0;
    for (unsigned k = 0; k < team.blocks; ++k) sum += out[k];
    if (sum != team.blocks * round * (round + 1) / 2) out[team.blocks] = round;
    barrier.wait();
  }
  barrier.close(team);
}
extern "C" __global__ void one_is_missing(long long counter, long long* out) {
  GridBarrier barrier(reinterpret_cast<BarrierCounter*>(counter));
  if (block_number() != 1) barrier.wait();
  out[0] = 1;
}
"""


@functools.cache
def loaded(source: str) -> driver.HostCode:
    return driver.HostCode.from_cubin(build.compile_for_host(source, "tests", "host").code)


class Gpu:
    """An emulated GPU that nobody else in this process sees."""

    def __init__(self) -> None:
        self.driver = driver.EmulatedDriver()
        self.device = driver.EmulatedDevice(self.driver)

    def array(self, values: Any) -> tuple[driver.GuardedBuffer, np.ndarray]:
        """Return a buffer with values, and the values as an array."""
        given = np.asarray(values, np.int64)
        buffer = self.device.allocate(given.nbytes, stream=None)
        start = buffer.handle - buffer.memory.ctypes.data
        view = buffer.memory[start : start + given.nbytes].view(np.int64)
        view[:] = given
        return buffer, view

    def run(
        self, name: str, values: Any, *, blocks: int = 1, threads: int = 32, shared: int = 0,
        more: tuple[int, ...] = (),
    ) -> np.ndarray:  # fmt: skip
        """Return the words that a kernel made of `values`."""
        buffer, view = self.array(values)
        kernel = loaded(KERNELS).get_kernel(name)
        self.driver.start(kernel.handle, name, (blocks, threads, shared), [buffer.handle, *more])
        return view.copy()

    def run_together(self, name: str, blocks: int, words: int) -> np.ndarray:
        """Return the words that a cooperative kernel made."""
        counter, _ = self.array([0])
        out, view = self.array([0] * words)
        kernel = loaded(render_source(BARRIERS, "int", "common/grid.cuh")).get_kernel(name)
        places = [counter.handle, out.handle]
        self.driver.start(kernel.handle, name, (blocks, 64, 0), places, together=True)
        return view.copy()


@pytest.fixture(params=[False, True], ids=["forwards", "backwards"])
def gpu(request):
    made = Gpu()
    made.driver.backwards = request.param
    return made


def test_shuffles(gpu):
    found = gpu.run("shuffles", np.zeros(32 * 6)).reshape(32, 6)
    lane = np.arange(32)
    expected = [
        np.full(32, 5), lane // 8 * 8 + 5, np.where(lane < 3, lane, lane - 3),
        np.where(lane % 16 > 12, lane, lane + 3), lane ^ 6, np.full(32, 31),
    ]  # fmt: skip
    np.testing.assert_array_equal(found, 10 * np.stack(expected, axis=1))


def test_votes_and_sums(gpu):
    found = gpu.run("votes", np.zeros(32 * 6)).reshape(32, 6)
    thirds = sum(1 << k for k in range(0, 32, 3))
    np.testing.assert_array_equal(found, np.tile([thirds, 1, 1, 496, 0, 31], (32, 1)))


def test_parts_of_a_warp_meet_by_themselves(gpu):
    found = gpu.run("halves", np.zeros(32))
    np.testing.assert_array_equal(found, [4] * 16 + [sum(range(16, 32))] * 16)


def test_lanes_may_meet_others_before_they_meet_all(gpu):
    lane = np.arange(32)
    seen = np.where(lane >= 24, 0x55000000, np.where(lane % 4 == 1, 1 << lane, 0))
    np.testing.assert_array_equal(gpu.run("earlier_calls", np.zeros(32)), seen + 32)


def test_lanes_that_have_ended_are_not_waited_for(gpu):
    found = gpu.run("ended_lanes", np.zeros(32))
    expected = np.where(np.arange(32) % 4, 0xEEEEEEEE, 0)
    np.testing.assert_array_equal(found, expected)
    assert set(gpu.run("small_block", np.zeros(20), threads=20)) == {(1 << 20) - 1}


def test_barriers_of_a_block_without_threads_that_have_ended(gpu):
    found = gpu.run("ended_threads", np.zeros(256), threads=256)
    np.testing.assert_array_equal(found[:100], np.arange(100)[::-1])
    assert set(gpu.run("block_votes", np.zeros(128), threads=128)) == {101}


def test_atomics_of_many_blocks(gpu):
    found = gpu.run("atomics", [0, 5000, 0, 0, 0, 0, 0], blocks=9, threads=96)
    n = 9 * 96
    half = np.float64(n / 2).view(np.int64)
    assert found.tolist() == [3 * n, 1001 - n, n - 1, 0xFFFFFFFF, half, 0, n]


def test_numbers(gpu):
    assert gpu.run("numbers", np.zeros(4), threads=1).tolist() == [72, 4, 6431, 78]


def test_shared_memory_is_of_a_block_and_begins_as_garbage(gpu):
    found = gpu.run("garbage", np.zeros(10), blocks=5, shared=16)
    assert set(found) == {0xA5}


def test_order():
    gpu = Gpu()
    assert gpu.run("order", np.zeros(65), threads=64)[:64].tolist() == list(range(64))
    gpu.driver.backwards = True
    assert gpu.run("order", np.zeros(65), threads=64)[:64].tolist() == list(range(64))[::-1]


@pytest.mark.parametrize("blocks", [1, 2, 7, 40])
def test_numbers_of_blocks_are_dealt_out_in_another_order(monkeypatch, blocks):
    orders = []
    start = driver.emulated().emulated_launch

    def launch(*given):
        orders.append(given[-1])
        return start(*given)

    monkeypatch.setattr(driver.emulated(), "emulated_launch", launch)
    for defines in ([], [build.PERMUTED]):
        monkeypatch.setattr(render, "defines", defines)
        found = Gpu().run("names_of_blocks", np.zeros(blocks), blocks=blocks)
        np.testing.assert_array_equal(found, np.arange(blocks) + 1)
    assert orders == [False, True]
    numbers = [driver.emulated().emulated_number(k, blocks, 0, 1) for k in range(blocks)]
    assert numbers == [(1_000_003 * k + 1) % blocks for k in range(blocks)]


@pytest.mark.parametrize("blocks", [1, 2, 7])
def test_barriers_of_a_grid(gpu, blocks):
    assert gpu.run_together("barriers", blocks, blocks + 1).tolist() == [15] * blocks + [0]


def test_variables_of_two_kernels_are_two(gpu):
    text = """
    template <class T> __device__ T& kept() {{ __shared__ T value[{size}]; return value[0]; }}
    __device__ inline int& counted() {{ static int value = {size}; return value; }}
    extern "C" __global__ void k(long long* out) {{
      kept<int>() = 1;
      out[0] = ++counted();
    }}"""
    for size in (1, 100):
        buffer, view = gpu.array([0])
        code = build.compile_for_host(text.format(size=size), "tests", "host").code
        kernel = driver.HostCode.from_cubin(code).get_kernel("k")
        gpu.driver.start(kernel.handle, "k", (1, 1, 0), [buffer.handle])
        assert view[0] == size + 1


def test_a_missing_barrier_shows_in_one_of_two_orders():
    gpu, expected = Gpu(), [0, *range(31)]
    assert gpu.run("no_barrier", np.zeros(32)).tolist() == expected
    gpu.driver.backwards = True
    assert gpu.run("no_barrier", np.zeros(32)).tolist() != expected


@pytest.mark.parametrize(
    ("kernel", "options", "message"),
    [
        ("different_calls", {}, "lanes of a warp meet at different calls"),
        ("outside_of_mask", {}, "a lane is not in the mask of its own call"),
        ("masks_overlap", {}, "calls with different masks"),
        ("reads_outside", {}, "reads a lane outside of its mask"),
        ("reads_ended", {}, "reads a lane that has ended"),
        ("never_meet", {"threads": 64}, "wait for each other for ever"),
        ("behind", {"more": (40,)}, "wrote behind a buffer of 320 bytes"),
        ("before", {}, "wrote before a buffer of 320 bytes"),
        ("behind_shared", {"more": (100,), "shared": 100}, "behind its 100 bytes of dynamic"),
        ("order", {"shared": 1 << 20}, "may not have so much shared memory"),
    ],
)
def test_faults_are_found(gpu, kernel, options, message):
    with pytest.raises(Exception, match=message):
        gpu.run(kernel, np.zeros(40), **options)
    # The next launch is one like any other.
    assert gpu.run("numbers", np.zeros(4), threads=1)[0] == 72


def test_blocks_that_wait_for_ever_are_found(gpu):
    driver.emulated().emulated_wait_for(0.2)
    try:
        with pytest.raises(Panic, match="a block waits for others for ever"):
            gpu.run_together("one_is_missing", 3, 1)
    finally:
        driver.emulated().emulated_wait_for(20)


def test_what_does_not_compile_is_reported():
    with pytest.raises(JitError, match=r"nowhere.* was not declared"):
        build.compile_for_host("int k = nowhere;", "tests", "host")
    with pytest.raises(JitError, match=r"does not know this PTX: asm\(\"bar.sync 0;\"\);"):
        build.translate('void f() { asm("bar.sync 0;"); }')


def function_asked_for(function):
    """Return the line of a source that asks for a Python function of one integer."""
    made = user.user_function(function, "UnaryOp", ("x",))
    # For as long as the function itself: it goes with its last operator.
    function.made = made
    return Linked(made.name, INT64, (INT64,)).declaration()


@pytest.mark.skipif(not operators._has_compiler_for_gpus(), reason="numba-cuda is not installed")
def test_python_operators_that_may_raise_are_refused_as_on_a_gpu():
    def raises(x):
        if x > 2:
            raise ValueError("too much")
        return x

    def doubled(x):
        return 2 * x

    with pytest.raises(JitError, match=r"raises .* it may raise .*return a value"):
        build.compile_for_host(function_asked_for(raises), "tests", "host")
    build.translate(function_asked_for(doubled))
