// Places in the source code of protocol and algorithms, and what a mutant changes there.
#pragma once

#include <atomic>
#include <compare>
#include <cstdint>
#include <set>
#include <source_location>
#include <string>
#include <vector>

namespace espalier::simulation::checker {

/// What the source code does at a site.
enum class Operation : std::uint8_t {
  load,
  store,
  add,
  exchange,
  compare_exchange,
  fence,
  futex_wait,
  futex_wake,
  wait,   ///< of a machine, on a flag
  await,  ///< this and the next: what an algorithm calls on its machine
  await_finish,
  await_release_all,
  reserve,
  set_readers,
  all_finished,
  flush_for_readers,
  send,  ///< this and the next: what a task between nodes does with a message, until it has awaited it
  receive,
  drive,  ///< a wait until a task is done
};
const char* to_string(Operation operation);

/// An operation in the source code: what std::source_location says of it, and its memory order (relaxed for
/// operations that have none).
struct Site {
  std::string file;      ///< relative to src/, or from tests/ on
  std::string function;  ///< without class and template arguments
  unsigned line = 0, column = 0;
  Operation operation = Operation::load;
  std::string of;  ///< the flag, where a function uses several: step, sleepers
  std::memory_order order = std::memory_order_relaxed;

  auto operator<=>(const Site&) const = default;
};
using Sites = std::set<Site>;

/// What a mutant does instead.
enum class Change : std::uint8_t {
  none,
  relaxed,  ///< the weakest order
  acquire_only,
  release_only,
  failure_relaxed,  ///< the order of a compare_exchange that fails
  removed,
  in_two_steps,  ///< a load, then a store: other ranks may come between
  uncompared,    ///< a futex wait that sleeps without comparing
  one_only,      ///< a futex wake that wakes one of the ranks that sleep
  one_more,      ///< says that every rank has finished one step more than the source code says
};
const char* to_string(Change change);

struct Mutant {
  Site site;
  Change change = Change::none;
};

/// Every way to weaken or remove one of the sites.
std::vector<Mutant> mutants_of(const Sites& sites);

/// "wait.hpp signal store step: relaxed"; where a function does the same several times, with `#2` for the
/// second in the source code. Line numbers are left out, so that names outlive edits elsewhere.
std::string name_of(const Mutant& mutant, const Sites& sites);

Site site_of(const std::source_location& where, Operation operation, const char* of, std::memory_order order);

}  // namespace espalier::simulation::checker
