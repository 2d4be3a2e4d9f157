// Locations of vertices from those of their neighbours; angles are in degrees.
#pragma once

namespace geolocation {

constexpr double kDegree = 0.017453292519943295;  // in radians
constexpr double kHalf = kDegree / 2;
constexpr double kDiameter = 2 * 6371.0;  // km
constexpr int kNowhere = 2147483647;

// Threads of a block; candidates that a block sorts at once; known neighbours that a thread keeps;
// row length from which a block reads the row.
constexpr int kThreads = 128, kTile = 1024, kSlots = 8, kLong = 512;
// Kinds of candidates: 2 to kSlots known neighbours are a thread's, then those of warps and blocks.
constexpr int kOfWarp = kSlots + 1, kOfBlock = kSlots + 2, kKinds = kSlots + 3;

struct Place {
  double lat, lon;
};

struct Neighbour {
  double lat, lon, cosine;
};

// What is known before the iteration.
template <class P, class I>
struct Graph {
  const P* indptr;
  const I* indices;
  const int* located;
  const double *lat, *lon;
  int now;

  __device__ __forceinline__ bool knows(long long u) const { return located[u] < now; }
  __device__ __forceinline__ Neighbour at(long long u) const {
    return {lat[u], lon[u], cospi(lat[u] / 180)};
  }
};

// The shorter way round from `first`.
__device__ __forceinline__ double unwrapped(double lon, double first) {
  return lon - first > 180 ? lon - 360 : lon - first < -180 ? lon + 360 : lon;
}

// The power series of sin(x / 2)^2 in x^2, x in degrees: to 14 digits below `kNear`.
constexpr double kNear = 5.7;
__device__ __forceinline__ double sine_squared(double square) {
  constexpr double h = kHalf * kHalf;
  return square * (h + square * (-h * h / 3 + square * (2 * h * h * h / 45 +
                                                        square * (-h * h * h * h / 315))));
}

// A function of its own: it is long, and stands in several loops.
__device__ __noinline__ double far_closeness(double dlat, double dlon, double cosines) {
  const double sin_lat = sin(kHalf * dlat), sin_lon = sin(kHalf * dlon);
  const double a = sin_lat * sin_lat + cosines * sin_lon * sin_lon;
  return a == 0 ? 0 : 1 / (kDiameter * asin(sqrt(a > 1 ? 1 : a)));
}

// 1 / haversine distance in km, 0 at no distance. With `kIsNear` both angles are below `kNear`.
template <bool kIsNear>
__device__ __forceinline__ double closeness(double dlat, double dlon, double cosines) {
  if constexpr (kIsNear) {
    const double a = sine_squared(dlat * dlat) + cosines * sine_squared(dlon * dlon);
    // sqrt(a) / asin(sqrt(a)) / kDiameter
    constexpr double d = 1 / kDiameter;
    const double ratio = d + a * (-d / 6 + a * (-17 * d / 360 + a * (-367 * d / 15120 +
        a * (-27859 * d / 1814400 + a * (-1295803 * d / 119750400)))));
    return a == 0 ? 0 : ratio * rsqrt(a);
  } else {
    return far_closeness(dlat, dlon, cosines);
  }
}

__device__ __noinline__ Place midpoint(Neighbour p, Neighbour q) {
  const double dlon = (q.lon - p.lon) * kDegree;
  const double x = q.cosine * cos(dlon), y = q.cosine * sin(dlon), forth = p.cosine + x;
  const double up = sin(p.lat * kDegree) + sin(q.lat * kDegree);
  const double lat = atan2(up, sqrt(forth * forth + y * y));
  return {lat / kDegree, p.lon + atan2(y, forth) / kDegree};
}

// Who computes one median: a thread, a warp or a block.
struct Alone {
  static constexpr int kSize = 1;
  __device__ __forceinline__ int rank() const { return 0; }
  template <class T>
  __device__ __forceinline__ T sum(T x) const {
    return x;
  }
};

struct OfWarp {
  static constexpr int kSize = kWarp;
  __device__ __forceinline__ int rank() const { return threadIdx.x % kWarp; }
  __device__ __forceinline__ double sum(double x) const {
    for (int step = kWarp / 2; step > 0; step /= 2) x += __shfl_xor_sync(kAllLanes, x, step);
    return x;
  }
  __device__ __forceinline__ long long least(long long x) const {
    for (int step = kWarp / 2; step > 0; step /= 2) {
      const long long other = __shfl_xor_sync(kAllLanes, x, step);
      x = other < x ? other : x;
    }
    return x;
  }
};

struct OfBlock {
  static constexpr int kSize = kThreads;
  double* room;  // an element for each warp
  __device__ __forceinline__ int rank() const { return threadIdx.x; }
  __device__ __forceinline__ double sum(double x) const {
    x = OfWarp().sum(x);
    __syncthreads();
    if (threadIdx.x % kWarp == 0) room[threadIdx.x / kWarp] = x;
    __syncthreads();
    x = 0;
    for (int warp = 0; warp < kThreads / kWarp; ++warp) x += room[warp];
    return x;
  }
  __device__ __forceinline__ long long least(long long x) const {
    x = OfWarp().least(x);
    long long* places = reinterpret_cast<long long*>(room);
    __syncthreads();
    if (threadIdx.x % kWarp == 0) places[threadIdx.x / kWarp] = x;
    __syncthreads();
    for (int warp = 0; warp < kThreads / kWarp; ++warp) x = places[warp] < x ? places[warp] : x;
    return x;
  }
};

// The known neighbours that a thread keeps in shared memory.
struct Slots {
  static constexpr int kUnroll = 2;
  double (*lat)[kThreads], (*lon)[kThreads], (*cosine)[kThreads];
  int length;
  __device__ __forceinline__ void add(Neighbour one) {
    lat[length][threadIdx.x] = one.lat;
    lon[length][threadIdx.x] = one.lon;
    cosine[length][threadIdx.x] = one.cosine;
    ++length;
  }
  __device__ __forceinline__ long long begin() const { return 0; }
  __device__ __forceinline__ long long end() const { return length; }
  __device__ __forceinline__ bool read(long long k, Neighbour& found) const {
    found = {lat[k][threadIdx.x], lon[k][threadIdx.x], cosine[k][threadIdx.x]};
    return true;
  }
};

// A row, which is read again for every step.
template <class P, class I>
struct Row {
  static constexpr int kUnroll = 1;
  const Graph<P, I>& graph;
  long long low, high;
  double first;
  __device__ __forceinline__ long long begin() const { return low; }
  __device__ __forceinline__ long long end() const { return high; }
  __device__ __forceinline__ bool read(long long p, Neighbour& found) const {
    const long long u = graph.indices[p];
    if (!graph.knows(u)) return false;
    found = graph.at(u);
    found.lon = unwrapped(found.lon, first);
    return true;
  }
};

// Steps of the spatial median from `place` on: Weiszfeld's iteration as Vardi and Zhang corrected
// it. Returns whether it is done.
template <bool kIsNear, class Group, class Near>
__device__ bool walk(const Group& group, const Near& near, long long known, double tolerance,
                     long long steps, Place& place) {
  double lat = place.lat, lon = place.lon;
  bool is_done = false;
  for (long long step = 0; step < steps && !is_done; ++step) {
    const double cosine = cospi(lat * (1.0 / 180));
    double total = 0, pull_lat = 0, pull_lon = 0;
    int here = 0;
#pragma unroll(Near::kUnroll)
    for (long long k = near.begin() + group.rank(); k < near.end(); k += Group::kSize) {
      Neighbour other;
      if (!near.read(k, other)) continue;
      const double dlat = other.lat - lat, dlon = other.lon - lon;
      const double weight = closeness<kIsNear>(dlat, dlon, cosine * other.cosine);
      if (weight == 0) ++here;
      total += weight;
      pull_lat += weight * dlat;
      pull_lon += weight * dlon;
    }
    total = group.sum(total);
    pull_lat = group.sum(pull_lat);
    pull_lon = group.sum(pull_lon);
    const double stuck = group.sum(static_cast<double>(here));
    if (stuck == known) {
      is_done = true;
      break;
    }
    double share = 1 / total;
    if (stuck > 0) {
      const double size = sqrt(pull_lat * pull_lat + pull_lon * pull_lon);
      // Of what the others pull, as much as those that are here do not hold.
      share = size <= stuck ? 0 : share * (1 - stuck / size);
    }
    const double step_lat = share * pull_lat, step_lon = share * pull_lon;
    lat += step_lat;
    lon += step_lon;
    is_done = step_lat * step_lat + step_lon * step_lon < tolerance * tolerance;
  }
  place = {lat, lon};
  return is_done;
}

template <class Group, class Near>
__device__ Place mean(const Group& group, const Near& near, long long known) {
  double lat = 0, lon = 0;
  for (long long k = near.begin() + group.rank(); k < near.end(); k += Group::kSize) {
    Neighbour other;
    if (!near.read(k, other)) continue;
    lat += other.lat;
    lon += other.lon;
  }
  lat = group.sum(lat);
  lon = group.sum(lon);
  return {lat / known, lon / known};
}

// The median of a row that is too long for a thread.
template <class Group, class P, class I>
__device__ Place median_of_row(const Group& group, const Graph<P, I>& graph, long long vertex,
                               double tolerance, long long steps, long long& known) {
  const long long low = graph.indptr[vertex], high = graph.indptr[vertex + 1];
  long long first = high;
  double count = 0;
  for (long long p = low + group.rank(); p < high; p += Group::kSize) {
    if (!graph.knows(graph.indices[p])) continue;
    if (p < first) first = p;
    count += 1;
  }
  known = static_cast<long long>(group.sum(count));
  first = group.least(first);
  if (known == 0) return {0, 0};
  const Neighbour one = graph.at(graph.indices[first]);
  const Row<P, I> row{graph, low, high, one.lon};
  if (known == 1) return {one.lat, one.lon};
  if (known > 2) {
    Place place = mean(group, row, known);
    walk<false>(group, row, known, tolerance, steps, place);
    return place;
  }
  long long second = high;
  for (long long p = first + 1 + group.rank(); p < high; p += Group::kSize) {
    if (graph.knows(graph.indices[p]) && p < second) second = p;
  }
  Neighbour other;
  row.read(group.least(second), other);
  return midpoint(one, other);
}

// What a block shares.
struct Shared {
  double lat[kSlots][kThreads], lon[kSlots][kThreads], cosine[kSlots][kThreads];
  double room[kThreads / kWarp];
  long long base;  // the first candidate of the tile
  int starts[kKinds + 1], filled[kKinds];
  unsigned short order[kTile];  // candidates by kind
  unsigned char kinds[kTile];
};

// A launch: candidates are all vertices, or those that a launch of the level before left.
template <class P, class I, class Q>
struct Search {
  Graph<P, I> graph;
  double tolerance;
  long long steps, level, cap;
  bool is_last;
  double *lat, *lon;
  int* located;
  const Q* waiting;
  Q* left;
  long long* lengths;
  Shared& shared;

