// Runs kernels: blocks as threads of the operating system, their threads as fibres.
#define EMULATED_HERE
#include "gpu.hpp"

#include <linux/futex.h>
#include <link.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace emulated {

__thread Here* here;

namespace {

constexpr size_t kStack = 128 << 10;
constexpr size_t kPage = 4096;
constexpr size_t kDynamic = 228 << 10;
constexpr unsigned kWarp = 32;
// Looks at what has not changed that a fibre may take in turn: whoever has seen what it waited for
// looks once more.
constexpr unsigned kLooks = 2;
// What memory holds before anything is written to it, and what guards are made of.
constexpr int kGarbage = 0xA5;
constexpr size_t kGuard = 128;

// The first failure of the launch; everybody gives up then.
std::atomic<bool> failed;
std::mutex message_lock;
std::string message;

// Rounds in which a block of the launch did something else than to wait for another one. If there
// is none for so many seconds, there never will be one.
std::atomic<long> progress;
std::atomic<double> patience{20};

// Counts arrivals at barriers of grids; blocks that can do no more than look for these sleep.
std::atomic<unsigned> arrivals;
std::atomic<int> sleepers;

long call_futex(int what, unsigned value, const timespec* most) {
  return syscall(SYS_futex, &arrivals, what | FUTEX_PRIVATE_FLAG, value, most, nullptr, 0);
}

// Sleeps until somebody arrives, unless somebody has since there were `before` arrivals.
void sleep_until_more_than(unsigned before) {
  constexpr timespec most = {0, 5'000'000};
  ++sleepers;
  call_futex(FUTEX_WAIT, before, &most);
  --sleepers;
}

void note(const std::string& what) {
  const std::lock_guard<std::mutex> guard(message_lock);
  if (failed.exchange(true)) return;
  message = what;
}

void note_here(const char* what) {
  note(std::string(what) + " (block " + std::to_string(here->block.x) + ", thread " +
       std::to_string(here->thread.x) + ")");
}

enum class Call : int { kShuffle, kBallot, kReduce, kSync };

// A call at which lanes of a warp meet; those that have ended are not waited for.
struct Meeting {
  Call call;
  unsigned mask, arrived, left;
  uint64_t values[kWarp];
  bool complete(unsigned ended) const { return ((arrived | ended) & mask) == mask; }
};

// Sets of lanes and of meetings are words. Every open meeting has a lane that no other one has.
struct Warp {
  unsigned ended, ready, open;
  Meeting meetings[kWarp];
};

struct Fibre {
  Here here;
  unsigned char* stack;
  void* place;  // of its stack, while another one runs
  bool done;
  // At which counter it looked last, what it saw, and how often in turn.
  const unsigned* counter;
  unsigned seen, looks;
};

#if defined(__x86_64__)
// Goes on at `to`, until somebody goes on at `*from`. It jumps, for a call would have to return: the
// processor predicts returns to the last caller, and that is another fibre.
inline __attribute__((always_inline)) void change(void** from, void* to) {
  asm volatile(R"(
    pushq %%rbp
    leaq 1f(%%rip), %%rax
    pushq %%rax
    movq %%rsp, (%0)
    movq %1, %%rsp
    popq %%rax
    jmp *%%rax
  1:
    popq %%rbp
  )"
               : "+D"(from), "+S"(to)::"memory", "cc", "rax", "rbx", "rcx", "rdx", "r8", "r9",
                 "r10", "r11", "r12", "r13", "r14", "r15", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4",
                 "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13",
                 "xmm14", "xmm15");
}
#else
#error "fibres of this emulation are written for x86-64"
#endif

// A kernel with its parameters by address, or one whose parameters are words of 64 bits.
struct Kernel {
  void (*typed)(void* const*);
  void* plain;
  void* const* parameters;

  void run() const {
    if (typed != nullptr) return typed(parameters);
    // Words beyond those that the kernel takes do no harm: the caller clears them away.
    using Word = int64_t;
    using Plain = void (*)(Word, Word, Word, Word, Word, Word, Word, Word, Word, Word, Word, Word,
                           Word, Word, Word, Word, Word, Word, Word, Word, Word, Word, Word, Word);
    const Word* const w = reinterpret_cast<const Word*>(parameters);
    reinterpret_cast<Plain>(plain)(w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7], w[8], w[9], w[10],
                                   w[11], w[12], w[13], w[14], w[15], w[16], w[17], w[18], w[19],
                                   w[20], w[21], w[22], w[23]);
  }
};

