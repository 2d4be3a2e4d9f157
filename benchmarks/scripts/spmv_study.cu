// Variants of y = A u over plus.second (a pattern times a vector), for benchmarks/scripts/spmv_study.py.
//
// `present` is Semira's own phase. Everything else shares its conventions: a persistent grid, a
// descriptor in device memory, rows without entries left alone (the simpler kernels write 0).
#include "vxm/merge.cuh"

template <class V>
struct Plus {
  using T = V;
  static constexpr bool kIsAny = false, kHasTerminal = false;
  static __device__ __forceinline__ T identity() { return T{}; }
  static __device__ __forceinline__ bool is_terminal(T) { return false; }
  static __device__ __forceinline__ T apply(T x, T y) { return x + y; }
};
template <class V>
struct Second {
  using T = V;
  static constexpr bool kReadsA = false, kReadsB = true;
  static __device__ __forceinline__ T apply(T, T y, Index, Index, Index) { return y; }
};
template <class V>
struct PlusSecond {
  using Add = Plus<V>;
  using Multiply = Second<V>;
  static constexpr bool kVectorFirst = false;
};

// All members have 8 bytes; PROBLEM in spmv_study.py spells the same.
struct Problem {
  const int* indptr;
  const int* indices;
  const int* coded;  // indices, the hot columns replaced by ~slot
  const void* u;
  void* y;
  unsigned* words;
  const int* slices;
  long long num_slices, slice_items;
  long long rows, nvals;
  CarriesDescriptor carries;
  Counters* counters;
  BarrierCounter* barrier;
  const int* hot_list;  // columns, the most frequent one first
  void* hot_values;
  long long hot;
  const int* bins;        // rows: lane each, 8 lanes each, warp each, block each
  long long bin_ends[4];  // where in `bins` each kind ends
  void* sink;             // one value a thread, for the probes
  long long phases;       // 1: products, 2: carries, 3: both with a barrier between
};

// ------------------------------------------------------------------------------------- loads
constexpr int kPlain = 0, kNoAllocate = 1, kEvictFirst = 2;  // of the columns, read once
constexpr int kCached = 0, kKeep = 1, kPastL1 = 2, kKeepL2 = 3;  // of the vector

#ifdef EMULATED
template <int kHow>
int4 load_quad(const int* at) { return *reinterpret_cast<const int4*>(at); }
template <int kHow>
int load_one(const int* at) { return *at; }
template <int kHow, class T>
T load_value(const T* at) { return *at; }
template <class T>
T load_either(const T* hot, const T* u, int column) { return column < 0 ? hot[~column] : u[column]; }
template <int kTable, class T>
T load_kept(const T* hot, const T* u, int column) { return load_either(hot, u, column); }
#else
__device__ __forceinline__ unsigned long long policy_first() {
  unsigned long long policy;
  asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}
__device__ __forceinline__ unsigned long long policy_last() {
  unsigned long long policy;
  asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}
