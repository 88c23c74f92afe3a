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

std::string print_beside(const machine::CallFacts& call, const machine::CallFacts& other) {
  const bool differ = call.collective == other.collective && call.operation != other.operation;
  return differ ? formatted("{} by {}", print(call), reduce::describe(call.operation)) : print(call);
}

std::string print(const CallDifference& difference, int me, int other) {
  const auto& [ago, mine, theirs] = difference;
  const std::string when = ago == 0   ? "in this call"
                           : ago == 1 ? "in the call before"
                                      : formatted("{} calls ago", ago);
  return formatted("{} rank {} wanted {}, rank {} {}", when, me, print_beside(mine, theirs), other,
                   print_beside(theirs, mine));
}

}  // namespace espalier::runtime
