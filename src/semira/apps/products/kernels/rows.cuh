// Rows of a product, a block for each; see rows.py. Entries of the right operand's rows are shared
// out over the threads of a block, with a barrier after each row: no two threads meet in a column,
// sums need no atomics, and their order is that of a host. Counts have no order: where those of a row
// fit into shared memory, each warp adds up rows of its own there.
#pragma once

extern __shared__ __align__(16) unsigned char sums_of_block[];

__device__ __forceinline__ double product(double x, double y) { return __dmul_rn(x, y); }
__device__ __forceinline__ long long product(long long x, long long y) { return x * y; }

// A number that is greater where the value is.
__device__ __forceinline__ unsigned long long rank_of(long long x) {
  return static_cast<unsigned long long>(x) ^ (1ull << 63);
}
__device__ __forceinline__ unsigned long long rank_of(int x) {
  return rank_of(static_cast<long long>(x));
}
__device__ __forceinline__ unsigned long long rank_of(double x) {
  const long long bits = __double_as_longlong(x + 0.0);
  return rank_of(bits ^ ((bits >> 63) & 0x7fffffffffffffffll));
}

// The sums of one row, in columns of 1024 to a group; they are 0 between rows.
template <class A>
struct RowSums {
  A* sums;
  unsigned long long* keys;  // of the entries that may be among the greatest
  int* key_columns;
  int* counts;      // entries of each group, then those before it
  unsigned* marks;  // a bit for each column
  unsigned* flags;  // a bit for each group that has one
  int groups;
  int* counter;  // shared by the block
  unsigned long long* differing;  // shared by the block

  // `keep(c)` for every column that is there; those that it refuses are no longer there.
  template <class Keep>
  __device__ void sift(bool all, const Keep& keep) const {
    const int lane = threadIdx.x % 32, warps = blockDim.x / 32;
    for (int g = threadIdx.x / 32; g < groups; g += warps) {
      int count = 0;
      if (flags[g / 32] >> g % 32 & 1) {
        unsigned word = marks[32 * g + lane];
        if (all) {
          count = __popc(word);
          for (int step = 16; step > 0; step /= 2) count += __shfl_xor_sync(kAllLanes, count, step);
        } else {
          for (unsigned any = __ballot_sync(kAllLanes, word != 0); any != 0; any &= any - 1) {
            const int j = __ffs(static_cast<int>(any)) - 1;
            bool is_in = __shfl_sync(kAllLanes, word, j) >> lane & 1;
            const int c = 1024 * g + 32 * j + lane;
            if (is_in && !keep(c)) {
              is_in = false;
              sums[c] = A(0);
            }
            const unsigned kept = __ballot_sync(kAllLanes, is_in);
            if (lane == j) word = kept;
            count += __popc(kept);
          }
          marks[32 * g + lane] = word;
        }
      }
      if (lane == 0) counts[g] = count;
    }
    __syncthreads();
  }

  // Counts of groups become those of the groups before; returns all.
  __device__ int scan() const {
    if (threadIdx.x < 32) {
      int before = 0;
      for (int base = 0; base < groups; base += 32) {
        const int g = base + static_cast<int>(threadIdx.x);
        const int mine = g < groups ? counts[g] : 0;
        int sum = mine;
        for (int step = 1; step < 32; step *= 2) {
          const int other = __shfl_up_sync(kAllLanes, sum, step);
          if (static_cast<int>(threadIdx.x) >= step) sum += other;
        }
        if (g < groups) counts[g] = before + sum - mine;
        before += __shfl_sync(kAllLanes, sum, 31);
      }
      if (threadIdx.x == 0) *counter = before;
    }
    __syncthreads();
    const int total = *counter;
    __syncthreads();
    return total;
  }

