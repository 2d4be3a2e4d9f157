// One-bit matrix instructions beside AND and popc, for bits_matrix_instructions.py.
//
// A fragment is `h` rows by 256 columns: eight tiles of h x 32 bits of one line that are not empty,
// side by side. Words of a tile lie as the registers of a lane ask for; columns that a fragment does
// not need have the number of a tile whose frontier is empty. `chunks`: line, first fragment, how many.
constexpr unsigned kAll = 0xffffffffu;

struct Chunk {
  int line, first, count, unused;
};

__device__ __forceinline__ void mma(int (&d)[4], unsigned a0, unsigned a1, unsigned a2, unsigned a3,
                                    unsigned b0, unsigned b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc "
      "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
      : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}

// Writes a bit for each count, a word of 32 lanes at a time.
template <int kWords>
__device__ __forceinline__ void write_found(const int (&counts)[kWords], unsigned* out) {
  const unsigned lane = threadIdx.x % 32;
  unsigned mine[kWords / 32] = {};
#pragma unroll
  for (int b = 0; b < kWords; ++b) {
    const unsigned word = __ballot_sync(kAll, counts[b] != 0);
    if (lane == b % 32) mine[b / 32] = word;
  }
#pragma unroll
  for (int b = 0; b < kWords / 32; ++b) {
    if (mine[b] != 0) atomicOr(&out[b * 32 + lane], mine[b]);
  }
}

// Lines of 8 rows: the frontier of 16 sources is the left operand. `frontier`: by tile of columns, words of
// 256 sources in the order of registers.
extern "C" __global__ void __launch_bounds__(128) lines_mma8(const Chunk* chunks, int num,
                                                             const int* columns, const uint2* words,
                                                             const uint4* frontier, unsigned* out) {
  const unsigned lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
  const int at = static_cast<int>(blockIdx.x * 4 + threadIdx.x / 32);
  if (at >= num) return;
  const Chunk mine = chunks[at];
  int acc[64] = {};
  auto& d = reinterpret_cast<int(&)[16][4]>(acc);
  for (int f = mine.first; f < mine.first + mine.count; ++f) {
    const uint2 b = words[static_cast<size_t>(f) * 32 + lane];
    const uint4* low = frontier + static_cast<size_t>(columns[f * 8 + t]) * 64 + g;
    const uint4* high = frontier + static_cast<size_t>(columns[f * 8 + 4 + t]) * 64 + g;
#pragma unroll
    for (int q = 0; q < 8; ++q) {
      const uint4 x = low[q * 8], y = high[q * 8];
      mma(d[2 * q], x.x, x.y, y.x, y.y, b.x, b.y);
      mma(d[2 * q + 1], x.z, x.w, y.z, y.w, b.x, b.y);
    }
  }
  write_found<64>(acc, out + static_cast<size_t>(mine.line) * 64);
}

// Lines of 16 rows: the tiles are the left operand, the frontier of 8 sources is the right one.
extern "C" __global__ void __launch_bounds__(128)
    lines_mma16(const Chunk* chunks, int num, const int* columns, const uint4* words,
                const uint4* frontier, unsigned* out) {
  const unsigned lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
  const int at = static_cast<int>(blockIdx.x * 4 + threadIdx.x / 32);
  if (at >= num) return;
  const Chunk mine = chunks[at];
  int acc[128] = {};
  auto& d = reinterpret_cast<int(&)[32][4]>(acc);
  for (int f = mine.first; f < mine.first + mine.count; ++f) {
    const uint4 a = words[static_cast<size_t>(f) * 32 + lane];
    const uint4* low = frontier + static_cast<size_t>(columns[f * 8 + t]) * 64 + g;
    const uint4* high = frontier + static_cast<size_t>(columns[f * 8 + 4 + t]) * 64 + g;
#pragma unroll
    for (int q = 0; q < 8; ++q) {
      const uint4 x = low[q * 8], y = high[q * 8];
      mma(d[4 * q], a.x, a.y, a.z, a.w, x.x, y.x);
      mma(d[4 * q + 1], a.x, a.y, a.z, a.w, x.y, y.y);
      mma(d[4 * q + 2], a.x, a.y, a.z, a.w, x.z, y.z);
      mma(d[4 * q + 3], a.x, a.y, a.z, a.w, x.w, y.w);
    }
  }
  write_found<128>(acc, out + static_cast<size_t>(mine.line) * 128);
}

