// Belief propagation between vertices of a graph and of a pattern. See messages.py.
//
// A lane of a warp has a column, so rows of tables are read together: `width` is at most 32 where
// there are edges.
#pragma once

__device__ __forceinline__ double infinity_of() { return __longlong_as_double(0x7ff0000000000000LL); }

// Raises a number that other threads raise too. Numbers of one sign are ordered like the integers
// that their bits are, those below zero the other way round. No value is -0.0.
__device__ __forceinline__ void raise(double* place, double x) {
  const long long bits = __double_as_longlong(x + 0.0);
  if (bits >= 0) {
    atomicMax(reinterpret_cast<long long*>(place), bits);
  } else {
    atomicMin(reinterpret_cast<unsigned long long*>(place), static_cast<unsigned long long>(bits));
  }
}

template <class X>
__device__ void distances(long long rows, long long length, long long width, const X* features,
                          const double* pattern, double* out) {
  const Group<32> mine;
  for (long long i = mine.first; i < rows; i += mine.step) {
    for (long long c = mine.lane; c < width; c += 32) {
      double square = 0;
      for (long long f = 0; f < length; ++f) {
        const double step = static_cast<double>(features[i * length + f]) - pattern[f * width + c];
        square += step * step;
      }
      out[i * width + c] = -sqrt(square);
    }
  }
}

constexpr int kRun = 64;  // edges that a warp walks
constexpr int kTogether = 4;

// Walks all edges in runs of equal length, whatever the rows. A lane folds what its column has of
// the edges of a row, and writes it when the row ends: with an atomic where others have parts of
// the row.
template <class Fold, class P, class E, class X>
__device__ void walk(long long rows, long long length, long long width, const P* indptr,
                     const E* edges, bool is_listed, const X* features, const double* pattern,
                     Fold fold) {
  const Group<32> mine;
  const P all = indptr[rows];
  const bool is_column = mine.lane < width;
  const long long c = is_column ? mine.lane : 0;
  for (long long run = mine.first * kRun; run < all; run += mine.step * kRun) {
    const P high = run + kRun < all ? static_cast<P>(run + kRun) : all;
    long long u = owner_in<P>(indptr, rows, static_cast<P>(run));
    P end = indptr[u + 1];
    bool is_whole = indptr[u] == run;
    fold.open(u * width + c);
    for (P p = static_cast<P>(run); p < high; p += kTogether) {
      const X* row[kTogether];
      typename Fold::Loaded loaded[kTogether];
      double square[kTogether] = {};
#pragma unroll
      for (int k = 0; k < kTogether; ++k) {
        const P at = p + k < high ? p + k : high - 1;
        row[k] = features + (is_listed ? static_cast<long long>(edges[at]) : at) * length;
        loaded[k] = fold.load(at, c);
      }
      for (long long f = 0; f < length; ++f) {
        const double own = pattern[f * width + c];
#pragma unroll
        for (int k = 0; k < kTogether; ++k) {
          const double step = static_cast<double>(row[k][f]) - own;
          square[k] += step * step;
        }
      }
#pragma unroll
      for (int k = 0; k < kTogether; ++k) {
        if (p + k < high) {
          if (p + k >= end) {
            if (is_column) fold.write(u * width + c, is_whole);
            while (p + k >= end) end = indptr[++u + 1];
            is_whole = true;
            fold.open(u * width + c);
          }
          fold.add(loaded[k], sqrt(square[k]));
        }
      }
    }
    if (is_column) fold.write(u * width + c, is_whole && end <= high);
  }
}

template <class I, bool kHasMessages>
struct Greatest {
  using Loaded = double;
  const I* near;
  const double* messages;
  double* out;
  long long width;
  double best;
  template <class P>
  __device__ double load(P at, long long c) const {
    return kHasMessages ? messages[static_cast<long long>(near[at]) * width + c] : 0.0;
  }
  __device__ void open(long long) { best = -infinity_of(); }
  __device__ void add(double message, double distance) { best = fmax(best, message - distance); }
  __device__ void write(long long at, bool is_whole) const {
    if (is_whole) {
      out[at] = best;
    } else {
      raise(out + at, best);
    }
  }
};

template <class P, class I, class E, class X>
__device__ void pull(long long rows, long long length, long long width, const P* indptr,
                     const I* near, const E* edges, bool is_listed, const X* features,
                     const double* pattern, const double* messages, bool has_messages, double* out) {
  if (has_messages) {
    walk(rows, length, width, indptr, edges, is_listed, features, pattern,
         Greatest<I, true>{near, messages, out, width, 0.0});
  } else {
    walk(rows, length, width, indptr, edges, is_listed, features, pattern,
         Greatest<I, false>{near, messages, out, width, 0.0});
  }
}

