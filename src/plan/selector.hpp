// The plans of one communicator, looked up by collective and bytes on the hot path.
#pragma once

#include <array>
#include <limits>
#include <memory>
#include <vector>

#include "base/config.hpp"
#include "plan/rules.hpp"

namespace espalier::plan {

/// The user's rules (ESPALIER_RULES), then the built-in ones, then the single overrides of the configuration
/// on top. A table that cannot be read is left out and named in `warnings`: the built-in one serves.
class Table {
 public:
  explicit Table(const Config& config);
  static const Table& instance();

  /// The plan of a call; `host` when no rule matches.
  Plan find(const Query& query) const;
  const std::vector<std::string>& warnings() const { return warnings_; }

  /// The message sizes at which the answer may change for a collective, rising, without the last infinite
  /// end.
  std::vector<std::size_t> borders(Collective collective) const;

 private:
  void override_with(const Config& config);
  void apply_overrides(const Query& query, Plan& plan) const;
  void override_tree(const Config& config, const char* key, std::optional<tree::Spec>& spec);

  std::vector<Rule> rules_;
  std::vector<std::string> warnings_;
  std::array<std::optional<Algorithm>, collective_count> algorithms_;
  std::optional<std::size_t> chunk_;
  std::optional<tree::Spec> gather_tree_, release_tree_;
  bool inlined_, read_from_parent_, skip_gather_, copy_avoidance_;
};

/// All plans of a communicator of the given shape. Immutable, hence thread-safe; lookups neither allocate nor
/// lock.
class Selector {
 public:
  /// `shape` says all but collective and bytes.
  Selector(const Table& table, Query shape);

  const Plan& operator()(Collective collective, std::size_t bytes) const {
    const Row& row = rows_[static_cast<std::size_t>(collective)];
    std::size_t i = 0;
    while (bytes > row.last_bytes[i]) ++i;
    return row.plans[i];
  }

  /// A number for each plan that this selector can give, 0 <= index < count(): caches of trees are kept by
  /// it.
  int index_of(const Plan& plan) const;
  int count() const { return count_; }

 private:
  struct Row {
    std::vector<std::size_t> last_bytes;  // the last one is the largest size there is
    std::vector<Plan> plans;
    int first_index = 0;
  };
  std::array<Row, collective_count> rows_;
  int count_ = 0;
};

}  // namespace espalier::plan
