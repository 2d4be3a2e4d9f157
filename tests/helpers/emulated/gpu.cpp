// Runs kernels: blocks as threads of the operating system, their threads as fibres.
#include "gpu.hpp"

#include <link.h>
#include <sched.h>
#include <sys/mman.h>

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

void note(const std::string& what) {
  const std::lock_guard<std::mutex> guard(message_lock);
  if (failed.exchange(true)) return;
  message = what;
}

void note_here(const char* what) {
  note(std::string(what) + " (block " + std::to_string(here->block.x) + ", thread " +
       std::to_string(here->thread.x) + ")");
}

// A call at which lanes of a warp meet; those that have ended are not waited for.
struct Meeting {
  Call call;
  unsigned mask, arrived, left;
  const unsigned* ended;  // lanes of the warp
  uint64_t values[kWarp];
  bool complete() const { return ((arrived | *ended) & mask) == mask; }
};

struct Warp {
  unsigned ended = 0;
  std::vector<std::unique_ptr<Meeting>> open;
};

struct Fibre {
  Here here;
  void* place;  // of its stack, while another one runs
  bool done = false;
  const Meeting* meeting = nullptr;  // it waits for
  bool at_barrier = false;
};

#if defined(__x86_64__)
extern "C" void emulated_switch(void** from, void* to);
asm(R"(
.text
.globl emulated_switch
.type emulated_switch, @function
emulated_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size emulated_switch, .-emulated_switch
)");
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

// Pieces of memory that are kept: touching fresh pages takes longer than most kernels.
struct Pool {
  size_t size;
  std::mutex lock;
  std::vector<unsigned char*> free;

  unsigned char* take() {
    const std::lock_guard<std::mutex> guard(lock);
    if (!free.empty()) {
      unsigned char* const found = free.back();
      free.pop_back();
      return found;
    }
    void* const made = mmap(nullptr, size + kPage, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (made == MAP_FAILED) abort();
    // A stack that grows too large runs into it, instead of into another stack.
    mprotect(made, kPage, PROT_NONE);
    return static_cast<unsigned char*>(made) + kPage;
  }
  void give(unsigned char* piece) {
    const std::lock_guard<std::mutex> guard(lock);
    free.push_back(piece);
  }
};
Pool stacks{kStack};
Pool shared_memory{kDynamic + kGuard};

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

// Buffers with bytes round them that nobody may write: their sizes, by address.
std::map<const unsigned char*, size_t> guarded;
std::mutex guarded_lock;

bool is_spoilt(const unsigned char* guard) {
  for (size_t k = 0; k < kGuard; ++k) {
    if (guard[k] != kGarbage) return true;
  }
  return false;
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
  std::vector<unsigned char*> memory;
  std::vector<Warp> warps;
  void* home = nullptr;  // stack of the scheduler
  Fibre* running = nullptr;
  unsigned alive = 0, waiting = 0;
  bool any = false, was_any = false, paused = false;
};
__thread Block* block;

void leave() { emulated_switch(&block->running->place, block->home); }

extern "C" void emulated_fibre() {
  block->kernel.run();
  block->running->done = true;
  leave();
  abort();
}

void prepare(Fibre& fibre, unsigned char* stack) {
  // What `emulated_switch` pops, then the address to go on at; the stack is aligned as at a call.
  void** top = reinterpret_cast<void**>(stack + kStack);
  *--top = nullptr;
  *--top = reinterpret_cast<void*>(&emulated_fibre);
  for (int k = 0; k < 6; ++k) *--top = nullptr;
  fibre.place = top;
}

bool can_run(const Fibre& fibre) {
  if (fibre.done || fibre.at_barrier) return false;
  return fibre.meeting == nullptr || fibre.meeting->complete();
}

// Lets all go on if all are there; whether they are.
bool release_barrier() {
  if (block->waiting == 0 || block->waiting != block->alive) return false;
  for (Fibre& fibre : block->fibres) fibre.at_barrier = false;
  block->waiting = 0;
  block->was_any = block->any;
  block->any = false;
  return true;
}

// Every fibre in turn goes on until it waits. `backwards`: the last one first.
void run_block(bool backwards) {
  const size_t count = block->fibres.size();
  using Clock = std::chrono::steady_clock;
  Clock::time_point last = Clock::now();
  long seen = progress;
  while (block->alive > 0 && !failed.load(std::memory_order_relaxed)) {
    bool moved = false;
    block->paused = false;
    for (size_t k = 0; k < count; ++k) {
      Fibre& fibre = block->fibres[backwards ? count - 1 - k : k];
      if (!can_run(fibre)) continue;
      moved = true;
      block->running = &fibre;
      here = &fibre.here;
      emulated_switch(&block->home, fibre.place);
      if (fibre.done) {
        --block->alive;
        block->warps[fibre.here.thread.x / kWarp].ended |= 1u << fibre.here.thread.x % kWarp;
      }
      if (failed.load(std::memory_order_relaxed)) return;
    }
    const bool opened = release_barrier();
    if (!moved && !opened) return note_here("threads of a block wait for each other for ever");
    if (!block->paused) {
      ++progress;
      continue;
    }
    sched_yield();
    const long now = progress;
    if (now != seen) {
      seen = now;
      last = Clock::now();
    } else if (std::chrono::duration<double>(Clock::now() - last).count() > patience) {
      return note_here("a block waits for others for ever");
    }
  }
}

struct Launch {
  Kernel kernel;
  SharedVariables variables;
  unsigned blocks, threads;
  size_t dynamic;  // bytes of shared memory
  bool backwards;
};

void run_one(const Launch& launch, unsigned number, unsigned char* dynamic) {
  Block mine;
  block = &mine;
  mine.kernel = launch.kernel;
  mine.fibres.resize(launch.threads);
  mine.warps.resize((launch.threads + kWarp - 1) / kWarp);
  // Lanes that a last, smaller warp does not have.
  if (launch.threads % kWarp) mine.warps.back().ended = ~0u << launch.threads % kWarp;
  mine.alive = launch.threads;
  memset(dynamic, kGarbage, launch.dynamic + kGuard);
  launch.variables.spoil();
  for (unsigned k = 0; k < launch.threads; ++k) {
    Fibre& fibre = mine.fibres[k];
    fibre.here = {{k, 0, 0}, {number, 0, 0}, {launch.threads, 1, 1}, {launch.blocks, 1, 1},
                  dynamic, static_cast<unsigned>(launch.dynamic)};
    mine.memory.push_back(stacks.take());
    prepare(fibre, mine.memory.back());
  }
  run_block(launch.backwards);
  for (unsigned char* stack : mine.memory) stacks.give(stack);
  block = nullptr;
  if (is_spoilt(dynamic + launch.dynamic)) {
    note("a kernel wrote behind its " + std::to_string(launch.dynamic) +
         " bytes of dynamic shared memory (block " + std::to_string(number) + ")");
  }
}

}  // namespace