template <int kHow>
__device__ __forceinline__ int4 load_quad(const int* at) {
  int4 q;
  if constexpr (kHow == kNoAllocate) {
    asm("ld.global.nc.L1::no_allocate.v4.s32 {%0, %1, %2, %3}, [%4];"
        : "=r"(q.x), "=r"(q.y), "=r"(q.z), "=r"(q.w) : "l"(at));
  } else if constexpr (kHow == kEvictFirst) {
    asm("ld.global.nc.L1::no_allocate.L2::cache_hint.v4.s32 {%0, %1, %2, %3}, [%4], %5;"
        : "=r"(q.x), "=r"(q.y), "=r"(q.z), "=r"(q.w) : "l"(at), "l"(policy_first()));
  } else {
    asm("ld.global.nc.v4.s32 {%0, %1, %2, %3}, [%4];"
        : "=r"(q.x), "=r"(q.y), "=r"(q.z), "=r"(q.w) : "l"(at));
  }
  return q;
}
template <int kHow>
__device__ __forceinline__ int load_one(const int* at) {
  int x;
  if constexpr (kHow == kPlain) {
    asm("ld.global.nc.s32 %0, [%1];" : "=r"(x) : "l"(at));
  } else {
    asm("ld.global.nc.L1::no_allocate.s32 %0, [%1];" : "=r"(x) : "l"(at));
  }
  return x;
}
template <int kHow>
__device__ __forceinline__ float load_value(const float* at) {
  float x;
  if constexpr (kHow == kKeep) {
    asm("ld.global.nc.L1::evict_last.f32 %0, [%1];" : "=f"(x) : "l"(at));
  } else if constexpr (kHow == kPastL1) {
    asm("ld.global.nc.L1::no_allocate.f32 %0, [%1];" : "=f"(x) : "l"(at));
  } else if constexpr (kHow == kKeepL2) {
    asm("ld.global.nc.L2::cache_hint.f32 %0, [%1], %2;" : "=f"(x) : "l"(at), "l"(policy_last()));
  } else {
    asm("ld.global.nc.f32 %0, [%1];" : "=f"(x) : "l"(at));
  }
  return x;
}
template <int kHow>
__device__ __forceinline__ double load_value(const double* at) {
  double x;
  if constexpr (kHow == kKeep) {
    asm("ld.global.nc.L1::evict_last.f64 %0, [%1];" : "=d"(x) : "l"(at));
  } else if constexpr (kHow == kPastL1) {
    asm("ld.global.nc.L1::no_allocate.f64 %0, [%1];" : "=d"(x) : "l"(at));
  } else if constexpr (kHow == kKeepL2) {
    asm("ld.global.nc.L2::cache_hint.f64 %0, [%1], %2;" : "=d"(x) : "l"(at), "l"(policy_last()));
  } else {
    asm("ld.global.nc.f64 %0, [%1];" : "=d"(x) : "l"(at));
  }
  return x;
}
// Of the hot table in shared memory where the column is negative, else of the vector: two loads of
// which one happens, without a branch. Volatile: not before the table is there.
__device__ __forceinline__ float load_either(const float* hot, const float* u, int column) {
  float x;
  asm volatile(
      "{\n\t.reg .pred cold;\n\tsetp.ge.s32 cold, %1, 0;\n\t"
      "@!cold ld.shared.f32 %0, [%2];\n\t@cold ld.global.nc.f32 %0, [%3];\n\t}"
      : "=f"(x)
      : "r"(column), "r"(static_cast<unsigned>(__cvta_generic_to_shared(hot)) + 4 * ~column),
        "l"(u + column));
  return x;
}
// The same with a hot table in global memory, which L1 is asked to keep.
template <int kTable>
__device__ __forceinline__ float load_kept(const float* hot, const float* u, int column) {
  float x;
  if constexpr (kTable == kPastL1) {
    asm("{\n\t.reg .pred cold;\n\tsetp.ge.s32 cold, %1, 0;\n\t"
        "@!cold ld.global.L1::evict_last.f32 %0, [%2];\n\t"
        "@cold ld.global.nc.L1::no_allocate.f32 %0, [%3];\n\t}"
        : "=f"(x) : "r"(column), "l"(hot + ~column), "l"(u + column) : "memory");
  } else {
    asm("{\n\t.reg .pred cold;\n\tsetp.ge.s32 cold, %1, 0;\n\t"
        "@!cold ld.global.L1::evict_last.f32 %0, [%2];\n\t@cold ld.global.nc.f32 %0, [%3];\n\t}"
        : "=f"(x) : "r"(column), "l"(hot + ~column), "l"(u + column) : "memory");
  }
  return x;
}
#endif

template <class T>
__device__ __forceinline__ T add_lanes(T x, int lanes = kWarp) {
  for (int step = lanes / 2; step > 0; step /= 2) x += shuffle(x, (threadIdx.x % kWarp) ^ step);
  return x;
}

// ---------------------------------------------------------------------- 1: the phase as it is
template <class T>
__device__ __forceinline__ void open_matrix(const Problem* given, Compressed<bool>& matrix) {
  if (threadIdx.x == 0) {
    matrix.indptr = given->indptr;
    matrix.indices = given->indices;
    matrix.values = nullptr;
    matrix.value_stride = 0;
    matrix.nvals = given->nvals;
    matrix.slices = given->slices;
    matrix.num_slices = static_cast<Index>(given->num_slices);
    matrix.slice_items = given->slice_items;
    matrix.longest = kHighest<Index>;
  }
  __syncthreads();
}

