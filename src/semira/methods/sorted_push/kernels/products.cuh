// w = u (+).(*) A by a list of all products: gathered, then scattered or folded.
#pragma once
#include "matrix/segments.cuh"
#include "vxm/product.cuh"

constexpr int kProductTile = 2048;

// The entries of u, and how many products come before those of each.
struct Frontier {
  const Index* list;
  const long long* starts;
  long long count, products;

  // The entry that product p belongs to.
  __device__ __forceinline__ long long owner(long long p) const {
    return owner_in(starts, count, p);
  }
};

// How many products each entry of u has.
__device__ __forceinline__ void list_degrees(const Index* list, long long count,
                                              const Offset* indptr, long long* degrees) {
  const Span span;
  for (long long k = span.first; k < count; k += span.step) {
    degrees[k] = static_cast<long long>(indptr[list[k] + 1] - indptr[list[k]]);
  }
}

// One product: entry `from` of u with entry `at` of the matrix, for position `to`.
struct Edge {
  Index from, to;
  Offset at;
};

__device__ __forceinline__ Edge edge_of(const Frontier& frontier, const Offset* indptr,
                                        const Index* indices, long long owner, long long p) {
  const Index from = frontier.list[owner];
  const Offset at = indptr[from] + static_cast<Offset>(p - frontier.starts[owner]);
  return {from, indices[at], at};
}

// Calls visit(p, edge) for every product. A block looks up in which lists its tile begins and ends,
// and its threads search between these.
template <class Visit>
__device__ __forceinline__ void for_each_product(const Frontier& frontier, const Offset* indptr,
                                                 const Index* indices, Visit visit) {
  __shared__ long long owners[2];
  const long long step = static_cast<long long>(gridDim.x) * kProductTile;
  for (long long first = block_number() * static_cast<long long>(kProductTile);
       first < frontier.products; first += step) {
    const long long end = first + kProductTile < frontier.products ? first + kProductTile
                                                                    : frontier.products;
    __syncthreads();
    if (threadIdx.x < 2) owners[threadIdx.x] = frontier.owner(threadIdx.x == 0 ? first : end - 1);
    __syncthreads();
    const long long low = owners[0], num = owners[1] - low + 1;
    for (long long p = first + threadIdx.x; p < end; p += blockDim.x) {
      const long long owner = low + owner_in(frontier.starts + low, num, p);
      visit(p, edge_of(frontier, indptr, indices, owner, p));
    }
  }
}

// What products are made of.
template <class Semiring, class U, class A>
struct Operands {
  using T = typename Semiring::Add::T;
  const U* u;
  Compressed<A> matrix;

  __device__ Operands(const void* vector, const Offset* indptr, const Index* indices,
                      const void* values, long long stride)
      : u(static_cast<const U*>(vector)) {
    matrix.indptr = indptr;
    matrix.indices = indices;
    matrix.values = static_cast<const A*>(values);
    matrix.value_stride = static_cast<Offset>(stride);
  }
  __device__ __forceinline__ T product(const Edge& edge) const {
    return multiply<Semiring>(u, matrix, edge.from, edge.to, edge.at);
  }
};

// Lists the column of every product, and its value unless nobody asks for it.
template <bool kKeysOnly, class OperandsT>
__device__ void gather_products(const Frontier& frontier, const OperandsT& given, Index* keys,
                                void* values) {
  using T = typename OperandsT::T;
  for_each_product(frontier, given.matrix.indptr, given.matrix.indices,
                   [&](long long p, const Edge& edge) {
                     keys[p] = edge.to;
                     if constexpr (!kKeysOnly) static_cast<T*>(values)[p] = given.product(edge);
                   });
}