// Memory that is never given back: touching fresh pages takes longer than most kernels.
unsigned char* new_memory(size_t size) {
  void* const made = mmap(nullptr, size + kPage, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (made == MAP_FAILED) abort();
  // A stack that grows too large runs into it, instead of into another stack.
  mprotect(made, kPage, PROT_NONE);
  return static_cast<unsigned char*>(made) + kPage;
}

// Where the library of a kernel has its shared variables: they are of a thread of the operating
// system, and begin so many bytes before one that the library tells the address of.
struct SharedVariables {
  void* (*tell)();
  const unsigned char* known;
  size_t before = 0, size = 0;

  explicit SharedVariables(void* (*given)())
      : tell(given), known(static_cast<unsigned char*>(given())) {
    dl_iterate_phdr(&SharedVariables::look, this);
  }

  static int look(dl_phdr_info* library, size_t, void* found) {
    auto& wanted = *static_cast<SharedVariables*>(found);
    const auto* const start = static_cast<unsigned char*>(library->dlpi_tls_data);
    for (int k = 0; start != nullptr && k < library->dlpi_phnum; ++k) {
      const auto& part = library->dlpi_phdr[k];
      if (part.p_type != PT_TLS) continue;
      if (wanted.known < start || wanted.known >= start + part.p_memsz) continue;
      wanted.before = static_cast<size_t>(wanted.known - start);
      wanted.size = part.p_memsz;
      return 1;
    }
    return 0;
  }

  void spoil() const {
    if (size > 0) memset(static_cast<unsigned char*>(tell()) - before, kGarbage, size);
  }
};

// Buffers with bytes round them that nobody may write, and their sizes, by address.
using Guarded = std::pair<const unsigned char*, size_t>;
std::vector<Guarded> guarded;
std::mutex guarded_lock;

bool is_spoilt(const unsigned char* guard) {
  static const std::vector<unsigned char> whole(kGuard, kGarbage);
  return memcmp(guard, whole.data(), kGuard) != 0;
}

void check_guards() {
  const std::lock_guard<std::mutex> guard(guarded_lock);
  for (const auto& [place, size] : guarded) {
    const bool is_before = is_spoilt(place - kGuard);
    if (!is_before && !is_spoilt(place + size)) continue;
    note(std::string("a kernel wrote ") + (is_before ? "before" : "behind") + " a buffer of " +
         std::to_string(size) + " bytes");
  }
}

struct Block {
  Kernel kernel;
  std::vector<Fibre> fibres;
  std::vector<Warp> warps;
  unsigned char* const dynamic = new_memory(kDynamic + kGuard);
  void* home;  // stack of the scheduler
  Fibre* running;
  unsigned alive, waiting;
  bool any, was_any, paused;
  bool only_looks;  // at what has not changed: all that was done in this round
};
__thread Block* block;

// Blocks that nobody runs.
std::vector<std::unique_ptr<Block>> idle;
std::mutex idle_lock;

std::unique_ptr<Block> take_block() {
  const std::lock_guard<std::mutex> guard(idle_lock);
  if (idle.empty()) return std::make_unique<Block>();
  std::unique_ptr<Block> found = std::move(idle.back());
  idle.pop_back();
  return found;
}

void give_block(std::unique_ptr<Block> done) {
  const std::lock_guard<std::mutex> guard(idle_lock);
  idle.push_back(std::move(done));
}

Warp& warp_of(const Fibre& fibre) { return block->warps[fibre.here.thread.x / kWarp]; }
unsigned lane_of(const Fibre& fibre) { return fibre.here.thread.x % kWarp; }

void leave() { change(&block->running->place, block->home); }

// Lets others go on, and comes back when the fibre is ready again.
void wait() {
  warp_of(*block->running).ready &= ~(1u << lane_of(*block->running));
  leave();
}

void run_fibre() {
  block->kernel.run();
  block->running->done = true;
  leave();
  abort();
}

void prepare(Fibre& fibre) {
  // What `change` pops: the address to go on at. The stack is aligned as at a call. Stacks begin at
  // several places of a page, or all of them would be at the same few places of a cache.
  const size_t shift = fibre.here.thread.x % 16 * 192;
  void** top = reinterpret_cast<void**>(fibre.stack + kStack - shift);
  *--top = nullptr;
  *--top = reinterpret_cast<void*>(&run_fibre);
  fibre.place = top;
  fibre.done = false;
  fibre.counter = nullptr;
}

// Nobody waits any longer for a fibre that is done.
void end(const Fibre& fibre) {
  --block->alive;
  Warp& warp = warp_of(fibre);
  warp.ready &= ~(1u << lane_of(fibre));
  warp.ended |= 1u << lane_of(fibre);
  for (unsigned open = warp.open; open; open &= open - 1) {
    const Meeting& meeting = warp.meetings[__builtin_ctz(open)];
    if (meeting.complete(warp.ended)) warp.ready |= meeting.arrived & ~meeting.left;
  }
}

// Lets all go on if all are there; whether they are.
bool release_barrier() {
  if (block->waiting == 0 || block->waiting != block->alive) return false;
  for (Warp& warp : block->warps) warp.ready = ~warp.ended;
  block->waiting = 0;
  block->was_any = block->any;
  block->any = false;
  return true;
}

unsigned first_of(unsigned lanes, bool backwards) {
  return backwards ? kWarp - 1 - __builtin_clz(lanes) : __builtin_ctz(lanes);
}

// The fibre goes on after another one: the end of its stack comes into the cache meanwhile.
void expect(const Fibre& fibre) {
  const char* const top = static_cast<char*>(fibre.place);
  for (size_t line = 0; line < 512; line += 64) __builtin_prefetch(top + line);
}

// Every fibre in turn goes on until it waits; whether there was one. `backwards`: the last one first.
bool run_round(bool backwards) {
  bool moved = false;
  const size_t count = block->warps.size();
  for (size_t k = 0; k < count; ++k) {
    const size_t w = backwards ? count - 1 - k : k;
    Warp& warp = block->warps[w];
    unsigned rest = ~0u;
    while (const unsigned ready = warp.ready & rest) {
      const unsigned lane = first_of(ready, backwards);
      rest = backwards ? (1u << lane) - 1 : ~0u << lane << 1;
      if (ready & rest) expect(block->fibres[w * kWarp + first_of(ready & rest, backwards)]);
      Fibre& fibre = block->fibres[w * kWarp + lane];
      moved = true;
      block->running = &fibre;
      here = &fibre.here;
      const unsigned before = fibre.looks;
      change(&block->home, fibre.place);
      block->only_looks &= fibre.looks > kLooks && fibre.looks == before + 1;
      if (fibre.done) end(fibre);
      if (failed.load(std::memory_order_relaxed)) return true;
    }
  }
  return moved;
}

void run_block(bool backwards) {
  using Clock = std::chrono::steady_clock;
  Clock::time_point last = Clock::now();
  long seen = progress;
  while (block->alive > 0) {
    block->paused = false;
    block->only_looks = true;
    const unsigned before = arrivals;
    const bool moved = run_round(backwards);
    if (failed.load(std::memory_order_relaxed)) return;
    const bool opened = release_barrier();
    if (!moved && !opened) return note_here("threads of a block wait for each other for ever");
    if (!block->paused) {
      ++progress;
      continue;
    }
    if (block->only_looks) {
      sleep_until_more_than(before);
    } else {
      sched_yield();
    }
    const long now = progress;
    if (now != seen) {
      seen = now;
      last = Clock::now();
    } else if (std::chrono::duration<double>(Clock::now() - last).count() > patience) {
      return note_here("a block waits for others for ever");
    }
  }
}

// What the k-th block that is run is to the kernel. `permuted`: a prime above any grid here deals the
// numbers out, as `block_number` of the kernels does.
unsigned number_of(unsigned k, unsigned blocks, bool backwards, bool permuted) {
  if (permuted) return static_cast<unsigned>((1000003ull * k + 1) % blocks);
  return backwards ? blocks - 1 - k : k;
}

struct Launch {
  Kernel kernel;
  SharedVariables variables;
  unsigned blocks, threads;
  size_t dynamic;  // bytes of shared memory
  bool backwards, permuted;
};

void run_one(const Launch& launch, unsigned number) {
  Block& mine = *block;
  mine.kernel = launch.kernel;
  while (mine.fibres.size() < launch.threads) {
    mine.fibres.emplace_back();
    mine.fibres.back().stack = new_memory(kStack);
  }
  mine.warps.resize((launch.threads + kWarp - 1) / kWarp);
  for (Warp& warp : mine.warps) warp.ended = warp.open = 0;
  // Lanes that a last, smaller warp does not have.
  if (launch.threads % kWarp) mine.warps.back().ended = ~0u << launch.threads % kWarp;
  for (Warp& warp : mine.warps) warp.ready = ~warp.ended;
  mine.alive = launch.threads;
  mine.waiting = 0;
  mine.any = false;
  memset(mine.dynamic, kGarbage, launch.dynamic + kGuard);
  launch.variables.spoil();
  for (unsigned k = 0; k < launch.threads; ++k) {
    Fibre& fibre = mine.fibres[k];
    fibre.here = {{k, 0, 0}, {number, 0, 0}, {launch.threads, 1, 1}, {launch.blocks, 1, 1},
                  mine.dynamic, static_cast<unsigned>(launch.dynamic)};
    prepare(fibre);
  }
  run_block(launch.backwards);
  if (is_spoilt(mine.dynamic + launch.dynamic)) {
    note("a kernel wrote behind its " + std::to_string(launch.dynamic) +
         " bytes of dynamic shared memory (block " + std::to_string(number) + ")");
  }
}

[[noreturn]] void fail(const char* what) {
  note_here(what);
  leave();
  abort();
}

// Values of all lanes in `mask`, which meet here, of the others 0; and the lanes that were there:
// those that have ended are not waited for. It is as it was until the fibre meets others again.
const Meeting& meet_lanes(Call call, unsigned mask, uint64_t mine) {
  const unsigned lane = here->thread.x % kWarp;
  if (!(mask >> lane & 1)) fail("a lane is not in the mask of its own call");
  Warp& warp = block->warps[here->thread.x / kWarp];
  Meeting* meeting = nullptr;
  for (unsigned open = warp.open; open; open &= open - 1) {
    Meeting& each = warp.meetings[__builtin_ctz(open)];
    if (each.mask == mask && !(each.arrived >> lane & 1) && !each.complete(warp.ended)) {
      meeting = &each;
    }
  }
  if (meeting == nullptr) {
    const unsigned place = static_cast<unsigned>(__builtin_ctz(~warp.open));
    warp.open |= 1u << place;
    meeting = &warp.meetings[place];
    *meeting = {call, mask, 0, 0, {}};
  }
  if (meeting->call != call) fail("lanes of a warp meet at different calls");
  meeting->values[lane] = mine;
  meeting->arrived |= 1u << lane;
  if (meeting->complete(warp.ended)) {
    warp.ready |= meeting->arrived;
  } else {
    // A lane may come to a call with other ones first, but not wait for one that waits for it.
    for (unsigned open = warp.open; open; open &= open - 1) {
      const Meeting& each = warp.meetings[__builtin_ctz(open)];
      if (&each == meeting || each.complete(warp.ended)) continue;
      if ((each.arrived & mask) && (each.mask >> lane & 1)) {
        fail("lanes of a warp wait for each other at calls with different masks");
      }
    }
    wait();
  }
  meeting->left |= 1u << lane;
  if (meeting->left == meeting->arrived) warp.open &= ~(1u << (meeting - warp.meetings));
  return *meeting;
}

}  // namespace

