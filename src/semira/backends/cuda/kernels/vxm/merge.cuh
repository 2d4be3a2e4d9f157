// w = u (+).(*) A in equal shares of rows and entries together (a merge path), however long the
// rows are: a warp takes one slice of the path after the other.
//
// The rows of a slice are taken 32 at a time, their entries in stripes (vxm/stripe.cuh). What a
// slice has of the row it ends in is carried: after a barrier the carries of each row are added
// up, in order. Slices do not depend on the number of blocks, and so neither do sums of floats.
// Where all rows are short, one or two lanes take each instead (vxm/short.cuh), and one where none is
// long (vxm/middling.cuh).
#pragma once
#include "vxm/middling.cuh"

struct CarriesDescriptor {
  void* rows;
  void* has;
  void* values;
};

// Of every slice: the row it ends in (-1: it has no entry of that row), and the row's sum so far.
template <class T> struct Carries {
  Index* rows;
  bool* has;
  T* values;
  __device__ explicit Carries(const CarriesDescriptor& d)
      : rows(static_cast<Index*>(d.rows)), has(static_cast<bool*>(d.has)),
        values(static_cast<T*>(d.values)) {}
};

// `out` is empty before. Counts in `queued` the slices that carry. With kOwners the
// multiplication may ask for the row it belongs to. With kHot the values at hot columns are taken
// from a table, which `gather_hot` has filled before a barrier.
template <bool kOwners, bool kHot = false, class Semiring, class U, class A, class MaskT,
    class Degrees>
SEMIRA_PHASE void spmv_pull_shares(const Team& team, SharedGather<Semiring, U, A> gather,
    Index rows, const MaskT mask, const Plane<SumOf<Semiring>>& out, const Degrees degrees,
    const Carries<SumOf<Semiring>> carries, Counters* counters) {
  constexpr bool kMasked = !Same<MaskT, NoMask>::value;
  constexpr int kItems = kLaneItems<SumOf<Semiring>>;
  unsigned inserted = 0, touched = 0, carried = 0;
  Count edges = 0;
  const Compressed<A>& matrix = gather.matrix;
  if constexpr (kHot) copy_hot(gather);
  const bool packed =
      is_packed<kItems>(columns_of<kHot>(matrix)) && is_packed<kItems>(matrix.values);
  const long long path = matrix.path(rows);
  for (Index s = static_cast<Index>(team.warp); s < matrix.num_slices;
      s += static_cast<Index>(team.warps)) {
    const long long from_item = s * matrix.slice_items, upto_item = from_item + matrix.slice_items;
    if (from_item >= path) {
      // Cut for more entries than there are.
      if (team.lane == 0) carries.rows[s] = -1;
      continue;
    }
    const Index first_row = matrix.slices[s], last_row = matrix.slices[s + 1];
    const Offset first = matrix.entry_at(from_item, first_row);
    const Offset last = matrix.entry_at(upto_item < path ? upto_item : path, last_row);
    Rows window;
    window.lane = static_cast<int>(team.lane);
    window.origin = first - first % kItems;
    const long long whole = packed ? matrix.nvals - window.origin : 0;
    window.whole = static_cast<int>(whole < kAlone ? whole : kAlone);
    auto end_of = [&](Index w) {
      const Index row = w * kWarp + static_cast<Index>(team.lane);
      return row < rows ? in_global(matrix.indptr)[row + 1] : last;
    };
    const Index last_window = last_row / kWarp;
    Index w = first_row / kWarp;
    Offset next_end = end_of(w);
    int from = static_cast<int>(first - window.origin);
    bool carries_here = false;
    for (; w <= last_window; ++w) {
      const Index row = w * kWarp + static_cast<Index>(team.lane);
      const Offset end = next_end < first ? first : (next_end > last ? last : next_end);
      // On its way while the rows before are summed.
      if (w < last_window) next_end = end_of(w + 1);
      window.first = w * kWarp;
      window.end = static_cast<int>(end - window.origin);
      window.begin = __shfl_up_sync(kAllLanes, window.end, 1);
      if (team.lane == 0) window.begin = from;
      window.live = window.end > window.begin;
      if constexpr (kMasked) {
        window.live = window.live && mask.allows(row);
        if (window.live) touched += static_cast<unsigned>(window.end - window.begin);
      }
      const auto sum = sum_rows<kMasked, kOwners, kHot>(gather, window, from);
      from = __shfl_sync(kAllLanes, window.end, kWarp - 1);
      const bool ends = sum.has && row < last_row;
      const unsigned word = __ballot_sync(kAllLanes, ends);
      if (word != 0 && team.lane == 0) atomicOr(&out.words[w], word);
      if (ends) {
        out.values[row] = sum.value;
        ++inserted;
        if constexpr (Degrees::kCounted) edges += static_cast<Count>(degrees(row));
      }
      if (window.live && row == last_row) {
        carries_here = true;
        carries.rows[s] = row;
        carries.has[s] = sum.has;
        carries.values[s] = sum.value;
        ++carried;
      }
    }
    if (!__any_sync(kAllLanes, carries_here) && team.lane == 0) carries.rows[s] = -1;
  }
  const Count read = kMasked ? touched : (team.thread == 0 ? matrix.nvals : 0);
  add_over_block<4>({inserted, read, edges, carried},
      {&counters->inserted, &counters->touched, &counters->edges, &counters->queued});
}

