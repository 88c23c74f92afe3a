// How levels are made from a communicator, and how they end.
#include <cstddef>
#include <limits>
#include <string>

#include "base/format.hpp"
#include "capi/checks.hpp"
#include "capi/levels/levels.hpp"
#include "machine/levels/group_waits.hpp"
#include "runtime/levels/node_levels.hpp"
#include "runtime/multinode/communicator_bootstrap.hpp"

using namespace espalier::capi;
using espalier::formatted;
using espalier::runtime::LevelsRequest;
using espalier::runtime::NodeLevels;

namespace {

constexpr std::size_t segment_line = 64;
constexpr std::size_t longest_part = std::size_t{1} << 40;
constexpr int deepest_virtual = 64;

std::size_t whole_lines(std::size_t bytes) {
  return bytes == 0 ? segment_line : (bytes + segment_line - 1) / segment_line * segment_line;
}

std::string flaw_of(const espalier_levels_options& options, int size) {
  if (options.shared_bytes > longest_part || options.member_bytes > longest_part)
    return formatted("segments of {} shared bytes and {} of each member: the most is {}",
                     options.shared_bytes, options.member_bytes, longest_part);
  if (options.root < 0 || options.root >= size)
    return formatted("root {}: the ranks are 0 to {}", options.root, size - 1);
  if (options.degree < 0) return formatted("degree {} is negative", options.degree);
  if (options.virtual_levels < 0 || options.virtual_levels > deepest_virtual)
    return formatted("{} virtual levels: need 0 to {}", options.virtual_levels, deepest_virtual);
  return "";
}

// A request with a flaw is never used.
LevelsRequest request_of(const espalier_levels_options& options) {
  return {whole_lines(options.shared_bytes),
          whole_lines(options.member_bytes),
          options.root,
          options.degree,
          options.virtual_levels == 0 ? 1 : options.virtual_levels,
          options.tree ? options.tree : ""};
}

// What only this rank has wrong goes through the agreement, too: else the others would wait for it.
std::unique_ptr<espalier_levels> create_levels(Communicator& comm, const espalier_levels_options& options,
                                               bool has_place) {
  std::string flaw = has_place ? flaw_of(options, comm.size()) : "the place for the levels is NULL";
  try {
    return std::make_unique<espalier_levels>(
        NodeLevels::create(espalier::runtime::bootstrap_of(comm),
                           request_of(flaw.empty() ? options : espalier_levels_options{}), flaw));
  } catch (const espalier::runtime::OutOfStep&) {
    throw;
  } catch (const espalier::runtime::LevelsArgument& error) {
    throw CodedError(ESPALIER_ERR_ARGUMENT, error.what());
  } catch (const espalier::Error& error) {
    throw CodedError(ESPALIER_ERR_REFUSED, error.what());
  }
}

}  // namespace

namespace {

using espalier::machine::GroupWaits;
static_assert(sizeof(espalier_group_waits) <= sizeof(GroupWaits) &&
                  offsetof(GroupWaits, sleepers) == offsetof(espalier_group_waits, sleepers) &&
                  offsetof(GroupWaits, fenced) == offsetof(espalier_group_waits, fenced) &&
                  offsetof(GroupWaits, looks) == offsetof(espalier_group_waits, looks),
              "the header's inline functions read it");

espalier_group_view view_of(espalier_group& group, int level, const espalier::machine::LevelsLayout& layout) {
  espalier_group_view view{};
  view.level = level;
  if (!group.own) return view;
  const auto& own = *group.own;
  const int size = static_cast<int>(own.group.members.size());
  view.group = &group;
  view.size = size;
  view.rank = own.place;
  view.previous = (own.place + size - 1) % size;
  view.next = (own.place + 1) % size;
  view.members = own.group.members.data();
  // A literal, so a zero stands behind it.
  view.domain = own.over_nodes ? "nodes" : to_string(own.group.domain).data();
  view.segment = own.operations->segment();
  view.bytes = own.operations->bytes();
  view.shared_bytes = layout.shared_bytes();
  view.member_bytes = layout.member_bytes();
  if (view.segment) view.waits = reinterpret_cast<const espalier_group_waits*>(own.operations->waits());
  return view;
}

}  // namespace

espalier_levels::espalier_levels(std::unique_ptr<espalier::machine::Levels> made)
    : levels(std::move(made)), groups(static_cast<std::size_t>(levels->layout().count())) {
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const int level = static_cast<int>(i);
    groups[i].own = levels->own(level);
    if (groups[i].own) groups[i].operations = groups[i].own->operations.get();
    groups[i].view = view_of(groups[i], level, levels->layout());
  }
}

extern "C" {

int espalier_levels_create(espalier_comm* comm, const espalier_levels_options* options,
                           espalier_levels** levels) {
  return guarded([&] {
    auto made =
        create_levels(checked(comm), options ? *options : espalier_levels_options{}, levels != nullptr);
    *levels = made.release();
  });
}

void espalier_levels_free(espalier_levels* levels) { delete levels; }

}  // extern "C"
