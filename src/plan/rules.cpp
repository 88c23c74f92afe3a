// Reads a rules table, and matches rules with calls.
#include "plan/rules.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/config.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/format.hpp"
#include "network/transport.hpp"
#include "plan/positions.hpp"

namespace espalier::plan {
namespace {

using nlohmann::json;

/// Reads one rule. Every error and warning names file and line.
class RuleReader {
 public:
  RuleReader(const json& object, const RulePosition& position, const std::string& file,
             std::vector<std::string>& warnings)
      : object_(object), position_(position), file_(file), warnings_(warnings) {}

  Rule read() {
    Rule rule;
    rule.between_nodes = object_.contains("network");
    rule.plan.origin = rule.network.origin = {file_, position_.line, position_.text, evidence()};
    if (!object_.contains("algorithm") && !rule.between_nodes) fail("algorithm", "is missing");
    for (const auto& [key, value] : object_.items())
      if (!read_condition(rule, key, value) && key != "comment" && key != "evidence" &&
          !(rule.between_nodes ? read_network(rule.network, key, value) : read_plan(rule.plan, key, value)))
        warnings_.push_back(formatted("{}: unknown key \"{}\" is ignored", where(key), key));
    check_algorithm(rule);
    warn_of_lengths_that_no_call_has(rule);
    return rule;
  }

 private:
  std::string evidence() const {
    const auto found = object_.find("evidence");
    if (found == object_.end()) return {};
    if (!found->is_string()) fail("evidence", "is not a text such as \"measured: ...\"");
    return found->get<std::string>();
  }

  bool read_condition(Rule& rule, const std::string& key, const json& value) const {
    if (key == "collective")
      rule.collectives = collectives(value);
    else if (key == "bytes")
      rule.bytes = range(key, value);
    else if (key == "ranks")
      rule.ranks = range(key, value);
    else if (key == "nodes")
      rule.nodes = range(key, value);
    else if (key == "ranks_per_node")
      rule.ranks_per_node = range(key, value);
    else if (key == "ranks_per_core")
      rule.ranks_per_core = range(key, value);
    else if (key == "prompt_yields")
      rule.prompt_yields = boolean(key, value);
    else if (key == "trial")
      rule.trial = trial(value);
    else
      return false;
    return true;
  }

  bool read_plan(Plan& plan, const std::string& key, const json& value) const {
    if (key == "algorithm")
      plan.algorithm = algorithm(key, value);
    else if (key == "chunk")
      plan.chunk = piece(key, value);
    else if (key == "zero_copy" || is_old_name_of_zero_copy(key))
      plan.zero_copy = piece(key, value);
    else if (key == "or_slots")
      plan.or_slots = boolean(key, value);
    else if (key == "tree")
      plan.gather_tree = plan.release_tree = tree(key, value);
    else if (key == "gather_tree")
      plan.gather_tree = tree(key, value);
    else if (key == "release_tree")
      plan.release_tree = tree(key, value);
    else if (key == "inline")
      plan.inlined = boolean(key, value);
    else if (key == "read_from_parent")
      plan.read_from_parent = boolean(key, value);
    else if (key == "skip_gather")
      plan.skip_gather = boolean(key, value);
    else if (key == "copy_avoidance")
      plan.copy_avoidance = boolean(key, value);
    else
      return false;
    return true;
  }

  bool read_network(NetworkPlan& plan, const std::string& key, const json& value) const {
    if (key == "network")
      plan.algorithm = algorithm(key, value);
    else if (key == "segment")
      plan.segment = segment(key, value);
    else if (key == "leaders")
      plan.leaders = leaders(value);
    else if (key == "tree")
      plan.tree = tree(key, value);
    else
      return false;
    return true;
  }

  /// "lend", the name until version 0.1. Warns once for a table.
  bool is_old_name_of_zero_copy(const std::string& key) const {
    if (key != "lend") return false;
    const std::string text = "\"lend\" is \"zero_copy\" now; the old name will go with the next version";
    const auto said = [&](const std::string& warning) { return warning.ends_with(text); };
    if (std::none_of(warnings_.begin(), warnings_.end(), said))
      warnings_.push_back(formatted("{}: {}", where(key), text));
    return true;
  }

