// What time it is on the GPU.
#pragma once

// Nanoseconds of a clock that all multiprocessors share; some GPUs advance it once a microsecond.
SEMIRA_INLINE long long clock_ns() {
  long long now;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  return now;
}
