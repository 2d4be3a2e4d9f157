// Steps of a diffusion on all vertices, and of a sweep over most of them. See whole.py.
#pragma once
#include "semira.apps.local_clustering.kernels:block.cuh"

template <class P>
__device__ void take_all(long long items, const P* indptr, double keep, double least,
                         long long* rest, long long* kept, long long* share) {
  const Group<1> mine;
  for (long long v = mine.first; v < items; v += mine.step) {
    const long long degree = indptr[v + 1] - indptr[v];
    long long left = rest[v], part = 0;
    if (degree > 0 && static_cast<double>(left) >= least * static_cast<double>(degree)) {
      const long long stays = min(static_cast<long long>(static_cast<double>(left) * keep), left);
      left -= stays;
      kept[v] += stays;
      part = left / degree;
      rest[v] = left - part * degree;
    }
    share[v] = part;
  }
}

template <class P>
__device__ void slopes_all(long long items, const P* indptr, const long long* sums, const double* y,
                           const double* shared, double alpha, double bound, double* slopes,
                           long long* state) {
  const Group<1> mine;
  for (long long v = mine.first; v < items; v += mine.step) {
    const double degree = static_cast<double>(indptr[v + 1] - indptr[v]);
    double slope = 0;
    if (degree > 0) {
      const double around =
          __dmul_rn(static_cast<double>(sums[v]), 1.734723475976807e-18) / degree;
      slope = __dmul_rn((1.0 + alpha) * 0.5, y[v]) - __dmul_rn((1.0 - alpha) * 0.5, around) -
              shared[v] / degree;
    }
    slopes[v] = slope;
    if (fabs(slope) > bound) state[3] = 1;
  }
}

template <class P>
__device__ void step_all(long long items, const P* indptr, const double* slopes, long long most,
                         double threshold, double alpha, double* x, double* y, long long* units,
                         long long* state) {
  const double beta = (1.0 - sqrt(alpha)) / (1.0 + sqrt(alpha));
  const long long steps = state[1];
  const bool ends = steps == most || (steps > 1 && state[3] == 0);
  long long edges = 0;
  const Group<1> mine;
  for (long long v = mine.first; v < items; v += mine.step) {
    double next = x[v];
    if (!ends) {
      const double z = y[v] - slopes[v];
      const double fresh = z >= threshold ? z - threshold : z <= -threshold ? z + threshold : 0;
      next = steps == 0 ? fresh : fresh + __dmul_rn(beta, fresh - x[v]);
      x[v] = fresh;
    }
    y[v] = next;
    const long long sent = static_cast<long long>(__dmul_rn(next, 576460752303423488.0));
    units[v] = sent;
    if (sent != 0) edges += indptr[v + 1] - indptr[v];
  }
  for (int step = 16; step > 0; step /= 2) edges += __shfl_xor_sync(kAllLanes, edges, step);
  if (threadIdx.x % 32 == 0 && edges != 0) atomic_add(state + 4, edges);
}

// Eight threads for each row, a block for each long one.
template <class P, class I>
__device__ void sums_all(long long items, const P* indptr, const I* indices, const long long* units,
                         const long long* rows, long long count, long long* sums) {
  constexpr long long kLong = 2048;
  const Group<8> mine;
  for (long long v = mine.first; v < items; v += mine.step) {
    const P begin = indptr[v], end = indptr[v + 1];
    if (end - begin > kLong) continue;
    long long total = 0;
    for (P e = begin + mine.lane; e < end; e += 8) total += units[indices[e]];
    const unsigned together = 0xffu << (threadIdx.x % 32 / 8 * 8);
    for (int step = 4; step > 0; step /= 2) total += __shfl_xor_sync(together, total, step);
    if (mine.lane == 0) sums[v] = total;
  }
  for (long long k = block_number(); k < count; k += gridDim.x) {
    const long long v = rows[k];
    long long total = 0;
    for (P e = indptr[v] + threadIdx.x; e < indptr[v + 1]; e += blockDim.x) {
      total += units[indices[e]];
    }
    total = sum_over_block<0>(total);
    if (threadIdx.x == 0) sums[v] = total;
    __syncthreads();
  }
}

__device__ inline void count_step(long long items, long long most, long long* state) {
  const Group<1> mine;
  if (mine.first >= items) return;
  const long long steps = state[1];
  const bool stopped = steps > 1 && state[3] == 0;
  if (stopped) state[2] = 1;
  if (stopped || steps == most) {
    state[0] = 1;
  } else {
    state[1] = steps + 1;
  }
  state[3] = 0;
}

// A warp for each vertex.
template <class V, class P, class I>
__device__ void earlier(long long items, const V* vertices, const P* indptr, const I* indices,
                        const long long* rank, long long bound, long long* found) {
  const Group<32> mine;
  for (long long i = mine.first; i < items; i += mine.step) {
    const long long v = vertices[i], limit = bound > 0 ? bound : i;
    long long count = 0;
    for (P e = indptr[v] + mine.lane; e < indptr[v + 1]; e += 32) {
      count += rank[indices[e]] < limit ? 1 : 0;
    }
    for (int step = 16; step > 0; step /= 2) count += __shfl_xor_sync(kAllLanes, count, step);
    if (mine.lane == 0) found[i] = count;
  }
}