  std::string where(const std::string& key) const {
    return formatted("{}:{}", file_, position_.line_of(key));
  }

  [[noreturn]] void fail(const std::string& key, const std::string& problem) const {
    throw Error(formatted("{}: \"{}\" {}", where(key), key, problem));
  }

  int trial(const json& value) const {
    if (value.is_number_integer() && value.get<long>() >= 0 && value.get<long>() <= 1 << 20)
      return value.get<int>();
    fail("trial", formatted("is {}; it is a number from 0 on", value.dump()));
  }

  std::vector<Collective> collectives(const json& value) const {
    std::vector<Collective> result;
    for (const json& name : value.is_array() ? value : json::array({value})) {
      const auto collective = name.is_string() ? parse_collective(name.get<std::string>()) : std::nullopt;
      if (!collective)
        fail("collective", formatted("is {}; it may be {}", name.dump(), joined(collective_names, ", ")));
      result.push_back(*collective);
    }
    return result;
  }

  double number(const std::string& key, const json& value) const {
    if (value.is_number() && value.get<double>() >= 0) return value.get<double>();
    try {
      if ((key == "bytes" || key == "chunk" || key == "segment" || key == "zero_copy" || key == "lend") &&
          value.is_string())
        return static_cast<double>(parse_bytes(value.get<std::string>()));
    } catch (const Error& error) {
      fail(key, error.what());
    }
    fail(key, formatted("holds {}; it takes a number or [first, last], null for no end", value.dump()));
  }

  Range range(const std::string& key, const json& value) const {
    if (!value.is_array()) return {number(key, value), number(key, value)};
    if (value.size() != 2) fail(key, "needs two ends: [first, last], null for no end");
    Range result;
    if (!value[0].is_null()) result.first = number(key, value[0]);
    if (!value[1].is_null()) result.last = number(key, value[1]);
    if (result.first > result.last) fail(key, formatted("is an empty range: {}", value.dump()));
    return result;
  }

  Algorithm algorithm(const std::string& key, const json& value) const {
    const auto result = value.is_string() ? parse_algorithm(value.get<std::string>()) : std::nullopt;
    if (!result) fail(key, formatted("is {}; it may be {}", value.dump(), joined(algorithm_names, ", ")));
    return *result;
  }

  std::size_t piece(const std::string& key, const json& value) const {
    const double bytes = number(key, value);
    if (bytes < 64) fail(key, "must be at least 64 bytes");
    if (bytes > 9e18) fail(key, "is more than any message");
    return static_cast<std::size_t>(bytes);
  }

  std::size_t segment(const std::string& key, const json& value) const {
    const std::size_t bytes = piece(key, value);
    if (bytes > network::Transport::longest)
      fail(key, "is longer than a message between nodes: 1GiB at most");
    return bytes;
  }

  int leaders(const json& value) const {
    if (value == "all") return 0;
    if (value.is_number_integer() && value.get<long>() >= 1 && value.get<long>() <= 1 << 20)
      return value.get<int>();
    fail("leaders", formatted("is {}; it may be a number from 1 on, or \"all\"", value.dump()));
  }

  tree::Spec tree(const std::string& key, const json& value) const {
    if (!value.is_string()) fail(key, "is not a tree text such as \"numa=flat socket=kary:2\"");
    try {
      return tree::parse_spec(value.get<std::string>());
    } catch (const Error& error) {
      fail(key, error.what());
    }
  }

  bool boolean(const std::string& key, const json& value) const {
    if (!value.is_boolean()) fail(key, "is neither true nor false");
    return value.get<bool>();
  }

  void check_algorithm(const Rule& rule) const {
    for (const Collective collective : rule.collectives)
      if (!has_algorithm(rule.scope(), collective, rule.algorithm()))
        fail(rule.between_nodes ? "network" : "algorithm",
             formatted("{} does not exist for {}{}", to_string(rule.algorithm()), to_string(collective),
                       rule.between_nodes ? " between nodes" : ""));
  }

