// out<mask, replace> accum= source, position by position.
//
// Position i of every operand is read by the thread that writes position i of the output, so
// the output may also be an operand or the mask.
#pragma once
#include "common/control.cuh"
#include "common/mask.cuh"

// No accumulator: the result replaces what was there, absence included.
struct NoAccum {
  static constexpr bool kAccumulates = false;
};

// Decides one position: true if the output has an entry there afterwards; then `value` is it
// and `changed` says whether it must be written.
template <class Accum, bool kReplace, class Source, class Out, class MaskT>
__device__ __forceinline__ bool decide(Index i, bool had, const Source& source,
                                       const Plane<Out>& out, const MaskT& mask, Out& value,
                                       bool& changed) {
  changed = false;
  if (!mask.allows(i)) return had && !kReplace;
  typename Source::Value z{};
  const bool got = source.get(i, z);
  if constexpr (Accum::kAccumulates) {
    if (!got) return had;
    changed = true;
    if (had) {
      using T = typename Accum::T;
      value = cast<Out>(Accum::apply(cast<T>(out.values[i]), cast<T>(z), i, 0, 0));
    } else {
      value = cast<Out>(z);
    }
    return true;
  } else {
    changed = got;
    value = cast<Out>(z);
    return got;
  }
}

// Every word of the output: one warp a word, one lane a position.
template <class Accum, bool kReplace, class Source, class Out, class MaskT>
SEMIRA_PHASE void pointwise_words(const Team& team, const Source source, const Vector<Out>& out,
                                  const MaskT mask, Counters* counters) {
  Count inserted = 0, deleted = 0;
  const Plane<Out> plane = out.here;
  const unsigned num_words = out.num_words(), size = static_cast<unsigned>(out.size);
  for (unsigned w = team.warp; w < num_words; w += team.warps) {
    const unsigned place = w * kWarp + team.lane;
    const bool inside = place < size;
    const unsigned before = plane.words[w];
    Out value{};
    bool changed = false, stays = false;
    if (inside) {
      const bool had = before >> team.lane & 1u;
      stays = decide<Accum, kReplace>(static_cast<Index>(place), had, source, plane, mask, value,
                                      changed);
      if (changed) plane.values[place] = value;
    }
    const unsigned after = __ballot_sync(kAllLanes, stays);
    if (team.lane == 0 && after != before) {
      plane.words[w] = after;
      inserted += __popc(after & ~before);
      deleted += __popc(before & ~after);
    }
  }
  const Count values[2] = {inserted, deleted};
  Count* const sums[2] = {&counters->inserted, &counters->deleted};
  add_over_block(values, sums);
}

// Only the positions in `driver`, which hold every position that can change. With kAppend, new
// entries go to the end of the output's list if it has one.
template <class Accum, bool kReplace, bool kAppend, class Source, class Out, class MaskT, class D>
SEMIRA_PHASE void pointwise_driven(const Team& team, const Vector<D>& driver, const Source source,
                                   const Vector<Out>& out, const MaskT mask, Counters* counters) {
  const Plane<Out> plane = out.here;
  const Index *listed = driver.here.list, end = out.nvals;
  const bool appends = kAppend && out.listed;
  Count inserted = 0, deleted = 0;
  // All lanes of a warp take part, those past the end without a position.
  auto position = [&](bool live, Index i) {
    Out value{};
    bool changed = false, had = false, stays = false;
    if (live) {
      had = plane.has(i);
      stays = decide<Accum, kReplace>(i, had, source, plane, mask, value, changed);
      if (changed) plane.values[i] = value;
    }
    const unsigned bit = 1u << (static_cast<unsigned>(i) % kWarp);
    unsigned* word = &plane.words[static_cast<unsigned>(i) / kWarp];
    const bool fresh = stays && !had;
    if (fresh) atomicOr(word, bit);
    if (had && !stays) {
      atomicAnd(word, ~bit);
      ++deleted;
    }
    const unsigned peers = __ballot_sync(kAllLanes, fresh);
    if (peers == 0) return;
    if constexpr (kAppend) {
      unsigned start = 0;
      if (team.lane == 0) {
        const Count many = __popc(peers);
        start = static_cast<unsigned>(atomicAdd(&counters->inserted, many));
      }
      start = __shfl_sync(kAllLanes, start, 0);
      if (fresh && appends) {
        plane.list[end + start + __popc(peers & ((1u << team.lane) - 1))] = i;
      }
    } else {
      inserted += fresh ? 1 : 0;
    }
  };
  if (driver.listed) {
    const unsigned num = static_cast<unsigned>(driver.nvals);
    for (unsigned base = team.warp * kWarp; base < num; base += team.threads) {
      const bool live = base + team.lane < num;
      position(live, live ? listed[base + team.lane] : 0);
    }
  } else {
    for_each_word(team, driver.here.words, driver.num_words(), [&](unsigned w, unsigned word) {
      position(word >> team.lane & 1u, static_cast<Index>(w * kWarp + team.lane));
    });
  }
  const Count values[2] = {inserted, deleted};
  Count* const sums[2] = {&counters->inserted, &counters->deleted};
  add_over_block(values, sums);
}

// After the barrier: what is known about the output. `appended`: a list, if there
// was one, got the new entries.
template <class Out>
__device__ __forceinline__ void refresh(Vector<Out>& out, const Counters& counters, bool appended) {
  out.listed = out.listed && counters.deleted == 0 && (appended || counters.inserted == 0);
  out.nvals += static_cast<Index>(counters.inserted) - static_cast<Index>(counters.deleted);
}
