// Items in segments: running results of a monoid along each, and merging runs in each.
#pragma once
#include "common/helpers.cuh"
#include "matrix/scan.cuh"

// The fold of consecutive items; `fresh` says that a head is among them, so that nothing before
// them counts.
template <class T> struct Run {
  T value;
  bool fresh;
};

template <class Add, class T> SEMIRA_INLINE Run<T> joined(const Run<T>& left, const Run<T>& right) {
  if (right.fresh) return right;
  return Run<T>{Add::apply(left.value, right.value), left.fresh};
}

// What the threads of a block tell each other.
template <class T> struct RunBoard {
  T* values;
  bool* fresh;

  SEMIRA_INLINE Run<T> at(unsigned t) const { return Run<T>{values[t], fresh[t]}; }
  SEMIRA_INLINE void put(unsigned t, const Run<T>& run) const {
    values[t] = run.value;
    fresh[t] = run.fresh;
  }
};

// Leaves on the board, for each thread, the fold of the runs of all threads up to it.
template <class Add, class T> __device__ void scan_board(const RunBoard<T>& board, Run<T> mine) {
  const unsigned t = threadIdx.x;
  __syncthreads();
  board.put(t, mine);
  __syncthreads();
  for (unsigned step = 1; step < kScanThreads; step *= 2) {
    const bool has_left = t >= step;
    const Run<T> left = board.at(has_left ? t - step : t);
    __syncthreads();
    if (has_left) {
      mine = joined<Add>(left, mine);
      board.put(t, mine);
    }
    __syncthreads();
  }
}

// Shared memory of a board; raw bytes, for T may have a constructor.
#define SEMIRA_RUN_BOARD(T, board)                                                 \
  __shared__ __align__(16) unsigned char board##_values[sizeof(T) * kScanThreads]; \
  __shared__ bool board##_fresh[kScanThreads];                                     \
  const RunBoard<T> board { reinterpret_cast<T*>(board##_values), board##_fresh }

SEMIRA_INLINE long long first_of_thread() {
  return blockIdx.x * static_cast<long long>(kScanTile) +
         static_cast<long long>(threadIdx.x) * kScanItems;
}

// The fold of one thread's items; past the end, a run that hides what is before it. Items and heads
// are arrays, or what can be asked as they are.
template <class Add, class Items, class Heads>
__device__ Run<typename Add::T> run_of_thread(
    const Items& items, const Heads& heads, long long first, long long n) {
  using T = typename Add::T;
  if (first >= n) return Run<T>{T(), true};
  Run<T> run{cast<T>(items[first]), heads[first]};
  for (int k = 1; k < kScanItems && first + k < n; ++k) {
    run = joined<Add>(run, Run<T>{cast<T>(items[first + k]), heads[first + k]});
  }
  return run;
}

// The fold of each tile, one block a tile.
template <class Add, class Items, class Heads>
__device__ void fold_run_tiles(
    const Items& items, const Heads& heads, long long n, typename Add::T* values, bool* fresh) {
  using T = typename Add::T;
  SEMIRA_RUN_BOARD(T, board);
  scan_board<Add>(board, run_of_thread<Add>(items, heads, first_of_thread(), n));
  if (threadIdx.x == kScanThreads - 1) {
    RunBoard<T>{values, fresh}.put(blockIdx.x, board.at(kScanThreads - 1));
  }
}

// Each tile's fold becomes that of all tiles up to it; one block.
template <class Add>
__device__ void scan_run_tiles(typename Add::T* values, bool* fresh, long long tiles) {
  using T = typename Add::T;
  SEMIRA_RUN_BOARD(T, board);
  const RunBoard<T> all{values, fresh};
  for (long long base = 0; base < tiles; base += kScanThreads) {
    const long long tile = base + threadIdx.x;
    const bool is_tile = tile < tiles;
    Run<T> mine = is_tile ? all.at(static_cast<unsigned>(tile)) : Run<T>{T(), true};
    // The first thread goes on where the block has stopped.
    if (threadIdx.x == 0 && base > 0) {
      mine = joined<Add>(all.at(static_cast<unsigned>(base - 1)), mine);
    }
    scan_board<Add>(board, mine);
    if (is_tile) all.put(static_cast<unsigned>(tile), board.at(threadIdx.x));
    __syncthreads();
  }
}

// Keeps the result of every item.
template <class T> struct KeepRuns {
  T* out;
  SEMIRA_INLINE void operator()(long long at, const T& value) const { out[at] = value; }
};

// Calls take(item, fold) with the fold of those from the head of the item's segment up to it.
template <class Add, class Items, class Heads, class Take>
__device__ void scan_run_items(const Items& items, const Heads& heads, long long n,
    typename Add::T* values, bool* fresh, const Take& take) {
  using T = typename Add::T;
  SEMIRA_RUN_BOARD(T, board);
  const long long first = first_of_thread();
  scan_board<Add>(board, run_of_thread<Add>(items, heads, first, n));
  if (first >= n) return;
  bool is_first = threadIdx.x == 0;
  // Thread 0 of tile 0 has nothing before it: item 0 is a head.
  Run<T> before = is_first ? Run<T>{T(), true} : board.at(threadIdx.x - 1);
  if (blockIdx.x > 0) {
    const Run<T> tiles = RunBoard<T>{values, fresh}.at(blockIdx.x - 1);
    before = is_first ? tiles : joined<Add>(tiles, before);
  }
  for (int k = 0; k < kScanItems && first + k < n; ++k) {
    before = joined<Add>(before, Run<T>{cast<T>(items[first + k]), heads[first + k]});
    take(first + k, before.value);
  }
}

// One pass of a stable merge sort along segments: runs of `width` become runs twice as long.
//
// `from` holds the items of each segment in some order, `starts` and `lengths` tell, for each place,
// of its segment. A comparison that contradicts itself sends two items to one place and none to
// another, so `to` has to hold items of the segment already.
template <class Before, class A>
__device__ void merge_runs(const A* values, const long long* starts, const long long* lengths,
    const long long* from, long long width, long long n, long long* to) {
  using T = typename Before::T;
  for (const long long p : items_below(n)) {
    const long long start = starts[p], end = start + lengths[p];
    const long long place = p - start, run = place / width, mine = from[p];
    const bool is_left = run % 2 == 0;
    const T x = cast<T>(values[mine]);
    const long long sibling = start + (is_left ? run + 1 : run - 1) * width;
    const long long base = sibling < end ? sibling : end;
    const long long high = base + width < end ? base + width : end;
    const long long behind = first_where(base, high, [&](long long at) {
      const T y = cast<T>(values[from[at]]);
      // Of equal ones, those of the left run come first.
      return is_left ? !static_cast<bool>(Before::apply(y, x, 0, 0, 0))
                     : static_cast<bool>(Before::apply(x, y, 0, 0, 0));
    });
    to[start + run / 2 * 2 * width + place % width + (behind - base)] = mine;
  }
}
