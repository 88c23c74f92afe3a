// What a schedule leaves open, and who decides it: chance, a systematic walk, or a trace that is replayed.
#pragma once

#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace espalier::simulation::checker {

enum class Question : std::uint8_t {
  go_on,   ///< options are ranks; the first is the one that runs: all others are preemptions
  next,    ///< options are ranks; the one that ran waits or has ended
  value,   ///< options are values of a flag, the newest first; all others are stale
  rouse,   ///< options: let every rank sleep (first), or wake this sleeper for no reason, as a futex may
  leave,   ///< options: a message leaves as it is sent, or only when it is received
  arrive,  ///< options: a message is done when it is looked at, or not yet
  from,    ///< options: of which sender a message is seen first
};

/// What was chosen, in order: enough to run the same execution again. As text: one letter a choice, `a` the
/// first option; a number in front says how often.
using Trace = std::vector<std::uint8_t>;
std::string print(const Trace& trace);
/// Throws Error for what print() does not write.
Trace parse_trace(std::string_view text);

/// Decides one execution after the other. Not thread-safe.
class Chooser {
 public:
  virtual ~Chooser() = default;
  /// An index into `options`, of which there are two at least.
  std::size_t choose(Question question, std::span<const int> options) {
    const std::size_t chosen = decide(question, options);
    trace_.push_back(static_cast<std::uint8_t>(chosen));
    return chosen;
  }
  /// Whether futexes may wake for no reason.
  virtual bool rouses() const { return true; }
  const Trace& trace() const { return trace_; }

 protected:
  virtual std::size_t decide(Question question, std::span<const int> options) = 0;
  void forget() { trace_.clear(); }

 private:
  Trace trace_;
};

/// By chance, from a seed. Seeds take turns between three temperaments: often another rank; seldom another
/// rank; and ranks by priorities that change at a few moments (S. Burckhardt et al., "A Randomized Scheduler
/// with Probabilistic Guarantees of Finding Bugs", 2010, section 2), which finds what a slow rank reveals.
/// Each is combined with loads that are never, seldom or mostly stale, and with messages that are never,
/// seldom or mostly late.
class RandomChooser : public Chooser {
 public:
  /// `length`: about how many choices an execution has, among which the moments of change are drawn.
  RandomChooser(std::uint64_t seed, std::size_t length);

 protected:
  std::size_t decide(Question question, std::span<const int> options) override;

 private:
  bool chance(unsigned of_256) { return (random_() & 255) < of_256; }
  std::size_t pick(std::size_t count) { return static_cast<std::size_t>(random_() % count); }
  std::size_t most_urgent(std::span<const int> ranks);

  std::mt19937_64 random_;
  bool by_priority_;
  unsigned switches_, stale_, roused_, late_;
  std::vector<int> priorities_;
  std::vector<std::size_t> changes_;
  std::size_t choices_ = 0;
};

/// All schedules with at most `bound` preemptions and stale loads together (M. Musuvathi, S. Qadeer,
/// "Iterative Context Bounding for Systematic Testing of Multithreaded Programs", 2007), one after the other.
class SystematicChooser : public Chooser {
 public:
  explicit SystematicChooser(int bound) : bound_(bound) {}
  /// To the next schedule; false when there is none left.
  bool advance();
  bool rouses() const override { return false; }

 protected:
  std::size_t decide(Question question, std::span<const int> options) override;

 private:
  struct Decision {
    std::uint8_t chosen, count;
    bool costs;  // whether any but the first option is held against the bound
  };
  int bound_;
  std::size_t depth_ = 0;
  std::vector<Decision> path_;
};

/// What a trace says; afterwards always the first option.
class ReplayChooser : public Chooser {
 public:
  explicit ReplayChooser(Trace trace) : replayed_(std::move(trace)) {}

 protected:
  std::size_t decide(Question question, std::span<const int> options) override;

 private:
  Trace replayed_;
  std::size_t next_ = 0;
};

}  // namespace espalier::simulation::checker
