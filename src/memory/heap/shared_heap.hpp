// Memory of this process that the other ranks of its node can map: what MPI_Alloc_mem hands out. A block
// there is read where it lies, without a copy into slots and without the kernel.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "memory/extents.hpp"
#include "memory/heap/kept_blocks.hpp"
#include "memory/segment.hpp"

namespace espalier::memory {

/// Where others find a process's heap. Plain bytes: lies in shared memory. All zero: it has none.
struct HeapNotice {
  std::uint64_t begin;  ///< its address in the process
  std::uint64_t bytes;
  std::uint64_t mark;  ///< what stands at its beginning, so that no other file is taken for it
  std::int32_t descriptor;
  std::int32_t exists;
};

/// One per process at most. Address space is reserved; pages come when the program touches them. A block
/// that it frees is kept for the next of its size, as far as the budget allows (ESPALIER_ALLOC_KEEP), else
/// its pages go.
///
/// A child of fork() has a copy of all blocks as they are then, and so have its own children. It gets nothing
/// more from here, and cannot change what its parent has. A child made otherwise (clone() without the
/// handlers of fork()) shares the parent's blocks.
class SharedHeap {
 public:
  /// Blocks of fewer bytes are not worth pages of their own.
  static constexpr std::size_t least = 16 * 1024;

  /// The heap of this process, made when first asked for. nullptr: there is none, and `why_none()` says why.
  /// Thread-safe, as all of this.
  static SharedHeap* instance();
  static const std::string& why_none();
  ~SharedHeap() = default;

  /// At least `bytes` that begin on a page. nullptr: too few to be worth it, or no room.
  void* allocate(std::size_t bytes);
  /// Whether an address is of this heap, in a child process too.
  bool owns(const void* address) const;
  /// False: nothing that is in use begins there.
  bool free(void* block);
  /// Gives the pages of what is kept back to the machine, if there is a heap.
  static void drop_kept();

  /// Whether these bytes lie in the heap of this process. Takes no lock.
  static bool holds(const void* data, std::size_t bytes) {
    const std::uintptr_t begin = own_begin();
    const std::uintptr_t offset = reinterpret_cast<std::uintptr_t>(data) - begin;
    return begin != 0 && offset < bytes_ && bytes <= bytes_ - offset;
  }
  /// How many blocks were handed out so far.
  static std::uint64_t blocks() { return blocks_.load(std::memory_order_relaxed); }
  /// What the others need to know; all zero where there is no heap.
  static HeapNotice notice();
  /// Bytes of freed blocks that a process keeps at most.
  static std::size_t keeps();

 private:
  using Begin = std::atomic<std::uintptr_t>;
  struct Block {
    std::size_t bytes;  // with what rounding added
    bool is_used;       // else it is kept
  };
  using Blocks = std::map<void*, Block>;

  SharedHeap(Segment segment, std::uint64_t mark);
  static std::unique_ptr<SharedHeap> make();
  static Begin& wiped_in_children();
  static void before_fork();
  static void in_parent();
  static void in_child();
  /// 0 where this process has no heap of its own, as in any child process.
  static std::uintptr_t own_begin() {
    // acquire: pairs with the release of the thread that made the heap, so that its size is seen.
    return begin_.load(std::memory_order_acquire)->load(std::memory_order_relaxed);
  }
  void* fresh(std::size_t bytes);
  bool open_up_to(std::size_t end);
  static void give_pages_back(Blocks::iterator block);
  void drop(Blocks::iterator block);
  void drop_all_kept();

  inline static Begin none_{0};
  inline static std::atomic<Begin*> begin_{&none_};  // points to what the kernel wipes in a child
  inline static std::size_t bytes_ = 0;
  inline static std::atomic<std::uint64_t> blocks_{0};

  Segment segment_;
  std::uint64_t mark_;
  /// No block has ever ended behind. What is behind can be neither read nor written.
  std::atomic<std::size_t> reached_;
  std::mutex mutex_;  // of what follows
  Extents free_;
  Blocks blocks_here_;
  KeptBlocks<Blocks::iterator> kept_;
};

}  // namespace espalier::memory
