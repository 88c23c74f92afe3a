#include "capi/describe/network.hpp"

#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/format.hpp"
#include "capi/describe/algorithms.hpp"
#include "capi/describe/window.hpp"
#include "plan/cost/model.hpp"
#include "plan/selector.hpp"

namespace espalier::capi {
namespace {

using nlohmann::json;

plan::NodesCall call_of(const json& request) {
  plan::NodesCall call;
  call.collective = collective_of(request);
  call.bytes = call.collective == Collective::barrier ? 0 : request.value("bytes", std::size_t{0});
  call.nodes = request.value("nodes", 2);
  call.ranks_per_node = request.value("ranks_per_node", 1);
  if (call.nodes < 1 || call.ranks_per_node < 1 || call.nodes > (1 << 30) / call.ranks_per_node)
    throw Error(formatted("{} nodes of {} ranks: need at least 1 of each, and fewer than {} ranks in all",
                          call.nodes, call.ranks_per_node, 1 << 30));
  const std::string stage = request.value("node_stage", "shared");
  if (stage != "shared" && stage != "messages")
    throw Error(formatted("\"node_stage\" is \"{}\"; it may be shared or messages", stage));
  call.node_has_memory = stage == "shared";
  call.consecutive = request.value("consecutive", true);
  return call;
}

plan::Query query_of(const json& request, const plan::NodesCall& call) {
  plan::Query query;
  query.collective = call.collective;
  query.bytes = call.bytes;
  query.nodes = call.nodes;
  query.ranks_per_node = call.ranks_per_node;
  query.ranks = call.nodes * call.ranks_per_node;
  query.commutative = request.value("commutative", true);
  query.consecutive = request.value("consecutive", true);
  query.sharp = request.value("sharp", false);
  // Nothing is known of the cores of other machines: a core for each rank, unless the request says more.
  if (const json& ranks_per_core = request.value("ranks_per_core", json()); ranks_per_core.is_number())
    query.ranks_per_core = ranks_per_core;
  return query;
}

plan::Query on_node(plan::Query query, Collective collective, std::size_t bytes) {
  query.collective = collective;
  query.bytes = bytes;
  query.ranks = query.ranks_per_node;
  query.nodes = 1;
  return query;
}

// A network plan in the request stands for a rule: it is written like one, and read like one.
plan::NetworkPlan plan_of(const json& request, const plan::Query& query) {
  json rule = request.value("network", json());
  if (rule.is_null()) return plan::Table::instance().find_network(query);
  if (!rule.is_object()) throw Error(formatted("\"network\" is {}, not an object", rule.dump()));
  rule["collective"] = to_string(query.collective);
  std::vector<std::string> warnings;
  const auto rules =
      plan::parse_rules(json{{"schema", 1}, {"rules", {rule}}}.dump(), "the request", warnings);
  if (!warnings.empty()) throw Error(warnings.front());
  if (!rules.front().between_nodes)
    throw Error("\"network\" lacks the key \"network\": an algorithm between nodes");
  return rules.front().network;
}

json describe_between(const plan::NetworkPlan& plan) {
  return {{"algorithm", to_string(plan.algorithm)},
          {"segment", plan.segment},
          {"leaders", plan.leaders == 0 ? json("all") : json(plan.leaders)},
          {"tree", plan.algorithm == plan::Algorithm::tree ? json(tree::to_string(plan.tree)) : json()},
          {"rule", describe_rule(plan.origin)}};
}

json describe_node(const plan::NodeStep& step, const plan::NodesCall& call, const plan::Query& query) {
  json result = {{"collective", to_string(step.piece.collective)},
                 {"bytes", step.bytes},
                 {"when", step.releases ? "after the network stage" : "before the network stage"}};
  if (call.collective == Collective::barrier) result["when"] = "around the network stage";
  if (!call.node_has_memory) {
    result["algorithm"] = "messages on binomial trees";
    return result;
  }
  const plan::Plan plan = plan::Table::instance().find(on_node(query, step.piece.collective, step.bytes));
  result["algorithm"] = to_string(plan.algorithm);
  result["chunk"] = plan.chunk;
  result["rule"] = describe_rule(plan.origin);
  return result;
}

json numbers(const plan::Prediction& prediction) {
  return {{"total_ns", prediction.total},
          {"network_ns", prediction.network},
          {"node_ns", prediction.node},
          {"node_alone_ns", prediction.node_alone},
          {"ideal_speed_up", prediction.ideal_speed_up},
          {"rounds", prediction.rounds},
          {"segments", prediction.segments}};
}

// Why there is no prediction; empty when there is one.
std::string unpredictable(const json& request, const plan::NodesCall& call, const plan::NetworkPlan& plan) {
  if (plan.algorithm == plan::Algorithm::host)
    return "the host MPI serves this call, and the cost model does not know how";
  if (plan.algorithm == plan::Algorithm::sharp)
    return "the cost model is about messages between leaders, not about aggregation nodes";
  if (!request.value("commutative", true) && call.collective != Collective::barrier &&
      call.collective != Collective::bcast)
    return "the cost model is about predefined operators; others move whole vectors";
  if (!request.value("model", json()).is_string()) return "the request names no cost model";
  return "";
}

std::string why(const plan::NodesCall& call, const plan::NetworkPlan& plan, bool commutative) {
  if (const auto promise = reduce::promise(plan::Table::instance().reproducibility());
      !promise.empty() && traits(call.collective).reduces && commutative)
    return formatted(
        "{}; so of numbers that are rounded, vectors of up to {} bytes go whole to the ranks that want the "
        "result, and of longer ones each rank folds a slice; what follows is for integers",
        promise, 32 * 1024 / (call.nodes * call.ranks_per_node));
  if (plan.origin.file.empty()) return "no rule between nodes holds this call, so the host MPI serves it";
  if (plan.origin.file == "environment") return "the environment overrides the rules: " + plan.origin.rule;
  return formatted("the first rule between nodes that holds {} of {} bytes on {} nodes of {} ranks",
                   to_string(call.collective), call.bytes, call.nodes, call.ranks_per_node);
}

// What carries notified puts, and what becomes of the call where that is not to be had.
json describe_notified(const plan::NodesCall& call) {
  json window = describe_window({{"nodes", call.nodes}});
  window["otherwise"] = call.node_has_memory
                            ? "the same by messages where a node's shared-memory budget has no room for a "
                              "window; the statistics say so"
                            : "not here, for the ranks of a node share no memory: the same by messages";
  return window;
}

void add_prediction(json& answer, const json& request, const plan::NodesCall& call,
                    const plan::NetworkPlan& plan, const plan::Query& query) {
  const plan::CostParameters parameters = plan::read_cost_parameters(request["model"]);
  const auto node_plan = [&](Collective collective, std::size_t bytes) {
    return plan::Table::instance().find(on_node(query, collective, bytes));
  };
  answer["model"] = {{"file", parameters.file}, {"name", parameters.name}};
  answer["prediction"] = numbers(plan::predict(call, plan, node_plan, parameters));
}

}  // namespace

json describe_rule(const plan::Origin& origin) {
  return {{"file", origin.file}, {"line", origin.line}, {"text", origin.rule}, {"evidence", origin.evidence}};
}

json describe_network(const json& request) {
  plan::NodesCall call = call_of(request);
  plan::Query query = query_of(request, call);
  plan::NetworkPlan plan = plan_of(request, query);
  json answer = {{"network", describe_between(plan)},
                 {"node", json::array()},
                 {"prediction", json()},
                 {"why", why(call, plan, request.value("commutative", true))},
                 {"warnings", plan::Table::instance().warnings()}};
  if (plan::goes_through_window(plan.algorithm)) answer["window"] = describe_notified(call);
  if (plan.algorithm == plan::Algorithm::allreduce) {
    // From here on it is an allreduce; that each rank then copies its block is left out.
    call.collective = query.collective = Collective::allreduce;
    plan = plan::Table::instance().find_network(query);
    answer["allreduce"] = describe_between(plan);
  }
  if (plan.algorithm != plan::Algorithm::host)
    for (const plan::NodeStep& step : plan::node_steps(call, plan))
      answer["node"].push_back(describe_node(step, call, query));
  if (const std::string reason = unpredictable(request, call, plan); !reason.empty())
    answer["no_prediction"] = reason;
  else
    add_prediction(answer, request, call, plan, query);
  return answer;
}

}  // namespace espalier::capi