uint64_t shuffle(unsigned mask, uint64_t mine, int source, bool own) {
  const Meeting& met = meet_lanes(Call::kShuffle, mask, mine);
  if (own) return mine;
  if (!(mask >> source & 1)) fail("a shuffle reads a lane outside of its mask");
  if (!(met.arrived >> source & 1)) fail("a shuffle reads a lane that has ended");
  return met.values[source];
}

bool meet_block(bool any) {
  block->any = block->any || any;
  block->waiting += 1;
  wait();
  return block->was_any;
}

void pause() {
  block->paused = true;
  leave();
}

}  // namespace emulated

using namespace emulated;

// The words of CUDA C++ that gpu.hpp names only ----------------------------------------------------
unsigned emulated_lane() { return threadIdx.x % 32; }
unsigned __ballot_sync(unsigned mask, bool vote) {
  const Meeting& met = meet_lanes(Call::kBallot, mask, vote);
  unsigned votes = 0;
  for (unsigned k = 0; k < kWarp; ++k) votes |= static_cast<unsigned>(met.values[k] != 0) << k;
  return votes & mask;
}
int __any_sync(unsigned mask, bool vote) { return __ballot_sync(mask, vote) != 0; }
int __all_sync(unsigned mask, bool vote) { return __ballot_sync(mask, !vote) == 0; }
void __syncwarp(unsigned mask) { meet_lanes(Call::kSync, mask, 0); }
unsigned __activemask() { return 1u << emulated_lane(); }

