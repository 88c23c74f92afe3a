#include "runtime/failure/call_text.hpp"

#include "base/format.hpp"

namespace espalier::runtime {
std::string print(const machine::CallFacts& call) {
  const CollectiveTraits& collective = traits(call.collective);
  std::string text(collective.name);
  if (collective.length != Length::none) text += formatted(" of {} bytes", call.bytes);
  if (collective.has_root) text += formatted(" with root {}", call.root);
  return text;
}

}  // namespace espalier::runtime
