// Triangles of a graph whose vertices are numbered by falling degree. A block takes a row u: its
// entries are bits in shared memory, and each entry v adds the entries that row v has among them. Rows
// of vertices of high degree, to which most entries lead, lie as bits too.
#pragma once

extern __shared__ __align__(16) unsigned char bits_of_block[];

namespace bitmaps {

constexpr int kLanes = 32, kWordBits = 32, kUnitWords = 4;
// Bits that one thread reads at once.
constexpr int kUnit = kWordBits * kUnitWords;
// A random look counts for so many that lie side by side; an entry that is looked for, for so many words.
constexpr int kProbe = 2, kScan = 2;

// Row v has bits for the columns before v.
__device__ __forceinline__ long long units_of(long long v) { return (v + kUnit - 1) / kUnit; }

// The units of all rows before v.
__device__ __forceinline__ long long units_before(long long v) {
  if (v == 0) return 0;
  const long long wholes = (v - 1) / kUnit, rest = (v - 1) % kUnit;
  return kUnit * wholes * (wholes + 1) / 2 + rest * (wholes + 1);
}

__device__ __forceinline__ bool has_bit(const unsigned* words, long long column) {
  return (words[column / kWordBits] >> column % kWordBits & 1) != 0;
}

__device__ __forceinline__ void set_bit(unsigned* words, long long column) {
  atomicOr(&words[column / kWordBits], 1u << column % kWordBits);
}

// Rows before `dense` have bits in `words`, and a block has room for `near` bits. `state`: a sum and
// the blocks that are done, both 0 between calls, and the number of triangles.
template <int kTeam, class P, class I>
__device__ __forceinline__ void count(long long items, const P* indptr, const I* indices,
                                      const unsigned* words, long long dense, long long near,
                                      long long* state) {
  unsigned* const bits = reinterpret_cast<unsigned*>(bits_of_block);
  for (long long k = threadIdx.x; k < near / kWordBits; k += blockDim.x) bits[k] = 0;
  __syncthreads();
  // Lanes of a team take an entry together; the teams of a warp take those side by side.
  const int lane = static_cast<int>(threadIdx.x) % kTeam;
  const int team = static_cast<int>(threadIdx.x) / kTeam;
  const P teams = static_cast<P>(blockDim.x / kTeam);
  const unsigned members = (kAllLanes >> (kLanes - kTeam)) << threadIdx.x % kLanes / kTeam * kTeam;
  long long found = 0;
  for (long long u = block_number(); u < items; u += gridDim.x) {
    const P start = indptr[u], end = indptr[u + 1];
    // The same in all threads.
    if (end - start < 2) continue;
    for (P p = start + static_cast<P>(threadIdx.x); p < end; p += static_cast<P>(blockDim.x)) {
      if (indices[p] < near) set_bit(bits, indices[p]);
    }
    __syncthreads();
    // Each lane loads what it takes to know an entry, then all turn to one after the other.
    for (P base = start + static_cast<P>(team); base < end; base += kTeam * teams) {
      const P mine = base + static_cast<P>(lane) * teams;
      I my_v = 0;
      P my_y = 0, my_length = 0;
      if (mine < end) {
        my_v = indices[mine];
        my_y = indptr[my_v];
        my_length = indptr[my_v + 1] - my_y;
      }
      for (int k = 0; k < kTeam; ++k) {
        const P place = base + static_cast<P>(k) * teams;
        if (place >= end) break;
        const I v = __shfl_sync(members, my_v, k, kTeam);
        const P y = __shfl_sync(members, my_y, k, kTeam);
        const P length = __shfl_sync(members, my_length, k, kTeam);
        const long long before = place - start;
        if (before == 0 || length == 0) continue;
        const long long units = units_of(v);
        const unsigned* const row = words + kUnitWords * units_before(v);
        const long long reads = min(units * kUnitWords, static_cast<long long>(length));
        if (v < dense && kProbe * before < reads) {
          // Few entries before v: are they in row v?
          for (long long j = lane; j < before; j += kTeam) found += has_bit(row, indices[start + j]);
        } else if (v < dense && v <= near && units * kUnitWords < kScan * length) {
          const uint4* const theirs = reinterpret_cast<const uint4*>(row);
          const uint4* const ours = reinterpret_cast<const uint4*>(bits);
          int sum = 0;
          for (long long j = lane; j < units; j += kTeam) {
            const uint4 x = theirs[j], y = ours[j];
            sum += __popc(x.x & y.x) + __popc(x.y & y.y) + __popc(x.z & y.z) + __popc(x.w & y.w);
          }
          found += sum;
        } else {
          const P last = start + static_cast<P>(before);
          for (P q = y + static_cast<P>(lane); q < y + length; q += kTeam) {
            const I w = indices[q];
            if (w < near) {
              found += has_bit(bits, w);
            } else {
              const P at = lower_bound(indices, start, last, w);
              found += at < last && indices[at] == w;
            }
          }
        }
      }
    }
    __syncthreads();
    for (P p = start + static_cast<P>(threadIdx.x); p < end; p += static_cast<P>(blockDim.x)) {
      if (indices[p] < near) bits[indices[p] / kWordBits] = 0;
    }
    __syncthreads();
  }
  for (int step = kLanes / 2; step > 0; step /= 2) {
    found += __shfl_xor_sync(kAllLanes, found, step);
  }
  if (threadIdx.x % kLanes == 0 && found != 0) atomic_add(&state[0], found);
  __syncthreads();
  if (threadIdx.x != 0) return;
  __threadfence();
  if (atomic_add(&state[1], 1) != gridDim.x - 1) return;
  __threadfence();
  // The last block: what is left is 0 again.
  state[2] = atomic_add(&state[0], 0);
  state[0] = 0;
  state[1] = 0;
}

}  // namespace bitmaps

// Sets the bits of the rows before `items`.
template <class P, class I>
__device__ void fill_rows(long long items, const P* indptr, const I* indices, unsigned* words) {
  using namespace bitmaps;
  const Group<kLanes> group;
  for (long long v = group.first; v < items; v += group.step) {
    unsigned* const row = words + kUnitWords * units_before(v);
    for (P p = indptr[v] + group.lane; p < indptr[v + 1]; p += kLanes) set_bit(row, indices[p]);
  }
}

// Teams of 32 threads read long rows of bits.
template <class P, class I>
__device__ void count_ranked(long long items, const P* indptr, const I* indices,
                             const unsigned* words, long long dense, long long near,
                             long long* state) {
  bitmaps::count<32>(items, indptr, indices, words, dense, near, state);
}

// Teams of 8 threads read short ones.
template <class P, class I>
__device__ void count_short(long long items, const P* indptr, const I* indices,
                            const unsigned* words, long long dense, long long near,
                            long long* state) {
  bitmaps::count<8>(items, indptr, indices, words, dense, near, state);
}
