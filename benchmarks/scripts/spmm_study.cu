// C = A B with both operands in tiles: sparse A of long rows, full B of 64 columns, FP32, plus.times.
// For benchmarks/scripts/spmm_study.py, which says what is compared.
//
// A block takes kRows rows of A and a range of columns. It copies kTile rows of B after another to
// shared memory, and every warp adds what its rows of A have in these columns. Its sums stay in
// registers from the first tile to the last. A row of B is read once a block, not once an entry.
//
// The tile of A is what lies in these rows and columns: `starts` says where that begins in each row,
// made once for a matrix. Ranges of columns leave their sums in `parts`, which add_parts adds in order.
//
// C. Yang, High-performance linear algebra-based graph framework on the GPU, 2019, section 6.4.

constexpr int kWarpSize = 32, kWarpsABlock = 16, kThreads = kWarpSize * kWarpsABlock;
constexpr int kColumns = 64, kQuads = kColumns / 4;
constexpr unsigned kEveryLane = 0xffffffffu;

// How an entry of A comes to the lanes of its warp: by shuffles, or from a list in shared memory.
enum How { kShuffled, kListed };

// kRowsOfWarp rows of A have their sums in the registers of a warp. kSplitTo warps share the same rows,
// and take as many parts of each tile. kAcrossOfLane: a lane takes 2 columns, and a warp an entry, or 4
// and half a warp.
template <int kTileRows, int kRowsOfWarp, int kSplitTo, int kAcrossOfLane, int kHowGiven>
struct Tiled {
  static constexpr int kTile = kTileRows, kRowsAWarp = kRowsOfWarp, kSplit = kSplitTo;
  static constexpr int kAcross = kAcrossOfLane, kHow = kHowGiven;
  static constexpr int kRows = kRowsAWarp * kWarpsABlock / kSplit;
  static constexpr int kLanes = kColumns / kAcross, kGroups = kWarpSize / kLanes;
  // Entries of one step, for which nobody asks whether they are there.
  static constexpr int kStep = 4 * kGroups;
  static constexpr int kTileQuads = kTile * kQuads, kSumQuads = kWarpsABlock * kRowsAWarp * kQuads;
  static constexpr int kRoom = kTileQuads > kSumQuads ? kTileQuads : kSumQuads;
  static constexpr int kEach = kTileQuads / kThreads;
  static_assert(kTileQuads % kThreads == 0, "threads copy equal parts of a tile");
  static_assert(kTile % kSplit == 0, "warps have equal parts of a tile");
  static_assert(kAcross == 2 || kAcross == 4, "one load of 8 or 16 bytes");
};

