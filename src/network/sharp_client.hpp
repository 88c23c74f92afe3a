// The SHARP client: in-network aggregation through the interface of libsharp_coll, hardware's or software's
// (paper SHARP; what is known of the interface is in include/sharp_interface).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "network/endpoint.hpp"
#include "network/out_of_band.hpp"
#include "network/sharp_error.hpp"
#include "reduce/operation.hpp"

namespace espalier::network {

/// What the aggregation nodes can do.
struct SharpCaps {
  std::uint64_t types = 0, ops = 0;  ///< 1 << enum sharp_datatype, sharp_reduce_op
  std::size_t payload = 0;           ///< bytes of an operation
  int slots = 0;                     ///< operations of a group under way at once

  /// Empty, or why this operation is not for them.
  std::string objection(const reduce::Operation& operation) const;
  /// What both can do.
  SharpCaps operator&(const SharpCaps& other) const;
};

/// A process's part of a job. Thread-safe as far as the library is, which is asked to be.
class SharpJob {
 public:
  struct Description {
    std::uint64_t job;    ///< the same on all processes, unlike any other job's
    int local_rank;       ///< on its node
    std::string library;  ///< ESPALIER_SHARP_LIB
    int timeout_ms;
    int (*progress)() = nullptr;  ///< lets the host MPI work
  };
  /// Collective over the job's processes, all of which have loaded the library (see can_load). Throws
  /// SharpError, not necessarily everywhere: ask the others.
  SharpJob(OutOfBand& processes, const Description& description);
  ~SharpJob();
  SharpJob(const SharpJob&) = delete;
  SharpJob& operator=(const SharpJob&) = delete;

  /// Throws SharpError if the library cannot be loaded here.
  static void load(const std::string& path);

  const SharpCaps& caps() const { return caps_; }
  /// All processes together have less than this one alone.
  void restrict_to(const SharpCaps& common) { caps_ = common; }

 private:
  friend class SharpGroup;
  struct Handle;
  std::unique_ptr<Handle> handle_;
  SharpCaps caps_;
};

/// A process's part of a group: one process of each node, the leaders of a communicator.
class SharpGroup {
 public:
  /// Collective over the leaders. `memory`: where operations find their data; registered for as long as the
  /// group lives. Throws SharpError, not necessarily everywhere.
  SharpGroup(SharpJob& job, OutOfBand& leaders, const std::vector<std::uint32_t>& processes,
             std::span<std::byte> memory);
  ~SharpGroup();
  SharpGroup(const SharpGroup&) = delete;
  SharpGroup& operator=(const SharpGroup&) = delete;

  /// An operation under way, for Endpoint::until(). Throws SharpError in test() when it has failed.
  class Operation final : public Event {
   public:
    Operation(SharpGroup& group, void* request) : group_(&group), request_(request) {}
    Operation(Operation&& other) noexcept
        : group_(other.group_), request_(std::exchange(other.request_, nullptr)) {}
    Operation& operator=(Operation&&) = delete;
    ~Operation() override;
    bool test() override;

   private:
    SharpGroup* group_;
    void* request_;
  };
  /// All members in the same order. Throw SharpError where the library does not take them.
  Operation barrier();
  /// target = the fold of all members' sources; both in the group's memory, caps().payload bytes at most.
  Operation allreduce(std::byte* source, std::byte* target, std::size_t bytes,
                      const reduce::Operation& operation);

 private:
  struct Handle;
  std::unique_ptr<Handle> handle_;
};

}  // namespace espalier::network