// The same tiles of 8 rows without matrix instructions: a lane has eight sources, `frontier` lies source by
// source. All lanes see the same word of a tile: an empty one costs nothing.
extern "C" __global__ void __launch_bounds__(128)
    lines_and(const Chunk* chunks, int num, const int* columns, const uint2* words,
              const unsigned* frontier, unsigned* out) {
  const unsigned lane = threadIdx.x % 32;
  const int at = static_cast<int>(blockIdx.x * 4 + threadIdx.x / 32);
  if (at >= num) return;
  const Chunk mine = chunks[at];
  int acc[64] = {};
  auto& found = reinterpret_cast<int(&)[8][8]>(acc);
  for (int f = mine.first; f < mine.first + mine.count; ++f) {
    const uint2 held = words[static_cast<size_t>(f) * 32 + lane];
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      const unsigned* from = frontier + static_cast<size_t>(columns[f * 8 + k]) * 256 + lane;
      unsigned x[8];
#pragma unroll
      for (int y = 0; y < 8; ++y) x[y] = from[y * 32];
#pragma unroll
      for (int row = 0; row < 8; ++row) {
        const unsigned a = __shfl_sync(kAll, k < 4 ? held.x : held.y, row * 4 + k % 4);
        if (a == 0) continue;
#pragma unroll
        for (int y = 0; y < 8; ++y) found[row][y] |= static_cast<int>(a & x[y]);
      }
    }
  }
  write_found<64>(acc, out + static_cast<size_t>(mine.line) * 64);
}

// The same tiles, an entry at a time: `frontier` has eight words for each vertex.
extern "C" __global__ void __launch_bounds__(128)
    lines_entries(const Chunk* chunks, int num, const int* columns, const uint2* words,
                  const unsigned* frontier, unsigned* out) {
  const unsigned lane = threadIdx.x % 32, w = lane % 8, group = lane / 8;
  const int at = static_cast<int>(blockIdx.x * 4 + threadIdx.x / 32);
  if (at >= num) return;
  const Chunk mine = chunks[at];
  unsigned found[2] = {};
  for (int f = mine.first; f < mine.first + mine.count; ++f) {
    const uint2 held = words[static_cast<size_t>(f) * 32 + lane];
    for (int k = 0; k < 8; ++k) {
      const size_t first = static_cast<size_t>(columns[f * 8 + k]) * 32;
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        unsigned bits = __shfl_sync(kAll, k < 4 ? held.x : held.y, (half * 4 + group) * 4 + k % 4);
        for (; bits != 0; bits &= bits - 1) {
          found[half] |= frontier[(first + __ffs(static_cast<int>(bits)) - 1) * 8 + w];
        }
      }
    }
  }
  for (int half = 0; half < 2; ++half) {
    const unsigned place = (half * 4 + group) * 8 + w;
    if (found[half] != 0) atomicOr(&out[static_cast<size_t>(mine.line) * 64 + place], found[half]);
  }
}

// Compressed rows; `chunks`: row, first entry, how many.
extern "C" __global__ void __launch_bounds__(128)
    rows(const Chunk* chunks, int num, const int* indices, const unsigned* frontier, unsigned* out) {
  const unsigned lane = threadIdx.x % 32, w = lane % 8, group = lane / 8;
  const int at = static_cast<int>(blockIdx.x * 4 + threadIdx.x / 32);
  if (at >= num) return;
  const Chunk mine = chunks[at];
  unsigned found = 0;
#pragma unroll 4
  for (int e = mine.first + static_cast<int>(group); e < mine.first + mine.count; e += 4) {
    found |= frontier[static_cast<size_t>(indices[e]) * 8 + w];
  }
  found |= __shfl_xor_sync(kAll, found, 8);
  found |= __shfl_xor_sync(kAll, found, 16);
  if (group == 0 && found != 0) atomicOr(&out[static_cast<size_t>(mine.line) * 8 + w], found);
}

// What all of these must find: an entry and a word for each thread.
extern "C" __global__ void wanted(const int* rows_of, const int* indices, long long num,
                                  const unsigned* frontier, unsigned* out) {
  const long long n = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (n >= num * 8) return;
  const unsigned bits = frontier[static_cast<size_t>(indices[n / 8]) * 8 + n % 8];
  if (bits != 0) atomicOr(&out[static_cast<size_t>(rows_of[n / 8]) * 8 + n % 8], bits);
}

// Corners: the sum over the bits (i, j) of L, i > j, of what rows i and j of L share.
// `left`, `right`: rows in the order of registers; `rows_of`: as they are, `width` words each.
__device__ __forceinline__ unsigned bit_at(const unsigned* rows_of, int width, int i, int j) {
  return rows_of[static_cast<size_t>(i) * width + j / 32] >> (j % 32) & 1u;
}

