"""The study of one-bit matrix instructions: it compiles, words lie as the PTX manual says."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
from benchmarks.scripts import bits_matrix_instructions as study
from tests.helpers.every import every
from tests.unit.backends.cuda.test_compile import needs_nvrtc

from semira.backends.cuda.jit.compile import compile_source

LANES = np.arange(32)
G, T = LANES // 4, LANES % 4


def instruction(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the counts (lane, register) of m16n8k256, from registers (lane, 4) and (lane, 2)."""
    left, right = np.zeros((16, 8), np.uint32), np.zeros((8, 8), np.uint32)
    for r in range(4):
        left[G + 8 * (r & 1), T + 4 * (r >> 1)] = a[:, r]
    for r in range(2):
        right[G, T + 4 * r] = b[:, r]
    counts = np.bitwise_count(left[:, None] & right[None]).sum(2)
    return np.stack([counts[G + 8 * (c // 2), 2 * T + c % 2] for c in range(4)], axis=1)


def words_of(counts: np.ndarray) -> np.ndarray:
    """Return a word of lanes for each register, as a ballot does; counts are (lane, register)."""
    return (counts.T != 0) @ (1 << LANES).astype(np.int64)


def found_by_lines(height: int, chunks, columns, words, by_tile, by_register, lines) -> np.ndarray:
    out = np.zeros((lines, height * 8), np.int64)
    frontier = by_register.reshape(-1, 8, 8, 4)
    for line, first, count, _ in chunks.tolist():
        for f in range(first, first + count):
            tiles = columns[f * 8 : f * 8 + 8]
            # (tile's half, q, register of 4) for each lane.
            x = np.stack([frontier[tiles[half * 4 + T], :, G] for half in range(2)], axis=1)
            if height == 8:
                b = words[f].reshape(32, 2)
                made = [
                    instruction(np.stack([x[:, 0, q, e], x[:, 0, q, e + 1],
                                          x[:, 1, q, e], x[:, 1, q, e + 1]], axis=1), b)
                    for q in range(8) for e in (0, 2)
                ]  # fmt: skip
                out[line] |= words_of(np.concatenate(made, axis=1))
                continue
            warps = words[f].reshape(-1, 32, 4)
            for w, a in enumerate(warps):
                made = [instruction(a, x[:, :, q, e]) for q in range(8) for e in range(4)]
                bits = words_of(np.concatenate(made, axis=1))
                out[line].reshape(len(warps), 128)[w] |= bits
    del by_tile
    return out.astype(np.uint32)


@every("height, kernel", [(8, "lines_mma8"), (16, "lines_mma16"), (64, "lines_wgmma")])
def test_lines_lie_as_registers_ask_for(height, kernel):
    n, rng = 200, np.random.default_rng(1)
    held = rng.random((n, n)) < 0.05
    held[5] = held[:, 7] = True
    rows, cols = np.nonzero(held)
    by_vertex, by_tile, by_register = study.frontiers(np, n)
    wanted = np.zeros((n, 8), np.uint32)
    np.bitwise_or.at(wanted, rows, by_vertex[cols])
    chunks, columns, words, tiles = study.fragments(np, rows, cols, n, height)
    assert tiles == len({(i // height, j // 32) for i, j in zip(rows, cols, strict=True)})
    assert (wanted[5] == np.bitwise_or.reduce(by_vertex[:n])).all()
    given = chunks, columns, words, by_tile, by_register
    out = found_by_lines(height, *given, -(-n // height))
    assert np.array_equal(study.by_rows(np, kernel, out, n), wanted)


def test_chunks_cover_every_fragment_once():
    counts = np.array([0, 5, 16, 33, 0, 1])
    chunks = study.chunks_of(np, counts, np.cumsum(counts) - counts, 16)
    assert chunks[:, 2].max() == 16
    covered = [(line, first + k) for line, first, count, _ in chunks.tolist() for k in range(count)]
    assert covered == list(zip(np.repeat(np.arange(6), counts), range(55), strict=True))


def test_corners_lie_as_registers_ask_for():
    lower = np.tril(np.random.default_rng(2).random((512, 512)) < 0.3, -1)
    dense = lower.astype(np.int64)
    products = dense @ dense.T
    total = int((products * dense).sum())
    met = {}

    def launch(kernel, grid, threads, *given):
        met[kernel] = given
        given[-1][0] = total

    device = SimpleNamespace(cp=np, launch=launch, least_us=lambda call: 1.0)
    rows = list(study.corner(device, "drawn", lower))
    assert [row["total"] for row in rows] == [total] * 4
    left, right, held, _, _ = met["corner_mma"]
    steps = 512 // 256
    left, right = left.reshape(32, steps, 32, 4), right.reshape(64, steps, 32, 2)
    for ib, jb in ((0, 0), (3, 1), (31, 40)):
        counts = sum(instruction(left[ib, k], right[jb, k]) for k in range(steps))
        for c in range(4):
            i, j = ib * 16 + G + 8 * (c // 2), jb * 8 + 2 * T + c % 2
            assert np.array_equal(counts[:, c], products[i, j])
    # Blocks of 8 rows x 128 bits, of 256 rows: those of 16 bytes that a thread copies are words.
    shared = met["corner_wgmma"][1].reshape(2, steps, 32, 2, 8, 4)
    row, word = 300, 11
    assert shared[1, 1, (row - 256) // 8, 0, row % 8, word - 8] == held[row, word]
    assert held[row, word] >> 5 & 1 == lower[row, word * 32 + 5]


@needs_nvrtc
def test_it_compiles_without_warning():
    made = compile_source(study.kernel_text(), "study", study.ARCH)
    assert made.log.strip("\0 \n") == ""
    assert all(name.encode() in made.code for name in study.KERNELS)