  __device__ __forceinline__ long long vertex(int i) const {
    return level > 0 ? waiting[shared.base + i] : shared.base + i;
  }
  __device__ __forceinline__ void keep(long long v, Place place) const {
    lat[v] = place.lat;
    lon[v] = place.lon > 180 ? place.lon - 360 : place.lon < -180 ? place.lon + 360 : place.lon;
    located[v] = graph.now;
  }
  __device__ __forceinline__ void leave(long long v, Place place) const {
    lat[v] = place.lat;
    lon[v] = place.lon;
    left[atomic_add(&lengths[2 * level], 1)] = static_cast<Q>(v);
  }

  // The kind of a candidate; 0 if it is done.
  __device__ int kind_of(long long v) const {
    if (graph.knows(v)) return 0;
    const long long low = graph.indptr[v], high = graph.indptr[v + 1];
    if (high - low > kLong) return kOfBlock;
    int known = 0;
    long long last = 0;
    for (long long p = low; p < high; ++p) {
      const long long u = graph.indices[p];
      if (!graph.knows(u)) continue;
      ++known;
      last = u;
    }
    if (known == 1) keep(v, {lat[last], lon[last]});
    return known == 1 ? 0 : known > kSlots ? kOfWarp : known;
  }

  // Sorts the candidates of a tile by kind, so that the threads of a warp do about the same.
  __device__ void sort(int count) const {
    for (int i = threadIdx.x; i < count; i += kThreads) {
      const int kind = kind_of(vertex(i));
      shared.kinds[i] = static_cast<unsigned char>(kind);
      if (kind > 0) atomicAdd(&shared.filled[kind], 1);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
      int total = 0;
      for (int kind = 0; kind < kKinds; ++kind) {
        shared.starts[kind] = total;
        total += shared.filled[kind];
        shared.filled[kind] = shared.starts[kind];
      }
      shared.starts[kKinds] = total;
    }
    __syncthreads();
    for (int i = threadIdx.x; i < count; i += kThreads) {
      const int kind = shared.kinds[i];
      if (kind == 0) continue;
      shared.order[atomicAdd(&shared.filled[kind], 1)] = static_cast<unsigned short>(i);
    }
    __syncthreads();
  }

