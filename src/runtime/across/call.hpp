// One nonblocking collective over nodes, on one rank.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "collective/schedule/call_under_way.hpp"
#include "collective/schedule/persistent_spec.hpp"
#include "runtime/across/mail.hpp"
#include "runtime/communicator/wanted.hpp"

namespace espalier::runtime::across {

/// How far it has come. Lies still while it is under way.
struct Call {
  /// What the ranks of this node do through shared memory.
  enum class NodePart {
    none,  ///< nothing: the others' data come by letters, or this rank is alone on its node
    under_way,
    done,
    by_letters  ///< the node has no memory for it: each rank sends its data to all that want it
  };
  explicit Call(Wanted what) : wanted(std::move(what)) {
    if (wanted.spec) direct = *std::exchange(wanted.spec, nullptr);
  }
  Wanted wanted;
  std::optional<collective::PersistentSpec> direct;  ///< what Wanted::spec says, of such a call
  std::size_t heard = 0;                             ///< so many of its sources have sent all
  std::uint64_t number = 0;
  machine::Fingerprint history = 0;  ///< of the stream's calls up to this one
  NodePart node_part = NodePart::none;
  collective::CallUnderWay of_node;
  bool has_given = false;          ///< of_node was found to be published, and looked at since
  std::vector<std::byte> partial;  ///< a reduction's, of this node's ranks
  std::uint64_t claim =
      0;  ///< the number of what one rank of the node sends for all; 0: nothing, or it has been seen to
  bool done = false;
  bool active = false;  ///< started, and neither complete nor given up
  std::string error;    ///< why it is done without a result; empty: it is not
  Error::Kind kind_of_error = Error::Kind::other;
};

}  // namespace espalier::runtime::across
