// Random numbers that are a function of a counter and a key: every device draws the same ones.
#pragma once
#include "common/types.cuh"

// Philox4x32-10 (Salmon et al., SC 2011): the first two words of its result. The counter is `draw`,
// then the position; semira.ops.helpers.philox spells the same in Python. With `below` other than 0,
// an integer below it: draws that would favour small ones are rejected, and the next number tried.
__device__ __noinline__ unsigned long long philox(unsigned long long draw, long long i, long long j,
    long long key, unsigned long long below = 0) {
  const unsigned long long column = static_cast<unsigned long long>(j);
  const unsigned long long place =
      static_cast<unsigned long long>(i) ^ (column << 32 | column >> 32);
  const unsigned long long least = below == 0 ? 0 : (~below + 1) % below;
  while (true) {
    unsigned c0 = static_cast<unsigned>(draw), c1 = static_cast<unsigned>(draw >> 32);
    unsigned c2 = static_cast<unsigned>(place), c3 = static_cast<unsigned>(place >> 32);
    unsigned k0 = static_cast<unsigned>(key);
    unsigned k1 = static_cast<unsigned>(static_cast<unsigned long long>(key) >> 32);
    SEMIRA_UNROLLED(round, 10) {
      const unsigned long long first = 0xD2511F53ull * c0, second = 0xCD9E8D57ull * c2;
      c0 = static_cast<unsigned>(second >> 32) ^ c1 ^ k0;
      c2 = static_cast<unsigned>(first >> 32) ^ c3 ^ k1;
      c1 = static_cast<unsigned>(second);
      c3 = static_cast<unsigned>(first);
      k0 += 0x9E3779B9u;
      k1 += 0xBB67AE85u;
    }
    const unsigned long long bits = static_cast<unsigned long long>(c1) << 32 | c0;
    if (below == 0) return bits;
    if (bits >= least) return bits % below;
    ++draw;
  }
}
