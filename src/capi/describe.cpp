#include "espalier/describe.h"

#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

#include "base/config.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/format.hpp"
#include "base/printable.hpp"
#include "capi/describe/algorithms.hpp"
#include "capi/describe/memory.hpp"
#include "capi/describe/network.hpp"
#include "capi/describe/window.hpp"
#include "memory/heap/shared_heap.hpp"
#include "plan/selector.hpp"
#include "runtime/process/node.hpp"
#include "runtime/setup/agreement.hpp"
#include "topology/cpu_budget.hpp"
#include "topology/describe.hpp"
#include "topology/discover.hpp"
#include "tree/compose.hpp"
#include "tree/describe.hpp"

namespace espalier::capi {
namespace {

using nlohmann::json;

topology::Topology machine_of(const json& request) {
  const json& synthetic = request.value("synthetic", json());
  return synthetic.is_string() ? topology::discover(topology::Source::synthetic(synthetic))
                               : runtime::discover_machine();
}

std::vector<topology::CpuSet> cores_of(const topology::Domain& domain) {
  if (domain.children.empty()) return {domain.cpus};
  std::vector<topology::CpuSet> cores;
  for (const topology::Domain& child : domain.children)
    for (topology::CpuSet& core : cores_of(child)) cores.push_back(std::move(core));
  return cores;
}

// As given, or one rank a core in turn.
std::vector<topology::CpuSet> affinity_of(const json& request, const topology::Topology& machine, int ranks) {
  std::vector<topology::CpuSet> masks;
  if (const json& given = request.value("affinity", json()); given.is_array()) {
    for (const json& mask : given) masks.push_back(topology::CpuSet::parse(mask.get<std::string>()));
    if (static_cast<int>(masks.size()) != ranks)
      throw Error(formatted("{} masks for {} ranks", masks.size(), ranks));
    return masks;
  }
  const auto cores = cores_of(machine.machine);
  for (int r = 0; r < ranks; ++r) masks.push_back(cores[static_cast<std::size_t>(r) % cores.size()]);
  return masks;
}

int ranks_of(const json& request) {
  const int ranks = request.value("ranks", 1);
  if (ranks < 1) throw Error(formatted("{} ranks: need at least 1", ranks));
  return ranks;
}

double ranks_per_core_of(const json& request, int ranks) {
  const json& given = request.value("ranks_per_core", json());
  if (given.is_number()) return given;
  const topology::Topology machine = machine_of(request);
  return ranks / topology::cpu_budget(machine, affinity_of(request, machine, ranks)).usable();
}

plan::Query query_of(const json& request) {
  plan::Query query;
  query.collective = collective_of(request);
  // Of a call whose length no rank knows, rules are asked without it, whatever the request says.
  if (has_length(query.collective)) query.bytes = request.value("bytes", std::size_t{0});
  query.ranks = query.ranks_per_node = ranks_of(request);
  query.commutative = request.value("commutative", true);
  query.prompt_yields = request.value("prompt_yields", true);
  query.ranks_per_core = ranks_per_core_of(request, query.ranks);
  return query;
}

json tree_of(const topology::Group& groups, const tree::Spec& spec, int root) {
  json result = tree::to_json(tree::compose(groups, spec, root));
  result["text"] = tree::to_string(spec);
  return result;
}

json describe_topology(const json& request) {
  const topology::Topology machine = machine_of(request);
  const int ranks = ranks_of(request);
  const int root = request.value("root", 0);
  if (root < 0 || root >= ranks) throw Error(formatted("root {}: the ranks are 0 to {}", root, ranks - 1));
  const auto masks = affinity_of(request, machine, ranks);
  const topology::Group groups = topology::group_ranks(machine, masks);
  const topology::CpuBudget budget = topology::cpu_budget(machine, masks);
  // The trees of a reduce and a bcast of a page, unless the caller names one.
  plan::Query query;
  query.bytes = 4096;
  query.ranks = query.ranks_per_node = ranks;
  query.ranks_per_core = ranks / budget.usable();
  query.collective = Collective::reduce;
  tree::Spec gather = plan::Table::instance().find(query).gather_tree;
  query.collective = Collective::bcast;
  tree::Spec release = plan::Table::instance().find(query).release_tree;
  if (const json& text = request.value("tree", json()); text.is_string())
    gather = release = tree::parse_spec(text.get<std::string>());
  const json domains = topology::to_json(machine);
  return {{"topology", domains["machine"]},
          {"source", machine.source},
          {"groups", topology::to_json(groups)},
          {"gather", tree_of(groups, gather, root)},
          {"release", tree_of(groups, release, root)},
          {"budget",
           {{"cores", budget.cores},
            {"quota", std::isinf(budget.quota) ? json() : json(budget.quota)},
            {"text", budget.explanation}}}};
}

/// The rules in force, with those of a file of `espalier tune` if the request names one: here is no host MPI by
/// which it would be found.
plan::Table table_of(const json& request) {
  plan::TunedRules tuned;
  tuned.path = request.value("tuned", "");
  if (!tuned.path.empty()) tuned.text = read_file(tuned.path, tuned.why).value_or("");
  return plan::Table(Config::instance(), tuned);
}

json describe_plan(const json& request) {
  const plan::Query query = query_of(request);
  const plan::Table table = table_of(request);
  const plan::Plan plan = table.find(query);
  const bool ordered =
      !query.commutative && traits(query.collective).reduces && plan.algorithm != plan::Algorithm::host;
  std::string length;
  if (has_length(query.collective))
    length = formatted(" of {} bytes", query.bytes);
  else if (traits(query.collective).moves_blocks)
    length = " of any length";
  std::string why = formatted("the first rule that holds {}{} on {} ranks with {:.3g} ranks per usable core",
                              to_string(query.collective), length, query.ranks, query.ranks_per_core);
  if (plan.origin.file == "environment") why = "the environment overrides the rules: " + plan.origin.rule;
  if (plan.origin.file.empty()) why = "no rule holds this call, so the host MPI serves it";
  if (ordered)
    why +=
        traits(query.collective).is_scan
            ? "; an operator that does not commute goes over doubling distances, whole vectors at a time"
            : "; an operator that does not commute goes up a rank-contiguous tree, whole vectors at a time";
  if (const auto promise = reduce::promise(table.reproducibility());
      !promise.empty() && traits(query.collective).reduces && !ordered)
    why += formatted("; {}", promise);
  plan::Query slow = query;
  slow.prompt_yields = false;
  if (const plan::Plan other = table.find(slow); other.algorithm != plan.algorithm)
    why += formatted("; {} where ranks have sessions of their own (docs/waiting.md)",
                     to_string(other.algorithm));
  const machine::Layout layout =
      runtime::layout_on_one_node(query.ranks, query.ranks_per_node, query.ranks_per_core);
  return {
      {"algorithm", ordered ? "tree" : plan::to_string(plan.algorithm)},
      {"chunk", plan.chunk},
      {"zero_copy", plan.zero_copy == plan::Plan::never
                        ? "nothing"
                        : formatted("buffers of MPI_Alloc_mem from {} on, where all ranks have them there",
                                    print_bytes(plan.zero_copy))},
      {"or_slots", plan.or_slots},
      {"slots", layout.slots},
      {"slot", layout.slot_bytes},
      {"shared_memory",
       formatted("{} for this communicator, out of the node's budget of {} (ESPALIER_SHM)",
                 print_bytes(layout.bytes()), print_bytes(runtime::arena_bytes(query.ranks_per_node)))},
      {"kept_memory", formatted("up to {} of freed MPI_Alloc_mem blocks on each rank (ESPALIER_ALLOC_KEEP)",
                                print_bytes(memory::SharedHeap::keeps()))},
      {"gather_tree", tree::to_string(plan.gather_tree)},
      {"release_tree", tree::to_string(plan.release_tree)},
      {"inline", plan.inlined},
      {"read_from_parent", plan.read_from_parent},
      {"skip_gather", plan.skip_gather},
      {"copy_avoidance", plan.copy_avoidance},
      {"ranks_per_core", query.ranks_per_core},
      {"rule", describe_rule(plan.origin)},
      {"why", why},
      {"warnings", table.warnings()}};
}

/// Where tuned rules for a host MPI are looked for, and what they are called.
json describe_tuned(const json& request) {
  const Config& config = Config::instance();
  const std::string host = request.value("host", "");
  const plan::TunedFor what = plan::tuned_for(config, host);
  const plan::TunedRules found = plan::find_tuned_rules(config, host);
  return {{"machine", what.machine},
          {"host", what.host},
          {"espalier", what.espalier},
          {"name", plan::tuned_file_name(what)},
          {"folders", plan::tuned_folders(config)},
          {"file", found.path.empty() ? json() : json(found.path)}};
}

json describe_config() {
  json values = json::array();
  for (const ConfigValue& value : Config::instance().values())
    values.push_back({{"key", value.key->name},
                      {"value", printable(value.text)},
                      {"default", value.key->fallback},
                      {"origin", printable(value.origin)},
                      {"help", value.key->help}});
  json warnings = json::array();
  for (const auto* all : {&Config::instance().warnings(), &plan::Table::instance().warnings()})
    for (const std::string& warning : *all) warnings.push_back(printable(warning));
  return {{"values", values}, {"warnings", warnings}};
}

json answer(const std::string& text) {
  const json request = json::parse(text);
  const std::string what = request.value("what", "");
  if (what == "topology") return describe_topology(request);
  if (what == "plan") return describe_plan(request);
  if (what == "network") return describe_network(request);
  if (what == "window") return describe_window(request);
  if (what == "memory")
    return describe_memory(ranks_of(request), ranks_per_core_of(request, ranks_of(request)));
  if (what == "tuned") return describe_tuned(request);
  if (what == "config") return describe_config();
  if (what == "algorithms") return describe_algorithms();
  throw Error(formatted(
      "\"what\" is \"{}\"; it may be topology, plan, network, window, memory, tuned, config or algorithms",
      what));
}

/// Also where the environment or the system has brought in bytes that are no UTF-8.
std::string in_text(const json& answer) {
  return answer.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace
}  // namespace espalier::capi

extern "C" char* espalier_describe(const char* request) {
  std::string text;
  try {
    text = espalier::capi::in_text(espalier::capi::answer(request ? request : ""));
  } catch (const std::exception& error) {
    text = espalier::capi::in_text({{"error", espalier::printable(error.what())}});
  }
  return strdup(text.c_str());
}

extern "C" void espalier_free(char* text) { free(text); }
