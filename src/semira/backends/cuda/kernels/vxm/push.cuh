// w = u (+).(*) A by columns: every entry of u scatters its row of the matrix.
//
// The list of the frontier drives the work. A warp takes up to 32 vertices and shares out their
// edges by a scan of the degrees. Of many edges it scatters the first ones and leaves the others,
// in pieces, to all warps of its block. Rows too long for that are cut into chunks and put into a
// queue, and the whole grid works it off after the next barrier.
#pragma once
#include "vxm/merge.cuh"

// Fewest vertices a warp takes, unless they have many edges: with four each they just fill its lanes.
constexpr unsigned kLeastVertices = 8;
// Independent edges that a lane has in flight, and a warp.
constexpr int kBatch = 4, kBatchEdges = kBatch * kWarp;
// Edges of a queue's chunk, and the longest row that a warp expands alone (CHUNK_EDGES of
// runtime/launch.py).
constexpr int kChunkEdges = 256;
// The longest row that a block expands, and how much its warps leave to each other in a phase, in
// pieces of kBatchEdges: four rounds of 16 warps, which take about as long as the grid's queue.
constexpr int kBlockEdges = 8192;
constexpr unsigned kPieces = kBlockEdges / kBatchEdges;

// Edges that the warps of a block leave to each other. Piece k are those from firsts[k] on of the
// vertices that a warp takes from place vertices[k] of the list on. Empty between phases.
struct BlockPieces {
  unsigned count;
  unsigned vertices[kPieces];
  int firsts[kPieces];

  // Leaves all edges of a warp's vertices but the first kBatchEdges, if there is room for all of
  // them. Half of the room is for long rows, which would need the grid otherwise. All lanes of the
  // warp call it.
  SEMIRA_INLINE bool leave(unsigned vertex, unsigned edges, bool has_long, unsigned lane) {
    const unsigned more = (edges - 1) / kBatchEdges, room = has_long ? kPieces : kPieces / 2;
    unsigned start = 0, found = *const_cast<volatile unsigned*>(&count);
    bool fits = false;
    if (lane == 0) {
      do {
        start = found;
        fits = start + more <= room;
      } while (fits && (found = atomicCAS(&count, start, start + more)) != start);
    }
    if (!__shfl_sync(kAllLanes, static_cast<int>(fits), 0)) return false;
    start = __shfl_sync(kAllLanes, start, 0);
    for (unsigned k = lane; k < more; k += kWarp) {
      vertices[start + k] = vertex;
      firsts[start + k] = static_cast<int>(k + 1) * kBatchEdges;
    }
    return true;
  }
};

struct ChunkQueue {
  Index* rows;
  Offset* starts;
};

struct QueueDescriptor {
  void* rows;
  void* starts;
};

SEMIRA_INLINE ChunkQueue open_queue(const QueueDescriptor& d) {
  return {static_cast<Index*>(d.rows), static_cast<Offset*>(d.starts)};
}

// Which products are sent: all, or those that a later comparison with `held` will not discard.
struct KeepAll {
  template <class T>
  SEMIRA_INLINE void narrow(const Index (&)[kBatch], const T (&)[kBatch], bool (&)[kBatch]) const {}
};
template <class Op, bool kProductFirst, class T>
SEMIRA_INLINE bool is_discarded(T z, T other, Index i) {
  return kProductFirst ? Op::apply(z, other, i, 0, 0) : Op::apply(other, z, i, 0, 0);
}
template <class Op, bool kProductFirst, class T> struct KeepUnless {
  const Plane<T>& held;
  bool is_full;  // every position has an entry
  __device__ KeepUnless(const Plane<T>& plane, bool full) : held(plane), is_full(full) {}

  // Takes the products z[b] at i[b] that are not sent out of `open`; all i[b] are positions.
  SEMIRA_INLINE void narrow(
      const Index (&i)[kBatch], const T (&z)[kBatch], bool (&open)[kBatch]) const {
    unsigned word[kBatch];
    T other[kBatch];
    SEMIRA_UNROLLED(b, kBatch) {
      word[b] = is_full ? ~0u : in_global(held.words)[static_cast<unsigned>(i[b]) / kWarp];
    }
    __syncwarp();
    SEMIRA_UNROLLED(b, kBatch) {
      const bool has = word[b] >> (static_cast<unsigned>(i[b]) % kWarp) & 1u;
      word[b] = open[b] && has;
      if (word[b]) other[b] = in_global(held.values)[i[b]];
    }
    __syncwarp();
    SEMIRA_UNROLLED(b, kBatch) {
      if (word[b]) open[b] = !is_discarded<Op, kProductFirst>(z[b], other[b], i[b]);
    }
  }
};

