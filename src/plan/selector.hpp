// The plans of one communicator, looked up by collective and bytes on the hot path.
#pragma once

#include <array>
#include <limits>
#include <memory>
#include <vector>

#include "base/config.hpp"
#include "plan/rules.hpp"
#include "plan/tuned_rules.hpp"
#include "reduce/reproducible.hpp"

namespace espalier::plan {

/// The user's rules (ESPALIER_RULES), then those that `espalier tune` has measured, then the built-in ones; the
/// single overrides of the configuration on top. A table that cannot be read is left out and named in `warnings`:
/// the others serve.
class Table {
 public:
  explicit Table(const Config& config, const TunedRules& tuned = {});
  static const Table& instance();

  /// The plan of a call on a node and between nodes; `host` when no rule matches.
  Plan find(const Query& query) const;
  NetworkPlan find_network(const Query& query) const;
  const std::vector<std::string>& warnings() const { return warnings_; }
  /// What rules for trials are asked for (Query::trial): 0, but for a table that has some, where
  /// ESPALIER_RUN_TRIAL says which. `espalier tune` sets it before it makes a communicator.
  int trial() const;
  /// Above `run` reductions have plans of a node by which bits cannot depend on a place, whatever rules and single
  /// settings say, and none is the host's.
  reduce::Reproducibility reproducibility() const { return reproducibility_; }
  bool has_trials() const { return has_trials_; }

  /// The message sizes at which the answer may change for a collective, rising, without the last infinite
  /// end.
  std::vector<std::size_t> borders(Collective collective) const;

 private:
  void add_rules(const Config& config, const TunedRules& tuned);
  void override_with(const Config& config);
  std::optional<Algorithm> forced(const Config& config, std::string_view key, Scope scope,
                                  Collective collective);
  void override_pieces(const Config& config);
  void apply_overrides(const Query& query, Plan& plan) const;
  void apply_overrides(const Query& query, NetworkPlan& plan) const;
  void override_tree(const Config& config, const char* key, std::optional<tree::Spec>& spec);

  bool keeps_order(const Rule& rule, Collective collective) const;
  void put_in_order(const Query& query, Plan& plan) const;

  reduce::Reproducibility reproducibility_;
  std::vector<Rule> rules_;
  std::vector<std::string> warnings_;
  bool has_trials_ = false;
  std::array<std::optional<Algorithm>, collective_count> algorithms_, network_algorithms_;
  std::optional<std::size_t> chunk_, segment_;
  std::optional<int> leaders_;
  std::optional<tree::Spec> gather_tree_, release_tree_, network_tree_;
  bool inlined_, read_from_parent_, skip_gather_, copy_avoidance_;
};

/// The plans of one collective by bytes.
template <class P>
struct PlanRow {
  std::vector<std::size_t> last_bytes;  // the last one is the largest size there is
  std::vector<P> plans;

  const P& operator()(std::size_t bytes) const {
    std::size_t i = 0;
    while (bytes > last_bytes[i]) ++i;
    return plans[i];
  }
};

/// All plans of a communicator of the given shape. Immutable, hence thread-safe; lookups neither allocate nor
/// lock.
class Selector {
 public:
  /// `shape` says all but collective and bytes.
  Selector(const Table& table, Query shape);

  const Plan& operator()(Collective collective, std::size_t bytes) const {
    return rows_[static_cast<std::size_t>(collective)](bytes);
  }

  /// Of all collectives together. Each has its `index`, 0 <= index < count().
  int count() const { return count_; }

 private:
  std::array<PlanRow<Plan>, collective_count> rows_;
  int count_ = 0;
};

/// The same for what happens between its nodes.
class NetworkSelector {
 public:
  NetworkSelector(const Table& table, Query shape);

  const NetworkPlan& operator()(Collective collective, std::size_t bytes) const {
    return rows_[static_cast<std::size_t>(collective)](bytes);
  }

 private:
  std::array<PlanRow<NetworkPlan>, collective_count> rows_;
};

}  // namespace espalier::plan
