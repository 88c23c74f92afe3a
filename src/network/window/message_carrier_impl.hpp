// How puts become messages, and messages memory: the members of BasicMessageCarrier. Included by those who
// instantiate it for a platform.
#pragma once

#include <cstring>

#include "network/window/message_carrier.hpp"

namespace espalier::network {

template <class Platform>
BasicMessageCarrier<Platform>::BasicMessageCarrier(Transport& transport, int first_tag,
                                                   const WindowTeam& team, const Memory& memory,
                                                   SpinLimits spin_limits)
    : transport_(transport),
      request_tag_(first_tag + request_lane),
      data_tag_(first_tag + data_lane),
      reply_tag_(first_tag + reply_lane),
      team_(team),
      memory_(memory),
      spin_limits_(spin_limits),
      outbox_(transport, request_tag_),
      sources_(transport),
      targets_(transport),
      landings_(transport),
      answers_(transport) {
  incoming_.content.resize(sizeof(Request) + longest_inline);
}

template <class Platform>
void BasicMessageCarrier<Platform>::put(int node, std::size_t offset, const void* source, std::size_t bytes,
                                        int id, std::uint32_t value) {
  Request request{Kind::put, id, value, 0, offset, bytes, 0, 0};
  if (bytes <= longest_inline) return ask(node, request, source, bytes);
  request.data_follow = 1;
  ask(node, request);
  sources_.send(team_.target(node), data_tag_, source, bytes, {});
}

// Who asks waits for the answer first. Answers come in the order of the requests, since messages of one pair
// and tag do, and a rank serves requests in the order in which they come.
template <class Platform>
void BasicMessageCarrier<Platform>::get(int node, std::size_t offset, void* target, std::size_t bytes) {
  targets_.receive(team_.target(node), reply_tag_, target, bytes, {});
  ask(node, {Kind::get, 0, 0, 0, offset, bytes, 0, 0});
}

template <class Platform>
void BasicMessageCarrier<Platform>::store(int node, std::size_t offset, std::uint64_t value) {
  ask(node, {Kind::store, 0, 0, 0, offset, sizeof value, value, 0});
}

template <class Platform>
void BasicMessageCarrier<Platform>::fetch_add(int node, std::size_t offset, std::uint64_t value,
                                              std::uint64_t* old) {
  ask_for_word(node, {Kind::fetch_add, 0, 0, 0, offset, sizeof *old, value, 0}, old);
}

template <class Platform>
void BasicMessageCarrier<Platform>::compare_swap(int node, std::size_t offset, std::uint64_t expected,
                                                 std::uint64_t desired, std::uint64_t* old) {
  ask_for_word(node, {Kind::compare_swap, 0, 0, 0, offset, sizeof *old, desired, expected}, old);
}

template <class Platform>
void BasicMessageCarrier<Platform>::ask_for_word(int node, const Request& request, std::uint64_t* old) {
  targets_.receive(team_.target(node), reply_tag_, old, sizeof *old, {});
  ask(node, request);
}

template <class Platform>
void BasicMessageCarrier<Platform>::ask(int node, const Request& request, const void* data,
                                        std::size_t bytes) {
  for (typename Platform::Wait wait(spin_limits_); outbox_.full();)
    if (!drive()) wait.pass();
  outbox_.send(team_.target(node), request, data, bytes);
}

template <class Platform>
bool BasicMessageCarrier<Platform>::settled() {
  drive();
  return sources_.empty() && targets_.empty();
}

template <class Platform>
bool BasicMessageCarrier<Platform>::has_left() {
  drive();
  return outbox_.empty() && sources_.empty() && targets_.empty() && landings_.empty() && answers_.empty();
}

template <class Platform>
bool BasicMessageCarrier<Platform>::drive() {
  constexpr int most_requests = 64;  // so that a stream of them does not keep this rank from its own affairs
  bool any = outbox_.drive();
  for (int i = 0; i < most_requests && take_request(); ++i) any = true;
  any |= landings_.drive([this](const Notice& notice) { notify(notice); });
  const auto nothing = [](const auto&) {};
  any |= sources_.drive(nothing);
  any |= targets_.drive(nothing);
  any |= answers_.drive(nothing);
  return any;
}

template <class Platform>
bool BasicMessageCarrier<Platform>::take_request() {
  if (incoming_.process < 0) {
    const auto arrival = transport_.probe(request_tag_);
    if (!arrival) return false;
    incoming_.process = arrival->process;
    incoming_.ticket =
        transport_.receive(arrival->process, request_tag_, incoming_.content.data(), arrival->bytes);
  }
  if (!transport_.test(incoming_.ticket)) return false;
  const int process = incoming_.process;
  incoming_.process = -1;
  Request request;
  std::memcpy(&request, incoming_.content.data(), sizeof request);
  serve(process, request, incoming_.content.data() + sizeof request);
  return true;
}

template <class Platform>
void BasicMessageCarrier<Platform>::serve(int process, const Request& request, const std::byte* data) {
  switch (request.kind) {
    case Kind::put:
      return serve_put(process, request, data);
    case Kind::get:
      return answers_.send(process, reply_tag_, memory_.base + request.offset, request.bytes, nullptr);
    case Kind::store:
      return memory_.store(request.offset, request.operand);
    case Kind::fetch_add:
      return answer(process, memory_.fetch_add(request.offset, request.operand));
    case Kind::compare_swap:
      return answer(process, memory_.compare_swap(request.offset, request.expected, request.operand));
    case Kind::goodbye:
      ++goodbyes_;
  }
}

template <class Platform>
void BasicMessageCarrier<Platform>::serve_put(int process, const Request& request, const std::byte* data) {
  const Notice notice{request.id, request.value};
  if (request.data_follow)
    return landings_.receive(process, data_tag_, memory_.base + request.offset, request.bytes, notice);
  memory_.write(request.offset, data, request.bytes);
  notify(notice);
}

template <class Platform>
void BasicMessageCarrier<Platform>::answer(int process, std::uint64_t word) {
  auto kept = std::make_unique<std::uint64_t>(word);
  const std::uint64_t* place = kept.get();
  answers_.send(process, reply_tag_, place, sizeof word, std::move(kept));
}

template <class Platform>
void BasicMessageCarrier<Platform>::notify(const Notice& notice) const {
  if (notice.value != 0) memory_.notifications.set(notice.id, notice.value);
}

template <class Platform>
void BasicMessageCarrier<Platform>::say_goodbye() {
  for (int node = 0; node < team_.nodes(); ++node)
    if (node != team_.node) ask(node, {Kind::goodbye, 0, 0, 0, 0, 0, 0, 0});
}

template <class Platform>
bool BasicMessageCarrier<Platform>::at_rest() {
  return has_left() && goodbyes_ == team_.senders();
}

}  // namespace espalier::network