  // Few known neighbours: a thread reads them once.
  __device__ void by_thread(long long v) const {
    Slots slots{shared.lat, shared.lon, shared.cosine, 0};
    Neighbour first{};
    bool is_near = true;
    for (long long p = graph.indptr[v]; p < graph.indptr[v + 1]; ++p) {
      const long long u = graph.indices[p];
      if (!graph.knows(u)) continue;
      Neighbour one = graph.at(u);
      if (slots.length == 0) first = one;
      one.lon = unwrapped(one.lon, first.lon);
      // The place stays among its neighbours: none is further off than two of them can be.
      is_near = is_near && fabs(one.lat - first.lat) < kNear / 2 &&
                fabs(one.lon - first.lon) < kNear / 2;
      slots.add(one);
    }
    if (slots.length == 2) {
      Neighbour second;
      slots.read(1, second);
      keep(v, midpoint(first, second));
      return;
    }
    Place place{lat[v], lon[v]};
    if (level == 0) place = mean(Alone(), slots, slots.length);
    const bool is_done = is_near
        ? walk<true>(Alone(), slots, slots.length, tolerance, cap, place)
        : walk<false>(Alone(), slots, slots.length, tolerance, cap, place);
    if (is_done || is_last) {
      keep(v, place);
    } else {
      leave(v, place);
    }
  }

