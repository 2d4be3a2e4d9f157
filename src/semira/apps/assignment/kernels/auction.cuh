// An auction: a block for each bidder. See auction.py.
#pragma once
#include "semira.apps.assignment.kernels:row.cuh"

// What a column that may not be chosen is worth.
constexpr long long kNever = -4611686018427387904ll;

// The owner of a column that is held by others than rows.
constexpr int kOther = -2;

__device__ __forceinline__ unsigned mixed(long long i, long long j) {
  unsigned h = static_cast<unsigned>(i * 2654435761ll + j * 2246822519ll);
  h = (h ^ (h >> 15)) * 3266489917u;
  return (h ^ (h >> 13)) & 2147483647u;
}

__device__ __forceinline__ long long worth(double given, double factor, long long unit) {
  const double found = floor(__dmul_rn(factor, given) + 0.5);
  return fabs(found) < 4611686018427387904.0 ? static_cast<long long>(found) * unit : kNever;
}

// The best column of a row, its value, and that of the second.
struct BestTwo {
  long long first, second, best;

  __device__ void take(long long i, const BestTwo& other) {
    if (other.best < 0) return;
    if (best < 0) {
      *this = other;
    } else if (other.first > first) {
      second = max(first, other.second);
      first = other.first;
      best = other.best;
    } else if (other.first == first) {
      second = first;
      const unsigned mine = mixed(i, best), its = mixed(i, other.best);
      if (its > mine || (its == mine && other.best < best)) best = other.best;
    } else {
      second = max(second, other.first);
    }
  }
};

// All threads of the block get the best of what they have.
__device__ inline BestTwo best_of_block(long long i, BestTwo mine) {
  __shared__ BestTwo parts[32];
  for (int step = 16; step > 0; step /= 2) {
    const BestTwo other{__shfl_xor_sync(kAllLanes, mine.first, step),
                        __shfl_xor_sync(kAllLanes, mine.second, step),
                        __shfl_xor_sync(kAllLanes, mine.best, step)};
    mine.take(i, other);
  }
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = mine;
  __syncthreads();
  mine = parts[0];
  for (unsigned k = 1; k < blockDim.x / 32; ++k) mine.take(i, parts[k]);
  __syncthreads();
  return mine;
}

// Bidders that one block leaves to a warp each, and the longest rows for which that is quicker than
// barriers of all blocks.
constexpr int kFew = 8, kShort = 4096;

// The best column of a row of all costs, as the threads of a warp find it.
template <class C, class P, class I>
__device__ BestTwo best_of_warp(const CostRows<C, P, I>& costs, long long i, double factor,
                                const long long* price) {
  BestTwo found{kNever, kNever, -1};
  const int lane = threadIdx.x % 32;
#pragma unroll 8
  for (long long j = lane; j < costs.columns; j += 32) {
    const long long value = worth(costs.cost[i * costs.columns + j], factor, costs.columns + 1);
    if (value != kNever) found.take(i, BestTwo{value - price[j], kNever, j});
  }
  for (int step = 16; step > 0; step /= 2) {
    const BestTwo other{__shfl_xor_sync(kAllLanes, found.first, step),
                        __shfl_xor_sync(kAllLanes, found.second, step),
                        __shfl_xor_sync(kAllLanes, found.best, step)};
    found.take(i, other);
  }
  return found;
}

// What a few bidders want, one of them in each place.
struct FewBids {
  long long row[kFew], best[kFew], raised[kFew], word[kFew];

  __device__ bool wins(int one, int count) const {
    for (int k = 0; k < count; ++k) {
      if (k != one && best[k] == best[one] && word[k] > word[one]) return false;
    }
    return true;
  }

  // Gives columns to the winners, by one thread; returns how many rows bid next.
  __device__ int settle(int count, long long* price, int* owner, int* column_of, long long* state) {
    long long later[kFew];
    int left = 0;
    for (int k = 0; k < count; ++k) {
      if (best[k] < 0) continue;
      long long waits = row[k];
      if (wins(k, count)) {
        const long long j = best[k];
        waits = owner[j];
        owner[j] = static_cast<int>(row[k]);
        column_of[row[k]] = static_cast<int>(j);
        price[j] += raised[k];
        if (waits >= 0) column_of[waits] = -1;
        if (waits == kOther) state[11] += 1;
      }
      if (waits >= 0) later[left++] = waits;
    }
    for (int k = 0; k < left; ++k) row[k] = later[k];
    return left;
  }
};