template <class T>
__device__ __forceinline__ Plane<T> plane_of(const Problem* given) {
  Plane<T> out;
  out.values = static_cast<T*>(given->y);
  out.words = given->words;
  out.list = nullptr;
  return out;
}

// The barrier between products and carries, and the carries.
template <class T>
__device__ __forceinline__ void finish(const Problem* given, const Team& team) {
#ifndef EMULATED
  if (given->phases == 3) {
    GridBarrier barrier(given->barrier);
    barrier.wait();
    barrier.close(team);
  }
#endif
  if ((given->phases & 2) == 0) return;
  add_carries<Plus<T>>(team, static_cast<Index>(given->num_slices), Carries<T>(given->carries),
                       plane_of<T>(given), NoDegrees{}, given->counters);
}

template <class T>
__device__ __forceinline__ void present(const Problem* given) {
  __shared__ Compressed<bool> matrix;
  open_matrix<T>(given, matrix);
  const Team team = whole_grid();
  if (given->phases & 1) {
    const SharedGather<PlusSecond<T>, T, bool> gather{nullptr, static_cast<const T*>(given->u), matrix};
    spmv_pull_merge<false>(team, gather, static_cast<Index>(given->rows), NoMask{},
                                   plane_of<T>(given), NoDegrees{}, Carries<T>(given->carries),
                                   given->counters);
  }
  finish<T>(given, team);
}

// -------------------------------------------------------------- 2: equal groups of lanes a row
constexpr int kUnroll = 4;

// Sum of the entries first, first + step, ... below end.
template <class T>
__device__ __forceinline__ T walk(const int* indices, const T* u, int first, int end, int step) {
  T sum{};
  for (int at = first; at < end; at += kUnroll * step) {
    int column[kUnroll];
#pragma unroll
    for (int b = 0; b < kUnroll; ++b) {
      column[b] = at + b * step < end ? load_one<kNoAllocate>(indices + at + b * step) : -1;
    }
#pragma unroll
    for (int b = 0; b < kUnroll; ++b) {
      if (column[b] >= 0) sum += load_value<kCached>(u + column[b]);
    }
  }
  return sum;
}

template <class T, int kGroup>
__device__ __forceinline__ void by_groups(const Problem* given) {
  const int* indptr = given->indptr;
  const int* indices = given->indices;
  const T* u = static_cast<const T*>(given->u);
  T* y = static_cast<T*>(given->y);
  const int rows = static_cast<int>(given->rows);
  constexpr int kRows = kWarp / kGroup;
  const int lane = threadIdx.x % kWarp, rank = lane % kGroup;
  const int warps = gridDim.x * (blockDim.x / kWarp);
  int warp = blockIdx.x * (blockDim.x / kWarp) + threadIdx.x / kWarp;
  for (long long base = static_cast<long long>(warp) * kRows; base < rows;
       base += static_cast<long long>(warps) * kRows) {
    const int row = static_cast<int>(base) + lane / kGroup;
    const int first = row < rows ? indptr[row] : 0, end = row < rows ? indptr[row + 1] : 0;
    T sum = walk(indices, u, first + rank, end, kGroup);
    __syncwarp();
    sum = add_lanes(sum, kGroup);
    if (row < rows && rank == 0) y[row] = sum;
  }
}

// --------------------------------------------------------------------- 3: rows binned by length
template <class T, int kGroup>
__device__ __forceinline__ void bin_by_groups(const Problem* given, int from, int upto) {
  const T* u = static_cast<const T*>(given->u);
  constexpr int kRows = kWarp / kGroup;
  const int lane = threadIdx.x % kWarp, rank = lane % kGroup;
  // Consecutive warps on different multiprocessors: the longest rows come first in a bin.
  const int warp = threadIdx.x / kWarp * gridDim.x + blockIdx.x;
  const int warps = gridDim.x * (blockDim.x / kWarp);
  for (long long base = from + static_cast<long long>(warp) * kRows; base < upto;
       base += static_cast<long long>(warps) * kRows) {
    const int place = static_cast<int>(base) + lane / kGroup;
    const int row = place < upto ? given->bins[place] : -1;
    const int first = row >= 0 ? given->indptr[row] : 0, end = row >= 0 ? given->indptr[row + 1] : 0;
    T sum = walk(given->indices, u, first + rank, end, kGroup);
    __syncwarp();
    sum = add_lanes(sum, kGroup);
    if (row >= 0 && rank == 0) static_cast<T*>(given->y)[row] = sum;
  }
}