struct Weights {
  struct Loaded {};
  const double* nearest;
  double unit;
  long long* sums;
  double least;
  long long sum;
  template <class P>
  __device__ Loaded load(P, long long) const {
    return {};
  }
  __device__ void open(long long at) {
    least = nearest[at];
    sum = 0;
  }
  __device__ void add(Loaded, double distance) {
    sum += static_cast<long long>(exp(-distance - least) * unit + 0.5);
  }
  __device__ void write(long long at, bool is_whole) const {
    if (is_whole) {
      sums[at] = sum;
    } else {
      atomic_add(sums + at, sum);
    }
  }
};

template <class P, class E, class X>
__device__ void weigh(long long rows, long long length, long long width, const P* indptr,
                      const E* edges, bool is_listed, const X* features, const double* pattern,
                      const double* nearest, double unit, long long* sums) {
  walk(rows, length, width, indptr, edges, is_listed, features, pattern,
       Weights{nearest, unit, sums, 0.0, 0});
}

__device__ __forceinline__ void close(long long items, const double* nearest, const long long* sums,
                                      double unit, double* out) {
  const Group<1> mine;
  for (long long i = mine.first; i < items; i += mine.step) {
    const double sum = static_cast<double>(sums[i]);
    out[i] = sums[i] > 0 ? nearest[i] + log(sum / unit) : -infinity_of();
  }
}

__device__ __forceinline__ void clear(long long items, double* out) {
  const Group<1> mine;
  for (long long i = mine.first; i < items; i += mine.step) out[i] = -infinity_of();
}

// A maximum, and the sum of exp(x - maximum).
struct Mass {
  double most = -infinity_of(), sum = 0;
  __device__ void add(double x) {
    if (x > most) {
      sum = sum * exp(most - x) + 1.0;
      most = x;
    } else if (x > -infinity_of()) {
      sum += exp(x - most);
    }
  }
};

__device__ __forceinline__ long long end_of(long long first, long long span, long long rows) {
  return first + span < rows ? first + span : rows;
}

__device__ __forceinline__ void columns(long long items, long long span, long long rows,
                                        long long width, long long pieces, const double* table,
                                        double* partial) {
  const Group<32> mine;
  for (long long piece = mine.first; piece < items; piece += mine.step) {
    for (long long c = mine.lane; c < width; c += 32) {
      Mass mass;
      const long long end = end_of(piece * span, span, rows);
      for (long long u = piece * span; u < end; ++u) mass.add(table[u * width + c]);
      partial[c * pieces + piece] = mass.most;
      partial[(width + c) * pieces + piece] = mass.sum;
    }
  }
}

struct Greater {
  __device__ static double of(double a, double b) { return b > a ? b : a; }
};
struct Plus {
  __device__ static double of(double a, double b) { return a + b; }
};

// The fold over the threads of a block, in all of them.
template <class Op>
__device__ __forceinline__ double over_block(double x) {
  __shared__ double parts[32];
  const int warp = static_cast<int>(threadIdx.x) / 32, warps = static_cast<int>(blockDim.x) / 32;
  for (int bits = 16; bits > 0; bits /= 2) x = Op::of(x, __shfl_xor_sync(kAllLanes, x, bits));
  __syncthreads();
  if (threadIdx.x % 32 == 0) parts[warp] = x;
  __syncthreads();
  double all = parts[0];
  for (int other = 1; other < warps; ++other) all = Op::of(all, parts[other]);
  return all;
}

// The maximum of a column over all pieces.
__device__ __forceinline__ double greatest_of(const double* partial, long long pieces) {
  double most = -infinity_of();
  for (long long piece = threadIdx.x; piece < pieces; piece += blockDim.x) {
    most = Greater::of(most, partial[piece]);
  }
  return over_block<Greater>(most);
}

// The logarithm of the sum of exponentials of all pieces; 0 if there are none.
__device__ __forceinline__ double joined(const double* partial, long long below, long long pieces) {
  const double most = greatest_of(partial, pieces);
  if (most == -infinity_of()) return 0.0;
  double sum = 0;
  for (long long piece = threadIdx.x; piece < pieces; piece += blockDim.x) {
    sum += partial[piece + below] * exp(partial[piece] - most);
  }
  return most + log(over_block<Plus>(sum));
}

// A block for each column.
__device__ __forceinline__ void total(long long items, long long pieces, long long width,
                                      const double* partial, double* totals) {
  for (long long c = block_number(); c < items; c += gridDim.x) {
    const double most = greatest_of(partial + c * pieces, pieces);
    const double sum = joined(partial + c * pieces, width * pieces, pieces);
    if (threadIdx.x == 0) {
      totals[c] = most;
      totals[width + c] = sum;
    }
  }
}

