#include "runtime/failure/call_text.hpp"

#include "base/format.hpp"

namespace espalier::runtime {
namespace {

bool has_length(Collective collective) {
  switch (collective) {
    case Collective::barrier:
    case Collective::gatherv:
    case Collective::scatterv:
    case Collective::alltoallv:
      return false;
    default:
      return true;
  }
}

bool has_root(Collective collective) {
  switch (collective) {
    case Collective::bcast:
    case Collective::reduce:
    case Collective::gather:
    case Collective::gatherv:
    case Collective::scatter:
    case Collective::scatterv:
      return true;
    default:
      return false;
  }
}

}  // namespace

std::string print(const machine::CallFacts& call) {
  std::string text(to_string(call.collective));
  if (has_length(call.collective)) text += formatted(" of {} bytes", call.bytes);
  if (has_root(call.collective)) text += formatted(" with root {}", call.root);
  return text;
}

}  // namespace espalier::runtime
