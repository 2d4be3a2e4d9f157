// An auction: a warp for each bidder, and a block where its list is too short. See auction.py.
#pragma once
#include "semira.apps.assignment.kernels:lists.cuh"

// The owner of a column that is held by others than rows.
constexpr int kOther = -2;

// Bidders that one block leaves to its warps: their rounds have no barrier of all blocks.
constexpr int kFew = 32;

// What a few bidders want, one of them in each place.
struct FewBids {
  int row[kFew], best[kFew], owner[kFew];
  long long offer[kFew], word[kFew];
};

// Rounds of a few bidders, until all rows have columns, by one block.
template <class C, class P, class I>
struct Alone {
  const CostRows<C, P, I>& costs;
  const Lists& lists;
  double factor;
  long long eps, mask;
  long long* price;
  int *owner, *column_of;
  long long *wants, *state;
  FewBids& few;

  // By one thread: the k-th bidder bids.
  __device__ void place(int k, const Want& want) const {
    const long long i = few.row[k], raised = want.raised(eps);
    few.best[k] = -1;
    if (!want.fits(eps)) {
      state[10] = 1;
      return;
    }
    few.best[k] = static_cast<int>(want.first.column());
    few.owner[k] = want.owner;
    few.offer[k] = want.worth - want.first.value + raised;
    few.word[k] = (raised & ~mask) | (mask - i);
    wants[i] = want.worth;
  }

  // By a warp: one bidder takes columns from others, until one is free or its list is too short.
  // Returns how many rows bid next.
  __device__ int chase(long long& bids) const {
    const bool leads = threadIdx.x == 0;
    int i = few.row[0];
    __syncwarp();
    while (true) {
      Want want;
      if (!find_in_list(lists, i, price, owner, want)) break;
      bids += 1;
      if (!want.fits(eps)) {
        if (leads) state[10] = 1;
        return 0;
      }
      const int other = want.owner;
      if (leads) {
        const long long j = want.first.column();
        price[j] = want.worth - want.first.value + want.raised(eps);
        owner[j] = i;
        column_of[i] = static_cast<int>(j);
        wants[i] = want.worth;
        if (other >= 0) column_of[other] = -1;
        if (other == kOther) state[11] += 1;
      }
      __syncwarp();
      if (other < 0) return 0;
      i = other;
    }
    if (leads) few.row[0] = i;
    return 1;
  }

  // By a block: all bid.
  __device__ void bid(int count) const {
    for (int k = threadIdx.x / 32; k < count; k += kThreads / 32) {
      Want want;
      const bool listed = find_in_list(lists, few.row[k], price, owner, want);
      if (threadIdx.x % 32 != 0) continue;
      if (listed) {
        place(k, want);
      } else {
        few.best[k] = -2;
      }
    }
    __syncthreads();
    for (int k = 0; k < count; ++k) {
      if (few.best[k] != -2) continue;
      const Want want = find_in_row(costs, lists, few.row[k], factor, price, owner);
      if (threadIdx.x == 0) place(k, want);
    }
    __syncthreads();
  }

  // By a warp: the winners get their columns. Returns how many rows bid next.
  __device__ int settle(int count) const {
    const int k = threadIdx.x;
    const int best = k < count ? few.best[k] : -1;
    int waits = -1;
    if (best >= 0) {
      const int i = few.row[k];
      bool wins = true;
      for (int other = 0; other < count; ++other) {
        if (few.best[other] == best && few.word[other] > few.word[k]) wins = false;
      }
      waits = i;
      if (wins) {
        waits = few.owner[k];
        owner[best] = i;
        column_of[i] = best;
        price[best] = few.offer[k];
        if (waits >= 0) column_of[waits] = -1;
        if (waits == kOther) atomic_add(&state[11], 1);
      }
    }
    const unsigned all = __ballot_sync(kAllLanes, waits >= 0);
    __syncwarp();
    if (waits >= 0) few.row[__popc(all & ((1u << k) - 1))] = waits;
    return __popc(all);
  }

  __device__ void run(int count, const int* queue, int* target) const {
    __shared__ int waiting;
    const int first = count;
    if (static_cast<int>(threadIdx.x) < first) {
      few.row[threadIdx.x] = queue[threadIdx.x];
      target[queue[threadIdx.x]] = -1;
    }
    __syncthreads();
    long long bids = 0;
    while (count > 0) {
      if (count == 1) {
        // All have read how many wait before that is written again.
        __syncthreads();
        if (threadIdx.x < 32) {
          const int left = chase(bids);
          if (threadIdx.x == 0) waiting = left;
        }
        __syncthreads();
        count = waiting;
        if (count == 0) break;
      }
      bids += count;
      bid(count);
      if (threadIdx.x < 32) {
        const int left = settle(count);
        if (threadIdx.x == 0) waiting = left;
      }
      __syncthreads();
      count = waiting;
    }
    // Nothing is left to `settle`, and to `close` but what is next.
    if (threadIdx.x == 0) state[6] += bids - first;
  }
};