// The same, rows that are short in their own way. With kIsProgram the product is all of it: others
// need the registers and the shared memory that rows of middle length take.
template <bool kOwners, bool kHot = false, bool kIsProgram = false, class Semiring, class U,
    class A, class MaskT, class Degrees>
SEMIRA_PHASE void spmv_pull_merge(const Team& team, const SharedGather<Semiring, U, A> gather,
    Index rows, const MaskT mask, const Plane<SumOf<Semiring>>& out, const Degrees degrees,
    const Carries<SumOf<Semiring>> carries, Counters* counters) {
  if (is_short(gather.matrix, rows)) {
    if (is_for_one_lane(gather.matrix, rows)) {
      spmv_pull_short<1, kHot>(team, gather, rows, mask, out, degrees, counters);
    } else {
      spmv_pull_short<2, kHot>(team, gather, rows, mask, out, degrees, counters);
    }
    return;
  }
  if constexpr (kIsProgram && !kHot && sizeof(SumOf<Semiring>) <= 16) {
    if (is_middling(gather.matrix)) {
      spmv_pull_middling<kOwners>(team, gather, rows, mask, out, degrees, counters);
      return;
    }
  }
  spmv_pull_shares<kOwners, kHot>(team, gather, rows, mask, out, degrees, carries, counters);
}

// Slices of one row that a lane adds up by itself; the warp helps with longer runs.
constexpr int kLaneRun = 4;

// After a barrier, if any slice carried: every row that slices share gets its sum.
template <class Add, class Degrees>
SEMIRA_PHASE void add_carries(const Team& team, Index num_slices,
    const Carries<typename Add::T> carries, const Plane<typename Add::T> out, const Degrees degrees,
    Counters* counters) {
  using T = typename Add::T;
  Count inserted = 0, edges = 0;
  auto write = [&](Index row, const Partial<Add>& sum) {
    if (out.has(row)) {
      out.values[row] = Add::apply(sum.value, out.values[row]);
      return;
    }
    out.put(row, sum.value);
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
    SEMIRA_UNROLLED(k, kLaneRun) {
      more = more && s + k < num_slices && carries.rows[s + k] == own;
      if (more && carries.has[s + k]) sum.add(carries.values[s + k]);
    }
    unsigned long_runs = __ballot_sync(kAllLanes, more);
    if (is_head && !more && sum.has) write(own, sum);
    for (const int source : SetBits{long_runs}) {
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
  add_over_block<2>({inserted, edges}, {&counters->inserted, &counters->edges});
}
