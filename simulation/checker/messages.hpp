// Messages between the ranks of an execution: a transport that delivers in any order and at any time that its
// contract allows (network/transport.hpp), and reports who breaks their side of it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "network/transport.hpp"
#include "simulation/checker/memory.hpp"

namespace espalier::simulation::checker {

class Execution;

/// What the schedule leaves open, the chooser decides: whether a message leaves at once or only when it is
/// received, when a message is seen done, which of several is probed first. A receive's memory is junk until
/// it is done; a send's is read when it is done, and not before. A message carries what its sender knew, as
/// release and acquire do. Processes are ranks. Not thread-safe.
class Messages {
 public:
  Messages(Execution& execution, int ranks);
  ~Messages();

  network::Transport& of(int rank);
  void reset();

  /// Some are under way from or to this rank.
  bool concern(int rank) const;
  /// What is left over when all ranks are through; empty: nothing, as it should be.
  std::string left_over() const;
  /// Whether an access in `rank`'s memory meets a message: bytes under way are not read while they are
  /// received, nor written in any case. Says which.
  std::optional<std::string> met_by(int rank, const void* begin, std::size_t bytes, bool writes) const;

  /// For mutants: the next message of this rank is not awaited by its text.
  void forget_next(int rank) { forgets_next_[static_cast<std::size_t>(rank)] = true; }
  /// For mutants: what is done with messages of this tag is a site of this name. The text of windows tests
  /// the messages of each kind in one place, as that of letters does.
  void name_tag(int tag, const char* file, const char* name) { names_[tag] = {file, name}; }

 private:
  struct Key {
    int from, to, tag;
    auto operator<=>(const Key&) const = default;
  };
  struct Message {
    Key key;
    const std::byte* source;
    std::size_t bytes;
    Memory::Knowledge knowledge;
    std::vector<std::byte> sent, left;  // as it was sent; as it was when the send was done
    bool has_left = false, received = false;
    bool cut = false;  // by a mutant: its sender may have overwritten it
  };
  struct Request {
    Key key;
    bool is_send;
    std::byte* target;  // of a receive
    std::size_t bytes;
    std::shared_ptr<Message> message;  // a receive's: null until its message is sent
    bool waits_for_receiver = false;   // of a send
    bool forgotten = false, cut = false;
    int rank() const { return is_send ? key.from : key.to; }
  };
  /// Messages without a receive, or receives without a message, in their order.
  struct Lane {
    std::deque<std::shared_ptr<Message>> sent;
    std::deque<network::Ticket> wanted;
  };
  struct End;

  network::Ticket send(const Key& key, const std::byte* data, std::size_t bytes);
  network::Ticket receive(const Key& key, std::byte* data, std::size_t bytes);
  bool test(network::Ticket ticket);
  std::optional<network::Arrival> probe(int rank, int tag);

  network::Ticket add(Request request);
  bool is_possible(const Request& request) const;
  bool is_late(int rank);
  void finish(const Request& request);
  void finish_send(const Request& request);
  void finish_receive(const Request& request);
  void scribble(const Request& request);
  void match(Request& receive, std::shared_ptr<Message> message);
  void finish_forgotten(int rank);
  bool cuts_short(Request& request);
  static std::string name(const Request& request);

  Execution& execution_;
  std::vector<std::unique_ptr<End>> ends_;
  std::map<Key, Lane> lanes_;
  std::map<network::Ticket, Request> requests_;
  network::Ticket last_ticket_ = 0;
  std::set<std::pair<int, int>> probed_;  // ranks and tags
  struct Name {
    const char *file, *name;
  };
  std::map<int, Name> names_;
  std::array<bool, most_ranks> forgets_next_{};
};

}  // namespace espalier::simulation::checker
