// w = u (+).(*) A in equal shares of rows and entries together (a merge path), however long the
// rows are: a warp takes one slice of the path after the other.
//
// The rows of a slice are taken 32 at a time. Their entries lie one behind the other, so lanes
// load them side by side; the products go through shared memory to the lane that sums the row.
// A row that covers a whole batch is summed in registers. What a slice has of the row it ends in
// is carried: after a barrier the carries of each row are added up, in order. Slices do not
// depend on the number of blocks, and so neither do sums of floats.
#pragma once
#include "vxm/pull.cuh"

// Shared memory that the warps of a block share out, and words of presence a warp needs.
constexpr int kArenaBytes = 32768;
constexpr int kMostItems = 8;

__device__ __forceinline__ char* block_arena() {
  __shared__ __align__(16) char arena[kArenaBytes];
  return arena;
}
__device__ __forceinline__ unsigned* hit_words() {
  __shared__ unsigned words[kWarp * kMostItems];
  return words + threadIdx.x / kWarp * kMostItems;
}

// Products a lane has in flight: what fits into the warp's share.
template <int kWarps, class T>
constexpr int kFittingItems = kArenaBytes / kWarps / kWarp / static_cast<int>(sizeof(T));
template <int kWarps, class T>
constexpr int kStreamItems = kFittingItems<kWarps, T> < kMostItems ? kFittingItems<kWarps, T>
                                                                   : kMostItems;

struct CarriesDescriptor {
  void* rows;
  void* has;
  void* values;
};

// Of every slice: the row it ends in (-1: it has no entry of that row), and the row's sum so far.
template <class T>
struct Carries {
  Index* rows;
  bool* has;
  T* values;
  __device__ explicit Carries(const CarriesDescriptor& d)
      : rows(static_cast<Index*>(d.rows)),
        has(static_cast<bool*>(d.has)),
        values(static_cast<T*>(d.values)) {}
};

// Adds the lanes' sums up; every lane gets the result.
template <class Add>
__device__ __forceinline__ void add_over_lanes(Partial<Add>& sum) {
#pragma unroll
  for (int step = kWarp / 2; step > 0; step /= 2) {
    const int other = static_cast<int>(threadIdx.x % kWarp) ^ step;
    const bool has = __shfl_sync(kAllLanes, sum.has, other) != 0;
    const typename Add::T value = shuffle(sum.value, other);
    if (has) sum.add(value);
  }
}

// Lane whose share of the warp's items holds item `e`, given where each lane's share ends.
__device__ __forceinline__ int owner_of(int e, int running) {
  int owner = 0;
#pragma unroll
  for (int step = kWarp / 2; step > 0; step /= 2) {
    if (__shfl_sync(kAllLanes, running, owner + step - 1) <= e) owner += step;
  }
  return owner;
}