template <class T>
__device__ __forceinline__ void by_bins(const Problem* given) {
  __shared__ T partial[kWarp];
  const int ends[4] = {
      static_cast<int>(given->bin_ends[0]), static_cast<int>(given->bin_ends[1]),
      static_cast<int>(given->bin_ends[2]), static_cast<int>(given->bin_ends[3])};
  const T* u = static_cast<const T*>(given->u);
  for (int place = ends[2] + static_cast<int>(blockIdx.x); place < ends[3];
       place += static_cast<int>(gridDim.x)) {
    const int row = given->bins[place];
    T sum = walk(given->indices, u, given->indptr[row] + static_cast<int>(threadIdx.x),
                 given->indptr[row + 1], static_cast<int>(blockDim.x));
    __syncwarp();
    sum = add_lanes(sum);
    if (threadIdx.x % kWarp == 0) partial[threadIdx.x / kWarp] = sum;
    __syncthreads();
    if (threadIdx.x < kWarp) {
      sum = threadIdx.x < blockDim.x / kWarp ? partial[threadIdx.x] : T{};
      sum = add_lanes(sum);
      if (threadIdx.x == 0) static_cast<T*>(given->y)[row] = sum;
    }
    __syncthreads();
  }
  bin_by_groups<T, 32>(given, ends[1], ends[2]);
  bin_by_groups<T, 8>(given, ends[0], ends[1]);
  bin_by_groups<T, 1>(given, 0, ends[0]);
}

// ------------------------------------- 4, 5, 6: slices streamed four entries a lane at a time
// Where the values of the vector come from: as they are; the hot columns from shared memory, or
// from a table of their own that L1 is asked to keep while the others pass it by.
constexpr int kNoHot = 0, kSharedHot = 1, kTableHot = 2;

template <class T, int kHot, int kTable>
struct Values {
  const T* u;
  const T* hot;
  __device__ __forceinline__ T operator()(int column) const {
    if constexpr (kHot == kNoHot) {
      return load_value<kTable>(u + column);
    } else if constexpr (kHot == kSharedHot) {
      return load_either(hot, u, column);
    } else {
      return load_kept<kTable>(hot, u, column);
    }
  }
};

#ifdef EMULATED
#define OPEN_SHARED(T) T* shared_values = static_cast<T*>(emulated_shared())
#else
#define OPEN_SHARED(T)                                      \
  extern __shared__ __align__(16) char shared_bytes[];      \
  T* shared_values = reinterpret_cast<T*>(shared_bytes)
#endif

// The hot values, brought to shared memory by every block.
template <class T, int kHot, int kTable>
__device__ __forceinline__ Values<T, kHot, kTable> open_values(const Problem* given) {
  const T* table = static_cast<const T*>(given->hot_values);
  if constexpr (kHot == kSharedHot) {
    OPEN_SHARED(T);
    const int hot = static_cast<int>(given->hot);
    for (int k = threadIdx.x; k < hot; k += blockDim.x) shared_values[k] = table[k];
    __syncthreads();
    table = shared_values;
  }
  return Values<T, kHot, kTable>{static_cast<const T*>(given->u), table};
}

constexpr int kQuad = 4;                     // entries of a lane, one load
constexpr int kStripe = kQuad * kWarp;       // entries of a warp, one load

// Four columns of this lane from a stripe that begins at `base`, a multiple of 4.
template <int kStream>
__device__ __forceinline__ int4 columns_at(const int* indices, int base, int lane, int nvals) {
  const int at = base + kQuad * lane;
  if (base <= nvals - kStripe) return load_quad<kStream>(indices + at);
  int4 q = make_int4(0, 0, 0, 0);
  if (at < nvals) q.x = load_one<kStream>(indices + at);
  if (at + 1 < nvals) q.y = load_one<kStream>(indices + at + 1);
  if (at + 2 < nvals) q.z = load_one<kStream>(indices + at + 2);
  if (at + 3 < nvals) q.w = load_one<kStream>(indices + at + 3);
  return q;
}