__device__ __forceinline__ void add_up(unsigned long long mine, unsigned long long* total) {
  for (int step = 16; step > 0; step /= 2) mine += __shfl_xor_sync(kAll, mine, step);
  if (threadIdx.x % 32 == 0 && mine != 0) atomicAdd(total, mine);
}

// Blocks of 128 x 128 results, warps of 64 x 64; blocks above the diagonal have none.
extern "C" __global__ void __launch_bounds__(128)
    corner_mma(const uint4* left, const uint2* right, const unsigned* rows_of, int width,
               unsigned long long* total) {
  const int bi = static_cast<int>(blockIdx.y), bj = static_cast<int>(blockIdx.x);
  if (bj > bi) return;
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int i0 = bi * 128 + static_cast<int>(warp / 2) * 64, j0 = bj * 128 + static_cast<int>(warp % 2) * 64;
  const int steps = width / 8, end = min(steps, (bj * 128 + 128 + 255) / 256);
  int acc[4][8][4] = {};
  for (int k = 0; k < end; ++k) {
    uint4 a[4];
    uint2 b[8];
#pragma unroll
    for (int m = 0; m < 4; ++m) a[m] = left[(static_cast<size_t>(i0 / 16 + m) * steps + k) * 32 + lane];
#pragma unroll
    for (int n = 0; n < 8; ++n) b[n] = right[(static_cast<size_t>(j0 / 8 + n) * steps + k) * 32 + lane];
#pragma unroll
    for (int m = 0; m < 4; ++m) {
#pragma unroll
      for (int n = 0; n < 8; ++n) mma(acc[m][n], a[m].x, a[m].y, a[m].z, a[m].w, b[n].x, b[n].y);
    }
  }
  unsigned long long mine = 0;
#pragma unroll
  for (int m = 0; m < 4; ++m) {
#pragma unroll
    for (int n = 0; n < 8; ++n) {
#pragma unroll
      for (int c = 0; c < 4; ++c) {
        const int i = i0 + m * 16 + static_cast<int>(lane / 4) + 8 * (c / 2);
        const int j = j0 + n * 8 + static_cast<int>(lane % 4) * 2 + c % 2;
        if (bit_at(rows_of, width, i, j)) mine += static_cast<unsigned>(acc[m][n][c]);
      }
    }
  }
  add_up(mine, total);
}

// The same results by AND and popc: blocks of 64 x 64, threads of 4 x 4.
extern "C" __global__ void __launch_bounds__(256)
    corner_popc(const unsigned* rows_of, int width, unsigned long long* total) {
  const int bi = static_cast<int>(blockIdx.y), bj = static_cast<int>(blockIdx.x);
  if (bj > bi) return;
  __shared__ unsigned one[32][65], other[32][65];
  const int x = static_cast<int>(threadIdx.x % 16), y = static_cast<int>(threadIdx.x / 16);
  int acc[4][4] = {};
  const int end = min(width, bj * 2 + 2);
  for (int k = 0; k < end; k += 32) {
    for (int n = static_cast<int>(threadIdx.x); n < 64 * 32; n += 256) {
      const int row = n / 32, word = n % 32;
      const bool is_in = k + word < end;
      one[word][row] = is_in ? rows_of[static_cast<size_t>(bi * 64 + row) * width + k + word] : 0;
      other[word][row] = is_in ? rows_of[static_cast<size_t>(bj * 64 + row) * width + k + word] : 0;
    }
    __syncthreads();
#pragma unroll 4
    for (int word = 0; word < 32; ++word) {
      unsigned a[4], b[4];
#pragma unroll
      for (int m = 0; m < 4; ++m) {
        a[m] = one[word][y + 16 * m];
        b[m] = other[word][x + 16 * m];
      }
#pragma unroll
      for (int m = 0; m < 4; ++m) {
#pragma unroll
        for (int n = 0; n < 4; ++n) acc[m][n] += __popc(a[m] & b[n]);
      }
    }
    __syncthreads();
  }
  unsigned long long mine = 0;
  for (int m = 0; m < 4; ++m) {
    for (int n = 0; n < 4; ++n) {
      if (bit_at(rows_of, width, bi * 64 + y + 16 * m, bj * 64 + x + 16 * n)) {
        mine += static_cast<unsigned>(acc[m][n]);
      }
    }
  }
  add_up(mine, total);
}