template <class C, class P, class I>
__device__ void bid(long long bidders, long long rows, long long mode, const C* cost,
                    const P* indptr, const I* indices, const double* x, const double* y,
                    long long rank, double factor, long long columns, long long* price, int* owner,
                    int* column_of, int* queue, int* target, long long* offer, long long* mine,
                    long long* words, long long mask, long long* state, int* listed,
                    long long* worths, long long* edges, long long* wants) {
  const CostRows<C, P, I> costs{mode, cost, indptr, indices, x, y, rank, columns,
                                readers_of(columns)};
  const Lists lists{listed, worths, edges};
  const long long number = state[1], count = state[2], eps = state[3];
  const bool fresh = state[7] != 0;
  const int* waiting = queue + (number & 1) * rows;
  __shared__ FewBids few;
  if (!fresh && count <= kFew) {
    if (block_number() != 0) return;
    const Alone<C, P, I> alone{costs, lists,     factor, eps,   mask, price,
                               owner, column_of, wants,  state, few};
    alone.run(static_cast<int>(count), waiting, target);
    return;
  }
  if (fresh && rows < columns) {
    const Group<1> group;
    for (long long j = group.first; j < columns; j += group.step) {
      if (owner[j] == kOther) owner[j] = -1;
    }
  }
  const auto place = [&](long long i, const Want& want) {
    target[i] = -1;
    const long long held = fresh ? column_of[i] : -1;
    if (held >= 0) {
      if (wants[i] - price[held] >= want.first.value - eps) return;
      owner[held] = -1;
      column_of[i] = -1;
    }
    if (!want.fits(eps)) {
      state[10] = 1;
      return;
    }
    const long long best = want.first.column(), raised = want.raised(eps);
    target[i] = static_cast<int>(best);
    offer[i] = want.worth - want.first.value + raised;
    mine[i] = (raised & ~mask) | (mask - i);
    wants[i] = want.worth;
    atomicMax(&words[best], mine[i]);
  };
  const int warp = threadIdx.x / 32;
  for (long long first = block_number(); first < count; first += kThreads / 32 * gridDim.x) {
    const long long k = first + warp * static_cast<long long>(gridDim.x);
    int missed = -1;
    if (k < count) {
      const int i = fresh ? static_cast<int>(k) : waiting[k];
      Want want;
      const bool listed = fresh ? find_in_list<kSpare>(lists, i, price, owner, want)
                                : find_in_list(lists, i, price, owner, want);
      if (!listed) {
        missed = i;
      } else if (threadIdx.x % 32 == 0) {
        place(i, want);
      }
    }
    if (threadIdx.x % 32 == 0) few.row[warp] = missed;
    __syncthreads();
    for (int one = 0; one < kThreads / 32; ++one) {
      const int i = few.row[one];
      if (i < 0) continue;
      const Want want = find_in_row(costs, lists, i, factor, price, owner);
      if (threadIdx.x == 0) place(i, want);
    }
    __syncthreads();
  }
}

__device__ inline void settle(long long bidders, long long rows, long long* price, int* owner,
                              int* column_of, int* queue, const int* target,
                              const long long* offer, const long long* mine,
                              const long long* words, long long* state) {
  const long long number = state[1], count = state[2];
  const bool fresh = state[7] != 0;
  const long long later = (1 - (number & 1)) * rows;
  const Group<1> group;
  if (group.first == 0) {
    state[4] = number;
    state[8] = count;
    state[9] = state[7];
  }
  for (long long k = group.first; k < count; k += group.step) {
    const int i = fresh ? static_cast<int>(k) : queue[(number & 1) * rows + k];
    const int j = target[i];
    if (j < 0) continue;
    int waits = i;
    if (words[j] == mine[i]) {
      waits = owner[j];
      owner[j] = i;
      column_of[i] = j;
      price[j] = offer[i];
      if (waits >= 0) column_of[waits] = -1;
      if (waits == kOther) atomic_add(&state[11], 1);
    }
    if (waits >= 0) queue[later + atomic_add(&state[5], 1)] = waits;
  }
}

// Columns of a chunk: 256, by a warp.
constexpr int kChunk = 256;

