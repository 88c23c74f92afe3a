// Nonblocking collectives over nodes on the checking machine: the text of a channel over checked calls of a node and
// checked messages.
#pragma once

#include <memory>
#include <mutex>
#include <numeric>
#include <source_location>
#include <string>
#include <utility>
#include <vector>

#include "collective/schedule/calls_under_way.hpp"
#include "collective/schedule/claims.hpp"
#include "runtime/across/basic_channel.hpp"
#include "tests/collective/under_way.hpp"
#include "tests/simulation/checker/member.hpp"

namespace espalier::testing {

/// What the ranks of a node share for their calls: nothing; room for the data of few calls at a time; for
/// all; what seemed to be there others have taken, so that a rank has one buffer, and gives some data later.
enum class NodeMemory { none, little, enough, taken };

/// The same on one of them.
class CheckedNode {
 public:
  static constexpr std::size_t area_bytes = std::size_t{124} << 10;

  CheckedNode(CheckingMachine& m, NodeMemory memory)
      : memory_(CallMemoryLayout(Calls::Pages::bytes(m.size()))
                    .rest(area(), area_bytes, Execution::current().common<TakenBlocks>()),
                memory == NodeMemory::taken ? one_buffer : own_bytes),
        calls_(m, {{area(), area_bytes},
                   area() + CallMemoryLayout::pages,
                   {&memory_},
                   memory == NodeMemory::little ? 2000 : std::size_t{1} << 20,
                   9,
                   memory != NodeMemory::taken}) {}

  bool start_part(collective::CallUnderWay& call, const machine::CallFacts& facts) {
    history_.add(facts);
    call.fingerprint = history_.fingerprint();
    return calls_.start(call);
  }
  void note_call(const machine::CallFacts& facts) { history_.add(facts); }
  static std::string failure(std::uint64_t&) { return {}; }
  bool advance(collective::CallUnderWay& call) { return calls_.advance(call); }
  bool is_ready(collective::CallUnderWay& call) {
    if (calls_.advance(call)) return true;
    calls_.advance_all();
    return calls_.advance(call);
  }
  void forget(const collective::CallUnderWay& call) { calls_.forget(call); }
  bool claim(std::uint64_t number) {
    return collective::claim_number<simulation::checker::Platform>(
        *reinterpret_cast<std::uint64_t*>(area() + claimed), number);
  }

 private:
  /// Two calls a page: so few fill some pages.
  using Calls = collective::CallsUnderWay<CheckingMachine, RankMemoryOf, 2>;
  static constexpr std::size_t claimed = 64, one_buffer = 1024, own_bytes = std::size_t{24} << 10;
  static_assert(claimed < CallMemoryLayout::pages);
  static std::byte* area() { return Execution::current().area(); }

  RankMemory memory_;
  Calls calls_;
  machine::CallHistory history_;
};

/// What a channel stands on.
struct CheckedSide {
  using Where = std::source_location;
  using KeptNode = std::shared_ptr<CheckedNode>;
  using Wait = simulation::checker::IdleWait;
  /// A rank is one thread.
  struct Lock {
    explicit Lock(std::mutex&) {}
    Lock(std::mutex&, std::try_to_lock_t) {}
    explicit operator bool() const { return true; }
  };
  static void fence(std::memory_order order, Where where = Where::current()) {
    simulation::checker::Platform::fence(order, where);
  }
  static bool has_come(bool has_come, Where where = Where::current()) {
    using namespace simulation::checker;
    const bool is_awaited = Execution::current().at(where, Operation::await) != Change::removed;
    return has_come || !is_awaited;
  }
  /// A mutant is silent.
  static bool speaks(Where where = Where::current()) {
    using namespace simulation::checker;
    return Execution::current().at(where, Operation::await) != Change::removed;
  }
  /// Asks at once, and `most` times in each call: in most scenarios never, for no rank waits in vain. No process ends.
  struct Patience {
    enum class Step { none, look_at_node, ask };
    Step next_step(std::uint64_t call) {
      if (std::exchange(call_, call) != call) questions_ = 0;
      return ++questions_ <= most ? Step::ask : Step::none;
    }
    static inline int most = 0;

   private:
    std::uint64_t call_ = 0;
    int questions_ = 0;
  };
  static void make_progress() {}
  static void note_completed() {}
};

using LetterCall = runtime::across::Call;

/// One rank of a communicator over nodes.
class LettersMember {
 public:
  static constexpr int letters_tag = 5;

  LettersMember(CheckingMachine& m, network::Transport& transport, const Placement& placement,
                NodeMemory memory, int questions = 0)
      : mail_(std::make_shared<runtime::across::Mail>(
            transport, sent_,
            runtime::across::MailPlace{placement, processes(), Execution::current().rank(), letters_tag, 1})),
        channel_(
            mail_, Execution::current().rank(), 0,
            memory != NodeMemory::none && m.size() > 1 ? std::make_shared<CheckedNode>(m, memory) : nullptr,
            {}) {
    CheckedSide::Patience::most = questions;
    Execution::current().messages().name_tag(letters_tag, "runtime/across/mail.cpp", "letters");
  }

  void start(LetterCall& call) { channel_.start(call); }
  bool is_ready(LetterCall& call) { return channel_.is_ready(call); }
  void complete(LetterCall& call) { channel_.complete(call); }

  /// As a rank that is elsewhere in Espalier.
  void listen() {
    mail_->collect();
    mail_->look_at_sent();
  }
  bool has_sent_all() { return sent_.all_have_gone(); }
  bool has_taken_all() const { return !mail_->is_receiving(); }

  /// All calls are complete: nothing more comes, and what was sent goes.
  void leave() {
    Execution& run = Execution::current();
    for (mail_->look_at_sent(); !sent_.all_have_gone(); mail_->look_at_sent()) run.idle(false);
    run.expect(mail_->is_empty(), "a letter has come that no call has taken");
  }

 private:
  static std::vector<int> processes() {
    std::vector<int> all(static_cast<std::size_t>(Execution::current().ranks()));
    std::iota(all.begin(), all.end(), 0);
    return all;
  }

  runtime::across::SentLetters sent_;
  std::shared_ptr<runtime::across::Mail> mail_;
  runtime::across::BasicChannel<CheckedSide> channel_;
};

/// The scenarios of letters.cpp. `wrap`: puts something between a rank and its messages.
using WrapTransport = std::function<std::shared_ptr<network::Transport>(network::Transport&)>;
std::vector<Scenario> letters_between_nodes(int ranks, const WrapTransport& wrap);

}  // namespace espalier::testing