// The same where absent values of what is held are NaN, against which nothing is discarded.
template <class Op, bool kProductFirst, class T> struct KeepUnlessBlank {
  const T* values;
  __device__ explicit KeepUnlessBlank(const T* held) : values(held) {}

  SEMIRA_INLINE void narrow(
      const Index (&i)[kBatch], const T (&z)[kBatch], bool (&open)[kBatch]) const {
    T other[kBatch];
    SEMIRA_UNROLLED(b, kBatch) other[b] = in_global(values)[i[b]];
    __syncwarp();
    SEMIRA_UNROLLED(b, kBatch) {
      open[b] = open[b] && !is_discarded<Op, kProductFirst>(z[b], other[b], i[b]);
    }
  }
};

// Makes every absent value of `v` that one.
template <class T>
SEMIRA_PHASE void fill_absent(const Team& team, const Vector<T>& v, const T value) {
  if (v.nvals == v.size) return;
  for (unsigned base = team.warp * kWarp; base < v.num_words(); base += team.threads) {
    const unsigned last = v.num_words() - base < kWarp ? v.num_words() - base : kWarp;
    const unsigned mine = team.lane < last ? v.here.words[base + team.lane] : 0;
    for (unsigned k = 0; k < last; ++k) {
      const Index i = static_cast<Index>((base + k) * kWarp + team.lane);
      const unsigned word = __shfl_sync(kAllLanes, mine, static_cast<int>(k));
      if (i < v.size && !(word >> team.lane & 1u)) v.here.values[i] = value;
    }
  }
}

// Everything the scatter of one edge needs. `epilogue` is called for each new entry, with its
// final value, by the thread that owns it: only where any operand will do.
template <class Semiring, class U, class A, class MaskT, class KeepT, class Degrees,
    class Epilogue = NoEpilogue, class List = BlockList<kListed>>
struct Scatter {
  using Add = typename Semiring::Add;
  using T = typename Add::T;

  const U* u;
  const Compressed<A>& matrix;
  MaskT mask;
  KeepT keep;
  const Plane<T>& out;  // empty before; absent values: see accumulate_entries
  Degrees degrees;
  Counters* counters;
  List& fresh_list;      // new entries of `out`
  unsigned most_listed;  // of them by this block: then the list stays incomplete
  Count edges;           // of this thread's new entries in the next product
  Epilogue epilogue;

  // Scatters up to kBatch edges a lane. All lanes of the warp call it.
  SEMIRA_INLINE void operator()(const Index (&from)[kBatch], const Offset (&at)[kBatch],
      const bool (&live)[kBatch], unsigned lane) {
    Index to[kBatch];
    bool open[kBatch], seen[kBatch], fresh[kBatch];
    // Loads that depend on one condition each wait for each other: these read something in any case.
    // Between those that wait for each other the warp meets, or the compiler saves registers by
    // taking the edges one by one.
    constexpr bool kLoadsFirst = !Add::kIsAny && Same<MaskT, NoMask>::value;
    U x[kBatch];
    A a[kBatch];
    if constexpr (kLoadsFirst) load_operands(from, at, live, x, a);
    SEMIRA_UNROLLED(b, kBatch) to[b] = in_global(matrix.indices)[live[b] ? at[b] : 0];
    __syncwarp();
    unsigned word[kBatch] = {};
    if constexpr (!kTellsPresence<Add>) {
      SEMIRA_UNROLLED(b, kBatch) {
        word[b] = in_global(out.words)[static_cast<unsigned>(to[b]) / kWarp];
      }
      if constexpr (!Add::kIsAny) __syncwarp();
    }
    SEMIRA_UNROLLED(b, kBatch) {
      const bool allowed = mask.allows(to[b]);
      open[b] = live[b] && allowed;
    }
    SEMIRA_UNROLLED(b, kBatch) {
      seen[b] = word[b] >> (static_cast<unsigned>(to[b]) % kWarp) & 1u;
    }
    // Rows of the next product, for their lengths.
    Offset begin[kBatch] = {}, end[kBatch] = {};
    if constexpr (Add::kIsAny) {
      claim_entries(out, to, open, seen, fresh, [&] {
        bool may_be_new[kBatch];
        SEMIRA_UNROLLED(b, kBatch) may_be_new[b] = open[b] && !seen[b];
        find_rows(to, may_be_new, begin, end);
      });
      SEMIRA_UNROLLED(b, kBatch) {
        if (!fresh[b]) continue;
        const T value = multiply<Semiring>(u, matrix, from[b], to[b], at[b]);
        out.values[to[b]] = value;
        epilogue(ByEntry{}, to[b], true, value);
      }
    } else {
      static_assert(Same<Epilogue, NoEpilogue>::value, "a sum is final when all have added to it");
      if constexpr (!kLoadsFirst) load_operands(from, at, open, x, a);
      T z[kBatch];
      SEMIRA_UNROLLED(b, kBatch) {
        if (open[b]) z[b] = multiply_values<Semiring>(x[b], a[b], from[b], to[b]);
      }
      keep.narrow(to, z, open);
      accumulate_entries<Add>(out, to, z, open, seen, fresh);
      find_rows(to, fresh, begin, end);
    }
    unsigned num_fresh = 0;
    SEMIRA_UNROLLED(b, kBatch) num_fresh += fresh[b] ? 1 : 0;
    append(to, fresh, num_fresh, lane);
    if constexpr (Degrees::kCounted) {
      SEMIRA_UNROLLED(b, kBatch) edges += fresh[b] ? static_cast<Count>(end[b] - begin[b]) : 0;
    }
  }

