#include "capi/describe/memory.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/config.hpp"
#include "machine/layout.hpp"
#include "memory/arena.hpp"
#include "memory/heap/shared_heap.hpp"
#include "runtime/node/membership.hpp"
#include "runtime/process/node.hpp"

namespace espalier::capi {
namespace {

using machine::Layout;
using nlohmann::json;

std::size_t in_units(std::size_t bytes, std::size_t arena) {
  return Layout::round_up(bytes, memory::Arena::unit_for(arena));
}

/// How many communicators of a kind the budget holds while their messages ride in flag lines.
std::size_t how_many(std::size_t budget, std::size_t arena, int members, int ranks, double ranks_per_core) {
  std::size_t count = 0;
  double spent = 0;
  for (const double until : {runtime::shorter_from, runtime::shortest_from, 1.0}) {
    const Layout layout = runtime::layout_of_lines((spent + until) / 2, members, ranks, ranks_per_core);
    count += static_cast<std::size_t>((until - spent) * static_cast<double>(budget)) /
             in_units(layout.lines_bytes(), arena);
    spent = until;
  }
  return count;
}

json describe_kind(const char* kind, const Layout& layout, std::size_t arena, std::size_t at_once) {
  const std::size_t bytes = in_units(layout.lines_bytes(), arena) + in_units(layout.slots_bytes(), arena);
  return {{"kind", kind},
          {"ranks", layout.ranks},
          {"bytes", bytes},
          {"lines", in_units(layout.lines_bytes(), arena)},
          {"of_a_rank", bytes / static_cast<std::size_t>(layout.ranks)},
          {"slots", layout.slots},
          {"slot", layout.slot_bytes},
          {"cell", layout.pairwise_bytes()},
          {"at_once", at_once}};
}

/// All ranks, half of them, two of them; each number of ranks once. One rank takes nothing.
json describe_kinds(int ranks, double ranks_per_core, std::size_t arena, std::size_t budget) {
  json kinds = json::array();
  int described = 0;
  for (const auto& [kind, members] :
       {std::pair("all ranks", ranks), std::pair("half of them", ranks / 2), std::pair("two of them", 2)}) {
    if (members < 2 || members > ranks || members == described) continue;
    described = members;
    const Layout layout = runtime::layout_of_lines(0, members, ranks, ranks_per_core);
    kinds.push_back(
        describe_kind(kind, layout, arena, how_many(budget, arena, members, ranks, ranks_per_core)));
  }
  return kinds;
}

}  // namespace

json describe_memory(int ranks, double ranks_per_core) {
  const ConfigValue& setting = Config::instance().value("ESPALIER_SHM");
  const std::size_t arena = runtime::arena_bytes(ranks), notes = runtime::arena_notes_bytes(ranks);
  const std::size_t budget = arena > notes ? arena - notes : 0;
  const bool heap = memory::SharedHeap::instance() != nullptr;
  return {{"ranks", ranks},
          {"ranks_per_core", ranks_per_core},
          {"arena", arena},
          {"setting", setting.text},
          {"origin", setting.origin},
          {"notes", notes},
          {"communicators", describe_kinds(ranks, ranks_per_core, arena, budget)},
          {"kept_of_a_rank", heap ? memory::SharedHeap::keeps() : 0},
          {"no_heap", memory::SharedHeap::why_none()},
          {"descriptors_of_a_rank", heap ? 2 : 1},
          {"measured_by", "espalier bench --setup --parts start"}};
}

}  // namespace espalier::capi