// Only the results that are asked for: a warp has an entry (i, j) of L.
extern "C" __global__ void __launch_bounds__(256)
    corner_entries(const int* is, const int* js, int num, const unsigned* rows_of, int width,
                   unsigned long long* total) {
  const int lane = static_cast<int>(threadIdx.x % 32), warps = static_cast<int>(gridDim.x * 8);
  unsigned long long mine = 0;
  for (int e = static_cast<int>(blockIdx.x * 8 + threadIdx.x / 32); e < num; e += warps) {
    const int j = js[e];
    const auto* one = reinterpret_cast<const uint4*>(rows_of + static_cast<size_t>(is[e]) * width);
    const auto* other = reinterpret_cast<const uint4*>(rows_of + static_cast<size_t>(j) * width);
    for (int n = lane; n * 128 < j; n += 32) {
      const uint4 a = one[n], b = other[n];
      mine += __popc(a.x & b.x) + __popc(a.y & b.y) + __popc(a.z & b.z) + __popc(a.w & b.w);
    }
  }
  add_up(mine, total);
}

#ifdef SEMIRA_WGMMA
WGMMA_FUNCTION

// B: 256 rows of 256 bits in shared memory, as blocks of 8 rows x 128 bits that lie together.
__device__ __forceinline__ unsigned long long descriptor(const void* shared) {
  const auto at = static_cast<unsigned long long>(__cvta_generic_to_shared(shared));
  return (at & 0x3ffffu) >> 4 | 128ull >> 4 << 16 | 256ull >> 4 << 32;
}

__device__ __forceinline__ void fence_shared() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

// Lines of 64 rows: four warps have the tiles in registers, the frontier of all sources in shared memory.
extern "C" __global__ void __launch_bounds__(128)
    lines_wgmma(const Chunk* chunks, int num, const int* columns, const uint4* words,
                const unsigned* frontier, unsigned* out) {
  __shared__ alignas(128) unsigned held[2][2048];
  const Chunk mine = chunks[blockIdx.x];
  int acc[128] = {};
  for (int f = mine.first; f < mine.first + mine.count; ++f) {
    unsigned* into = held[f % 2];
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const unsigned s = threadIdx.x + 128 * half;
#pragma unroll
      for (int kh = 0; kh < 2; ++kh) {
        unsigned x[4];
#pragma unroll
        for (int t = 0; t < 4; ++t) {
          x[t] = frontier[static_cast<size_t>(columns[f * 8 + kh * 4 + t]) * 256 + s];
        }
        *reinterpret_cast<uint4*>(&into[(s / 8 * 2 + kh) * 32 + s % 8 * 4]) =
            make_uint4(x[0], x[1], x[2], x[3]);
      }
    }
    const uint4 a = words[static_cast<size_t>(f) * 128 + threadIdx.x];
    fence_shared();
    __syncthreads();
    wgmma(acc, a, descriptor(into));
  }
  write_found<128>(acc, out + (static_cast<size_t>(mine.line) * 4 + threadIdx.x / 32) * 128);
}

// `right`: 256 rows and 256 columns of L at a time, as they lie in shared memory.
extern "C" __global__ void __launch_bounds__(128)
    corner_wgmma(const uint4* left, const uint4* right, const unsigned* rows_of, int width,
                 unsigned long long* total) {
  const int bi = static_cast<int>(blockIdx.y), bj = static_cast<int>(blockIdx.x);
  if (bj * 256 > bi * 64 + 63) return;
  __shared__ alignas(128) uint4 held[2][512];
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int steps = width / 8, end = min(steps, bj + 1);
  int acc[128] = {};
  for (int k = 0; k < end; ++k) {
    uint4* into = held[k % 2];
    const uint4* from = right + (static_cast<size_t>(bj) * steps + k) * 512;
    for (unsigned n = threadIdx.x; n < 512; n += 128) into[n] = from[n];
    const uint4 a = left[(static_cast<size_t>(bi * 4 + static_cast<int>(warp)) * steps + k) * 32 + lane];
    fence_shared();
    __syncthreads();
    wgmma(acc, a, descriptor(into));
  }
  unsigned long long mine = 0;
#pragma unroll
  for (int d = 0; d < 128; ++d) {
    const int i = bi * 64 + static_cast<int>(warp * 16 + lane / 4) + 8 * (d / 2 % 2);
    const int j = bj * 256 + d / 4 * 8 + static_cast<int>(lane % 4) * 2 + d % 2;
    if (j < i && bit_at(rows_of, width, i, j)) mine += static_cast<unsigned>(acc[d]);
  }
  add_up(mine, total);
}
#endif
