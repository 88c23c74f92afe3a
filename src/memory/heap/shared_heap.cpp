// Makes the shared heap, hands out its blocks, and gives child processes their own copy.
#include "memory/heap/shared_heap.hpp"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <sstream>
#include <utility>

#include "base/config.hpp"
#include "base/files.hpp"
#include "base/token.hpp"
#include "memory/heap/fork_snapshot.hpp"
#include "memory/heap/kernel_mapping.hpp"

namespace espalier::memory {
namespace {

constexpr std::size_t page = 64 * 1024;  // a multiple of the page size of every machine
constexpr std::size_t huge_page = 2 * 1024 * 1024;

std::size_t rounded_up(std::size_t bytes, std::size_t unit) { return (bytes + unit - 1) / unit * unit; }

std::string& why_no_heap = *new std::string;  // never destroyed, as Config

std::size_t machine_memory() {
  return static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

/// Address space for twice the machine's memory, since free space may be fragmented.
std::size_t capacity() { return rounded_up(2 * machine_memory(), huge_page); }

/// Whether the kernel promises memory only as far as it has some. There the host's MPI_Alloc_mem can report a
/// lack of memory, while a page of this heap that the kernel cannot give at its first use ends the process.
bool strict_overcommit() {
  int mode = 0;
  return std::istringstream(text_of("/proc/sys/vm/overcommit_memory")) >> mode && mode == 2;
}

// Of the thread that calls fork(), from before_fork() to the handler behind it.
thread_local ForkSnapshot snapshot;

void make_private(std::byte* begin, const std::byte* end, int protection) {
  constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE;
  if (begin < end) kernel::map(begin, static_cast<std::size_t>(end - begin), protection, flags, -1, 0);
}

void warn_of_shared_child() {
  constexpr const char text[] =
      "espalier: fork: the machine has no memory for a copy of what MPI_Alloc_mem has handed out, so the "
      "child process sees there what its parent writes later; ESPALIER_ALLOC_MEM=off leaves such memory to "
      "the host\n";
  static std::atomic<bool> said{false};
  if (said.exchange(true, std::memory_order_relaxed)) return;
  // A system call, for fork() may be called from a signal's handler.
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, text, sizeof text - 1);
}

}  // namespace

SharedHeap::SharedHeap(Segment segment, std::uint64_t mark)
    : segment_(std::move(segment)), mark_(mark), reached_(2 * page), free_(segment_.size()), kept_(keeps()) {
  // Free space stays out of core files: the kernel would allocate its pages to write them.
  madvise(segment_.base(), segment_.size(), MADV_DONTDUMP);
  // Behind the blocks there is nothing to read. A tool that reads all that can be read and written, as valgrind does
  // for leaks when a process ends, would make the kernel give pages to the whole range.
  mprotect(segment_.base() + reached_, segment_.size() - reached_, PROT_NONE);
  // A child made by clone(), without the handlers below, would crash without its parent's blocks.
  segment_.share_with_children(0, segment_.size());
  std::memcpy(segment_.base() + *free_.take(page, page), &mark_, sizeof mark_);
}

std::unique_ptr<SharedHeap> SharedHeap::make() {
  if (!Config::instance().flag("ESPALIER_ALLOC_MEM"))
    why_no_heap = "ESPALIER_ALLOC_MEM is off";
  else if (strict_overcommit())
    why_no_heap = "the kernel promises no memory that it does not have (vm.overcommit_memory is 2)";
  if (!why_no_heap.empty()) return nullptr;
  Segment segment = Segment::create_memfd(capacity(), why_no_heap);
  if (!segment) return nullptr;
  std::unique_ptr<SharedHeap> heap(new SharedHeap(std::move(segment), random_token()));
  bytes_ = heap->segment_.size();
  Begin& begin = wiped_in_children();
  begin.store(reinterpret_cast<std::uintptr_t>(heap->segment_.base()), std::memory_order_relaxed);
  begin_.store(&begin, std::memory_order_release);
  return heap;
}

SharedHeap* SharedHeap::instance() {
  // Never destroyed: what was handed out may be used until the process ends.
  static SharedHeap* const heap = [] {
    SharedHeap* made = make().release();
    if (made) pthread_atfork(before_fork, in_parent, in_child);
    return made;
  }();
  return heap;
}

const std::string& SharedHeap::why_none() {
  instance();
  return why_no_heap;
}

std::size_t SharedHeap::keeps() {
  const std::string& text = Config::instance().text("ESPALIER_ALLOC_KEEP");
  if (text != "auto") return parse_bytes(text);
  return std::min(std::size_t{128} << 20, machine_memory() / 64);
}

HeapNotice SharedHeap::notice() {
  const SharedHeap* heap = instance();
  const std::uintptr_t begin = own_begin();
  if (!heap || begin == 0) return {};
  return {begin, bytes_, heap->mark_, heap->segment_.descriptor(), 1};
}

// The kernel sets it to 0 in every child, also in one that runs no handlers. Before Linux 4.14 only fork()'s
// handler does so.
SharedHeap::Begin& SharedHeap::wiped_in_children() {
  static Begin kept{0};
#ifdef MADV_WIPEONFORK
  const auto size = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory != MAP_FAILED && madvise(memory, size, MADV_WIPEONFORK) == 0) return *new (memory) Begin{0};
  if (memory != MAP_FAILED) munmap(memory, size);
#endif
  return kept;
}