  // How many of `n` numbers fulfil a condition.
  template <class Test>
  __device__ int count_of(int n, const Test& test) const {
    if (threadIdx.x == 0) *counter = 0;
    __syncthreads();
    int mine = 0;
    for (int k = threadIdx.x; k < n; k += blockDim.x) mine += test(k) ? 1 : 0;
    for (int step = 16; step > 0; step /= 2) mine += __shfl_xor_sync(kAllLanes, mine, step);
    if (threadIdx.x % 32 == 0 && mine > 0) atomicAdd(counter, mine);
    __syncthreads();
    const int found = *counter;
    __syncthreads();
    return found;
  }

  // The key of the greatest values that comes last, and the last column that has it.
  __device__ void last_of(int n, int top, unsigned long long& key, int& column) const {
    // Bits before the first one in which any two differ are those of all.
    if (threadIdx.x == 0) *differing = 0;
    __syncthreads();
    unsigned long long mixed = 0;
    for (int k = threadIdx.x; k < n; k += blockDim.x) mixed |= keys[k] ^ keys[0];
    if (mixed != 0) atomicOr(differing, mixed);
    __syncthreads();
    const int first = 63 - __clzll(static_cast<long long>(*differing));
    key = first == 63 ? 0 : keys[0] >> (first + 1) << (first + 1);
    for (int bit = first; bit >= 0; --bit) {
      const unsigned long long tried = key | 1ull << bit;
      if (count_of(n, [&](int k) { return keys[k] >= tried; }) >= top) key = tried;
    }
    const unsigned long long found = key;
    const int above = count_of(n, [&](int k) { return keys[k] > found; });
    const int equal = count_of(n, [&](int k) { return keys[k] == found; });
    column = 0x7fffffff;
    if (above + equal == top) return;
    column = 0;
    for (int bit = groups < 1 << 20 ? 31 - __clz(1024 * groups) : 30; bit >= 0; --bit) {
      const int tried = column | 1 << bit;
      const auto before = [&](int k) { return keys[k] == found && key_columns[k] < tried; };
      if (count_of(n, before) < top - above) column = tried;
    }
  }

  template <class C, class R>
  __device__ void write(long long at, long long writes, C* columns, R* results) const {
    const int lane = threadIdx.x % 32, warps = blockDim.x / 32;
    for (int g = threadIdx.x / 32; g < groups; g += warps) {
      if (!(flags[g / 32] >> g % 32 & 1)) continue;
      const unsigned word = marks[32 * g + lane];
      marks[32 * g + lane] = 0;
      if (sums == nullptr) continue;
      long long base = at + counts[g];
      for (unsigned any = __ballot_sync(kAllLanes, word != 0); any != 0; any &= any - 1) {
        const int j = __ffs(static_cast<int>(any)) - 1;
        const unsigned kept = __shfl_sync(kAllLanes, word, j);
        if (kept >> lane & 1) {
          const int c = 1024 * g + 32 * j + lane;
          const long long to = base + __popc(kept & ((1u << lane) - 1));
          if (writes >= 1) columns[to] = static_cast<C>(c);
          if (writes == 2) results[to] = static_cast<R>(sums[c]);
          sums[c] = A(0);
        }
        base += __popc(kept);
      }
    }
    __syncthreads();
    for (int f = threadIdx.x; 32 * f < groups; f += blockDim.x) flags[f] = 0;
    __syncthreads();
  }
};

template <class A>
__device__ __forceinline__ A term_of(long long kind, A x, A y) {
  if (kind == 0) return A(1);
  if (kind == 1) return product(x, y);
  if (kind == 2) return x;
  if (kind == 3) return y;
  if (kind == 4) return x / y;
  if (kind == 5) return x / (x + y);
  return x < y ? x : y;
}

// A sum weighed, as `finish` of rows.py has it.
template <class A>
__device__ __forceinline__ A weighed(long long weigh, A sum, const double* left,
                                     const double* right, long long row, int c) {
  if constexpr (sizeof(A) == 8 && static_cast<A>(0.5) != 0) {
    if (weigh == 0) return sum;
    const double a = left[row], b = right[c];
    if (weigh == 1) return sum / (a < b ? a : b);
    if (weigh == 2) return sum / (a + b - sum);
    return sum / __dmul_rn(a, b);
  }
  return sum;
}