  // Scatters edges at, at + step, ... below `end` of a row, up to kBatch a lane.
  SEMIRA_INLINE void row(Index row, Offset at, Offset step, Offset end, unsigned lane) {
    Index from[kBatch];
    Offset edge[kBatch];
    bool live[kBatch];
    SEMIRA_UNROLLED(b, kBatch) {
      from[b] = row;
      edge[b] = at + b * step;
      live[b] = edge[b] < end;
    }
    (*this)(from, edge, live, lane);
  }

  // The offsets of rows of the next product, where `wanted`; nobody waits for them yet.
  SEMIRA_INLINE void find_rows(const Index (&to)[kBatch], const bool (&wanted)[kBatch],
      Offset (&begin)[kBatch], Offset (&end)[kBatch]) const {
    if constexpr (Degrees::kCounted) {
      SEMIRA_UNROLLED(b, kBatch) {
        const Offset* const row = in_global(degrees.indptr) + (wanted[b] ? to[b] : 0);
        begin[b] = row[0];
        end[b] = row[1];
      }
    }
  }

  // The operands of each product where `wanted`; those that the operator ignores are not loaded.
  SEMIRA_INLINE void load_operands(const Index (&from)[kBatch], const Offset (&at)[kBatch],
      const bool (&wanted)[kBatch], U (&x)[kBatch], A (&a)[kBatch]) const {
    SEMIRA_UNROLLED(b, kBatch) {
      if constexpr (kReadsU<Semiring>) {
        if (wanted[b]) x[b] = in_global(u)[from[b]];
      }
      if constexpr (kReadsMatrix<Semiring>) {
        a[b] = in_global(matrix.values)[wanted[b] ? at[b] * matrix.value_stride : 0];
      }
    }
  }

  // Gives the warp's new entries their places in the list, with one atomic for all of them.
  SEMIRA_INLINE void append(
      const Index (&to)[kBatch], const bool (&fresh)[kBatch], unsigned num_fresh, unsigned lane) {
    if (!__any_sync(kAllLanes, num_fresh != 0)) return;
    unsigned place = sum_upto(lane, num_fresh);
    Room room = {};
    if (lane == kWarp - 1) room = fresh_list.reserve(place, &counters->inserted, most_listed);
    if (__shfl_sync(kAllLanes, room.none, kWarp - 1)) return;
    place += __shfl_sync(kAllLanes, room.start, kWarp - 1) - num_fresh;
    Index* const list = __shfl_sync(kAllLanes, room.here, kWarp - 1) ? fresh_list.items : out.list;
    SEMIRA_UNROLLED(b, kBatch) {
      if (fresh[b]) list[place++] = to[b];
    }
  }