// Sums 32 rows, one a lane; `begin` and `end` bound the entries of this lane's row. With kOwners
// rows may be left out (begin == end) and the multiplication may ask for the row it belongs to.
template <int kWarps, bool kOwners, class Semiring, class U, class A>
__device__ __forceinline__ Partial<typename Semiring::Add> sum_rows(
    const Gather<Semiring, U, A>& gather, Index first_row, Offset begin, Offset end,
    unsigned lane, Count& touched) {
  using Add = typename Semiring::Add;
  using T = typename Add::T;
  constexpr int kItems = kStreamItems<kWarps, T>;
  constexpr int kBatchItems = kItems * kWarp;
  static_assert(kItems >= 1, "values are too large for a warp's shared memory");
  T* stage = reinterpret_cast<T*>(block_arena() + threadIdx.x / kWarp * (kArenaBytes / kWarps));
  unsigned* hits = hit_words();

  // Items of this lane's row among those of the 32 rows.
  int upto = static_cast<int>(end - begin);
  const int own = upto;
#pragma unroll
  for (int step = 1; step < kWarp; step *= 2) {
    const int other = __shfl_up_sync(kAllLanes, upto, step);
    if (lane >= static_cast<unsigned>(step)) upto += other;
  }
  const int from = upto - own;
  const int total = __shfl_sync(kAllLanes, upto, kWarp - 1);
  const Offset shift = begin - from, start = __shfl_sync(kAllLanes, begin, 0);
  if (lane == 0) touched += static_cast<Count>(total);

  Partial<Add> sum{T{}, false}, hub{T{}, false};
  for (int base = 0; base < total; base += kBatchItems) {
    Index column[kItems], row[kItems];
    Offset at[kItems];
    bool hit[kItems];
    T z[kItems];
#pragma unroll
    for (int b = 0; b < kItems; ++b) {
      const int p = base + b * kWarp + static_cast<int>(lane);
      hit[b] = p < total;
      row[b] = 0;
      at[b] = start + p;
      if constexpr (kOwners) {
        const int owner = owner_of(hit[b] ? p : total - 1, upto);
        row[b] = first_row + owner;
        at[b] = __shfl_sync(kAllLanes, shift, owner) + p;
      }
      column[b] = hit[b] ? gather.matrix.indices[at[b]] : 0;
    }
    if (gather.present != nullptr) {
#pragma unroll
      for (int b = 0; b < kItems; ++b) {
        const unsigned place = static_cast<unsigned>(column[b]);
        hit[b] = hit[b] && (gather.present[place / kWarp] >> (place % kWarp) & 1u);
      }
    }
#pragma unroll
    for (int b = 0; b < kItems; ++b) {
      z[b] = T{};
      if (hit[b]) z[b] = multiply<Semiring>(gather.u, gather.matrix, column[b], row[b], at[b]);
    }
    // The first row that goes on here; it may have begun in an earlier batch.
    const int stop = base + kBatchItems < total ? base + kBatchItems : total;
    const int first = __ffs(__ballot_sync(kAllLanes, upto > base)) - 1;
    const int first_end = __shfl_sync(kAllLanes, upto, first);
    const bool covers = first_end >= stop;
    if (covers) {
#pragma unroll
      for (int b = 0; b < kItems; ++b) {
        if (hit[b]) hub.add(z[b]);
      }
    }
    if (!covers || first_end == stop) {
      if (__any_sync(kAllLanes, hub.has)) {
        add_over_lanes(hub);
        if (static_cast<int>(lane) == first) sum.add(hub.value);
        hub = Partial<Add>{T{}, false};
      }
    }
    if (covers) continue;
#pragma unroll
    for (int b = 0; b < kItems; ++b) {
      stage[b * kWarp + static_cast<int>(lane)] = z[b];
      const unsigned word = __ballot_sync(kAllLanes, hit[b]);
      if (lane == 0) hits[b] = word;
    }
    __syncwarp();
    int p = from > base ? from - base : 0;
    const int mine_end = (upto < stop ? upto : stop) - base;
    if (gather.present == nullptr) {
      for (; p < mine_end; ++p) sum.add(stage[p]);
    } else {
      for (; p < mine_end; ++p) {
        if (hits[p / kWarp] >> (p % kWarp) & 1u) sum.add(stage[p]);
      }
    }
    __syncwarp();
  }
  return sum;
}