// The bits of a worker, behind the number of the next row: bits, flags, counts.
template <class A>
__device__ RowSums<A> marked_by(unsigned* marks, long long width, int* shared) {
  const int groups = static_cast<int>((width + 1023) / 1024), flag_words = (groups + 31) / 32;
  unsigned* const own = marks + 1 + block_number() * (33ll * groups + flag_words);
  RowSums<A> found{};
  found.marks = own;
  found.flags = own + 32ll * groups;
  found.counts = reinterpret_cast<int*>(found.flags + flag_words);
  found.groups = groups;
  found.counter = shared;
  return found;
}

// The next row that is nobody's yet.
__device__ inline long long next_turn(unsigned* marks, int* shared) {
  __syncthreads();
  if (threadIdx.x == 0) *shared = static_cast<int>(atomicAdd(marks, 1u));
  __syncthreads();
  return *shared;
}

// Whether a column is new; it is marked.
template <class A>
__device__ __forceinline__ bool is_new(const RowSums<A>& mine, int c) {
  const unsigned bit = 1u << c % 32, group = 1u << c / 1024 % 32;
  if ((mine.marks[c / 32] & bit) != 0) return false;
  atomicOr(mine.marks + c / 32, bit);
  if ((mine.flags[c / 32768] & group) == 0) atomicOr(mine.flags + c / 32768, group);
  return true;
}

// `meet(c)` for the columns of a row of the product, as often as they are met and in any order. A
// warp walks a row of the right operand; the block walks long ones together, as many as are noted.
template <class P, class I, class Q, class J, class Meet>
__device__ void walk(long long row, const P* indptr, const I* indices, const Q* indptr2,
                     const J* indices2, const Meet& meet) {
  constexpr int kNoted = 64, kLong = 1024;
  __shared__ long long noted[kNoted];
  __shared__ int count;
  const int lane = threadIdx.x % 32, warps = blockDim.x / 32;
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  for (P p = indptr[row] + static_cast<P>(threadIdx.x / 32); p < indptr[row + 1]; p += warps) {
    const long long w = indices[p];
    const Q begin = indptr2[w], end = indptr2[w + 1];
    if (end - begin > kLong) {
      int at = lane == 0 ? atomicAdd(&count, 1) : 0;
      at = __shfl_sync(kAllLanes, at, 0);
      if (at < kNoted) {
        if (lane == 0) noted[at] = w;
        continue;
      }
    }
    for (Q q = begin + static_cast<Q>(lane); q < end; q += 32) meet(static_cast<int>(indices2[q]));
  }
  __syncthreads();
  for (int k = 0; k < min(count, kNoted); ++k) {
    const Q end = indptr2[noted[k] + 1];
    for (Q q = indptr2[noted[k]] + static_cast<Q>(threadIdx.x); q < end;
         q += static_cast<Q>(blockDim.x)) {
      meet(static_cast<int>(indices2[q]));
    }
  }
  __syncthreads();
}

// Marks of the columns whose sums in shared memory are not 0.
template <class A>
__device__ void mark_sums(const RowSums<A>& mine, long long width) {
  const int lane = threadIdx.x % 32, warps = blockDim.x / 32;
  for (int g = threadIdx.x / 32; g < mine.groups; g += warps) {
    unsigned word = 0;
    for (int j = 0; j < 32; ++j) {
      const long long c = 1024ll * g + 32 * j + lane;
      const unsigned there = __ballot_sync(kAllLanes, c < width && mine.sums[c] != A(0));
      if (lane == j) word = there;
    }
    mine.marks[32 * g + lane] = word;
    if (__any_sync(kAllLanes, word != 0) && lane == 0) {
      atomicOr(mine.flags + g / 32, 1u << g % 32);
    }
  }
  __syncthreads();
}