void fail(const char* what) {
  note_here(what);
  leave();
  abort();
}

unsigned meet_lanes(Call call, unsigned mask, uint64_t mine, uint64_t (&all)[32]) {
  const unsigned lane = here->thread.x % kWarp;
  if (!(mask >> lane & 1)) fail("a lane is not in the mask of its own call");
  Warp& warp = block->warps[here->thread.x / kWarp];
  auto& open = warp.open;
  Meeting* meeting = nullptr;
  for (auto& each : open) {
    if (!each->complete() && each->mask == mask && !(each->arrived >> lane & 1)) meeting = each.get();
  }
  if (meeting == nullptr) {
    open.push_back(std::make_unique<Meeting>(Meeting{call, mask, 0, 0, &warp.ended, {}}));
    meeting = open.back().get();
  }
  if (meeting->call != call) fail("lanes of a warp meet at different calls");
  meeting->values[lane] = mine;
  meeting->arrived |= 1u << lane;
  if (!meeting->complete()) {
    // A lane may come to a call with other ones first, but not wait for one that waits for it.
    for (auto& each : open) {
      if (each.get() == meeting || each->complete()) continue;
      if ((each->arrived & mask) && (each->mask >> lane & 1)) {
        fail("lanes of a warp wait for each other at calls with different masks");
      }
    }
    Fibre* const self = block->running;
    self->meeting = meeting;
    leave();
    self->meeting = nullptr;
  }
  memcpy(all, meeting->values, sizeof(all));
  const unsigned present = meeting->arrived;
  meeting->left |= 1u << lane;
  if (meeting->left == present) {
    for (auto each = open.begin(); each != open.end(); ++each) {
      if (each->get() == meeting) {
        open.erase(each);
        break;
      }
    }
  }
  return present;
}

bool meet_block(bool any) {
  block->any = block->any || any;
  block->waiting += 1;
  block->running->at_barrier = true;
  leave();
  return block->was_any;
}

void pause() {
  block->paused = true;
  leave();
}

}  // namespace emulated

using namespace emulated;

// From now on it is an error to write next to these bytes; next to none if `size` is below 0.
extern "C" void emulated_guard(const unsigned char* place, int64_t size) {
  const std::lock_guard<std::mutex> guard(guarded_lock);
  if (size < 0) {
    guarded.erase(place);
  } else {
    guarded[place] = static_cast<size_t>(size);
  }
}

// How many seconds may pass in which all blocks wait.
extern "C" void emulated_wait_for(double seconds) { patience = seconds; }

// Runs a kernel to its end; what went wrong, or null. A cooperative one has all blocks at once.
extern "C" const char* emulated_launch(void (*typed)(void* const*), void* plain,
                                       void* const* parameters, void* (*variables)(),
                                       unsigned blocks, unsigned threads, unsigned dynamic,
                                       int cooperative, int backwards) {
  // There is one stream.
  static std::mutex busy;
  static std::map<void* (*)(), SharedVariables> known;
  const std::lock_guard<std::mutex> guard(busy);
  failed = false;
  if (dynamic > kDynamic) return "a block may not have so much shared memory";
  const SharedVariables& own = known.try_emplace(variables, variables).first->second;
  const Launch launch{{typed, plain, parameters}, own, blocks, threads, dynamic, backwards != 0};
  std::atomic<unsigned> next{0};
  auto work = [&] {
    unsigned char* const memory = shared_memory.take();
    for (unsigned k = next++; k < blocks && !failed; k = next++) {
      run_one(launch, backwards ? blocks - 1 - k : k, memory);
    }
    shared_memory.give(memory);
  };
  const unsigned workers = cooperative || blocks < 2 ? blocks : 2;
  std::vector<std::thread> others;
  for (unsigned k = 1; k < workers; ++k) others.emplace_back(work);
  if (blocks > 0) work();
  for (auto& each : others) each.join();
  if (!failed) check_guards();
  return failed ? message.c_str() : nullptr;
}