  // Ends a phase, and counts the matrix entries that it read: all threads of the block call it.
  SEMIRA_INLINE void close(Count touched) {
    const Count values[2] = {touched, edges};
    Count* const sums[2] = {&counters->touched, &counters->edges};
    add_over_block_around(values, sums, [&] {
      if (threadIdx.x == 0) fresh_list.take(&counters->inserted, &counters->unlisted);
    });
    fresh_list.write(out.list, 0);
  }
};

// Cuts the rows of the lanes in `long_rows` into chunks.
template <class ScatterT>
SEMIRA_INLINE void enqueue(ScatterT& scatter, const ChunkQueue& queue, unsigned long_rows,
    Index row, Offset begin, Offset degree, unsigned lane) {
  for (const int source : SetBits{long_rows}) {
    const Index its_row = __shfl_sync(kAllLanes, row, source);
    const Offset its_begin = __shfl_sync(kAllLanes, begin, source);
    const Offset chunks = (__shfl_sync(kAllLanes, degree, source) + kChunkEdges - 1) / kChunkEdges;
    Count start = 0;
    if (lane == 0) start = atomicAdd(&scatter.counters->queued, static_cast<Count>(chunks));
    start = __shfl_sync(kAllLanes, start, 0);
    for (Offset c = lane; c < chunks; c += kWarp) {
      queue.rows[start + c] = its_row;
      queue.starts[start + c] = its_begin + c * kChunkEdges;
    }
  }
}

// First phase: what the block expands, at once; longer rows into the queue. With kEmpties nobody
// else reads the presence of u, which is gone afterwards: its plane is the room of the next product.
//
// A warp goes through its vertices. Before it scatters the last of them the block meets, when all
// warps have left what they do not scatter themselves; then it takes pieces.
template <bool kEmpties = false, class ScatterT, class U>
SEMIRA_PHASE void spmspv_push_block(const Team& team, const Vector<U>& u, ScatterT scatter,
    BlockPieces& pieces, const ChunkQueue queue, const Count edges = 0) {
  const unsigned num = static_cast<unsigned>(u.nvals);
  unsigned take = kLeastVertices;
  // What fills a batch on average, where the edges are known: nothing is left to the block then.
  while (take > 1 && edges * take > static_cast<Count>(num) * kBatchEdges) take /= 2;
  // No division where there is little to do.
  if (num > take * team.warps) {
    take = (num + team.warps - 1) / team.warps;
    if (take > kWarp) take = kWarp;
  }
  Count touched = 0;
  unsigned base = team.warp * take;
  // The last warps of a block, which may have no vertices, take the first pieces.
  unsigned piece = (blockDim.x - 1 - threadIdx.x) / kWarp;
  bool takes_pieces = false;
  while (true) {
    unsigned vertex = base;
    int first = 0, end = kHighest<int>;
    if (takes_pieces) {
      if (piece >= pieces.count) break;
      vertex = pieces.vertices[piece];
      first = pieces.firsts[piece];
      end = first + kBatchEdges;
      piece += blockDim.x / kWarp;
    }
    // Each lane takes a vertex.
    const bool mine = team.lane < take && vertex + team.lane < num;
    const Index row = mine ? u.here.list[vertex + team.lane] : 0;
    const Offset begin = mine ? in_global(scatter.matrix.indptr)[row] : 0;
    Offset degree = mine ? in_global(scatter.matrix.indptr)[row + 1] - begin : 0;
    Offset longest = kBlockEdges;
    if (!takes_pieces) {
      touched += static_cast<Count>(degree);
      if (kEmpties && mine) u.here.words[static_cast<unsigned>(row) / kWarp] = 0;
      const bool is_kept = degree <= kBlockEdges;
      const unsigned edges =
          __reduce_add_sync(kAllLanes, is_kept ? static_cast<unsigned>(degree) : 0u);
      if (edges > kBatchEdges) {
        const bool has_long = __any_sync(kAllLanes, is_kept && degree > kChunkEdges);
        if (pieces.leave(vertex, edges, has_long, team.lane)) {
          end = kBatchEdges;
        } else {
          longest = kChunkEdges;
        }
      }
      const unsigned long_rows = __ballot_sync(kAllLanes, degree > longest);
      if (long_rows != 0) enqueue(scatter, queue, long_rows, row, begin, degree, team.lane);
      base += team.warps * take;
      if (base >= num) {
        __syncthreads();
        takes_pieces = true;
      }
    }
    if (degree > longest) degree = 0;
    // The warp shares out the edges.
    const int running = sum_upto(team.lane, static_cast<int>(degree));
    const int total = __shfl_sync(kAllLanes, running, kWarp - 1);
    if (end > total) end = total;
    const Offset shift = begin - (running - static_cast<int>(degree));
    for (; first < end; first += kBatchEdges) {
      Index from[kBatch];
      Offset at[kBatch];
      bool live[kBatch];
      SEMIRA_UNROLLED(b, kBatch) {
        const int e = first + b * kWarp + static_cast<int>(team.lane);
        live[b] = e < end;
        if (first + b * kWarp < end) {
          const int owner = owner_of(live[b] ? e : end - 1, running);
          from[b] = __shfl_sync(kAllLanes, row, owner);
          at[b] = __shfl_sync(kAllLanes, shift, owner) + e;
        } else {
          from[b] = 0;
          at[b] = 0;
        }
      }
      scatter(from, at, live, team.lane);
    }
  }
  scatter.close(touched);
  if (threadIdx.x == 0) pieces.count = 0;
}

