// The checking machine: the host machine's text over memory that is checked. Algorithms run on it as they
// are.
#pragma once

#include <algorithm>
#include <source_location>
#include <span>
#include <vector>

#include "base/format.hpp"
#include "machine/host_machine.hpp"
#include "simulation/checker/platform.hpp"

namespace espalier::simulation::checker {

/// BasicMachine, whose waits, and what else orders its memory, in the text of an algorithm a mutant may leave
/// out. It also fails where a gather line is published while a rank may still read it for an earlier step, even if the
/// schedule at hand does no harm.
class CheckingMachine : public machine::BasicMachine<Platform> {
  using Base = machine::BasicMachine<Platform>;
  using Where = std::source_location;
  using Step = memory::Step;
  using Steps = machine::Steps;
  using Channel = machine::Channel;

 public:
  using Base::Base;

  void await(Channel channel, int peer, Step step, Where where = Where::current()) {
    if (is_kept(where, Operation::await)) Base::await(channel, peer, step);
  }
  Steps await(Channel channel, int peer, const Steps& steps, Where where = Where::current()) {
    return is_kept(where, Operation::await) ? Base::await(channel, peer, steps) : steps;
  }
  std::size_t await_block(Channel channel, int peer, Step step, std::size_t expected,
                          Where where = Where::current()) {
    return is_kept(where, Operation::await) ? Base::await_block(channel, peer, step, expected) : expected;
  }
  machine::PairLengths await_pair(Channel channel, int peer, Step step, const machine::PairLengths& expected,
                                  Where where = Where::current()) {
    return is_kept(where, Operation::await) ? Base::await_pair(channel, peer, step, expected) : expected;
  }
  bool await_exactly(Channel channel, int peer, Step step, Where where = Where::current()) {
    return is_kept(where, Operation::await) ? Base::await_exactly(channel, peer, step) : true;
  }
  void await_finish(int peer, Step step, Where where = Where::current()) {
    if (is_kept(where, Operation::await_finish)) Base::await_finish(peer, step);
  }
  Steps reserve(const Steps& steps, Where where = Where::current()) {
    return is_kept(where, Operation::reserve) ? Base::reserve(steps) : steps;
  }
  void set_readers(const Steps& steps, std::span<const int> readers, Where where = Where::current()) {
    if (!is_kept(where, Operation::set_readers)) return;
    Base::set_readers(steps, readers);
    for (Step step = steps.first; step <= steps.last(); ++step) gather_line(step) = {steps.last(), readers};
  }
  void all_finished(Step step, Where where = Where::current()) {
    const bool more = Execution::current().at(where, Operation::all_finished) == Change::one_more;
    const Step finished = more ? step + 1 : step;
    all_finished_ = std::max(all_finished_, finished);
    Base::all_finished(finished);
  }
  void publish(Channel channel, Step step) {
    check_line(channel, step);
    Base::publish(channel, step);
  }
  void publish(Channel channel, const Steps& steps) {
    check_line(channel, steps.last());
    Base::publish(channel, steps);
  }
  void publish_inline(Channel channel, Step step, const void* source, std::size_t bytes) {
    check_line(channel, step);
    Base::publish_inline(channel, step, source, bytes);
  }
  void publish_block(Channel channel, Step step, std::size_t bytes) {
    check_line(channel, step);
    Base::publish_block(channel, step, bytes);
  }
  void publish_block(Channel channel, const Steps& steps, std::size_t bytes) {
    check_line(channel, steps.last());
    Base::publish_block(channel, steps, bytes);
  }
  void publish_pair(Channel channel, Step step, std::size_t out, std::size_t in) {
    check_line(channel, step);
    Base::publish_pair(channel, step, out, in);
  }
  void flush_for_readers(const void* data, std::size_t bytes, Where where = Where::current()) {
    if (is_kept(where, Operation::flush_for_readers)) Base::flush_for_readers(data, bytes);
  }
  const std::byte* await_release_all(Step step, Where where = Where::current()) {
    if (!is_kept(where, Operation::await_release_all)) Execution::current().skip_next_wait();
    return Base::await_release_all(step);
  }
  /// Whose slot it is may be junk that an algorithm has read.
  std::byte* slot(int peer, const Steps& steps) {
    if (peer < 0 || peer >= size())
      Execution::current().fail(Wrong::error, "a slot of a rank that does not exist");
    return Base::slot(peer, steps);
  }

 private:
  struct ReadLine {
    Step step = 0;
    std::span<const int> readers;
  };
  ReadLine& gather_line(Step step) { return gather_lines_[step % gather_lines_.size()]; }
  void check_line(Channel channel, Step step) {
    if (channel != Channel::gather) return;
    const ReadLine& former = gather_line(step);
    if (former.step >= step || former.step <= all_finished_) return;
    for (const int reader : former.readers)
      if (!known_finished(reader, former.step))
        Execution::current().fail(
            Wrong::error, formatted("rank {} publishes step {} on a line that rank {} may still read for {}",
                                    rank(), step, reader, former.step));
  }
  static bool is_kept(const Where& where, Operation operation) {
    return Execution::current().at(where, operation) != Change::removed;
  }

  std::vector<ReadLine> gather_lines_ = std::vector<ReadLine>(static_cast<std::size_t>(slots()));
  Step all_finished_ = 0;
};

static_assert(machine::Machine<CheckingMachine>);

}  // namespace espalier::simulation::checker
