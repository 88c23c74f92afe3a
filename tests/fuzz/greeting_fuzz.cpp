// Feeds bytes to what judges greetings, frames and names of a meeting (src/capi/meeting).
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

#include "capi/meeting/frames.hpp"
#include "capi/meeting/place.hpp"

using namespace espalier::capi;

namespace {

template <class T>
T read_as(const std::uint8_t* data, std::size_t size) {
  T value{};
  std::memcpy(static_cast<void*>(&value), data, std::min(size, sizeof value));
  return value;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto greeting = read_as<Greeting>(data, size);
  for (const int ranks : {1, 2, 1000}) {
    const bool is_seated = kind_of(greeting, ranks) == GreetingKind::valid;
    if (is_seated && (greeting.rank < 1 || greeting.rank >= ranks)) std::abort();
  }
  const auto failure = read_as<FailureFrame>(data, size);
  if (text_of(failure).size() > sizeof failure.text) std::abort();
  if (is_failure(failure.head) && failure.head.bytes + sizeof failure.head != sizeof failure) std::abort();
  const std::string line(reinterpret_cast<const char*>(data), size);
  const std::string name = abstract_name_in(line, "espalier-also-0-");
  if (name.size() > espalier::AbstractAddress::longest || name.size() > line.size()) std::abort();
  if (!name.empty() && !name.starts_with("espalier-also-0-")) std::abort();
  return 0;
}