// The values of four entries from `at` on, 0 for those outside [from, upto). Every lane loads, the
// value of column 0 where it has nothing to do, so that four loads follow one another unbranched.
template <class T, class Value>
__device__ __forceinline__ void gather_quad(const Value& value, const int4& columns, int at,
                                            int from, int upto, T (&z)[kQuad]) {
  const int column[kQuad] = {columns.x, columns.y, columns.z, columns.w};
  T found[kQuad];
#pragma unroll
  for (int k = 0; k < kQuad; ++k) {
    found[k] = value(at + k >= from && at + k < upto ? column[k] : 0);
  }
#pragma unroll
  for (int k = 0; k < kQuad; ++k) z[k] = at + k >= from && at + k < upto ? found[k] : T{};
}

// Sum of the rows that a stripe of entries from `base` on (a multiple of 4) has a part of. Each
// lane has a row, entries begin ... end, and four consecutive entries z. `hub` is what earlier
// stripes have of the row that goes on here, shared out over the lanes; `open`: there is such.
template <class T>
__device__ __forceinline__ void sum_stripe(T (&z)[kQuad], int base, int from, int upto, int begin,
                                           int end, int lane, T& sum, T& hub, bool& open) {
  const int low = base > from ? base : from;
  const int stop = base + kStripe < upto ? base + kStripe : upto;
  const int first = __ffs(__ballot_sync(kAllLanes, end > low)) - 1;
  const int first_end = __shfl_sync(kAllLanes, end, first);
  if (first_end >= stop) {  // one row only
    hub += (z[0] + z[1]) + (z[2] + z[3]);
    open = true;
    if (first_end == stop) {
      const T total = add_lanes(hub);
      if (lane == first) sum = total;
      hub = T{};
      open = false;
    }
    return;
  }
  if (open) {
    const T total = add_lanes(hub);
    if (lane == 0) z[0] += total;
  }
  // Bit k of `heads`: a row begins at this lane's entry k.
  const bool begins = end > begin && begin >= low && begin < stop;
  const int place = begin - base;
  const unsigned bit = begins ? 1u << (place % kWarp) : 0u;
  const int word = place / kWarp;
  const unsigned w0 = __reduce_or_sync(kAllLanes, word == 0 ? bit : 0u);
  const unsigned w1 = __reduce_or_sync(kAllLanes, word == 1 ? bit : 0u);
  const unsigned w2 = __reduce_or_sync(kAllLanes, word == 2 ? bit : 0u);
  const unsigned w3 = __reduce_or_sync(kAllLanes, word == 3 ? bit : 0u);
  const unsigned mine = lane < 16 ? (lane < 8 ? w0 : w1) : (lane < 24 ? w2 : w3);
  const unsigned heads = mine >> (lane % 8 * kQuad) & 15u;
  // Sums since the last head: within the lane, then over lanes.
  if (!(heads & 2u)) z[1] += z[0];
  if (!(heads & 4u)) z[2] += z[1];
  if (!(heads & 8u)) z[3] += z[2];
  const unsigned with_head = __ballot_sync(kAllLanes, heads != 0);
  const unsigned before = with_head & (0xffffffffu >> (31 - lane));
  const int start = before == 0 ? 0 : 31 - __clz(before);
  T tail = z[3];
#pragma unroll
  for (int step = 1; step < kWarp; step *= 2) {
    const T other = shuffle(tail, lane >= step ? lane - step : lane);
    if (lane - step >= start) tail += other;
  }
  T carry = shuffle(tail, lane > 0 ? lane - 1 : 0);
  if (lane == 0) carry = T{};
  if (!(heads & 1u)) z[0] += carry;
  if (!(heads & 3u)) z[1] += carry;
  if (!(heads & 7u)) z[2] += carry;
  if (!(heads & 15u)) z[3] += carry;
  // Every row that ends here fetches its sum from where its last entry is.
  const bool ends = end > begin && end > low && end <= stop;
  const int at = ends ? end - 1 - base : 0;
  const int source = at / kQuad;
  const T t0 = shuffle(z[0], source), t1 = shuffle(z[1], source);
  const T t2 = shuffle(z[2], source), t3 = shuffle(z[3], source);
  if (ends) sum = at & 2 ? (at & 1 ? t3 : t2) : (at & 1 ? t1 : t0);
  open = __any_sync(kAllLanes, end > begin && begin < stop && end > stop);
  hub = open && lane == kWarp - 1 ? z[3] : T{};
}

