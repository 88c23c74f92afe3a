// Finds plans: by rules, with the settings of the configuration on top.
#include "plan/selector.hpp"

#include <algorithm>
#include <cmath>

#include "base/config_keys.hpp"
#include "base/environment.hpp"
#include "base/error.hpp"
#include "base/format.hpp"
#include "base/numbers.hpp"

namespace espalier::plan {
const Table& Table::instance() {
  static const Table& table = *new Table(Config::instance(), tuned_rules());  // never destroyed, as Config
  return table;
}

Table::Table(const Config& config, const TunedRules& tuned)
    : reproducibility_(reduce::reproducibility(config)),
      inlined_(config.flag("ESPALIER_INLINE")),
      read_from_parent_(config.flag("ESPALIER_READ_FROM_PARENT")),
      skip_gather_(config.flag("ESPALIER_SKIP_GATHER")),
      copy_avoidance_(config.flag("ESPALIER_COPY_AVOIDANCE")) {
  add_rules(config, tuned);
  rules_.insert(rules_.end(), default_rules().begin(), default_rules().end());
  // A flag line is written by its rank, or by the parent of that rank (not read_from_parent). With both kinds
  // in one communicator a parent could overwrite what other ranks have not read yet.
  const auto parent_writes = [](const Rule& rule) { return !rule.plan.read_from_parent; };
  if (std::any_of(rules_.begin(), rules_.end(), parent_writes)) read_from_parent_ = false;
  has_trials_ =
      std::any_of(rules_.begin(), rules_.end(), [](const Rule& rule) { return rule.trial.has_value(); });
  override_with(config);
}

void Table::add_rules(const Config& config, const TunedRules& tuned) {
  const auto add = [this](const std::vector<Rule>& more) {
    rules_.insert(rules_.end(), more.begin(), more.end());
  };
  const std::string& path = config.text("ESPALIER_RULES");
  try {
    if (!path.empty()) add(read_rules(path, warnings_));
  } catch (const Error& error) {
    warnings_.push_back(formatted("ESPALIER_RULES: {}; the built-in rules serve", error.what()));
  }
  if (tuned.path.empty()) return;
  try {
    if (!tuned.why.empty()) throw Error(formatted("cannot read {}: {}", tuned.path, tuned.why));
    add(parse_rules(tuned.text, tuned.path, warnings_));
  } catch (const Error& error) {
    warnings_.push_back(formatted("tuned rules: {}; the built-in rules serve", error.what()));
  }
}

int Table::trial() const {
  const char* number = has_trials_ ? variable("ESPALIER_RUN_TRIAL") : nullptr;
  return number ? parse_number<int>(number).value_or(0) : 0;
}

void Table::override_with(const Config& config) {
  for (const Collective collective : all_collectives) {
    const auto row = static_cast<std::size_t>(collective);
    algorithms_[row] = forced(config, algorithm_key(collective), Scope::node, collective);
    network_algorithms_[row] = forced(config, network_algorithm_key(collective), Scope::network, collective);
  }
  override_pieces(config);
  override_tree(config, "ESPALIER_TREE", gather_tree_);
  release_tree_ = gather_tree_;
  override_tree(config, "ESPALIER_GATHER_TREE", gather_tree_);
  override_tree(config, "ESPALIER_RELEASE_TREE", release_tree_);
  override_tree(config, "ESPALIER_NETWORK_TREE", network_tree_);
}

std::optional<Algorithm> Table::forced(const Config& config, std::string_view key, Scope scope,
                                       Collective collective) {
  const std::string& name = config.text(key);
  if (name.empty()) return std::nullopt;
  const auto algorithm = parse_algorithm(name);
  if (algorithm && has_algorithm(scope, collective, *algorithm)) {
    if (scope == Scope::network || reproducibility_ == reduce::Reproducibility::run ||
        folds_at_once(collective, *algorithm))
      return algorithm;
    warnings_.push_back(
        formatted("{}={} is left out: its bits would depend on places, and ESPALIER_REPRODUCIBLE={}", key,
                  name, reduce::to_string(reproducibility_)));
    return std::nullopt;
  }
  std::string names;
  for (const Algorithm each : algorithms_of(scope, collective))
    names += formatted("{}{}", names.empty() ? "" : ", ", to_string(each));
  warnings_.push_back(formatted("{}={} is no algorithm of {}; it may be {}; the rules decide", key, name,
                                to_string(collective), names));
  return std::nullopt;
}

void Table::override_pieces(const Config& config) {
  if (!config.text("ESPALIER_CHUNK").empty()) chunk_ = config.bytes("ESPALIER_CHUNK");
  if (!config.text("ESPALIER_SEGMENT").empty()) segment_ = config.bytes("ESPALIER_SEGMENT");
  const std::string& leaders = config.text("ESPALIER_LEADERS");
  if (!leaders.empty()) leaders_ = leaders == "all" ? 0 : std::stoi(leaders);  // checked by Config
}

void Table::override_tree(const Config& config, const char* key, std::optional<tree::Spec>& spec) {
  const std::string& text = config.text(key);
  if (text.empty()) return;
  try {
    spec = tree::parse_spec(text);
  } catch (const Error& error) {
    warnings_.push_back(formatted("{}: {}; the rules decide", key, error.what()));
  }
}

void Table::apply_overrides(const Query& query, Plan& plan) const {
  const auto& algorithm = algorithms_[static_cast<std::size_t>(query.collective)];
  if (algorithm && is_possible(Scope::node, *algorithm, query) && plan.algorithm != *algorithm) {
    plan.algorithm = *algorithm;
    plan.origin = {
        "environment", 0, formatted("{} = {}", to_string(query.collective), to_string(*algorithm)), {}};
  }
  if (chunk_) plan.chunk = *chunk_;
  if (gather_tree_) plan.gather_tree = *gather_tree_;
  if (release_tree_) plan.release_tree = *release_tree_;
  // Zero copy and the adaptive choice would replace the algorithm that the user has asked for.
  if (!query.shared_heaps || algorithm) plan.zero_copy = Plan::never;
  if (algorithm) plan.or_slots = false;
  plan.inlined &= inlined_;
  plan.read_from_parent &= read_from_parent_;
  plan.skip_gather &= skip_gather_;
  plan.copy_avoidance &= copy_avoidance_;
}

void Table::apply_overrides(const Query& query, NetworkPlan& plan) const {
  const auto& algorithm = network_algorithms_[static_cast<std::size_t>(query.collective)];
  if (algorithm && is_possible(Scope::network, *algorithm, query) && plan.algorithm != *algorithm) {
    plan.algorithm = *algorithm;
    plan.origin = {"environment",
                   0,
                   formatted("network of {} = {}", to_string(query.collective), to_string(*algorithm)),
                   {}};
  }
  if (segment_) plan.segment = *segment_;
  if (leaders_) plan.leaders = *leaders_;
  if (network_tree_) plan.tree = *network_tree_;
}

NetworkPlan Table::find_network(const Query& query) const {
  const auto rule = std::find_if(rules_.begin(), rules_.end(),
                                 [&](const Rule& r) { return r.between_nodes && r.matches(query); });
  NetworkPlan plan;
  if (rule != rules_.end()) plan = rule->network;
  apply_overrides(query, plan);
  // A rule or setting that leaves the node stage to the host leaves the whole collective to it. Without any
  // rule the plan is `host` too, but has no origin.
  if (const Plan node = find(query);
      node.algorithm == Algorithm::host && node.origin.line + node.origin.rule.size() > 0) {
    plan.algorithm = Algorithm::host;
    plan.origin = node.origin;
  }
  return plan;
}

bool Table::keeps_order(const Rule& rule, Collective collective) const {
  return reproducibility_ == reduce::Reproducibility::run || folds_at_once(collective, rule.plan.algorithm);
}

/// Where no rule has a plan that does, the plan of most of them.
void Table::put_in_order(const Query& query, Plan& plan) const {
  if (!folds_at_once(query.collective, plan.algorithm)) {
    constexpr std::size_t longest_whole = 8 * 1024;
    const bool sliced = query.collective == Collective::allreduce && query.bytes > longest_whole;
    plan.algorithm = sliced                                   ? Algorithm::sliced
                     : query.collective == Collective::reduce ? Algorithm::tree
                                                              : Algorithm::exchange;
    plan.origin = {"environment", 0, formatted("reproducible = {}", reduce::to_string(reproducibility_)), {}};
  }
  if (query.collective == Collective::reduce) plan.gather_tree = tree::parse_spec("flat levels=none");
}

Plan Table::find(const Query& query) const {
  const auto rule = std::find_if(rules_.begin(), rules_.end(), [&](const Rule& r) {
    return !r.between_nodes && r.matches(query) && keeps_order(r, query.collective);
  });
  Plan plan;
  if (rule != rules_.end()) plan = rule->plan;
  apply_overrides(query, plan);
  if (reproducibility_ != reduce::Reproducibility::run) put_in_order(query, plan);
  return plan;
}

std::vector<std::size_t> Table::borders(Collective collective) const {
  std::vector<std::size_t> result = {0};
  for (const Rule& rule : rules_) {
    if (!rule.collectives.empty() &&
        std::find(rule.collectives.begin(), rule.collectives.end(), collective) == rule.collectives.end())
      continue;
    // The first size in the range and the first after it. Ends may have fractions, or exceed any size.
    constexpr double largest = 9e18;
    if (rule.bytes.first < largest) result.push_back(static_cast<std::size_t>(std::ceil(rule.bytes.first)));
    if (rule.bytes.last < largest) result.push_back(static_cast<std::size_t>(rule.bytes.last) + 1);
  }
  std::sort(result.begin(), result.end());
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

namespace {

// Asks find(query) for a plan at every size at which the answer may change.
template <class Plans, class Find>
void fill(PlanRow<Plans>& row, const Table& table, Query& shape, Find find) {
  const std::vector<std::size_t> borders = table.borders(shape.collective);
  for (std::size_t i = 0; i < borders.size(); ++i) {
    shape.bytes = borders[i];
    row.plans.push_back(find(shape));
    row.last_bytes.push_back(i + 1 < borders.size() ? borders[i + 1] - 1
                                                    : std::numeric_limits<std::size_t>::max());
  }
}

}  // namespace

Selector::Selector(const Table& table, Query shape) {
  shape.trial = table.trial();
  for (const Collective collective : all_collectives) {
    const auto c = static_cast<std::size_t>(collective);
    shape.collective = collective;
    fill(rows_[c], table, shape, [&](const Query& query) { return table.find(query); });
    for (Plan& plan : rows_[c].plans) plan.index = count_++;
  }
}

NetworkSelector::NetworkSelector(const Table& table, Query shape) {
  shape.trial = table.trial();
  for (const Collective collective : all_collectives) {
    shape.collective = collective;
    fill(rows_[static_cast<std::size_t>(collective)], table, shape,
         [&](const Query& query) { return table.find_network(query); });
  }
}

}  // namespace espalier::plan