template <class Shape>
__device__ __forceinline__ void multiply_tiled(const int* starts, const int* indices,
                                               const float* values, const float* b, float* parts,
                                               long long nrows, long long ncols,
                                               long long tiles_a_range) {
  constexpr int kTile = Shape::kTile, kRowsAWarp = Shape::kRowsAWarp, kSplit = Shape::kSplit;
  constexpr int kHow = Shape::kHow;
  __shared__ float4 room[Shape::kRoom];
  __shared__ int2 listed[kHow == kListed ? kWarpsABlock * kWarpSize : 1];
  const int lane = threadIdx.x % kWarpSize, warp = threadIdx.x / kWarpSize;
  const int group = lane / Shape::kLanes, place = lane % Shape::kLanes;
  const long long tiles = (ncols + kTile - 1) / kTile, parts_a_row = tiles * kSplit;
  const long long row_groups = (nrows + Shape::kRows - 1) / Shape::kRows;
  const long long range = blockIdx.x / row_groups;
  const long long first_row = blockIdx.x % row_groups * Shape::kRows + warp / kSplit * kRowsAWarp;
  const long long begin_tile = range * tiles_a_range;
  const long long stop = begin_tile + tiles_a_range;
  const long long end_tile = stop < tiles ? stop : tiles;
  const float4* const quads = reinterpret_cast<const float4*>(b);
  const float* const tile = reinterpret_cast<const float*>(room);
  int2* const list = listed + (kHow == kListed ? warp * kWarpSize : 0);

  float sums[kRowsAWarp][Shape::kAcross] = {};
  float4 ahead[Shape::kEach];
  // The part of a tile that this thread copies; rows of B behind its end are zeros.
  const auto load_ahead = [&](long long t) {
#pragma unroll
    for (int e = 0; e < Shape::kEach; ++e) {
      const long long at = t * Shape::kTileQuads + e * kThreads + threadIdx.x;
      ahead[e] = at < ncols * kQuads ? quads[at] : float4{0, 0, 0, 0};
    }
  };
  if (begin_tile < end_tile) load_ahead(begin_tile);
  for (long long t = begin_tile; t < end_tile; ++t) {
    __syncthreads();
#pragma unroll
    for (int e = 0; e < Shape::kEach; ++e) room[e * kThreads + threadIdx.x] = ahead[e];
    __syncthreads();
    if (t + 1 < end_tile) load_ahead(t + 1);
    const long long part = t * kSplit + warp % kSplit;
    const int first_column = static_cast<int>(t * kTile);
#pragma unroll
    for (int r = 0; r < kRowsAWarp; ++r) {
      const long long row = first_row + r;
      if (row >= nrows) break;
      const int* const from = starts + row * (parts_a_row + 1) + part;
      const int end = from[1];
      for (int base = from[0]; base < end; base += kWarpSize) {
        // Lanes behind the end hold the first row of the tile times zero.
        const bool is_there = base + lane < end;
        const int k = is_there ? indices[base + lane] - first_column : 0;
        const float x = is_there ? values[base + lane] : 0.0f;
        const int count = end - base < kWarpSize ? end - base : kWarpSize;
        if constexpr (kHow == kListed) {
          __syncwarp();
          int bits;
          memcpy(&bits, &x, sizeof(x));
          list[lane] = int2{k, bits};
          __syncwarp();
        }
        for (int s = 0; s < count; s += Shape::kStep) {
#pragma unroll
          for (int u = 0; u < 4; ++u) {
            const int source = s + u * Shape::kGroups + group;
            int its_k;
            float its_x;
            if constexpr (kHow == kListed) {
              const int2 pair = list[source];
              its_k = pair.x;
              memcpy(&its_x, &pair.y, sizeof(its_x));
            } else {
              its_k = __shfl_sync(kEveryLane, k, source);
              its_x = __shfl_sync(kEveryLane, x, source);
            }
            const float* const y = tile + its_k * kColumns + place * Shape::kAcross;
            if constexpr (Shape::kAcross == 4) {
              const float4 four = *reinterpret_cast<const float4*>(y);
              sums[r][0] += its_x * four.x;
              sums[r][1] += its_x * four.y;
              sums[r][2] += its_x * four.z;
              sums[r][3] += its_x * four.w;
            } else {
              const float2 two = *reinterpret_cast<const float2*>(y);
              sums[r][0] += its_x * two.x;
              sums[r][1] += its_x * two.y;
            }
          }
        }
      }
    }
  }
  // The groups of a warp, then the warps of a row.
#pragma unroll
  for (int r = 0; r < kRowsAWarp; ++r) {
#pragma unroll
    for (int c = 0; c < Shape::kAcross; ++c) {
      for (int step = Shape::kLanes; step < kWarpSize; step *= 2) {
        sums[r][c] += __shfl_xor_sync(kEveryLane, sums[r][c], step);
      }
    }
  }
  __syncthreads();
  float* const found = reinterpret_cast<float*>(room);
#pragma unroll
  for (int r = 0; r < kRowsAWarp; ++r) {
    if (group != 0) break;
#pragma unroll
    for (int c = 0; c < Shape::kAcross; ++c) {
      found[(warp * kRowsAWarp + r) * kColumns + place * Shape::kAcross + c] = sums[r][c];
    }
  }
  __syncthreads();
  const long long block_row = blockIdx.x % row_groups * Shape::kRows;
  for (int item = threadIdx.x; item < Shape::kRows * kColumns; item += kThreads) {
    const int r = item / kColumns, j = item % kColumns;
    if (block_row + r >= nrows) break;
    float sum = 0.0f;
    for (int w = 0; w < kSplit; ++w) {
      const int of_warp = r / kRowsAWarp * kSplit + w;
      sum += found[(of_warp * kRowsAWarp + r % kRowsAWarp) * kColumns + j];
    }
    parts[(range * nrows + block_row + r) * kColumns + j] = sum;
  }
}

// Where the entries of each part of a tile begin in each row, and where the last one ends.
extern "C" __global__ void find_starts(const int* indptr, const int* indices, int* starts,
                                       long long nrows, long long num_parts,
                                       long long columns) {
  const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
  for (long long item = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
       item < nrows * (num_parts + 1); item += step) {
    const long long row = item / (num_parts + 1), column = item % (num_parts + 1) * columns;
    int low = indptr[row], high = indptr[row + 1];
    while (low < high) {
      const int middle = low + (high - low) / 2;
      if (indices[middle] < column) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    starts[item] = low;
  }
}

// Adds up what the ranges found, in their order.
extern "C" __global__ void add_parts(const float* parts, float* out, long long sums,
                                     long long ranges) {
  const long long item = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (item >= sums) return;
  float sum = 0.0f;
  for (long long r = 0; r < ranges; ++r) sum += parts[r * sums + item];
  out[item] = sum;
}
