#include "sharp/library/faults.hpp"

#include <string>

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/numbers.hpp"

namespace espalier::sharp {
namespace {

[[noreturn]] void fail(std::string_view text) {
  throw Error(
      formatted("ESPALIER_SHARP_FAULTS: \"{}\" is no fault; write init=-7, group.2=-18, operation.5@1=drop, "
                "operation=delay:500 or operation.3=late:-1",
                text));
}

template <class Number>
Number number(std::string_view word, std::string_view text) {
  const std::optional<Number> result = parse_number<Number>(word);
  if (!result) fail(text);
  return *result;
}

/// Cuts what follows `mark` off a word.
std::optional<std::string_view> behind(std::string_view& word, char mark) {
  const std::size_t at = word.find(mark);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view rest = word.substr(at + 1);
  word = word.substr(0, at);
  return rest;
}

Point point_of(std::string_view word, std::string_view text) {
  if (word == "init") return Point::init;
  if (word == "group") return Point::group;
  if (word != "operation") fail(text);
  return Point::operation;
}

void read_action(Fault& fault, std::string_view action, std::string_view text) {
  const auto value = behind(action, ':');
  if (action == "drop" && !value)
    fault.action = Fault::Action::drop;
  else if (action == "delay" && value)
    fault.action = Fault::Action::delay;
  else if (action == "late" && value)
    fault.action = Fault::Action::late;
  else if (value)
    fail(text);
  if (fault.action == Fault::Action::code) fault.value = number<std::int32_t>(action, text);
  if (value) fault.value = number<std::int32_t>(*value, text);
}

Fault parse(std::string_view text) {
  std::string_view where = text;
  const auto action = behind(where, '=');
  if (!action) fail(text);
  Fault fault{};
  if (const auto rank = behind(where, '@')) fault.rank = number<std::uint32_t>(*rank, text);
  if (const auto which = behind(where, '.')) fault.number = number<std::uint64_t>(*which, text);
  fault.point = point_of(where, text);
  read_action(fault, *action, text);
  return fault;
}

}  // namespace

Faults::Faults(std::string_view text) {
  while (!text.empty()) {
    const auto rest = behind(text, ',');
    faults_.push_back(parse(text));
    text = rest.value_or("");
  }
}

std::optional<Fault> Faults::at(Point point, std::uint64_t number, std::uint32_t rank) const {
  for (const Fault& fault : faults_)
    if (fault.point == point && (fault.number == 0 || fault.number == number) &&
        (!fault.rank || *fault.rank == rank))
      return fault;
  return std::nullopt;
}

}  // namespace espalier::sharp
