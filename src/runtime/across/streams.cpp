#include "runtime/across/streams.hpp"

#include <algorithm>
#include <limits>

namespace espalier::runtime::across {

std::uint64_t Streams::begin(int stream, const machine::CallFacts& facts) {
  Stream& of = open_[stream];
  of.recent.add(facts);
  const std::uint64_t number = of.recent.number();
  of.calls[number % kept] = {facts, of.recent.fingerprint()};
  return number;
}

void Streams::close(int stream) {
  closed_[stream] = begun(stream);
  open_.erase(stream);
  failures_.erase(stream);
  if (closed_.size() <= most_closed) return;
  forgotten_ = std::max(forgotten_, closed_.begin()->first);
  closed_.erase(closed_.begin());
}

std::uint64_t Streams::begun(int stream) const {
  if (const auto found = open_.find(stream); found != open_.end()) return found->second.recent.number();
  if (const auto found = closed_.find(stream); found != closed_.end()) return found->second;
  return stream <= forgotten_ ? std::numeric_limits<std::uint64_t>::max() : 0;
}

std::optional<Streams::Call> Streams::find(int stream, std::uint64_t call) const {
  const auto found = open_.find(stream);
  if (found == open_.end()) return std::nullopt;
  const Stream& of = found->second;
  const std::uint64_t begun = of.recent.number();
  if (call == 0 || call > begun || call + kept <= begun) return std::nullopt;
  return of.calls[call % kept];
}

bool Streams::fail(int stream, const Failure& failure) {
  const auto [known, is_new] = failures_.try_emplace(stream, failure);
  if (is_new) return true;
  if (known->second.from <= failure.from) return false;
  known->second.from = failure.from;  // the first reason stays
  return true;
}

const Failure* Streams::failure(int stream, std::uint64_t call) const {
  const auto found = failures_.find(stream);
  return found != failures_.end() && found->second.from <= call ? &found->second : nullptr;
}

}  // namespace espalier::runtime::across