template <class Combine>
static unsigned reduced(unsigned mask, unsigned x, Combine combine) {
  const Meeting& met = meet_lanes(Call::kReduce, mask, x);
  unsigned sum = 0;
  bool any = false;
  for (unsigned k = 0; k < kWarp; ++k) {
    if (!(met.arrived >> k & 1)) continue;
    const unsigned next = static_cast<unsigned>(met.values[k]);
    sum = any ? combine(sum, next) : next;
    any = true;
  }
  return sum;
}
unsigned __reduce_add_sync(unsigned mask, unsigned x) {
  return reduced(mask, x, [](unsigned a, unsigned b) { return a + b; });
}
unsigned __reduce_min_sync(unsigned mask, unsigned x) {
  return reduced(mask, x, [](unsigned a, unsigned b) { return a < b ? a : b; });
}
unsigned __reduce_max_sync(unsigned mask, unsigned x) {
  return reduced(mask, x, [](unsigned a, unsigned b) { return a > b ? a : b; });
}
unsigned __reduce_or_sync(unsigned mask, unsigned x) {
  return reduced(mask, x, [](unsigned a, unsigned b) { return a | b; });
}

void __syncthreads() { meet_block(false); }
int __syncthreads_or(int any) { return meet_block(any != 0); }
int __syncthreads_and(int all) { return !meet_block(all == 0); }
void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
void __threadfence_block() {}
void __nanosleep(unsigned) { emulated::pause(); }