template <class I>
__device__ void send(long long items, long long span, long long rows, long long width,
                     long long pieces, bool is_first, long long count, const double* mu,
                     const double* totals, const I* sources, const I* targets, const double* own,
                     const double* other, double* forward, double* reverse, double* partial) {
  const Group<32> mine;
  const long long c = mine.lane, row = width * pieces;
  if (c >= width) return;
  const long long p = sources[c], r = targets[c];
  const double off_p = totals[count + p], off_r = totals[count + r];
  for (long long piece = mine.first; piece < items; piece += mine.step) {
    Mass ahead, back;
    double most_ahead = -infinity_of(), most_back = -infinity_of();
    const long long end = end_of(piece * span, span, rows);
#pragma unroll 2
    for (long long u = piece * span; u < end; ++u) {
      const long long at = u * width + c;
      double x = 0, y = 0;
      if (!is_first) {
        x = mu[u * count + p] - off_p - reverse[at];
        y = mu[u * count + r] - off_r - forward[at];
      }
      reverse[at] = x;
      forward[at] = y;
      most_ahead = Greater::of(most_ahead, x);
      most_back = Greater::of(most_back, y);
      ahead.add(x + own[at]);
      back.add(y + other[at]);
    }
    double* into = partial + c * pieces + piece;
    into[0] = ahead.most;
    into[row] = back.most;
    into[2 * row] = most_ahead;
    into[3 * row] = ahead.sum;
    into[4 * row] = back.sum;
    into[5 * row] = most_back;
  }
}

// A block for each edge of the pattern.
template <class I>
__device__ void settle(long long items, long long pieces, long long width, bool is_first,
                       double penalty, long long count, const double* totals, const I* sources,
                       const I* targets, const double* partial, double* terms) {
  const long long row = width * pieces;
  for (long long c = block_number(); c < items; c += gridDim.x) {
    const double* first = partial + c * pieces;
    const long long p = sources[c], r = targets[c];
    const double sum_ahead = joined(first, 3 * row, pieces);
    const double sum_back = joined(first + row, 3 * row, pieces);
    double ahead = greatest_of(first + 2 * row, pieces);
    double back = greatest_of(first + 5 * row, pieces);
    if (is_first) {
      ahead = totals[p] - totals[count + p];
      back = totals[r] - totals[count + r];
    }
    if (threadIdx.x == 0) {
      terms[c] = sum_ahead;
      terms[width + c] = ahead - penalty;
      terms[2 * width + c] = sum_back;
      terms[3 * width + c] = back - penalty;
    }
  }
}

// Lanes have columns of messages first, then columns of the scores, which they add messages to in
// the order of the edges of the pattern.
template <class I>
__device__ void receive(long long rows, long long width, bool is_first, long long count,
                        const I* sources, const I* targets, const double* terms,
                        bool is_given, const double* nearest, double* raw, double* forward,
                        double* reverse, double* mu) {
  const Group<32> mine;
  const int all = static_cast<int>(width);
  const int c = mine.lane < all ? mine.lane : all - 1;
  const double sum_ahead = terms[c], null_ahead = terms[width + c];
  const double sum_back = terms[2 * width + c], null_back = terms[3 * width + c];
  const int source = static_cast<int>(sources[c]), target = static_cast<int>(targets[c]);
  for (long long u = mine.first; u < rows; u += mine.step) {
    const long long at = u * width + c;
    const double over = is_given ? reverse[at] : forward[at] + nearest[at];
    const double ahead = Greater::of(raw[at] - sum_ahead, null_ahead);
    const double back = Greater::of(over - sum_back, null_back);
    __syncwarp();
    if (mine.lane < all) {
      raw[at] = -infinity_of();
      forward[at] = ahead;
      reverse[at] = back;
    }
    if (is_first) continue;
    for (long long first = 0; first < count; first += 32) {
      const long long j = first + mine.lane;
      double score = j < count ? mu[u * count + j] : 0.0;
      for (int k = 0; k < all; ++k) {
        const double one = __shfl_sync(kAllLanes, ahead, k);
        const double two = __shfl_sync(kAllLanes, back, k);
        if (__shfl_sync(kAllLanes, target, k) == j) score += one;
        if (__shfl_sync(kAllLanes, source, k) == j) score += two;
      }
      if (j < count) mu[u * count + j] = score;
    }
  }
}

__device__ __forceinline__ void advance(long long, long long last, long long* state) {
  const Group<1> mine;
  if (mine.first == 0) {
    ++state[1];
    if (state[1] >= last) state[0] = 1;
  }
}
