// What stands behind a sharp_coll_context: a process's part of a job on an aggregation tree.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include <sharp/api/sharp_coll.h>

#include "sharp/library/faults.hpp"
#include "sharp/library/link.hpp"
#include "sharp/library/problem.hpp"

/// All calls of the interface lock it, so threads may use one context if the job asked for thread support.
struct sharp_coll_context {
  using Link = espalier::sharp::Link;

  /// Collective over the job. Takes part in every exchange of the job even if it fails itself: throws Problem
  /// only at the end.
  explicit sharp_coll_context(const sharp_coll_init_spec& given);

  /// The connection to a leaf of the tree, made when first needed.
  Link& link(int leaf);
  /// The same, made anew where it has ended: the groups that it had are dead.
  Link& fresh_link(int leaf);
  /// Returns when that leaf has said that it reaches the root; throws Problem if it does not.
  void await_way_up(int leaf);
  /// Moves all operations of the process on; does not block.
  void progress();
  /// Lets the program's own library work, now and then.
  void call_home();
  sharp_coll_caps caps() const;
  void enter(sharp_coll_comm* comm);
  void leave(sharp_coll_comm* comm);

  // Exchanges of the job or of one of its groups. Throw Problem when the program's callback fails.
  void bcast(void* oob, void* data, int bytes) const;
  void gather(void* oob, const void* mine, void* all, int bytes) const;
  /// The worst code of all members, the same on all.
  std::int32_t worst(void* oob, int rank, int size, std::int32_t mine) const;

  std::recursive_mutex mutex;
  sharp_coll_init_spec spec;
  espalier::sharp::Faults faults;
  espalier::sharp::TreeFile tree;
  bool wants_lock = false;
  std::uint64_t groups = 0;  ///< that were asked for

 private:
  void learn_tree();
  void take(const espalier::sharp::Frame& frame);
  void poll(int leaf, Link& link);

  std::map<int, std::unique_ptr<Link>> links_;
  std::map<std::uint64_t, sharp_coll_comm*> comms_;
  int polls_ = 0;
};

namespace espalier::sharp {

/// A number that no other job or group has.
std::uint64_t random_number();
/// A setting; empty where there is none.
std::string setting(const char* name);

}  // namespace espalier::sharp
