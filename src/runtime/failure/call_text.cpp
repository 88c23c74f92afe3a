#include "runtime/failure/call_text.hpp"

#include "base/format.hpp"
#include "reduce/names.hpp"

namespace espalier::runtime {
std::string print(const machine::CallFacts& call) {
  const CollectiveTraits& collective = traits(call.collective);
  std::string text(collective.name);
  if (has_length(call.collective)) text += formatted(" of {} bytes", call.bytes);
  if (collective.has_root) text += formatted(" with root {}", call.root);
  return text;
}

namespace {

std::string label_of(const RecordedCall& call, const std::vector<std::string>& labels) {
  if (call.label == 0) return "unlabelled";
  return call.label <= labels.size() ? labels[call.label - 1u] : formatted("label {}", call.label);
}

}  // namespace

std::string print_beside(const machine::CallFacts& call, const machine::CallFacts& other) {
  const bool differ = call.collective == other.collective && call.operation != other.operation;
  return differ ? formatted("{} by {}", print(call), reduce::describe(call.operation)) : print(call);
}

std::string print_when(std::uint64_t ago) {
  return ago == 0 ? "in this call" : ago == 1 ? "in the call before" : formatted("{} calls ago", ago);
}

std::string print_beside(const RecordedCall& call, const RecordedCall& other,
                         const std::vector<std::string>& labels) {
  if (call.collective == other.collective && call.label != other.label)
    return formatted("{} as {}", print(call), label_of(call, labels));
  return print_beside(call, other);
}

std::string print_second(const RecordedCall& call, const RecordedCall& first,
                         const std::vector<std::string>& labels) {
  RecordedCall by_label = first;
  by_label.label = call.label;
  by_label.operation = call.operation;  // labels say that, too
  return call.label != first.label && call == by_label ? "as " + label_of(call, labels)
                                                       : print_beside(call, first, labels);
}

std::string print(const CallDifference& difference, int me, int other,
                  const std::vector<std::string>& labels) {
  const auto& [ago, mine, theirs] = difference;
  return formatted("{} rank {} wanted {}, rank {} {}", print_when(ago), me,
                   print_beside(mine, theirs, labels), other, print_second(theirs, mine, labels));
}

std::string print_lengths(const machine::CallFacts& call, int from, std::size_t sent, int to,
                          std::size_t expected) {
  return formatted("in this {} rank {} sends {} bytes to rank {}, which expects {}",
                   has_length(call.collective) ? std::string(to_string(call.collective)) : print(call), from,
                   sent, to, expected);
}

}  // namespace espalier::runtime
