// Places in the text of protocol and algorithms, and what a mutant changes there.
#pragma once

#include <atomic>
#include <compare>
#include <cstdint>
#include <set>
#include <source_location>
#include <string>
#include <vector>

namespace espalier::simulation::checker {

/// What the text does at a site.
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
  await,  ///< from here on of an algorithm, on its machine
  await_finish,
  await_release_all,
  reserve,
  set_readers,
  everybody_finished,
  flush_for_readers,
  send,  ///< from here on of a task between nodes: a message, until it is awaited
  receive,
  drive,  ///< until a task is done
};
const char* to_string(Operation operation);

/// An operation in the text: what std::source_location says of it, and its memory order (relaxed for
/// operations that have none).
struct Site {
  std::string file;      ///< its last part, behind a part of a layer such as nodes/
  std::string function;  ///< without class and template arguments
  unsigned line = 0, column = 0;
  Operation operation = Operation::load;
  std::string of;  ///< of which flag, where a function uses several: step, sleepers
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
  failure_relaxed,  ///< of a compare_exchange that changes nothing
  removed,
  in_two_steps,  ///< a load, then a store: others come in between
  uncompared,    ///< sleeps without comparing
  one_only,      ///< wakes one of those who sleep
  one_more,      ///< says that every rank has finished one step more than the text says
};
const char* to_string(Change change);

struct Mutant {
  Site site;
  Change change = Change::none;
};

/// Every way to weaken or remove one of the sites.
std::vector<Mutant> mutants_of(const Sites& sites);

/// "wait.hpp signal store step: relaxed"; where a function does the same several times, with `#2` for the
/// second in the text. Line numbers are left out, so that names outlive edits elsewhere.
std::string name_of(const Mutant& mutant, const Sites& sites);

Site site_of(const std::source_location& where, Operation operation, const char* of, std::memory_order order);

}  // namespace espalier::simulation::checker