  __device__ void tile(int count) const {
    sort(count);
    const int* starts = shared.starts;
    for (int j = threadIdx.x; j < starts[kOfWarp]; j += kThreads) {
      by_thread(vertex(shared.order[j]));
    }
    __syncwarp();
    long long known;
    const int warp = threadIdx.x / kWarp;
    for (int j = starts[kOfWarp] + warp; j < starts[kOfBlock]; j += kThreads / kWarp) {
      const long long v = vertex(shared.order[j]);
      const Place place = median_of_row(OfWarp(), graph, v, tolerance, steps, known);
      if (threadIdx.x % kWarp == 0) keep(v, place);
    }
    __syncthreads();
    for (int j = starts[kOfBlock]; j < starts[kKinds]; ++j) {
      const long long v = vertex(shared.order[j]);
      const Place place = median_of_row(OfBlock{shared.room}, graph, v, tolerance, steps, known);
      if (threadIdx.x == 0 && known > 0) keep(v, place);
    }
  }
};

}  // namespace geolocation

template <class T>
__device__ void begin(long long items, const double* given_lat, const double* given_lon,
                      long long seed, double hide, double* lat, double* lon, int* located, T* bad) {
  const Group<1> mine;
  const double nan = __longlong_as_double(0x7ff8000000000000LL);
  for (long long v = mine.first; v < items; v += mine.step) {
    const double x = given_lat[v], y = given_lon[v];
    bool is_known = !isnan(x);
    if (is_known == isnan(y) || fabs(x) > 90 || fabs(y) > 180) *bad = 1;
    if (is_known && hide > 0) {
      const auto bits = static_cast<double>(philox(0, v, 0, seed, 0) >> 11);
      is_known = bits * 1.1102230246251565e-16 >= hide;  // 2^-53
    }
    lat[v] = is_known ? x : nan;
    lon[v] = is_known ? y : nan;
    located[v] = is_known ? 0 : geolocation::kNowhere;
  }
}

// A thread walks `cap` steps at most: who is not done is listed in `left` and walks on in a launch
// of the next level, again among others that walk. Its place so far is kept in `lat` and `lon`,
// which nobody else reads while it is not located. `lengths` has for each level how many are left,
// and how many tiles were taken. Lists of vertices are for hosts.
template <class V, class P, class I, class Q, class S>
__device__ void locate(long long items, bool, const V*, const P* indptr, const I* indices,
                       long long now, double tolerance, long long steps, double* lat, double* lon,
                       int* located, long long level, long long walked, long long cap,
                       const Q* waiting, Q* left, long long* lengths, S*) {
  using namespace geolocation;
  __shared__ Shared shared;
  const bool is_last = walked + cap >= steps;
  const Search<P, I, Q> search{{indptr, indices, located, lat, lon, static_cast<int>(now)},
                               tolerance, steps, level, is_last ? steps - walked : cap, is_last,
                               lat, lon, located, waiting, left, lengths, shared};
  if (level > 0) items = lengths[2 * level - 2];
  // Of few items every block gets some.
  const long long share = (items + gridDim.x - 1) / gridDim.x;
  const int tile = share < kThreads ? kThreads : share > kTile ? kTile : static_cast<int>(share);
  while (true) {
    // Tiles are taken by turns: fewer blocks may run at once than there are, and tiles differ.
    if (threadIdx.x == 0) shared.base = tile * atomic_add(&lengths[2 * level + 1], 1);
    if (threadIdx.x < kKinds) shared.filled[threadIdx.x] = 0;
    __syncthreads();
    const long long rest = items - shared.base;
    if (rest <= 0) return;
    search.tile(rest < tile ? static_cast<int>(rest) : tile);
    __syncthreads();
  }
}

template <class V>
__device__ void distances(long long items, const V* vertices, const double* true_lat,
                          const double* true_lon, const double* lat, const double* lon,
                          double* out) {
  using namespace geolocation;
  const Group<1> mine;
  for (long long i = mine.first; i < items; i += mine.step) {
    const long long v = vertices[i];
    const double sin_lat = sin(kHalf * (lat[v] - true_lat[i]));
    const double sin_lon = sin(kHalf * (lon[v] - true_lon[i]));
    const double cosines = cospi(true_lat[i] / 180) * cospi(lat[v] / 180);
    const double a = sin_lat * sin_lat + cosines * sin_lon * sin_lon;
    out[i] = kDiameter * asin(sqrt(a > 1 ? 1 : a));
  }
}
