// Reads plain synthetic descriptions of machines.
#include <algorithm>
#include <charconv>
#include <utility>

#include "topology/without_hwloc.hpp"

namespace espalier::topology {
namespace {

/// The names that hwloc takes; no level: it only multiplies.
constexpr std::pair<std::string_view, std::optional<Level>> kinds[] = {
    {"package", Level::package}, {"socket", Level::package}, {"numa", Level::numa},
    {"numanode", Level::numa},   {"node", Level::numa},      {"l3", Level::l3},
    {"l3cache", Level::l3},      {"l2", Level::l2},          {"l2cache", Level::l2},
    {"core", Level::core},       {"die", std::nullopt},      {"group", std::nullopt},
    {"l1", std::nullopt},        {"l1cache", std::nullopt},  {"pu", std::nullopt},
};

struct Step {
  std::string name;
  std::optional<Level> level;
  int count = 0;  // in one of the step before
};

std::optional<Step> step_of(std::string_view word) {
  const std::size_t colon = word.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  Step step;
  for (const char c : word.substr(0, colon))
    step.name += static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
  const auto kind = std::find_if(std::begin(kinds), std::end(kinds),
                                 [&](const auto& one) { return one.first == step.name; });
  const std::string_view number = word.substr(colon + 1);
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), step.count);
  if (kind == std::end(kinds) || error != std::errc() || end != number.data() + number.size() ||
      step.count < 1)
    return std::nullopt;
  step.level = kind->second;
  return step;
}

std::optional<std::vector<Step>> steps_of(std::string_view text) {
  std::vector<Step> steps;
  while (!text.empty()) {
    const std::size_t blank = std::min(text.find(' '), text.size());
    if (blank > 0) {
      auto step = step_of(text.substr(0, blank));
      if (!step) return std::nullopt;
      steps.push_back(*std::move(step));
    }
    text.remove_prefix(std::min(blank + 1, text.size()));
  }
  const auto is_pu = [](const Step& step) { return step.name == "pu"; };
  if (std::count_if(steps.begin(), steps.end(), is_pu) != 1 || !is_pu(steps.back())) return std::nullopt;
  return steps;
}

bool has_twice(const std::vector<Step>& steps, Level level) {
  return std::count_if(steps.begin(), steps.end(), [&](const Step& step) { return step.level == level; }) > 1;
}

}  // namespace

std::optional<Domain> read_synthetic(std::string_view text) {
  const auto steps = steps_of(text);
  if (!steps) return std::nullopt;
  for (const Level level : all_levels)
    if (has_twice(*steps, level)) return std::nullopt;
  long long cpus = 1;
  for (const Step& step : *steps)
    if ((cpus *= step.count) > CpuSet::max_cpu + 1) return std::nullopt;

  const CpuSet machine = CpuSet::range(0, static_cast<int>(cpus) - 1);
  std::vector<Domain> pieces;
  bool has_numa = false;
  int width = static_cast<int>(cpus);  // CPUs of one piece of the step
  for (const Step& step : *steps) {
    width /= step.count;
    has_numa |= step.level == Level::numa;
    for (int first = 0; step.level && first < cpus; first += width)
      pieces.push_back({*step.level, CpuSet::range(first, first + width - 1), {}});
  }
  if (!has_numa) pieces.push_back({Level::numa, machine, {}});  // one memory, as hwloc counts it
  return nest(machine, std::move(pieces));
}

}  // namespace espalier::topology