// `out` is empty before. Counts in `queued` the slices that carry.
template <int kWarps, bool kOwners, class Semiring, class U, class A, class MaskT, class Degrees>
SEMIRA_PHASE void spmv_pull_merge(const Team& team, const Gather<Semiring, U, A> gather,
                                  Index rows, const MaskT mask,
                                  const Plane<typename Semiring::Add::T> out,
                                  const Degrees degrees,
                                  const Carries<typename Semiring::Add::T> carries,
                                  Counters* counters) {
  Count inserted = 0, touched = 0, edges = 0, carried = 0;
  const Compressed<A>& matrix = gather.matrix;
  const long long path = matrix.nvals + rows;
  for (Index s = static_cast<Index>(team.warp); s < matrix.num_slices;
       s += static_cast<Index>(team.warps)) {
    const long long from = s * matrix.slice_items, upto = from + matrix.slice_items;
    if (from >= path) {
      // Cut for more entries than there are.
      if (team.lane == 0) carries.rows[s] = -1;
      continue;
    }
    const Index first_row = matrix.slices[s], last_row = matrix.slices[s + 1];
    const Offset first = static_cast<Offset>(from - first_row);
    const Offset last = static_cast<Offset>((upto < path ? upto : path) - last_row);
    bool carries_here = false;
    for (Index w = first_row / kWarp; w <= last_row / kWarp; ++w) {
      const Index row = w * kWarp + static_cast<Index>(team.lane);
      Offset begin = last, end = last;
      if (row < rows) {
        begin = matrix.indptr[row];
        end = matrix.indptr[row + 1];
        begin = begin < first ? first : (begin > last ? last : begin);
        end = end < first ? first : (end > last ? last : end);
        if (row == last_row) carries_here = end > begin;
        if constexpr (kOwners) {
          if (end > begin && !mask.allows(row)) end = begin;
        }
      }
      const auto sum =
          sum_rows<kWarps, kOwners>(gather, w * kWarp, begin, end, team.lane, touched);
      const bool ends = sum.has && row < last_row;
      const unsigned word = __ballot_sync(kAllLanes, ends);
      if (word != 0 && team.lane == 0) atomicOr(&out.words[w], word);
      if (ends) {
        out.values[row] = sum.value;
        ++inserted;
        if constexpr (Degrees::kCounted) edges += static_cast<Count>(degrees(row));
      }
      if (carries_here && row == last_row) {
        carries.rows[s] = row;
        carries.has[s] = sum.has;
        carries.values[s] = sum.value;
        ++carried;
      }
    }
    if (!__any_sync(kAllLanes, carries_here) && team.lane == 0) carries.rows[s] = -1;
  }
  const Count values[4] = {inserted, touched, edges, carried};
  Count* const sums[4] = {&counters->inserted, &counters->touched, &counters->edges,
                          &counters->queued};
  add_over_block(values, sums);
}

// Slices of one row that a lane adds up by itself; the warp helps with longer runs.
constexpr int kLaneRun = 4;

// After a barrier, if any slice carried: every row that slices share gets its sum.
template <class Add, class Degrees>
SEMIRA_PHASE void add_carries(const Team& team, Index num_slices,
                              const Carries<typename Add::T> carries,
                              const Plane<typename Add::T> out, const Degrees degrees,
                              Counters* counters) {
  using T = typename Add::T;
  Count inserted = 0, edges = 0;
  auto write = [&](Index row, const Partial<Add>& sum) {
    if (out.has(row)) {
      out.values[row] = Add::apply(sum.value, out.values[row]);
      return;
    }
    out.values[row] = sum.value;
    atomicOr(&out.words[static_cast<unsigned>(row) / kWarp],
             1u << (static_cast<unsigned>(row) % kWarp));
    ++inserted;
    if constexpr (Degrees::kCounted) edges += static_cast<Count>(degrees(row));
  };
  for (unsigned base = team.warp * kWarp; base < static_cast<unsigned>(num_slices);
       base += team.threads) {
    const Index s = static_cast<Index>(base + team.lane);
    const Index own = s < num_slices ? carries.rows[s] : -1;
    const bool is_head = own >= 0 && (s == 0 || carries.rows[s - 1] != own);
    Partial<Add> sum{T{}, false};
    bool more = is_head;
#pragma unroll
    for (int k = 0; k < kLaneRun; ++k) {
      more = more && s + k < num_slices && carries.rows[s + k] == own;
      if (more && carries.has[s + k]) sum.add(carries.values[s + k]);
    }
    unsigned long_runs = __ballot_sync(kAllLanes, more);
    if (is_head && !more && sum.has) write(own, sum);
    while (long_runs != 0) {
      const int source = __ffs(long_runs) - 1;
      long_runs &= long_runs - 1;
      const Index row = __shfl_sync(kAllLanes, own, source);
      Partial<Add> mine = static_cast<int>(team.lane) == source ? sum : Partial<Add>{T{}, false};
      Index next = static_cast<Index>(base + team.lane) + source + kLaneRun;
      bool same = true;
      while (__all_sync(kAllLanes, same)) {
        same = next < num_slices && carries.rows[next] == row;
        if (same && carries.has[next]) mine.add(carries.values[next]);
        next += kWarp;
      }
      add_over_lanes(mine);
      if (team.lane == 0 && mine.has) write(row, mine);
    }
  }
  const Count values[2] = {inserted, edges};
  Count* const sums[2] = {&counters->inserted, &counters->edges};
  add_over_block(values, sums);
}
