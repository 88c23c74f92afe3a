#include "simulation/checker/site.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/format.hpp"

namespace espalier::simulation::checker {
namespace {

// "void espalier::Some<T>::name(int) const [with T = ...]" -> "name"; a lambda is named like the function
// that it is in.
std::string short_name(std::string_view function) {
  if (const auto with = function.find(" [with "); with != std::string_view::npos)
    function = function.substr(0, with);
  if (const auto lambda = function.find("::<lambda"); lambda != std::string_view::npos)
    function = function.substr(0, lambda);
  if (const auto lambda = function.find("::(anonymous class)"); lambda != std::string_view::npos)
    function = function.substr(0, lambda);
  const auto arguments = function.find('(');
  function = function.substr(0, arguments);
  if (const auto angle = function.find('<');
      angle != std::string_view::npos && function.find("::", angle) == std::string_view::npos)
    function = function.substr(0, angle);
  const auto begin = function.find_last_of(": ");
  return std::string(begin == std::string_view::npos ? function : function.substr(begin + 1));
}

// Relative to src/: names come more than once, as collective/node/reductions/allreduce.hpp and
// collective/multinode/allreduce.hpp.
std::string_view short_file(std::string_view file) {
  constexpr std::string_view source = "/src/", tests = "/tests/";
  if (const auto at = file.rfind(source); at != std::string_view::npos)
    return file.substr(at + source.size());
  if (const auto at = file.rfind(tests); at != std::string_view::npos) return file.substr(at + 1);
  return file.substr(file.rfind('/') + 1);
}

std::vector<Change> changes_of(const Site& site) {
  switch (site.operation) {
    case Operation::load:
    case Operation::store:
      if (site.order == std::memory_order_relaxed) return {};
      return {Change::relaxed};
    case Operation::add:
      if (site.order == std::memory_order_relaxed) return {Change::removed, Change::in_two_steps};
      return {Change::relaxed, Change::acquire_only, Change::release_only, Change::removed,
              Change::in_two_steps};
    case Operation::exchange:
      if (site.order == std::memory_order_relaxed) return {Change::removed, Change::in_two_steps};
      return {Change::relaxed, Change::acquire_only, Change::release_only, Change::in_two_steps};
    case Operation::compare_exchange:
      return {Change::relaxed, Change::acquire_only, Change::release_only, Change::failure_relaxed,
              Change::in_two_steps};
    case Operation::fence:
      if (site.order == std::memory_order_acquire) return {Change::release_only, Change::removed};
      if (site.order == std::memory_order_release) return {Change::acquire_only, Change::removed};
      return {Change::acquire_only, Change::release_only, Change::removed};
    case Operation::futex_wait:
      return {Change::removed, Change::uncompared};
    case Operation::futex_wake:
      return {Change::removed, Change::one_only};
    case Operation::all_finished:
      return {Change::one_more};
    default:
      return {Change::removed};
  }
}

// Of those of the same file, function, operation and flag, in the order of the text: the how-manieth, and of
// how many.
struct TreePosition {
  int number = 0, of = 0;
};
TreePosition place_in(const Site& site, const Sites& sites) {
  TreePosition position;
  for (const Site& other : sites) {
    if (other.file != site.file || other.function != site.function || other.operation != site.operation ||
        other.of != site.of)
      continue;
    ++position.of;
    if (std::pair(other.line, other.column) <= std::pair(site.line, site.column)) ++position.number;
  }
  return position;
}

}  // namespace

const char* to_string(Operation operation) {
  static constexpr std::array names = {"load",
                                       "store",
                                       "add",
                                       "exchange",
                                       "compare_exchange",
                                       "fence",
                                       "futex_wait",
                                       "futex_wake",
                                       "wait",
                                       "await",
                                       "await_finish",
                                       "await_release_all",
                                       "reserve",
                                       "set_readers",
                                       "all_finished",
                                       "hand_over",
                                       "send",
                                       "receive",
                                       "drive"};
  return names[static_cast<std::size_t>(operation)];
}

const char* to_string(Change change) {
  static constexpr std::array names = {"unchanged",       "relaxed",      "acquire only", "release only",
                                       "failure relaxed", "removed",      "in two steps", "uncompared",
                                       "one only",        "one step more"};
  return names[static_cast<std::size_t>(change)];
}

std::vector<Mutant> mutants_of(const Sites& sites) {
  std::vector<Mutant> mutants;
  for (const Site& site : sites)
    for (const Change change : changes_of(site)) mutants.push_back({site, change});
  return mutants;
}

std::string name_of(const Mutant& mutant, const Sites& sites) {
  const Site& site = mutant.site;
  const TreePosition position = place_in(site, sites);
  return formatted("{} {} {}{}{}: {}", site.file, site.function, to_string(site.operation),
                   site.of.empty() ? "" : " " + site.of,
                   position.of > 1 ? formatted("#{}", position.number) : "", to_string(mutant.change));
}

Site site_of(const std::source_location& where, Operation operation, const char* of,
             std::memory_order order) {
  return {std::string(short_file(where.file_name())),
          short_name(where.function_name()),
          where.line(),
          where.column(),
          operation,
          of,
          order};
}

}  // namespace espalier::simulation::checker