// All lanes get the price of the cheapest column that is not held by others.
__device__ inline long long cheapest_of(long long chunks, const long long* least) {
  long long found = -(kNever + 1);
  for (long long chunk = threadIdx.x % 32; chunk < chunks; chunk += 32) {
    found = min(found, least[chunk]);
  }
  for (int step = 16; step > 0; step /= 2) {
    found = min(found, __shfl_xor_sync(kAllLanes, found, step));
  }
  return found;
}

__device__ inline void compare(long long chunks, long long columns, const long long* price,
                               const int* owner, long long* least, long long* state) {
  const Group<32> group;
  const int lane = threadIdx.x % 32;
  if (group.first == 0 && lane == 0) state[12] = state[5] == 0 ? state[11] : 0;
  for (long long chunk = group.first; chunk < chunks; chunk += group.step) {
    const long long last = min((chunk + 1) * kChunk, columns);
    long long found = -(kNever + 1);
    for (long long j = chunk * kChunk + lane; j < last; j += 32) {
      if (owner[j] != kOther) found = min(found, price[j]);
    }
    for (int step = 16; step > 0; step /= 2) {
      found = min(found, __shfl_xor_sync(kAllLanes, found, step));
    }
    if (lane == 0) least[chunk] = found;
  }
}

__device__ inline void count(long long items, long long chunks, long long columns,
                             long long* price, const int* owner, const long long* least,
                             long long* fitting, const long long* state) {
  if (state[12] == 0) return;
  const Group<32> group;
  const int lane = threadIdx.x % 32;
  const long long cheapest = cheapest_of(chunks, least), most = cheapest + state[3] / 2;
  for (long long chunk = group.first; chunk < chunks; chunk += group.step) {
    const long long last = min((chunk + 1) * kChunk, columns);
    int found = 0;
    for (long long j = chunk * kChunk + lane; j < last; j += 32) {
      if (owner[j] == kOther) {
        price[j] = max(price[j], cheapest);
      } else if (price[j] <= most) {
        found += 1;
      }
    }
    for (int step = 16; step > 0; step /= 2) found += __shfl_xor_sync(kAllLanes, found, step);
    if (lane == 0) fitting[chunk] = found;
  }
}

__device__ inline void take(long long items, long long rows, long long chunks, long long columns,
                            long long* price, int* owner, int* column_of, int* queue,
                            const long long* least, const long long* fitting, long long* state) {
  if (state[12] == 0) return;
  const Group<32> group;
  const unsigned lane = threadIdx.x % 32;
  const long long later = (1 - (state[1] & 1)) * rows, eps = state[3];
  const long long cheapest = cheapest_of(chunks, least), most = cheapest + eps / 2;
  for (long long chunk = group.first; chunk < chunks; chunk += group.step) {
    long long before = 0;
    for (long long other = lane; other < chunk; other += 32) before += fitting[other];
    for (int step = 16; step > 0; step /= 2) before += __shfl_xor_sync(kAllLanes, before, step);
    long long left = state[12] - before;
    const long long last = min((chunk + 1) * kChunk, columns);
    for (long long first = chunk * kChunk; first < last && left > 0; first += 32) {
      const long long j = first + lane;
      const bool fits = j < last && owner[j] != kOther && price[j] <= most;
      const unsigned all = __ballot_sync(kAllLanes, fits);
      const bool takes = fits && __popc(all & ((1u << lane) - 1)) < left;
      left -= __popc(all);
      if (!takes) continue;
      const int waits = owner[j];
      owner[j] = kOther;
      price[j] = cheapest + eps;
      atomic_add(&state[11], -1);
      if (waits >= 0) {
        column_of[waits] = -1;
        queue[later + atomic_add(&state[5], 1)] = waits;
      }
    }
    __syncwarp();
  }
}

__device__ inline void close(long long bidders, long long rows, long long columns,
                             long long divisor, const int* queue, const int* target,
                             long long* words, long long* state) {
  const long long number = state[4], count = state[8];
  const bool fresh = state[9] != 0;
  const Group<1> group;
  for (long long k = group.first; k < count; k += group.step) {
    const int i = fresh ? static_cast<int>(k) : queue[(number & 1) * rows + k];
    if (target[i] >= 0) words[target[i]] = 0;
  }
  if (group.first != 0) return;
  const long long waiting = state[5];
  state[5] = 0;
  state[6] += count;
  state[1] = number + 1;
  state[7] = 0;
  state[2] = waiting;
  const bool over = waiting == 0 && state[11] == 0;
  if (state[10] != 0 || (over && state[3] <= 1)) {
    state[0] = 1;
  } else if (over) {
    state[3] = max(state[3] / divisor, 1ll);
    state[7] = 1;
    state[2] = rows;
    state[11] = columns - rows;
  }
}
