// The groups of levels as a user sees them, and the traversals that call a base case (OSMP, algorithm 3).
#include "capi/levels/levels.hpp"

#include "base/format.hpp"

using namespace espalier::capi;
using espalier::formatted;
using espalier::machine::OwnGroup;

namespace {

espalier_group_view view_of(const espalier_levels& levels, const OwnGroup& own) {
  const int size = static_cast<int>(own.group.members.size());
  const auto& layout = levels.levels->layout();
  espalier_group_view view{};
  view.group = const_cast<espalier_group*>(&levels.groups[static_cast<std::size_t>(own.group.level)]);
  view.level = own.group.level;
  view.size = size;
  view.rank = own.place;
  view.previous = (own.place + size - 1) % size;
  view.next = (own.place + 1) % size;
  view.members = own.group.members.data();
  // A literal, so a zero stands behind it.
  view.domain = own.over_nodes ? "nodes" : to_string(own.group.domain).data();
  view.traversal = levels.levels->traversal();
  view.segment = own.operations->segment();
  view.bytes = own.operations->bytes();
  view.shared_bytes = layout.shared_bytes();
  view.member_bytes = layout.member_bytes();
  return view;
}

int run(espalier_levels& levels, const OwnGroup& own, espalier_base_case_fn base_case, void* context) {
  const espalier_group_view view = view_of(levels, own);
  return base_case(&view, context);
}

// The code of the first base case that fails. The other ranks hear of it.
int run_all(espalier_levels& levels, espalier_base_case_fn base_case, void* context, bool up) {
  levels.levels->begin();
  const int count = levels.levels->layout().count();
  for (int i = 0; i < count; ++i) {
    const OwnGroup* own = levels.levels->own(up ? i : count - 1 - i);
    if (!own) continue;
    const int code = run(levels, *own, base_case, context);
    if (code == 0) {
      levels.levels->leave(*own);
      continue;
    }
    levels.levels->fail(formatted("the base case of rank {} returned {} at level {}", levels.levels->rank(),
                                  code, own->group.level));
    return code;
  }
  levels.levels->end();
  return 0;
}

// The others wait for this rank's part.
[[noreturn]] void fail_without_base_case(espalier_levels& levels) {
  levels.levels->begin();
  levels.levels->fail(formatted("the base case of rank {} is NULL", levels.levels->rank()));
  throw CodedError(ESPALIER_ERR_ARGUMENT, "the base case is NULL, so these levels are of no more use");
}

// What the base case returns is returned as it is, with the text of its last call.
int traverse(espalier_levels* levels, espalier_base_case_fn base_case, void* context, bool up) {
  int code = 0;
  const int failure = guarded([&] {
    if (!levels) throw CodedError(ESPALIER_ERR_ARGUMENT, "the levels are NULL");
    if (!base_case) fail_without_base_case(*levels);
    code = run_all(*levels, base_case, context, up);
  });
  return code != 0 ? code : failure;
}

}  // namespace

extern "C" {

int espalier_levels_count(const espalier_levels* levels) {
  return levels ? levels->levels->layout().count() : -1;
}

int espalier_levels_group(const espalier_levels* levels, int level, espalier_group_view* view) {
  return guarded([&] {
    if (!levels || !view) throw CodedError(ESPALIER_ERR_ARGUMENT, "the levels or the view are NULL");
    const int count = espalier_levels_count(levels);
    if (level < 0 || level >= count)
      throw CodedError(ESPALIER_ERR_ARGUMENT,
                       formatted("level {}: the levels are 0 to {}", level, count - 1));
    const OwnGroup* own = levels->levels->own(level);
    *view = own ? view_of(*levels, *own) : espalier_group_view{};
    view->level = level;
  });
}

const char* espalier_levels_tree(const espalier_levels* levels) {
  return levels ? levels->levels->layout().text().c_str() : "";
}

int espalier_levels_up(espalier_levels* levels, espalier_base_case_fn base_case, void* context) {
  return traverse(levels, base_case, context, true);
}

int espalier_levels_down(espalier_levels* levels, espalier_base_case_fn base_case, void* context) {
  return traverse(levels, base_case, context, false);
}

}  // extern "C"