template <class T, int kQuads, int kStream, int kTable, bool kAhead, int kHot>
__device__ __forceinline__ void stream_slices(const Problem* given, const Team& team) {
  const Values<T, kHot, kTable> value = open_values<T, kHot, kTable>(given);
  const int* indptr = given->indptr;
  const int* indices = kHot == kNoHot ? given->indices : given->coded;
  const int* slices = given->slices;
  const int rows = static_cast<int>(given->rows), nvals = static_cast<int>(given->nvals);
  const int num_slices = static_cast<int>(given->num_slices);
  const long long slice_items = given->slice_items;
  const Plane<T> out = plane_of<T>(given);
  const Carries<T> carries(given->carries);
  const long long path = static_cast<long long>(nvals) + rows;
  const int lane = static_cast<int>(team.lane);
  constexpr int kBatch = kQuads * kStripe;
  for (int s = static_cast<int>(team.warp); s < num_slices; s += static_cast<int>(team.warps)) {
    const long long from_item = s * slice_items, upto_item = from_item + slice_items;
    if (from_item >= path) {
      if (lane == 0) carries.rows[s] = -1;
      continue;
    }
    const int first_row = slices[s], last_row = slices[s + 1];
    const int first = static_cast<int>(from_item - first_row);
    const int last = static_cast<int>((upto_item < path ? upto_item : path) - last_row);
    int4 quads[kQuads];
    if constexpr (kAhead) {
#pragma unroll
      for (int q = 0; q < kQuads; ++q) {
        quads[q] = columns_at<kStream>(indices, (first & ~3) + q * kStripe, lane, nvals);
      }
    }
    bool carries_here = false;
    int from = first;  // where the rows of the window begin
    const int first_window = first_row / kWarp, last_window = last_row / kWarp;
    auto end_of = [&](int window) {
      const int row = window * kWarp + lane;
      return row < rows ? indptr[row + 1] : nvals;
    };
    int next_end = end_of(first_window);
    for (int w = first_window; w <= last_window; ++w) {
      const int row = w * kWarp + lane;
      int end = next_end;
      if (w < last_window) next_end = end_of(w + 1);
      end = end < first ? first : (end > last ? last : end);
      int begin = __shfl_up_sync(kAllLanes, end, 1);
      if (lane == 0) begin = from;
      const int upto = __shfl_sync(kAllLanes, end, kWarp - 1);
      T sum{}, hub{};
      bool open = false;
      for (int base = upto > from ? from & ~3 : upto; base < upto; base += kBatch) {
        int4 now[kQuads];
#pragma unroll
        for (int q = 0; q < kQuads; ++q) {
          if constexpr (kAhead) {
            now[q] = quads[q];
          } else {
            now[q] = columns_at<kStream>(indices, base + q * kStripe, lane, nvals);
          }
        }
        if constexpr (kAhead) {
          const int next = base + kBatch < upto ? base + kBatch : upto & ~3;
#pragma unroll
          for (int q = 0; q < kQuads; ++q) {
            quads[q] = columns_at<kStream>(indices, next + q * kStripe, lane, nvals);
          }
        }
        T z[kQuads][kQuad];
#pragma unroll
        for (int q = 0; q < kQuads; ++q) {
          gather_quad(value, now[q], base + q * kStripe + kQuad * lane, from, upto, z[q]);
        }
#pragma unroll
        for (int q = 0; q < kQuads; ++q) {
          if (base + q * kStripe < upto) {
            sum_stripe(z[q], base + q * kStripe, from, upto, begin, end, lane, sum, hub, open);
          }
        }
      }
      from = upto;
      const bool has = end > begin;
      const bool ends = has && row < last_row;
      const unsigned word = __ballot_sync(kAllLanes, ends);
      if (word != 0 && lane == 0) atomicOr(&out.words[w], word);
      if (ends) out.values[row] = sum;
      if (has && row == last_row) {
        carries_here = true;
        carries.rows[s] = row;
        carries.has[s] = true;
        carries.values[s] = sum;
      }
    }
    if (!__any_sync(kAllLanes, carries_here) && lane == 0) carries.rows[s] = -1;
  }
}