  void warn_of_lengths_that_no_call_has(const Rule& rule) const {
    if (rule.bytes.first <= 0 || rule.collectives.empty() ||
        std::ranges::any_of(rule.collectives, has_length))
      return;
    warnings_.push_back(
        formatted("{}: no call holds this: rules know no bytes of {}, so \"bytes\" must begin at 0",
                  where("bytes"), to_string(rule.collectives.front())));
  }

  const json& object_;
  const RulePosition& position_;
  const std::string& file_;
  std::vector<std::string>& warnings_;
};

}  // namespace

bool Rule::matches(const Query& query) const {
  const bool holds = bytes.holds(static_cast<double>(query.bytes)) && ranks.holds(query.ranks) &&
                     nodes.holds(query.nodes) && ranks_per_node.holds(query.ranks_per_node) &&
                     ranks_per_core.holds(query.ranks_per_core) &&
                     (!prompt_yields || *prompt_yields == query.prompt_yields) &&
                     (!trial || *trial == query.trial) && is_possible(scope(), algorithm(), query);
  if (!holds) return false;
  // A rule that names its collectives has been read with an algorithm that all of them have.
  if (collectives.empty()) return has_algorithm(scope(), query.collective, algorithm());
  return std::find(collectives.begin(), collectives.end(), query.collective) != collectives.end();
}

bool is_possible(Scope scope, Algorithm algorithm, const Query& query) {
  switch (requirement_of(scope, query.collective, algorithm)) {
    case Requirement::single_copy:
      return query.single_copy;
    case Requirement::aggregation_nodes:
      return query.sharp;
    case Requirement::consecutive_ranks:
      return query.consecutive;
    case Requirement::nothing:
      break;
  }
  return true;
}

std::vector<Rule> parse_rules(std::string_view text, const std::string& file,
                              std::vector<std::string>& warnings) {
  json table;
  try {
    table = json::parse(text);
  } catch (const json::parse_error& error) {
    // `byte` is the position of the wrong character, from 1.
    const std::size_t offset = error.byte > 0 ? error.byte - 1 : 0;
    throw Error(
        formatted("{}:{}: not JSON: {}", file, line_at(text, offset), plain_parse_error(error.what())));
  } catch (const json::out_of_range& error) {
    throw Error(
        formatted("{}:{}: {}", file, line_of_quoted(text, error.what()), plain_parse_error(error.what())));
  }
  if (!table.is_object() || !table.contains("rules") || !table["rules"].is_array())
    throw Error(formatted("{}:1: a rules table is {{\"schema\": 1, \"rules\": [...]}}", file));
  if (table.value("schema", json()) != 1)
    throw Error(formatted("{}:{}: \"schema\" must be 1, the only schema that this Espalier knows", file,
                          line_of_key(text, "schema")));
  for (const auto& [key, value] : table.items())
    if (key != "schema" && key != "rules" && key != "comment" && key != "tuned")
      warnings.push_back(
          formatted("{}:{}: unknown key \"{}\" is ignored", file, line_of_key(text, key), key));
  for (const json& rule : table["rules"])
    if (!rule.is_object())
      throw Error(formatted("{}:{}: \"rules\" holds {}, which is not an object {{...}}", file,
                            line_of_key(text, "rules"), rule.dump()));
  const std::vector<RulePosition> positions = rule_positions(text);
  std::vector<Rule> rules;
  rules.reserve(positions.size());
  for (std::size_t i = 0; i < table["rules"].size(); ++i)
    rules.push_back(RuleReader(table["rules"][i], positions.at(i), file, warnings).read());
  return rules;
}

std::vector<Rule> read_rules(const std::string& path, std::vector<std::string>& warnings) {
  std::string why;
  const auto text = espalier::read_file(path, why);
  if (!text) throw Error(formatted("cannot read the rules file {}: {}", path, why));
  return parse_rules(*text, path, warnings);
}

}  // namespace espalier::plan
