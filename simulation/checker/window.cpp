#include "simulation/checker/window.hpp"

#include <memory>

#include "network/window/message_carrier_impl.hpp"
#include "network/window/window_impl.hpp"

namespace espalier::network {
template class BasicMessageCarrier<simulation::checker::Platform>;
template class BasicNodeWindow<simulation::checker::Platform>;
}  // namespace espalier::network

namespace espalier::simulation::checker {
namespace {

constexpr int first_tag = 16;  // after the tags of an endpoint's lanes

std::size_t words_of(std::size_t bytes) { return (bytes + 7) / 8 * 8; }

// The area: [the window's bytes][notifications][landings]
WindowMemory memory_of(std::size_t bytes, int ids, bool landings) {
  std::byte* base = Execution::current().area();
  std::byte* values = base + words_of(bytes);
  std::byte* words = values + words_of(static_cast<std::size_t>(ids) * sizeof(Notifications::Value));
  const Landings left = landings ? Landings(reinterpret_cast<Landings::Word*>(words), ids) : Landings();
  return {base, bytes, Notifications(reinterpret_cast<Notifications::Value*>(values), ids, left)};
}

}  // namespace

std::size_t Window::area_bytes(std::size_t bytes, int ids, bool landings) {
  const std::size_t words = landings ? Landings::words(ids) * sizeof(Landings::Word) : 0;
  return words_of(bytes) + words_of(static_cast<std::size_t>(ids) * sizeof(Notifications::Value)) + words;
}

Window::Window(const network::WindowTeam& team, std::size_t bytes, int ids, bool landings)
    : memory_(memory_of(bytes, ids, landings)), window_(team, memory_, {{}, {}}) {
  Messages& messages = Execution::current().messages();
  constexpr const char* file = "network/window/message_carrier_impl.hpp";
  messages.name_tag(first_tag + network::request_lane, file, "request");
  messages.name_tag(first_tag + network::data_lane, file, "data");
  messages.name_tag(first_tag + network::reply_lane, file, "reply");
  if (team.nodes() > 1)
    window_.set_carrier(std::make_unique<network::BasicMessageCarrier<Platform>>(
        messages.of(team.process()), first_tag, window_.team(), memory_, network::SpinLimits()));
  Execution::current().drive_with([this] { drive_aside(); });
}

Window::~Window() { Execution::current().drive_with(nullptr); }

}  // namespace espalier::simulation::checker
