#include "plan/selector.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <functional>

#include "base/error.hpp"

namespace espalier::plan {
namespace {

// ESPALIER_REDUCE_SCATTER for reduce_scatter
std::string key_of(Collective collective) {
  std::string key = "ESPALIER_";
  for (const char c : to_string(collective))
    key += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return key;
}

}  // namespace

const Table& Table::instance() {
  static const Table table(Config::instance());
  return table;
}

Table::Table(const Config& config)
    : inlined_(config.flag("ESPALIER_INLINE")),
      read_from_parent_(config.flag("ESPALIER_READ_FROM_PARENT")),
      skip_gather_(config.flag("ESPALIER_SKIP_GATHER")),
      copy_avoidance_(config.flag("ESPALIER_COPY_AVOIDANCE")) {
  if (const std::string& path = config.text("ESPALIER_RULES"); !path.empty()) {
    try {
      rules_ = read_rules(path, warnings_);
    } catch (const Error& error) {
      warnings_.push_back(fmt::format("ESPALIER_RULES: {}; the built-in rules serve", error.what()));
    }
  }
  rules_.insert(rules_.end(), default_rules().begin(), default_rules().end());
  // A line is written by its owner or by the owner's parents: with both kinds in one communicator a parent
  // could overwrite what the owner's readers have not read yet.
  const auto parent_writes = [](const Rule& rule) { return !rule.plan.read_from_parent; };
  if (std::any_of(rules_.begin(), rules_.end(), parent_writes)) read_from_parent_ = false;
  override_with(config);
}

void Table::override_with(const Config& config) {
  for (const Collective collective : all_collectives) {
    const std::string key = key_of(collective);
    const std::string& name = config.text(key);
    if (name.empty()) continue;
    const auto algorithm = parse_algorithm(name);
    const auto known = algorithms_of(collective);
    if (algorithm && std::find(known.begin(), known.end(), *algorithm) != known.end()) {
      algorithms_[static_cast<std::size_t>(collective)] = algorithm;
      continue;
    }
    std::string names;
    for (const Algorithm each : known)
      names += fmt::format("{}{}", names.empty() ? "" : ", ", to_string(each));
    warnings_.push_back(fmt::format("{}={} is no algorithm of {}; it may be {}; the rules decide", key, name,
                                    to_string(collective), names));
  }
  if (!config.text("ESPALIER_CHUNK").empty()) chunk_ = config.bytes("ESPALIER_CHUNK");
  override_tree(config, "ESPALIER_TREE", gather_tree_);
  release_tree_ = gather_tree_;
  override_tree(config, "ESPALIER_GATHER_TREE", gather_tree_);
  override_tree(config, "ESPALIER_RELEASE_TREE", release_tree_);
}

void Table::override_tree(const Config& config, const char* key, std::optional<tree::Spec>& spec) {
  const std::string& text = config.text(key);
  if (text.empty()) return;
  try {
    spec = tree::parse_spec(text);
  } catch (const Error& error) {
    warnings_.push_back(fmt::format("{}: {}; the rules decide", key, error.what()));
  }
}

void Table::apply_overrides(const Query& query, Plan& plan) const {
  const auto& algorithm = algorithms_[static_cast<std::size_t>(query.collective)];
  const bool possible = algorithm != Algorithm::single_copy || query.single_copy;
  if (algorithm && possible && plan.algorithm != *algorithm) {
    plan.algorithm = *algorithm;
    plan.origin = {"environment", 0,
                   fmt::format("{} = {}", to_string(query.collective), to_string(*algorithm))};
  }
  if (chunk_) plan.chunk = *chunk_;
  if (gather_tree_) plan.gather_tree = *gather_tree_;
  if (release_tree_) plan.release_tree = *release_tree_;
  plan.inlined &= inlined_;
  plan.read_from_parent &= read_from_parent_;
  plan.skip_gather &= skip_gather_;
  plan.copy_avoidance &= copy_avoidance_;
}

Plan Table::find(const Query& query) const {
  const auto rule =
      std::find_if(rules_.begin(), rules_.end(), [&](const Rule& r) { return r.matches(query); });
  Plan plan;
  if (rule != rules_.end()) plan = rule->plan;
  apply_overrides(query, plan);
  return plan;
}

std::vector<std::size_t> Table::borders(Collective collective) const {
  std::vector<std::size_t> result = {0};
  for (const Rule& rule : rules_) {
    if (!rule.collectives.empty() &&
        std::find(rule.collectives.begin(), rule.collectives.end(), collective) == rule.collectives.end())
      continue;
    // The first size inside and the first beyond; ends may be broken numbers, or larger than any size.
    constexpr double largest = 9e18;
    if (rule.bytes.first < largest) result.push_back(static_cast<std::size_t>(std::ceil(rule.bytes.first)));
    if (rule.bytes.last < largest) result.push_back(static_cast<std::size_t>(rule.bytes.last) + 1);
  }
  std::sort(result.begin(), result.end());
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

Selector::Selector(const Table& table, Query shape) {
  for (int c = 0; c < collective_count; ++c) {
    Row& row = rows_[static_cast<std::size_t>(c)];
    shape.collective = static_cast<Collective>(c);
    const std::vector<std::size_t> borders = table.borders(shape.collective);
    row.first_index = count_;
    for (std::size_t i = 0; i < borders.size(); ++i) {
      shape.bytes = borders[i];
      row.plans.push_back(table.find(shape));
      row.last_bytes.push_back(i + 1 < borders.size() ? borders[i + 1] - 1
                                                      : std::numeric_limits<std::size_t>::max());
    }
    count_ += static_cast<int>(row.plans.size());
  }
}

int Selector::index_of(const Plan& plan) const {
  // Compared by std::less, never subtracted across rows: a difference of pointers into two arrays is divided
  // as if it were exact, and what comes out may look like an index.
  constexpr std::less<const Plan*> before;
  for (const Row& row : rows_) {
    const Plan* const first = row.plans.data();
    if (!before(&plan, first) && before(&plan, first + row.plans.size()))
      return row.first_index + static_cast<int>(&plan - first);
  }
  return -1;
}

}  // namespace espalier::plan