// Second phase, if anything was queued: one chunk a warp.
template <class ScatterT>
SEMIRA_PHASE void spmspv_push_chunks(
    const Team& team, ScatterT scatter, const ChunkQueue queue, Count queued) {
  for (Count c = team.warp; c < queued; c += team.warps) {
    const Index row = queue.rows[c];
    const Offset start = queue.starts[c];
    const Offset row_end = scatter.matrix.indptr[row + 1];
    const Offset end = row_end - start < kChunkEdges ? row_end : start + kChunkEdges;
    for (Offset first = start; first < end; first += kBatch * kWarp) {
      scatter.row(row, first + static_cast<int>(team.lane), kWarp, end, team.lane);
    }
  }
  scatter.close(0);
}

// The only phase where each vertex gets a group of threads: 1, a warp, or (0) a block.
template <int kGroup, bool kEmpties = false, class ScatterT, class U>
SEMIRA_PHASE void spmspv_push_rows(const Team& team, const Vector<U>& u, ScatterT scatter) {
  const unsigned group = kGroup == 0 ? blockDim.x : kGroup;
  const unsigned first = kGroup == 0 ? team.block : team.thread / group;
  const unsigned rank = kGroup == 0 ? threadIdx.x : team.thread % group;
  const unsigned groups = team.threads / group, num = static_cast<unsigned>(u.nvals);
  Count touched = 0;
  // All lanes of a warp take part, those without a vertex too.
  for (unsigned k = first; __any_sync(kAllLanes, k < num); k += groups) {
    const Index row = k < num ? u.here.list[k] : 0;
    Offset at0 = k < num ? scatter.matrix.indptr[row] : 0;
    const Offset end = k < num ? scatter.matrix.indptr[row + 1] : 0;
    if (rank == 0) touched += static_cast<Count>(end - at0);
    if (kEmpties && rank == 0 && k < num) u.here.words[static_cast<unsigned>(row) / kWarp] = 0;
    for (at0 += static_cast<Offset>(rank); __any_sync(kAllLanes, at0 < end);
        at0 += static_cast<Offset>(kBatch * group)) {
      scatter.row(row, at0, static_cast<Offset>(group), end, team.lane);
    }
  }
  scatter.close(touched);
}

// The only phase where each position of the vector gets a thread, whether it has an entry or not:
// no list of the entries is read.
template <class ScatterT, class U>
SEMIRA_PHASE void spmspv_push_positions(const Team& team, const Vector<U>& u, ScatterT scatter) {
  Count touched = 0;
  for (unsigned w = team.warp; w < u.num_words(); w += team.warps) {
    const unsigned word = u.here.words[w];
    if (word == 0) continue;
    const Index row = static_cast<Index>(w * kWarp + team.lane);
    const bool mine = word >> team.lane & 1u;
    Offset at0 = mine ? scatter.matrix.indptr[row] : 0;
    const Offset end = mine ? scatter.matrix.indptr[row + 1] : 0;
    touched += static_cast<Count>(end - at0);
    for (; __any_sync(kAllLanes, at0 < end); at0 += kBatch) {
      scatter.row(row, at0, 1, end, team.lane);
    }
  }
  scatter.close(touched);
}