template <class P, class I, class Q, class J>
__device__ void count_rows(long long items, const long long* task, const long long* order,
                           const P* indptr, const I* indices, const Q* indptr2, const J* indices2,
                           long long* sizes, unsigned* marks) {
  constexpr int kWords = 4096;
  __shared__ int shared[2];
  __shared__ unsigned bits[kWords];
  const long long first = task[0], diagonal = task[5], width = task[8];
  if (block_number() >= task[9]) return;
  const RowSums<int> mine = marked_by<int>(marks, width, shared);
  const int words = static_cast<int>((width + 31) / 32);
  const bool is_small = words <= kWords;
  for (int k = threadIdx.x; is_small && k < words; k += blockDim.x) bits[k] = 0;
  while (true) {
    const long long turn = next_turn(marks, shared + 1);
    if (turn >= items) return;
    const long long item = order[turn], row = first + item, own = row + diagonal;
    int count = 0;
    if (is_small) {
      walk(row, indptr, indices, indptr2, indices2, [&](int c) {
        const unsigned bit = 1u << c % 32;
        if ((bits[c / 32] & bit) == 0) atomicOr(bits + c / 32, bit);
      });
      for (int k = threadIdx.x; k < words; k += blockDim.x) {
        count += __popc(bits[k]);
        if (own >= 32ll * k && own < 32ll * k + 32 && (bits[k] >> (own - 32ll * k) & 1)) --count;
        bits[k] = 0;
      }
    } else {
      for (P p = indptr[row]; p < indptr[row + 1]; ++p) {
        const long long w = indices[p];
        for (Q q = indptr2[w] + static_cast<Q>(threadIdx.x); q < indptr2[w + 1];
             q += static_cast<Q>(blockDim.x)) {
          const int c = static_cast<int>(indices2[q]);
          if (is_new(mine, c) && c != own) ++count;
        }
        __syncthreads();
      }
    }
    if (threadIdx.x == 0) *shared = 0;
    __syncthreads();
    for (int step = 16; step > 0; step /= 2) count += __shfl_xor_sync(kAllLanes, count, step);
    if (threadIdx.x % 32 == 0) atomicAdd(shared, count);
    if (is_small) {
      __syncthreads();
    } else {
      mine.write(0, 0, static_cast<int*>(nullptr), static_cast<int*>(nullptr));
    }
    if (threadIdx.x == 0) sizes[item] = *shared;
  }
}

