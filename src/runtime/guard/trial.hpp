// Which of two serves the calls of one kind: Espalier or the host MPI (ESPALIER_GUARD). Pure: what ranks measure comes from
// outside, and all ranks decide from the same sums.
#pragma once

#include <cstdint>
#include <string>

namespace espalier::runtime::guard {

enum class Server : std::uint8_t { espalier, host };

/// What one of the blocks took, or all ranks' together, in ticks.
struct Pair {
  std::uint64_t espalier = 0, host = 0;
};

/// Calls of one kind are numbered alike on all ranks. They come in pairs of blocks: some calls by Espalier, as many by the
/// host, in turns who is first, so that a machine that becomes slower or faster favours neither. The host wins a pair where
/// its block took less by more than `margin`. It gets the calls after `wins` pairs; Espalier keeps them after `losses`.
/// The first pair warms both up and decides only where the host is hopeless: where ranks share cores its calls may take a
/// thousand times as long. At even odds the host would win a pair by noise in less than half of the cases, and `wins` of
/// them before `losses` in less than 9 of 100.
class Trial {
 public:
  static constexpr int calls_of_block = 8;
  static constexpr int calls_that_warm_up = 1;  ///< of a block, after the other one's; not counted
  static constexpr int wins = 7, losses = 3;
  static constexpr double margin = 0.03, hopeless = 8;
  /// So many calls lie between two trials. After one in which Espalier took less than half the host's time there is none.
  static constexpr std::uint32_t pause = 20'000;

  /// Who serves the next call.
  Server server() const { return server_; }
  /// Whether the next call is not measured.
  bool is_settled() const { return stage_ == Stage::settled; }

  /// After a trial: so many calls later there shall be another one; 0: never.
  std::uint32_t calls_until_next() const { return until_next_; }
  void begin_again();
  /// The next call of a trial took so many ticks. True: the ranks have to add up their mine(), and judge() the sums.
  bool note(std::uint64_t ticks);
  const Pair& mine() const { return mine_; }
  void judge(Pair of_all_ranks);

  static constexpr const char* tries_host = "ESPALIER_GUARD tries the host";
  /// Why the host serves the calls, for the statistics. `seconds`: of a tick. `ranks`: whose times were added up.
  std::string why_host(double seconds, int ranks) const;

 private:
  enum class Stage : std::uint8_t { measured, settled };

  void settle(Server server, std::uint32_t until_next);
  Server server_of(int block) const {  // Espalier, host; host, Espalier; and again
    return ((block + 1) & 2) == 0 ? Server::espalier : Server::host;
  }

  Pair mine_, all_;
  std::uint32_t until_next_ = 0;
  int call_ = 0;   ///< within the block
  int block_ = 0;  ///< of this trial; two of them are a pair
  int won_ = 0, lost_ = 0;
  Server server_ = Server::espalier;
  Stage stage_ = Stage::measured;
};

}  // namespace espalier::runtime::guard