// Neither the copy nor the child needs the lock: if another thread holds it, it stays locked in the child; if
// this thread holds it and forks in the handler of a signal, waiting for it would never end. Such a handler
// may not call malloc(), so nothing is allocated here either.
void SharedHeap::before_fork() {
  SharedHeap* heap = instance();
  if (own_begin() == 0) return;  // this process is a child itself: its blocks are private already
  if (heap->mutex_.try_lock()) {
    heap->kept_.for_each(give_pages_back);  // else they would be copied
    heap->mutex_.unlock();
  }
  const std::size_t reached = heap->reached_.load(std::memory_order_relaxed);
  const int descriptor = heap->segment_.descriptor();
  if (descriptor < 0) return;
  snapshot.take(descriptor, page, reached);
  if (!snapshot.is_copy()) warn_of_shared_child();
}

void SharedHeap::in_parent() { snapshot.drop(); }

void SharedHeap::in_child() {
  begin_.load(std::memory_order_relaxed)->store(0, std::memory_order_relaxed);
  if (snapshot.is_empty()) return;
  const Segment& segment = instance()->segment_;
  std::byte* const blocks = segment.base() + page;
  std::byte* const end = blocks + snapshot.size();
  std::byte* const reached = segment.base() + instance()->reached_.load(std::memory_order_relaxed);
  snapshot.move_to(blocks);
  // The rest is the parent's alone; what another of its threads has allocated meanwhile is empty here.
  constexpr int all = PROT_READ | PROT_WRITE;
  make_private(segment.base(), blocks, all);
  make_private(end, reached, all);
  make_private(std::max(end, reached), segment.base() + segment.size(), PROT_NONE);
}

void* SharedHeap::allocate(std::size_t bytes) {
  if (bytes < least || bytes > bytes_ || own_begin() == 0) return nullptr;
  const std::size_t rounded = rounded_up(bytes, page);
  const std::lock_guard lock(mutex_);
  void* block = nullptr;
  if (const auto kept = kept_.take(rounded)) {
    (*kept)->second.is_used = true;
    block = (*kept)->first;
  } else {
    block = fresh(rounded);
  }
  if (block) blocks_.fetch_add(1, std::memory_order_relaxed);
  return block;
}

void* SharedHeap::fresh(std::size_t bytes) {
  const std::size_t alignment = bytes < huge_page ? page : huge_page;
  auto offset = free_.take(bytes, alignment);
  if (!offset) {
    drop_all_kept();
    offset = free_.take(bytes, alignment);
  }
  if (!offset) return nullptr;
  if (!open_up_to(*offset + bytes)) {
    free_.give_back(*offset, bytes);
    return nullptr;
  }
  std::byte* block = segment_.base() + *offset;
  blocks_here_[block] = {bytes, true};
  madvise(block, bytes, MADV_DODUMP);
  return block;
}

bool SharedHeap::open_up_to(std::size_t end) {
  const std::size_t reached = reached_.load(std::memory_order_relaxed);
  if (end <= reached) return true;
  if (mprotect(segment_.base() + reached, end - reached, PROT_READ | PROT_WRITE) != 0) return false;
  reached_.store(end, std::memory_order_relaxed);
  return true;
}

bool SharedHeap::owns(const void* address) const {
  const auto* at = static_cast<const std::byte*>(address);
  return at >= segment_.base() && at < segment_.base() + segment_.size();
}

bool SharedHeap::free(void* block) {
  // A child process has nothing to give back; and its parent's threads may have held the lock.
  if (own_begin() == 0) return true;
  const std::lock_guard lock(mutex_);
  const auto found = blocks_here_.find(block);
  if (found == blocks_here_.end() || !found->second.is_used) return false;
  found->second.is_used = false;
  kept_.keep(found, found->second.bytes, [this](Blocks::iterator kept) { drop(kept); });
  return true;
}

void SharedHeap::drop_kept() {
  if (own_begin() == 0) return;
  SharedHeap* const heap = instance();
  const std::lock_guard lock(heap->mutex_);
  heap->drop_all_kept();
}

void SharedHeap::drop_all_kept() {
  kept_.drop_all([this](Blocks::iterator kept) { drop(kept); });
}

void SharedHeap::give_pages_back(Blocks::iterator block) {
  madvise(block->first, block->second.bytes, MADV_REMOVE);
}

void SharedHeap::drop(Blocks::iterator block) {
  madvise(block->first, block->second.bytes, MADV_DONTDUMP);
  give_pages_back(block);
  free_.give_back(static_cast<std::size_t>(static_cast<std::byte*>(block->first) - segment_.base()),
                  block->second.bytes);
  blocks_here_.erase(block);
}

}  // namespace espalier::memory
