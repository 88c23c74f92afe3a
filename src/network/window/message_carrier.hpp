// Puts as active messages: the target's rank takes them and writes.
#pragma once

#include <memory>
#include <vector>

#include "network/spin_limits.hpp"
#include "network/window/carrier.hpp"
#include "network/window/memory.hpp"
#include "network/window/outbox.hpp"
#include "network/window/team.hpp"
#include "network/window/transfers.hpp"

namespace espalier::network {

/// Works on any transport; the text is in message_carrier_impl.hpp. Nothing lands at a node until the rank
/// that it is aimed at drives: that one, and no other of its node, can take its messages.
template <class Platform>
class BasicMessageCarrier final : public Carrier {
 public:
  using Memory = BasicWindowMemory<Platform>;

  /// Uses the tags from `first_tag` to first_tag + reply_lane.
  BasicMessageCarrier(Transport& transport, int first_tag, const WindowTeam& team, const Memory& memory,
                      SpinLimits spin_limits);

  void put(int node, std::size_t offset, const void* source, std::size_t bytes, int id,
           std::uint32_t value) override;
  void get(int node, std::size_t offset, void* target, std::size_t bytes) override;
  void store(int node, std::size_t offset, std::uint64_t value) override;
  void fetch_add(int node, std::size_t offset, std::uint64_t value, std::uint64_t* old) override;
  void compare_swap(int node, std::size_t offset, std::uint64_t expected, std::uint64_t desired,
                    std::uint64_t* old) override;
  bool settled() override;
  bool has_left() override;
  bool drive() override;
  void say_goodbye() override;
  bool at_rest() override;

 private:
  struct Nothing {};
  struct Notice {
    int id;
    std::uint32_t value;
  };
  using Word = std::unique_ptr<std::uint64_t>;
  /// The request that is being received.
  struct Incoming {
    int process = -1;
    Ticket ticket = 0;
    std::vector<std::byte> content;
  };

  void ask(int node, const Request& request, const void* data = nullptr, std::size_t bytes = 0);
  void ask_for_word(int node, const Request& request, std::uint64_t* old);
  bool take_request();
  void serve(int process, const Request& request, const std::byte* data);
  void serve_put(int process, const Request& request, const std::byte* data);
  void answer(int process, std::uint64_t word);
  void notify(const Notice& notice) const;

  Transport& transport_;
  int request_tag_, data_tag_, reply_tag_;
  const WindowTeam& team_;
  Memory memory_;
  SpinLimits spin_limits_;
  BasicOutbox<Platform> outbox_;
  Transfers<Nothing> sources_, targets_;  // of this rank's long puts, of its gets and atomic operations
  Transfers<Notice> landings_;            // of others' long puts
  Transfers<Word> answers_;               // to others
  Incoming incoming_;
  int goodbyes_ = 0;
};

/// Carries the windows of programs; instantiated in message_carrier.cpp.
using MessageCarrier = BasicMessageCarrier<HostPlatform>;
extern template class BasicMessageCarrier<HostPlatform>;

}  // namespace espalier::network
