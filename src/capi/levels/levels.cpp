// The groups of levels as a user sees them, and the traversals that call a base case (OSMP, algorithm 3).
#include "capi/levels/levels.hpp"

#include "base/format.hpp"

using namespace espalier::capi;
using espalier::formatted;

namespace {

// The code of the first base case that fails. The other ranks hear of it.
int run_all(espalier_levels& of, espalier_base_case_fn base_case, void* context, bool up) {
  espalier::machine::Levels& levels = *of.levels;
  levels.begin();
  const std::size_t count = of.groups.size();
  for (std::size_t i = 0; i < count; ++i) {
    espalier_group& group = of.groups[up ? i : count - 1 - i];
    if (!group.own) continue;
    group.view.traversal = levels.traversal();
    const int code = base_case(&group.view, context);
    if (code == 0) {
      levels.leave(*group.own);
      continue;
    }
    levels.fail(
        formatted("the base case of rank {} returned {} at level {}", levels.rank(), code, group.view.level));
    return code;
  }
  levels.end();
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
    *view = levels->groups[static_cast<std::size_t>(level)].view;
    view->traversal = view->size > 0 ? levels->levels->traversal() : 0;
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
