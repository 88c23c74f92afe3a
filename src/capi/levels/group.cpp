// What a base case does on its group's segment, through the group's table of operations.
#include "base/format.hpp"
#include "capi/checks.hpp"
#include "capi/levels/levels.hpp"
#include "machine/levels/group_waits.hpp"

using namespace espalier::capi;
using espalier::formatted;
using espalier::machine::GroupOperations;
using espalier::machine::GroupWaits;
using espalier::machine::Until;

namespace {

template <class Body>
int on_group(const espalier_group_view* view, Body body) {
  return guarded([&] {
    if (!view || !view->group || !view->group->operations)
      throw CodedError(ESPALIER_ERR_ARGUMENT, "the view is NULL, or this rank has no group there");
    try {
      body(*view->group->operations);
    } catch (const espalier::machine::GroupArgument& error) {
      throw CodedError(ESPALIER_ERR_ARGUMENT, error.what());
    }
  });
}

Until until_of(espalier_until until) {
  switch (until) {
    case ESPALIER_UNTIL_EQUAL:
      return Until::equal;
    case ESPALIER_UNTIL_NOT_EQUAL:
      return Until::not_equal;
    case ESPALIER_UNTIL_AT_LEAST:
      return Until::at_least;
  }
  throw CodedError(ESPALIER_ERR_ARGUMENT, formatted("{} is no espalier_until", static_cast<int>(until)));
}

}  // namespace

extern "C" {

int espalier_group_put(const espalier_group_view* view, size_t offset, const void* source, size_t bytes) {
  return on_group(view, [&](GroupOperations& group) {
    check_buffer(source, bytes, "source");
    group.put(offset, source, bytes);
  });
}

int espalier_group_get(const espalier_group_view* view, size_t offset, void* target, size_t bytes) {
  return on_group(view, [&](GroupOperations& group) {
    check_buffer(target, bytes, "target");
    group.get(offset, target, bytes);
  });
}

int espalier_group_store(const espalier_group_view* view, size_t offset, uint64_t value) {
  return on_group(view, [&](GroupOperations& group) { group.store(offset, value); });
}

int espalier_group_load(const espalier_group_view* view, size_t offset, uint64_t* value) {
  return on_group(view, [&](GroupOperations& group) {
    if (!value) throw CodedError(ESPALIER_ERR_ARGUMENT, "the place for the value is NULL");
    *value = group.load(offset);
  });
}

int espalier_group_fetch_add(const espalier_group_view* view, size_t offset, uint64_t value, uint64_t* old) {
  return on_group(view, [&](GroupOperations& group) {
    const uint64_t before = group.fetch_add(offset, value);
    if (old) *old = before;
  });
}

int espalier_group_compare_swap(const espalier_group_view* view, size_t offset, uint64_t expected,
                                uint64_t desired, uint64_t* old) {
  return on_group(view, [&](GroupOperations& group) {
    const uint64_t before = group.compare_swap(offset, expected, desired);
    if (old) *old = before;
  });
}

int espalier_group_wait_until(const espalier_group_view* view, size_t offset, espalier_until until,
                              uint64_t value) {
  return on_group(view, [&](GroupOperations& group) { group.wait_until(offset, until_of(until), value); });
}

int espalier_group_wake(const espalier_group_view* view) {
  return on_group(view, [](GroupOperations& group) {
    if (GroupWaits* waits = group.waits()) waits->wake();
  });
}

}  // extern "C"