// Rounds of a few bidders, until all rows have columns, by one block: the others wait at one barrier.
template <class C, class P, class I>
__device__ void bid_alone(const CostRows<C, P, I>& costs, double factor, int count, long long eps,
                          int* queue, int* target, long long* price, int* owner, int* column_of,
                          long long mask, long long* state) {
  __shared__ FewBids few;
  __shared__ int waiting;
  const int warp = threadIdx.x / 32, first = count;
  const bool leads = threadIdx.x == 0;
  if (static_cast<int>(threadIdx.x) < count) few.row[threadIdx.x] = queue[threadIdx.x];
  __syncthreads();
  long long bids = 0;
  while (count > 0) {
    bids += count;
    if (warp < count) {
      const long long i = few.row[warp];
      const BestTwo found = best_of_warp(costs, i, factor, price);
      const long long raised = found.second > kNever ? found.first - found.second + eps : eps;
      const bool fits = found.best >= 0 && raised <= 4611686018427387903ll - price[found.best];
      if (threadIdx.x % 32 == 0) {
        few.best[warp] = fits ? found.best : -1;
        few.raised[warp] = raised;
        few.word[warp] = (raised & ~mask) | (mask - i);
        if (!fits) state[10] = 1;
      }
    }
    __syncthreads();
    if (leads) waiting = few.settle(count, price, owner, column_of, state);
    __syncthreads();
    count = waiting;
  }
  // Nothing is left to `settle`, and to `close` but what is next.
  if (static_cast<int>(threadIdx.x) < first) target[queue[threadIdx.x]] = -1;
  if (leads) state[6] += bids - first;
}

template <class C, class P, class I>
__device__ void bid(long long bidders, long long rows, long long mode, const C* cost,
                    const P* indptr, const I* indices, const double* x, const double* y,
                    long long rank, double factor, long long columns, long long* price, int* owner, int* column_of, int* queue, int* target,
                    long long* offer, long long* mine, long long* words, long long mask,
                    long long* state) {
  const CostRows<C, P, I> costs{mode, cost, indptr, indices, x, y, rank, columns};
  const long long number = state[1], count = state[2], eps = state[3], unit = columns + 1;
  const bool fresh = state[7] != 0, leads = threadIdx.x == 0;
  __shared__ long long own;
  if (mode == 0 && !fresh && count <= kFew && columns <= kShort) {
    if (block_number() != 0) return;
    bid_alone(costs, factor, static_cast<int>(count), eps, queue + (number & 1) * rows, target,
              price, owner, column_of, mask, state);
    return;
  }
  if (fresh && rows < columns) {
    const Group<1> group;
    for (long long j = group.first; j < columns; j += group.step) {
      if (owner[j] == kOther) owner[j] = -1;
    }
  }
  for (long long k = block_number(); k < count; k += gridDim.x) {
    const long long place = (number & 1) * rows + k;
    long long i = fresh ? k : queue[place];
    for (int step = 0; step < 4096; ++step) {
      const long long held = fresh ? column_of[i] : -1;
      BestTwo found{kNever, kNever, -1};
      if (fresh) {
        __syncthreads();
        if (leads) own = kNever;
        __syncthreads();
      }
      const auto look = [&](long long j, long long value) {
        if (value == kNever) return;
        found.take(i, BestTwo{value - price[j], kNever, j});
        if (j == held) own = value - price[j];
      };
      costs.each(i, [&](long long j, double given, bool) {
        look(j, worth(costs.added(given, i, j), factor, unit));
      });
      found = best_of_block(i, found);
      const long long best = found.best;
      const long long raised = found.second > kNever ? found.first - found.second + eps : eps;
      if (leads) target[i] = -1;
      if (held >= 0) {
        if (own >= found.first - eps) break;
        if (leads) {
          owner[held] = -1;
          column_of[i] = -1;
        }
      }
      if (best < 0 || raised > 4611686018427387903ll - price[best]) {
        if (leads) state[10] = 1;
        break;
      }
      const long long other = count > 1 || fresh ? -1 : owner[best];
      if (other < 0 || step == 4095) {
        if (leads) {
          target[i] = static_cast<int>(best);
          offer[i] = price[best] + raised;
          mine[i] = (raised & ~mask) | (mask - i);
          atomicMax(&words[best], mine[i]);
        }
        break;
      }
      __syncthreads();
      if (leads) {
        price[best] += raised;
        owner[best] = static_cast<int>(i);
        column_of[i] = static_cast<int>(best);
        column_of[other] = -1;
        queue[place] = static_cast<int>(other);
        state[6] += 1;
      }
      __syncthreads();
      i = other;
    }
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