template <class P, class I, class V, class Q, class J, class C, class R, class A>
__device__ void multiply_rows(long long items, const long long* task, const long long* order,
                              const P* indptr, const I* indices, const V* values, const Q* indptr2,
                              const J* indices2, const V* values2, const double* left,
                              const double* right, double threshold, const long long* place,
                              C* columns, R* results, long long* sizes, const long long*, A* room,
                              unsigned* marks) {
  __shared__ int shared[2];
  __shared__ unsigned long long differing;
  const long long first = task[0], kind = task[1], weigh = task[2], step = task[3];
  const long long step2 = task[4], diagonal = task[5], top = task[6], writes = task[7];
  const long long width = task[8];
  if (block_number() >= task[9]) return;
  RowSums<A> mine = marked_by<A>(marks, width, shared);
  mine.differing = &differing;
  // A worker's part of `room`: sums, and with `top` keys and their columns.
  const long long words = top > 0 ? 3 * width * static_cast<long long>(8 / sizeof(A)) : width;
  A* sums = room + block_number() * words;
  unsigned long long* const keys = reinterpret_cast<unsigned long long*>(sums) + width;
  const bool is_near = sizeof(A) == 4 && task[10] != 0;
  if (is_near) {
    sums = reinterpret_cast<A*>(sums_of_block);
    for (int c = threadIdx.x; c < width; c += blockDim.x) sums[c] = A(0);
  }
  mine.sums = sums;
  mine.keys = keys;
  mine.key_columns = reinterpret_cast<int*>(keys + width);
  const bool has_diagonal = diagonal > -(1ll << 60);
  const bool is_compared = top > 0 || weigh > 0 || threshold > -1.7e308;
  while (true) {
    const long long turn = next_turn(marks, shared + 1);
    if (turn >= items) return;
    const long long item = order[turn], row = first + item;
    if constexpr (sizeof(A) == 4) {
      if (is_near) {
        walk(row, indptr, indices, indptr2, indices2, [&](int c) { atomicAdd(sums + c, 1); });
        mark_sums(mine, width);
      }
    }
    for (P p = indptr[row]; !is_near && p < indptr[row + 1]; ++p) {
      const long long w = indices[p];
      const A x = static_cast<A>(values[p * step]);
      for (Q q = indptr2[w] + static_cast<Q>(threadIdx.x); q < indptr2[w + 1];
           q += static_cast<Q>(blockDim.x)) {
        const int c = static_cast<int>(indices2[q]);
        const A sum = sums[c];
        // A sum of ones is 0 where there is none.
        if (kind != 0 || sum == A(0)) is_new(mine, c);
        if constexpr (sizeof(A) == 4) {
          sums[c] = sum + 1;
        } else {
          sums[c] = sum + term_of(kind, x, static_cast<A>(values2[q * step2]));
        }
      }
      __syncthreads();
    }
    if (threadIdx.x == 0) *shared = 0;
    __syncthreads();
    mine.sift(!has_diagonal && !is_compared, [&](int c) {
      if (c - row == diagonal) return false;
      if (!is_compared) return true;
      const A value = weighed(weigh, sums[c], left, right, row, c);
      sums[c] = value;
      if (top == 0) return !(value < threshold);
      if (!(value >= threshold)) return false;
      const int at = atomicAdd(shared, 1);
      keys[at] = rank_of(value);
      mine.key_columns[at] = c;
      return true;
    });
    const int found = *shared;
    __syncthreads();
    if (top > 0 && found > top) {
      unsigned long long key;
      int column;
      mine.last_of(found, static_cast<int>(top), key, column);
      mine.sift(false, [&](int c) {
        const unsigned long long own = rank_of(sums[c]);
        return own > key || (own == key && c <= column);
      });
    }
    const int total = mine.scan();
    mine.write(writes > 0 ? place[item] : 0, writes, columns, results);
    if (threadIdx.x == 0) sizes[item] = total;
  }
}

template <class P, class I, class Q>
__device__ void row_work(long long items, const P* indptr, const I* indices, const Q* indptr2,
                         long long* work) {
  const Group<32> mine;
  for (long long row = mine.first; row < items; row += mine.step) {
    long long total = 0;
    for (P p = indptr[row] + mine.lane; p < indptr[row + 1]; p += 32) {
      const I w = indices[p];
      total += static_cast<long long>(indptr2[w + 1]) - indptr2[w];
    }
    for (int step = 16; step > 0; step /= 2) total += __shfl_xor_sync(kAllLanes, total, step);
    if (mine.lane == 0) work[row] = total;
  }
}

// A thread for each row: the order of a host.
template <class P>
__device__ void row_squares(long long items, const P* indptr, const double* values, double* sums) {
  const Group<1> mine;
  for (long long row = mine.first; row < items; row += mine.step) {
    double total = 0;
    for (P p = indptr[row]; p < indptr[row + 1]; ++p) total += __dmul_rn(values[p], values[p]);
    sums[row] = total;
  }
}

template <class C, class R>
__device__ void pack_rows(long long items, const long long* place, const C* columns,
                          const R* results, bool valued, const long long* indptr, C* new_columns,
                          R* new_results) {
  const Group<8> mine;
  for (long long item = mine.first; item < items; item += mine.step) {
    const long long shift = place[item] - indptr[item];
    for (long long at = indptr[item] + mine.lane; at < indptr[item + 1]; at += 8) {
      new_columns[at] = columns[at + shift];
      if (valued) new_results[at] = results[at + shift];
    }
  }
}
