#include "sharp/library/context.hpp"

#include <algorithm>
#include <random>
#include <vector>

#include "base/environment.hpp"
#include "base/format.hpp"
#include "sharp/library/comm.hpp"

using namespace espalier::sharp;
using espalier::formatted;

namespace espalier::sharp {

std::uint64_t random_number() {
  std::random_device source;
  return std::uint64_t{source()} << 32 | source();
}

std::string setting(const char* name) {
  const char* text = espalier::variable(name);
  return text ? text : "";
}

}  // namespace espalier::sharp

sharp_coll_context::sharp_coll_context(const sharp_coll_init_spec& given)
    : spec(given), faults(setting("ESPALIER_SHARP_FAULTS")) {
  wants_lock = setting("SHARP_COLL_ENABLE_SAT") == "1" && setting("SHARP_COLL_LOCK_ON_COMM_INIT") == "1";
  learn_tree();
  const auto fault = faults.at(Point::init, 1, static_cast<std::uint32_t>(spec.world_rank));
  if (fault && fault->action == Fault::Action::code)
    throw Problem(static_cast<std::int32_t>(fault->value), "a fault on demand (ESPALIER_SHARP_FAULTS)");
}

/// The first process reads the file and tries the tree; the others hear of it, so that no other rank needs
/// the file.
void sharp_coll_context::learn_tree() {
  std::string text;
  std::int32_t header[2] = {0, 0};  // code, bytes of the text or of the reason
  if (spec.world_rank == 0) {
    try {
      const std::string path = setting("ESPALIER_AGGREGATION");
      if (path.empty()) throw espalier::Error("ESPALIER_AGGREGATION does not name an aggregation tree");
      text = read_tree_text(path);
      tree = parse_tree_file(text, "the aggregation tree");
      tree.limits = link(0).limits();
    } catch (const Problem& problem) {
      header[0] = problem.code();
      text = problem.what();
    } catch (const espalier::Error& error) {
      header[0] = SHARP_COLL_ETREE_INFO;
      text = error.what();
    }
    header[1] = static_cast<std::int32_t>(text.size());
  }
  bcast(spec.oob_ctx, header, sizeof header);
  text.resize(static_cast<std::size_t>(header[1]));
  if (header[1] > 0) bcast(spec.oob_ctx, text.data(), header[1]);
  if (header[0] != 0) throw Problem(header[0], text);
  if (spec.world_rank != 0) tree = parse_tree_file(text, "the aggregation tree");
  bcast(spec.oob_ctx, &tree.limits, sizeof tree.limits);
}

Link& sharp_coll_context::link(int leaf) {
  auto& known = links_[leaf];
  if (!known) {
    const TreeNode& node = tree.nodes[static_cast<std::size_t>(tree.leaves[static_cast<std::size_t>(leaf)])];
    const Link::Hello hello = {tree.token, spec.job_id, static_cast<std::uint32_t>(spec.world_rank)};
    try {
      known = std::make_unique<Link>(node, hello, [this] { call_home(); });
    } catch (...) {
      links_.erase(leaf);
      throw;
    }
  }
  return *known;
}

/// A node that was restarted can be reached again, by new groups.
Link& sharp_coll_context::fresh_link(int leaf) {
  const auto known = links_.find(leaf);
  if (known != links_.end()) {
    poll(leaf, *known->second);
    if (known->second->is_broken()) links_.erase(known);
  }
  return link(leaf);
}

void sharp_coll_context::await_way_up(int leaf) {
  fresh_link(leaf).await_way_up([this](const Frame& frame) { take(frame); }, [this] { call_home(); });
}

void sharp_coll_context::bcast(void* oob, void* data, int bytes) const {
  if (spec.oob_colls.bcast(oob, data, bytes, 0) < 0)
    throw Problem(SHARP_COLL_EOOB, "the program's bcast failed");
}

void sharp_coll_context::gather(void* oob, const void* mine, void* all, int bytes) const {
  if (spec.oob_colls.gather(oob, 0, const_cast<void*>(mine), all, bytes) < 0)
    throw Problem(SHARP_COLL_EOOB, "the program's gather failed");
}

std::int32_t sharp_coll_context::worst(void* oob, int rank, int size, std::int32_t mine) const {
  std::vector<std::int32_t> all(rank == 0 ? static_cast<std::size_t>(size) : 1);
  gather(oob, &mine, all.data(), sizeof mine);
  std::int32_t result = *std::min_element(all.begin(), all.end());
  bcast(oob, &result, sizeof result);
  return result;
}

void sharp_coll_context::call_home() {
  if (spec.progress_func && ++polls_ % std::max(1, spec.config.user_progress_num_polls) == 0)
    spec.progress_func();
}

void sharp_coll_context::progress() {
  for (auto& [leaf, known] : links_) poll(leaf, *known);
  for (const auto& [id, comm] : comms_) comm->finish_late_ones();
}

void sharp_coll_context::poll(int leaf, Link& link) {
  const bool waits = std::any_of(comms_.begin(), comms_.end(), [&](const auto& each) {
    return each.second->leaf() == leaf && each.second->waits();
  });
  try {
    link.poll(waits, [this](const Frame& frame) { take(frame); });
  } catch (const Problem& problem) {
    for (const auto& [id, comm] : comms_)
      if (comm->leaf() == leaf) comm->die(problem);
  }
}

void sharp_coll_context::take(const Frame& frame) {
  const auto comm = comms_.find(frame.group);
  if (comm != comms_.end() && frame.job == spec.job_id) comm->second->take(frame);
}

void sharp_coll_context::enter(sharp_coll_comm* comm) { comms_.emplace(comm->id(), comm); }
void sharp_coll_context::leave(sharp_coll_comm* comm) { comms_.erase(comm->id()); }

sharp_coll_caps sharp_coll_context::caps() const {
  const Limits& limits = tree.limits;
  sharp_coll_caps caps{};
  caps.sharp_pkt_version = 1;
  caps.support_mask.dtypes = limits.types;
  caps.support_mask.reduce_ops = limits.ops;
  caps.support_mask.feature_mask = SHARP_FEATURE_LLT | SHARP_FEATURE_REPRODUCIBLE;
  if (limits.locked_payload > 0)
    caps.support_mask.feature_mask |= SHARP_FEATURE_SAT | SHARP_FEATURE_SAT_EXCLUSIVE_LOCK;
  caps.resources.max_osts = static_cast<int>(limits.slots);
  caps.resources.user_data_per_ost = static_cast<int>(limits.payload);
  caps.resources.max_groups = static_cast<int>(limits.groups);
  caps.resources.max_group_channels = 1;
  caps.resources.osts_per_group = static_cast<int>(limits.slots_per_group);
  return caps;
}
