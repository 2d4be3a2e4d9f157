// Steps of both solvers of the fused lasso. See trend.py.
#pragma once

namespace lasso {

constexpr int kParts = 1024;

__device__ __forceinline__ double soft(double x, double threshold) {
  return x > threshold ? x - threshold : x < -threshold ? x + threshold : 0.0;
}

}  // namespace lasso

// Vertices of a part often lie together: a warp of one part adds up first.
template <class A, class K>
__device__ void tally(long long items, const A* active, const K* key, const long long* rest,
                      long long* sums, long long* counts) {
  const Group<1> mine;
  const long long lane = threadIdx.x % 32;
  for (long long i = mine.first - lane; i < items; i += mine.step) {
    const long long v = i + lane;
    const bool counts_in = v < items && active[v] != 0;
    const long long part = counts_in ? static_cast<long long>(key[v]) : -1;
    long long total = counts_in ? rest[v] : 0, count = counts_in ? 1 : 0;
    const long long first = __shfl_sync(kAllLanes, part, 0);
    if (__all_sync(kAllLanes, part == first)) {
      if (first < 0) continue;
      for (int step = 16; step > 0; step /= 2) {
        total += __shfl_xor_sync(kAllLanes, total, step);
        count += __shfl_xor_sync(kAllLanes, count, step);
      }
      if (lane != 0) continue;
    }
    if (part < 0) continue;
    atomic_add(&sums[part], total);
    atomic_add(&counts[part], count);
  }
}

template <class P, class I, class A, class K, class C>
__device__ void close_arcs(long long items, const P* indptr, const I* indices, const A* active,
                           const K* key, const long long* capacity, long long* room, C* closed,
                           long long* flow) {
  const Group<1> mine;
  for (long long v = mine.first; v < items; v += mine.step) {
    if (active[v] == 0) continue;
    for (P e = indptr[v]; e < indptr[v + 1]; ++e) {
      const I w = indices[e];
      if (active[w] == 0 || key[w] == key[v] || closed[e] != 0) continue;
      closed[e] = 1;
      flow[e] = capacity[e] - room[e];
      room[e] = 0;
    }
  }
}

template <class K, class F, class A>
__device__ void shift(long long items, K* key, const long long* means, const F* fresh, A* active,
                      long long* rest, long long* value) {
  const Group<1> mine;
  for (long long v = mine.first; v < items; v += mine.step) {
    if (active[v] == 0) continue;
    const K part = key[v];
    if (fresh[part] < 0) {
      active[v] = 0;
      rest[v] = 0;
    } else {
      value[v] += means[part];
      rest[v] -= means[part];
      key[v] = static_cast<K>(fresh[part]);
    }
  }
}

template <class P, class C>
__device__ void carried(long long items, const P* indptr, const long long* capacity,
                        const long long* room, const C* closed, const double* limit, double unit,
                        double* flow, const long long* units) {
  const Group<1> mine;
  for (long long v = mine.first; v < items; v += mine.step) {
    for (P e = indptr[v]; e < indptr[v + 1]; ++e) {
      const long long sent = closed[e] != 0 ? units[e] : capacity[e] - room[e];
      flow[e] = fmax(fmin(static_cast<double>(sent) * unit, limit[e]), -limit[e]);
    }
  }
}

template <class P>
__device__ void place(long long items, const P* indptr, const double* flow, const double* y,
                      double threshold, double* x, const long long* state, long long often) {
  if (state[1] % often != 0) return;
  const Group<1> mine;
  for (long long v = mine.first; v < items; v += mine.step) {
    double total = 0;
    for (P e = indptr[v]; e < indptr[v + 1]; ++e) total += flow[e];
    x[v] = lasso::soft(y[v] - total, threshold);
  }
}

template <class P, class I>
__device__ void step(long long items, const P* indptr, const I* indices, const double* limit,
                     const double* x, double* ahead, double* flow, const double* pace) {
  const double beta = pace[1];
  const Group<1> mine;
  for (long long v = mine.first; v < items; v += mine.step) {
    const double own = x[v], degree = static_cast<double>(indptr[v + 1] - indptr[v]);
    for (P e = indptr[v]; e < indptr[v + 1]; ++e) {
      const I w = indices[e];
      const double joined = degree + static_cast<double>(indptr[w + 1] - indptr[w]);
      double fresh = ahead[e] + (own - x[w]) / joined;
      fresh = fmax(fmin(fresh, limit[e]), -limit[e]);
      ahead[e] = fresh + __dmul_rn(beta, fresh - flow[e]);
      flow[e] = fresh;
    }
  }
}

// A thread sums a range of vertices: the order is the same on every device.
template <class P, class I>
__device__ void energies(long long items, long long n, const P* indptr, const I* indices,
                         const double* limit, const double* flow, const double* y,
                         double threshold, const double* x, double* parts, const long long* state,
                         long long often) {
  using namespace lasso;
  if (state[1] % often != 0) return;
  const Group<1> mine;
  for (long long part = mine.first; part < items; part += mine.step) {
    double objective = 0, gap = 0;
    for (long long v = part * n / kParts; v < (part + 1) * n / kParts; ++v) {
      double total = 0, jumps = 0;
      for (P e = indptr[v]; e < indptr[v + 1]; ++e) {
        total += flow[e];
        jumps += __dmul_rn(limit[e], fabs(x[v] - x[indices[e]]));
      }
      const double off = x[v] - y[v];
      const double own = __dmul_rn(__dmul_rn(0.5, off), off) +
                         __dmul_rn(threshold, fabs(x[v])) + __dmul_rn(0.5, jumps);
      const double drawn = soft(y[v] - total, threshold);
      objective += own;
      gap += own - __dmul_rn(0.5, __dmul_rn(y[v], y[v]) - __dmul_rn(drawn, drawn));
    }
    parts[part] = objective;
    parts[kParts + part] = gap;
  }
}

__device__ inline void judge(long long items, const double* parts, long long* state, double* pace,
                             long long often, long long most, double tolerance) {
  using namespace lasso;
  const Group<1> mine;
  if (mine.first >= items) return;
  const long long steps = state[1];
  if (steps % often == 0) {
    double objective = 0, gap = 0;
    for (int part = 0; part < kParts; ++part) {
      objective += parts[part];
      gap += parts[kParts + part];
    }
    pace[2] = objective;
    pace[3] = gap;
    if (gap <= __dmul_rn(tolerance, objective)) {
      state[0] = 1;
      state[2] = 1;
    } else if (steps >= most) {
      state[0] = 1;
    }
    if (gap > pace[4]) {
      pace[0] = 1;
      ++state[3];
    }
    pace[4] = fmin(gap, pace[4]);
  }
  const double t = pace[0];
  const double after = __dmul_rn(0.5, 1.0 + sqrt(1.0 + __dmul_rn(__dmul_rn(4.0, t), t)));
  pace[1] = (t - 1.0) / after;
  pace[0] = after;
  state[1] = steps + 1;
}