template <class T, int kQuads, int kStream, int kTable, bool kAhead, int kHot>
__device__ __forceinline__ void stream(const Problem* given) {
  const Team team = whole_grid();
  if (given->phases & 1) stream_slices<T, kQuads, kStream, kTable, kAhead, kHot>(given, team);
  finish<T>(given, team);
}

// The hot values side by side, before a product that wants them.
template <class T>
__device__ __forceinline__ void gather_hot(const Problem* given) {
  const int hot = static_cast<int>(given->hot);
  for (int k = blockIdx.x * blockDim.x + threadIdx.x; k < hot; k += gridDim.x * blockDim.x) {
    static_cast<T*>(given->hot_values)[k] = static_cast<const T*>(given->u)[given->hot_list[k]];
  }
}

// ------------------------------------------------------------------ 4b: columns by cp.async
// As `stream`, one stripe at a time, the columns of the next kStages - 1 stripes on their way to
// shared memory.
#ifdef EMULATED
inline void copy_quad(int* to, const int* from) { memcpy(to, from, 16); }
inline void copy_commit() {}
template <int kPending>
void copy_wait() {}
#else
__device__ __forceinline__ void copy_quad(int* to, const int* from) {
  const unsigned place = static_cast<unsigned>(__cvta_generic_to_shared(to));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(place), "l"(from) : "memory");
}
__device__ __forceinline__ void copy_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int kPending>
__device__ __forceinline__ void copy_wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory");
}
#endif

template <class T, int kWarps, int kStages, int kTable>
__device__ __forceinline__ void stream_copied(const Problem* given) {
  __shared__ __align__(16) int ring_of[kWarps][kStages][kStripe];
  const Team team = whole_grid();
  const int* indptr = given->indptr;
  const int* indices = given->indices;
  const Values<T, kNoHot, kTable> value = open_values<T, kNoHot, kTable>(given);
  const int rows = static_cast<int>(given->rows), nvals = static_cast<int>(given->nvals);
  const int num_slices = static_cast<int>(given->num_slices);
  const Plane<T> out = plane_of<T>(given);
  const Carries<T> carries(given->carries);
  const long long path = static_cast<long long>(nvals) + rows;
  const int lane = static_cast<int>(team.lane);
  int(*ring)[kStripe] = ring_of[threadIdx.x / kWarp];
  for (int s = static_cast<int>(team.warp); (given->phases & 1) && s < num_slices;
       s += static_cast<int>(team.warps)) {
    const long long from_item = s * given->slice_items, upto_item = from_item + given->slice_items;
    if (from_item >= path) {
      if (lane == 0) carries.rows[s] = -1;
      continue;
    }
    const int first_row = given->slices[s], last_row = given->slices[s + 1];
    const int first = static_cast<int>(from_item - first_row);
    const int last = static_cast<int>((upto_item < path ? upto_item : path) - last_row);
    // Stripe n of the slice has the entries start + 128 n ...; a lane copies and reads its own
    // four only, so that no barrier is needed.
    const int start = first & ~3;
    auto copy = [&](int n) {
      const int at = start + n * kStripe + kQuad * lane;
      int* to = ring[n % kStages] + kQuad * lane;
      if (at < last) {
        if (at + kQuad <= nvals) {
          copy_quad(to, indices + at);
        } else {
          for (int k = 0; at + k < nvals; ++k) to[k] = indices[at + k];
        }
      }
      copy_commit();
    };
    for (int n = 0; n < kStages - 1; ++n) copy(n);
    int stripe = 0;
    bool carries_here = false;
    int from = first;
    const int last_window = last_row / kWarp;
    for (int w = first_row / kWarp; w <= last_window; ++w) {
      const int row = w * kWarp + lane;
      int end = row < rows ? indptr[row + 1] : nvals;
      end = end < first ? first : (end > last ? last : end);
      int begin = __shfl_up_sync(kAllLanes, end, 1);
      if (lane == 0) begin = from;
      const int upto = __shfl_sync(kAllLanes, end, kWarp - 1);
      T sum{}, hub{};
      bool open = false;
      // Stripes do not begin with the window: one that two windows share is gathered from twice.
      stripe = (from - start) / kStripe;
      for (int base = upto > from ? start + stripe * kStripe : upto; base < upto;
           base += kStripe, ++stripe) {
        // Only a stripe that is new has something to wait for.
        if (base >= from || from == first) {
          copy(stripe + kStages - 1);
          copy_wait<kStages - 1>();
        }
        const int4 now = *reinterpret_cast<const int4*>(ring[stripe % kStages] + kQuad * lane);
        T z[kQuad];
        gather_quad(value, now, base + kQuad * lane, from, upto, z);
        sum_stripe(z, base, from, upto, begin, end, lane, sum, hub, open);
      }
      from = upto;
      const bool has = end > begin;
      const bool ends = has && row < last_row;
      const unsigned word = __ballot_sync(kAllLanes, ends);
      if (word != 0 && lane == 0) atomicOr(&out.words[w], word);
      if (ends) out.values[row] = sum;
      if (has && row == last_row) {
        carries_here = true;
        carries.rows[s] = row;
        carries.has[s] = true;
        carries.values[s] = sum;
      }
    }
    copy_wait<0>();
    if (!__any_sync(kAllLanes, carries_here) && lane == 0) carries.rows[s] = -1;
  }
  finish<T>(given, team);
}

