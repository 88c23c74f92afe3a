// What a base case may do on its group's segment: the table through which it runs on any machine.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/error.hpp"

namespace espalier::machine {

struct GroupWaits;

/// When a wait for a word ends; `at_least` compares unsigned numbers.
enum class Until { equal, not_equal, at_least };

inline bool is_reached(Until until, std::uint64_t seen, std::uint64_t value) {
  switch (until) {
    case Until::equal:
      return seen == value;
    case Until::not_equal:
      return seen != value;
    case Until::at_least:
      return seen >= value;
  }
  return false;
}

/// An offset or a length that a segment does not have; nothing has been done.
class GroupArgument : public Error {
 public:
  using Error::Error;
};

/// The operations of one group, as one of its ranks has them (OSMP IV-A). Offsets and lengths are in bytes;
/// words have 8 bytes at multiples of 8. A store releases, a load and a wait acquire, fetch_add and
/// compare_swap do both; put and get order nothing. All throw GroupArgument; a wait throws what says that the
/// word will not come. Used by one thread at a time.
class GroupOperations {
 public:
  /// `bytes`: of the segment.
  explicit GroupOperations(std::size_t bytes) : bytes_(bytes) {}
  GroupOperations(const GroupOperations&) = delete;
  GroupOperations& operator=(const GroupOperations&) = delete;
  virtual ~GroupOperations() = default;

  std::size_t bytes() const { return bytes_; }

  virtual void put(std::size_t offset, const void* source, std::size_t bytes) = 0;
  virtual void get(std::size_t offset, void* target, std::size_t bytes) = 0;
  virtual void store(std::size_t offset, std::uint64_t value) = 0;
  virtual std::uint64_t load(std::size_t offset) = 0;
  /// What was there before.
  virtual std::uint64_t fetch_add(std::size_t offset, std::uint64_t value) = 0;
  virtual std::uint64_t compare_swap(std::size_t offset, std::uint64_t expected, std::uint64_t desired) = 0;
  virtual void wait_until(std::size_t offset, Until until, std::uint64_t value) = 0;
  /// Null where plain loads and stores do not reach it.
  virtual void* segment() = 0;
  /// Of a segment() that is not null, where members may sleep: a rank that stores there without this table wakes
  /// them. Null: none sleeps.
  virtual GroupWaits* waits() { return nullptr; }

 protected:
  void check_range(std::size_t offset, std::size_t bytes) const;
  void check_word(std::size_t offset) const;

 private:
  std::size_t bytes_;
};

}  // namespace espalier::machine