// Notes at the place of every product that one came, and which if Mark has room for a number. Of
// several that meet, one stays.
template <class Mark>
__device__ void mark_products(const Frontier& frontier, const Offset* indptr, const Index* indices,
                              Mark* marks) {
  for_each_product(frontier, indptr, indices, [&](long long p, const Edge& edge) {
    if constexpr (sizeof(Mark) == 1) {
      marks[edge.to] = 1;
    } else {
      marks[edge.to] = static_cast<Mark>(p + 1);
    }
  });
}

// 1 where there is a mark.
template <class Mark>
__device__ void flag_marks(const Mark* marks, long long n, int* flags) {
  const Span span;
  for (long long i = span.first; i < n; i += span.step) flags[i] = marks[i] != 0;
}

// Where results go: a vector without entries.
template <class T>
struct Fresh {
  Plane<T> plane;
  VectorState* state;

  __device__ Fresh(void* values, unsigned* words, Index* list, VectorState* its_state)
      : plane(PlaneDescriptor{values, words, list}), state(its_state) {}

  // Enters entry number `at`, in the order of positions.
  __device__ __forceinline__ void put(long long at, Index i, const T& value) const {
    plane.values[i] = value;
    plane.list[at] = i;
    atomicOr(&plane.words[static_cast<unsigned>(i) / kWarp],
             1u << (static_cast<unsigned>(i) % kWarp));
  }
  // One thread of the launch says how many entries there are.
  __device__ __forceinline__ void close(long long count) const {
    if (block_number() != 0 || threadIdx.x != 0) return;
    state->nvals = count;
    state->active = 0;
    state->listed = 1;
  }
};

// The value that all products have.
template <class Semiring>
__device__ __forceinline__ typename Semiring::Add::T equal_product() {
  using Op = typename Semiring::Multiply;
  return cast<typename Semiring::Add::T>(Op::apply(typename Op::T{}, typename Op::T{}, 0, 0, 0));
}

// Enters what is marked: the product of that number, or the one value that all have.
template <class Semiring, class Mark, class OperandsT, class FreshT>
__device__ void enter_marked(const Frontier& frontier, const OperandsT& given, const Mark* marks,
                             const int* places, long long n, const FreshT& out) {
  const Span span;
  for (long long i = span.first; i < n; i += span.step) {
    if (marks[i] == 0) continue;
    if constexpr (sizeof(Mark) == 1) {
      out.put(places[i], static_cast<Index>(i), equal_product<Semiring>());
    } else {
      const long long p = static_cast<long long>(marks[i]) - 1;
      const Edge edge = edge_of(frontier, given.matrix.indptr, given.matrix.indices,
                                frontier.owner(p), p);
      out.put(places[i], static_cast<Index>(i), given.product(edge));
    }
  }
  out.close(places[n]);
}

// Heads of runs of equal keys.
struct Heads {
  const Index* keys;
  __device__ __forceinline__ bool operator[](long long e) const {
    return e == 0 || keys[e] != keys[e - 1];
  }
};

// Products that are all alike.
template <class T>
struct Alike {
  T value;
  __device__ __forceinline__ const T& operator[](long long) const { return value; }
};

// Enters the fold of a run, which is complete at its last item; `places` are the running sums of heads.
template <class FreshT>
struct EnterRuns {
  const Index* keys;
  const Offset* places;
  long long n;
  FreshT out;

  template <class T>
  __device__ __forceinline__ void operator()(long long e, const T& value) const {
    if (e + 1 < n && keys[e + 1] == keys[e]) return;
    out.put(static_cast<long long>(places[e + 1]) - 1, keys[e], value);
  }
};

// Enters the first item of every run: where any will do.
template <class Items, class FreshT>
__device__ void enter_heads(const Index* keys, Items items, const Offset* places, long long n,
                            const FreshT& out) {
  const Heads heads{keys};
  const Span span;
  for (long long e = span.first; e < n; e += span.step) {
    if (heads[e]) out.put(static_cast<long long>(places[e]), keys[e], items[e]);
  }
  out.close(static_cast<long long>(places[n]));
}