void emulated_arrive(unsigned* counter) {
  __atomic_fetch_add(counter, 1u, __ATOMIC_SEQ_CST);
  ++arrivals;
  if (sleepers > 0) call_futex(FUTEX_WAKE, INT32_MAX, nullptr);
}
unsigned emulated_look(const unsigned* counter) {
  Fibre& fibre = *block->running;
  const unsigned now = __atomic_load_n(counter, __ATOMIC_SEQ_CST);
  const bool is_same = counter == fibre.counter && now == fibre.seen;
  fibre.looks = is_same ? fibre.looks + 1 : 1;
  fibre.counter = counter;
  fibre.seen = now;
  if (fibre.looks > kLooks) emulated::pause();
  return now;
}
long long emulated_clock_ns() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return 1'000'000'000ll * now.tv_sec + now.tv_nsec;
}

// From now on it is an error to write next to these bytes; next to none if `size` is below 0.
extern "C" void emulated_guard(const unsigned char* place, int64_t size) {
  const std::lock_guard<std::mutex> guard(guarded_lock);
  auto found = std::lower_bound(guarded.begin(), guarded.end(), Guarded{place, 0});
  const bool is_there = found != guarded.end() && found->first == place;
  if (is_there) found = guarded.erase(found);
  if (size >= 0) guarded.insert(found, {place, static_cast<size_t>(size)});
}

// The last buffer that begins at `place` or before, or null.
extern "C" const unsigned char* emulated_buffer(const unsigned char* place) {
  const std::lock_guard<std::mutex> guard(guarded_lock);
  const auto next = std::lower_bound(guarded.begin(), guarded.end(), Guarded{place + 1, 0});
  return next == guarded.begin() ? nullptr : std::prev(next)->first;
}

extern "C" unsigned emulated_number(unsigned k, unsigned blocks, int backwards, int permuted) {
  return number_of(k, blocks, backwards != 0, permuted != 0);
}

// How many seconds may pass in which all blocks wait.
extern "C" void emulated_wait_for(double seconds) { patience = seconds; }

// Runs a kernel to its end; what went wrong, or null. A cooperative one has all blocks at once.
extern "C" const char* emulated_launch(void (*typed)(void* const*), void* plain,
                                       void* const* parameters, void* (*variables)(),
                                       unsigned blocks, unsigned threads, unsigned dynamic,
                                       int cooperative, int backwards, int permuted) {
  // There is one stream.
  static std::mutex busy;
  static std::map<void* (*)(), SharedVariables> known;
  const std::lock_guard<std::mutex> guard(busy);
  failed = false;
  if (dynamic > kDynamic) return "a block may not have so much shared memory";
  const SharedVariables& shared = known.try_emplace(variables, variables).first->second;
  const Launch launch{{typed, plain, parameters}, shared, blocks, threads, dynamic,
                      backwards != 0, permuted != 0};
  std::atomic<unsigned> next{0};
  auto work = [&] {
    std::unique_ptr<Block> own = take_block();
    block = own.get();
    for (unsigned k = next++; k < blocks && !failed; k = next++) {
      run_one(launch, number_of(k, blocks, launch.backwards, launch.permuted));
    }
    give_block(std::move(own));
  };
  const unsigned workers = cooperative || blocks < 2 ? blocks : 2;
  std::vector<std::thread> others;
  for (unsigned k = 1; k < workers; ++k) others.emplace_back(work);
  if (blocks > 0) work();
  for (auto& each : others) each.join();
  if (!failed) check_guards();
  return failed ? message.c_str() : nullptr;
}
