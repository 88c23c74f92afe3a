#include "simulation/simgrid/cluster.hpp"

#include <algorithm>
#include <random>

#include "base/error.hpp"
#include "base/format.hpp"

namespace espalier::simulation {

namespace sg = simgrid::s4u;

namespace {

sg::Engine started() {
  static std::string words[] = {"espalier",
                                "--cfg=network/model:CM02",
                                "--cfg=network/TCP-gamma:0",
                                "--cfg=network/weight-S:0",
                                "--cfg=network/crosstraffic:0",
                                "--cfg=contexts/stack-size:64",
                                "--cfg=contexts/guard-size:0",
                                "--log=root.thres:warning"};
  static char* arguments[std::size(words) + 1] = {};
  static int count = 0;
  for (std::string& word : words) arguments[count++] = word.data();
  return sg::Engine(&count, arguments);
}

std::string name_of(std::size_t node) { return "node-" + std::to_string(node); }

}  // namespace

Cluster::Cluster(const Model& model, int nodes, const Wiring& wiring)
    : model_(model), engine_(started()), hosts_(static_cast<std::size_t>(nodes)) {
  if (model.network.cards != 1 || model.network.link_ns_per_byte != model.network.wire.per_byte ||
      model.network.wire.gap != 0)
    throw Error(
        formatted("{}: SimGrid's nodes have one card that is as fast as a rank, and no gap", model.file));
  if (wiring.leaf == 0)
    make_star();
  else
    make_fat_tree(wiring);
  if (wiring.strewn != 0) std::shuffle(hosts_.begin(), hosts_.end(), std::mt19937_64(wiring.strewn));
}

// A card takes one message after the other in LogGP. What leaves is paced by the player; what arrives while
// another is coming in waits for it, where SimGrid would let both come in at half the speed.
void Cluster::make_star() {
  sg::NetZone* zone = sg::create_star_zone("star");
  for (std::size_t i = 0; i < hosts_.size(); ++i) {
    hosts_[i] = zone->create_host(name_of(i), 1e9);
    auto* card = zone->create_split_duplex_link("card-" + std::to_string(i), bandwidth());
    card->set_latency(model_.network.wire.latency / ns_of_second / 2);
    card->get_link_up()->set_sharing_policy(sg::Link::SharingPolicy::FATPIPE);
    card->get_link_down()->set_concurrency_limit(1);
    card->seal();
    zone->add_route(hosts_[i]->get_netpoint(), nullptr, nullptr, nullptr,
                    {{card, sg::LinkInRoute::Direction::UP}}, true);
  }
  zone->seal();
}

// Cables all have one latency in SimGrid: two of them are the way by a leaf, four that by a spine.
void Cluster::make_fat_tree(const Wiring& wiring) {
  const auto leaf = static_cast<unsigned>(wiring.leaf), spines = static_cast<unsigned>(wiring.spines);
  const auto leaves = static_cast<unsigned>(hosts_.size()) / leaf;
  if (leaves * leaf != hosts_.size())
    throw Error(formatted("{} nodes do not fill leaf switches of {}", hosts_.size(), leaf));
  const double latency = model_.network.wire.latency;
  if (model_.network.switches.size() != 1 || model_.network.switches[0].nodes != wiring.leaf ||
      model_.network.switches[0].latency_ns != latency)
    throw Error(
        formatted("{}: needs one level of switches, of {} nodes and {} ns", model_.file, leaf, latency));
  const auto make_host = [this](sg::NetZone* zone, const std::vector<unsigned long>&, unsigned long id) {
    hosts_.at(id) = zone->create_host(name_of(id), 1e9);
    return std::make_pair(hosts_[id]->get_netpoint(),
                          static_cast<simgrid::kernel::routing::NetPoint*>(nullptr));
  };
  sg::create_fatTree_zone("fat tree", nullptr, {2, {leaf, leaves}, {1, spines}, {1, 1}},
                          sg::ClusterCallbacks(make_host), bandwidth(), latency / ns_of_second / 2,
                          sg::Link::SharingPolicy::SPLITDUPLEX)
      ->seal();
}

}  // namespace espalier::simulation