// --------------------------------------------------------------------------------- the limits
// What the entries cost without rows: columns only (kGathers false), or columns and values.
template <class T, int kQuads, int kStream, int kTable, int kHot, bool kGathers>
__device__ __forceinline__ void probe(const Problem* given) {
  const Values<T, kHot, kTable> value = open_values<T, kHot, kTable>(given);
  const int* indices = kHot == kNoHot ? given->indices : given->coded;
  const long long stripes = given->nvals / kQuad;  // whole quads only
  const Team team = whole_grid();
  T sum{};
  int columns = 0;
  for (long long at = team.warp * static_cast<long long>(kQuads * kWarp) + team.lane; at < stripes;
       at += static_cast<long long>(kQuads) * team.threads) {
    int4 now[kQuads];
#pragma unroll
    for (int q = 0; q < kQuads; ++q) {
      if (at + q * kWarp < stripes) now[q] = load_quad<kStream>(indices + kQuad * (at + q * kWarp));
    }
#pragma unroll
    for (int q = 0; q < kQuads; ++q) {
      if (at + q * kWarp >= stripes) continue;
      if constexpr (kGathers) {
        sum += (value(now[q].x) + value(now[q].y)) + (value(now[q].z) + value(now[q].w));
      } else {
        columns ^= now[q].x ^ now[q].y ^ now[q].z ^ now[q].w;
      }
    }
  }
  static_cast<T*>(given->sink)[team.thread] = kGathers ? sum : static_cast<T>(columns);
}

static_assert(sizeof(Problem) == 26 * 8, "spmv_study.py has 26 words");

#ifndef EMULATED
// Edges of an R-MAT graph, a, b, c = .57, .19, .19: row << 32 | column, before the permutation.
__device__ __forceinline__ unsigned long long mixed(unsigned long long x) {
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}
extern "C" __global__ void rmat(unsigned long long* keys, long long count, int scale,
                                unsigned long long seed) {
  for (long long i = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x; i < count;
       i += static_cast<long long>(gridDim.x) * blockDim.x) {
    unsigned long long row = 0, column = 0, bits = 0;
    for (int level = 0; level < scale; ++level) {
      if (level % 4 == 0) bits = mixed(mixed(seed + level) + i);
      const unsigned draw = bits & 0xffff;
      bits >>= 16;
      const bool down = draw >= 49807, right = down ? draw >= 62259 : draw >= 37356;
      row = row << 1 | (down ? 1 : 0);
      column = column << 1 | (right ? 1 : 0);
    }
    keys[i] = row << 32 | column;
  }
}

// Keeps the device busy while the host queues launches.
extern "C" __global__ void spin(long long cycles) {
  const long long start = clock64();
  while (clock64() - start < cycles) {
  }
}
#endif
