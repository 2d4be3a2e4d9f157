// w = u (+).(*) A by entries: every entry of the matrix looks whether u has one at its end there, and
// scatters to its other end. Neighbouring threads take neighbouring entries, however long rows are.
#pragma once
#include "vxm/push.cuh"

// A matrix by the rows and columns of its entries, in any order. `end` is where their number stands.
struct EntriesDescriptor {
  void* rows;
  void* columns;
  void* values;
  void* end;
  long long value_stride;
};

// The same, read from one end: `matrix` has the other end of each entry in place of its indices, and
// no offsets.
template <class A>
struct Entries {
  const Index* __restrict__ sources;
  Compressed<A> matrix;

  Entries() = default;
  __device__ Entries(const EntriesDescriptor& d, bool from_rows)
      : sources(static_cast<const Index*>(from_rows ? d.rows : d.columns)), matrix{} {
    matrix.indices = static_cast<const Index*>(from_rows ? d.columns : d.rows);
    matrix.values = static_cast<const A*>(d.values);
    matrix.value_stride = static_cast<Offset>(d.value_stride);
    matrix.nvals = *static_cast<const Offset*>(d.end);
  }
};

template <class ScatterT, class U, class A>
SEMIRA_PHASE void spmspv_push_entries(const Team& team, const Vector<U>& u, ScatterT scatter,
                                      const Entries<A>& entries) {
  const bool is_full = u.nvals == u.size;
  const long long num = entries.matrix.nvals, step = kBatch * kWarp;
  Count touched = 0;
  for (long long first = team.warp * step; first < num; first += team.warps * step) {
    Index from[kBatch];
    Offset at[kBatch];
    bool live[kBatch];
#pragma unroll
    for (int b = 0; b < kBatch; ++b) {
      const long long e = first + b * kWarp + static_cast<long long>(team.lane);
      live[b] = e < num;
      at[b] = static_cast<Offset>(live[b] ? e : 0);
      from[b] = live[b] ? entries.sources[at[b]] : 0;
      touched += live[b] ? 1 : 0;
    }
    bool any = false;
#pragma unroll
    for (int b = 0; b < kBatch; ++b) {
      live[b] = live[b] && (is_full || u.here.has(from[b]));
      any = any || live[b];
    }
    if (__any_sync(kAllLanes, any)) scatter(from, at, live, team.lane);
  }
  scatter.close(touched);
}
