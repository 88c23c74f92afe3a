// The one piece of shared memory of a node, and its shares.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "memory/segment.hpp"

namespace espalier::memory {

/// A part of the arena that belongs to one communicator; offset 0 is no share.
struct Share {
  std::size_t offset = 0;
  std::size_t bytes = 0;
  explicit operator bool() const { return offset != 0; }
};

/// Lies at the start of the segment; shares are runs of units behind it. allocate() and free() may be called
/// by any process of the node at any time; the lock is a robust process-shared mutex, so that a killed
/// process cannot block the others. Functions marked local take no lock.
class Arena {
 public:
  /// Shares are runs of units: of a page, or more where an arena would have more than a million of them.
  static constexpr std::size_t least_unit = 4096;
  static constexpr std::size_t area_granule = 64 * 1024;  ///< of areas, which should not grow too often
  static std::size_t unit_for(std::size_t bytes);

  /// Lays an empty arena out in a fresh segment (one process), with room for `notes_bytes` of notes. The rest
  /// of the segment is the budget.
  static std::unique_ptr<Arena> found(Segment segment, std::size_t notes_bytes, std::string& why);
  /// Joins an arena that another process founded with that many bytes of notes. The layout follows from the
  /// segment's size and `notes_bytes`; an arena whose header says anything else is refused.
  static std::unique_ptr<Arena> join(Segment segment, std::size_t notes_bytes, std::string& why);
  ~Arena();

  /// First fit. Returns no share when the budget is spent. The pages are not reserved yet.
  Share allocate(std::size_t bytes);
  void free(Share share);
  /// Whether allocate() of so many bytes would have returned a share just now.
  bool has_room(std::size_t bytes) const;
  /// Local: whether these bytes are units of this arena. A share that another process offers is asked first.
  bool holds(Share share) const;
  /// Local: backs part of a share with pages of the caller's NUMA domain. False: the machine has no space, or
  /// the share does not lie in this arena; errno says why.
  bool reserve(Share share, std::size_t begin, std::size_t bytes) const;
  /// Local: maps whole pages that are reserved all at once, where the system can; else each is mapped when
  /// first touched. For reading that is several times as fast; a write later costs a fault all the same.
  enum class Use { reading, writing };
  void map_now(Share share, std::size_t begin, std::size_t bytes, Use use) const;

  /// Local: the same for small shares, which lie close together: all that is around them is backed and mapped
  /// at once, the first time that this process comes there. Returns what reserve() does.
  bool reserve_around(Share share);

  /// Local: child processes see the share too, for the program may have data there (windows).
  void share_with_children(Share share) const;

  std::size_t bytes() const { return segment_.size(); }  ///< of all of it
  std::byte* at(std::size_t offset) const { return segment_.base() + offset; }
  /// -1: it is closed.
  int descriptor() const { return segment_.descriptor(); }
  std::size_t budget() const;
  std::size_t used() const;
  /// A region for what the processes of the node tell each other once (the machine, their affinity). Its
  /// pages are reserved.
  std::byte* notes() const;
  std::size_t notes_capacity() const;

 private:
  struct Header;
  /// Where things lie. Kept here and never read again from the header, which other processes can write to.
  struct Layout {
    std::size_t unit;
    std::size_t units;       // after the header and the notes
    std::size_t first_unit;  // offset of unit 0 in the segment
    std::size_t notes_bytes;
  };
  static Layout layout_of(std::size_t segment_bytes, std::size_t notes_bytes);
  Arena(Segment segment, const Layout& layout);
  Header& header() const;
  std::size_t first_free_run(std::size_t wanted) const;
  Segment segment_;
  Layout layout_;
  std::mutex around_;               // of what follows
  std::vector<bool> known_around_;  // by granule: this process has mapped it
};

}  // namespace espalier::memory
