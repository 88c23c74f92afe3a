#include "runtime/setup/multinode_agreement.hpp"

#include <algorithm>
#include <mutex>

#include "base/config.hpp"
#include "base/error.hpp"
#include "base/format.hpp"
#include "runtime/process/node.hpp"
#include "runtime/process/process.hpp"
#include "runtime/setup/tags_agreement.hpp"
#include "topology/switches.hpp"

namespace espalier::runtime {
namespace {

using collective::multinode::Placement;

/// What the lowest rank of a node offers its ranks. Plain bytes: it crosses the bootstrap.
struct Offer {
  std::uint64_t share;
  double ranks_per_core;
  char switches[112];  // the path of those above the node
};

class Negotiation {
 public:
  Negotiation(const Bootstrap& bootstrap, const std::vector<Eligibility>& eligibilities)
      : bootstrap_(bootstrap), standings_(eligibilities) {
    std::vector<std::uint64_t> nodes;
    nodes.reserve(eligibilities.size());
    for (const Eligibility& eligibility : eligibilities) nodes.push_back(eligibility.node);
    placement_ = collective::multinode::place_by(nodes);
    ranks_ = placement_.ranks_of[static_cast<std::size_t>(node_of(bootstrap.rank))];
  }

  Agreement agree() {
    Agreement result;
    const std::vector<Offer> offers = exchange(bootstrap_, own_offer());
    result.node = facts_of_node(offers[static_cast<std::size_t>(ranks_.front())].ranks_per_core, layout());
    const memory::Share share = {offers[static_cast<std::size_t>(ranks_.front())].share, layout().bytes()};
    const auto backed = exchange(bootstrap_, static_cast<std::int32_t>(back(share)));
    const auto is_backed = [&](int rank) { return backed[static_cast<std::size_t>(rank)] != 0; };
    if (std::all_of(ranks_.begin(), ranks_.end(), is_backed))
      result.node.share = share;
    else if (share && is_first())
      Process::instance().node()->arena()->free(share);
    result.nodes = facts(offers);
    result.nodes.all_share_memory = std::count(backed.begin(), backed.end(), 0) == 0;
    if (const auto tags = agree_on_tags(bootstrap_, *Process::instance().tags())) {
      result.nodes.tags = tags->block;
      result.nodes.tags_use = tags->number;
    } else {
      result.refusal = "too many communicators span nodes at once: there are no message tags left";
      if (result.node.share && is_first()) Process::instance().node()->arena()->free(result.node.share);
      result.node.share = {};
    }
    return result;
  }

 private:
  int node_of(int rank) const { return placement_.node_of[static_cast<std::size_t>(rank)]; }
  bool is_first() const { return bootstrap_.rank == ranks_.front(); }
  machine::Layout layout() const { return layout_for(static_cast<int>(ranks_.size())); }

  bool can_share() const {
    return ranks_.size() > 1 && std::all_of(ranks_.begin(), ranks_.end(), [&](int rank) {
             return standings_[static_cast<std::size_t>(rank)].shares_memory != 0;
           });
  }

  Offer own_offer() const {
    const NodeState* node = Process::instance().node();
    Offer offer = {0, node ? node->ranks_per_core() : 1, {}};
    tell_switches(offer);
    if (is_first() && can_share()) offer.share = node->arena()->allocate(layout().bytes()).offset;
    return offer;
  }

  static void tell_switches(Offer& offer) {
    try {
      const std::string path = topology::switches_above_here(Config::instance().text("ESPALIER_SWITCHES"));
      // What does not fit is left out: nodes below the same outer switches still stand together.
      path.copy(offer.switches, sizeof offer.switches - 1);
    } catch (const Error& error) {
      static std::once_flag once;
      std::call_once(
          once, [&] { print_to(stderr, "espalier: {}; all nodes count as equally near\n", error.what()); });
    }
  }

  // A rank alone on its node needs nothing, and its node counts as one that shares.
  bool back(const memory::Share& share) const {
    if (!share) return ranks_.size() == 1 && !by_messages();
    const int local = placement_.local_rank_of[static_cast<std::size_t>(bootstrap_.rank)];
    return prepare(*Process::instance().node()->arena(), share, layout(), local);
  }

  NodesShare facts(const std::vector<Offer>& offers) const {
    NodesShare facts;
    facts.placement = placement_;
    for (const Eligibility& eligibility : standings_) facts.processes.push_back(eligibility.process);
    facts.ranks_per_core = offers.front().ranks_per_core;
    for (const Offer& offer : offers)
      facts.ranks_per_core = std::max(facts.ranks_per_core, offer.ranks_per_core);
    std::vector<std::string> paths;
    paths.reserve(placement_.ranks_of.size());
    for (const auto& ranks : placement_.ranks_of)
      paths.emplace_back(offers[static_cast<std::size_t>(ranks.front())].switches);
    facts.groups = topology::group_by_switches(paths);
    return facts;
  }

  const Bootstrap& bootstrap_;
  const std::vector<Eligibility>& standings_;
  Placement placement_;
  std::vector<int> ranks_;  // of this rank's node
};

}  // namespace

Agreement agree_over_nodes(const Bootstrap& bootstrap, const std::vector<Eligibility>& eligibilities) {
  const bool have_transport = std::all_of(eligibilities.begin(), eligibilities.end(),
                                          [](const Eligibility& s) { return s.has_transport != 0; });
  const bool take_part = std::all_of(eligibilities.begin(), eligibilities.end(),
                                     [](const Eligibility& s) { return s.node != 0; });
  // Jobs that the program has joined (MPI_Comm_connect) have a transport each, and number their processes
  // alike.
  const bool are_one_job = std::all_of(eligibilities.begin(), eligibilities.end(), [&](const Eligibility& s) {
    return s.job == eligibilities.front().job;
  });
  if (have_transport && take_part && are_one_job) return Negotiation(bootstrap, eligibilities).agree();
  Agreement refused;
  refused.refusal = !take_part     ? "a rank takes no part in Espalier"
                    : !are_one_job ? "spans jobs, and nothing carries Espalier's messages between them"
                                   : "spans nodes, and nothing carries Espalier's messages between them";
  return refused;
}

}  // namespace espalier::runtime
