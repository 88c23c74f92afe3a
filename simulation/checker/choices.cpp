#include "simulation/checker/choices.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/format.hpp"
#include "simulation/checker/clock.hpp"

namespace espalier::simulation::checker {

std::string print(const Trace& trace) {
  std::string text;
  for (std::size_t i = 0; i < trace.size();) {
    std::size_t end = i;
    while (end < trace.size() && trace[end] == trace[i]) ++end;
    if (end - i > 1) text += std::to_string(end - i);
    text += static_cast<char>('a' + trace[i]);
    i = end;
  }
  return text;
}

Trace parse_trace(std::string_view text) {
  Trace trace;
  std::size_t times = 0;
  for (const char c : text) {
    if (c >= '0' && c <= '9') {
      times = times * 10 + static_cast<std::size_t>(c - '0');
    } else if (c >= 'a' && c <= 'z' && times < 1'000'000) {
      trace.insert(trace.end(), std::max<std::size_t>(times, 1), static_cast<std::uint8_t>(c - 'a'));
      times = 0;
    } else {
      throw Error(formatted("'{}' in a trace: it has small letters and numbers only", c));
    }
  }
  return trace;
}

RandomChooser::RandomChooser(std::uint64_t seed, std::size_t length) : random_(seed) {
  constexpr unsigned often = 128, seldom = 20;
  by_priority_ = seed % 3 == 2;
  switches_ = seed % 3 == 0 ? often : seldom;
  constexpr unsigned stale[] = {0, 32, 192};
  stale_ = stale[seed / 3 % 3];
  roused_ = seed / 9 % 2 ? 4 : 0;
  constexpr unsigned late[] = {64, 0, 224};
  late_ = late[seed / 4 % 3];
  for (int rank = 0; rank < most_ranks; ++rank) priorities_.push_back(rank);
  std::shuffle(priorities_.begin(), priorities_.end(), random_);
  constexpr int moments = 3;
  for (int i = 0; i < moments; ++i) changes_.push_back(pick(std::max<std::size_t>(length, 1)));
}

std::size_t RandomChooser::most_urgent(std::span<const int> ranks) {
  const auto priority = [&](int rank) { return priorities_[static_cast<std::size_t>(rank)]; };
  return static_cast<std::size_t>(
      std::max_element(ranks.begin(), ranks.end(), [&](int a, int b) { return priority(a) < priority(b); }) -
      ranks.begin());
}

std::size_t RandomChooser::decide(Question question, std::span<const int> options) {
  const bool change = std::find(changes_.begin(), changes_.end(), ++choices_) != changes_.end();
  switch (question) {
    case Question::go_on:
      if (by_priority_) {
        if (change) priorities_[static_cast<std::size_t>(options[0])] = -static_cast<int>(choices_);
        return most_urgent(options);
      }
      return chance(switches_) ? pick(options.size()) : 0;
    case Question::next:
      return by_priority_ ? most_urgent(options) : pick(options.size());
    case Question::value:
      return chance(stale_) ? 1 + pick(options.size() - 1) : 0;
    case Question::rouse:
      return chance(roused_) ? 1 + pick(options.size() - 1) : 0;
    case Question::leave:
    case Question::from:
      return pick(options.size());
    case Question::arrive:
      return chance(late_) ? 1 : 0;
  }
  return 0;
}

std::size_t SystematicChooser::decide(Question question, std::span<const int> options) {
  if (depth_ == path_.size())
    path_.push_back({0, static_cast<std::uint8_t>(options.size()), question != Question::next});
  return path_[depth_++].chosen;
}

bool SystematicChooser::advance() {
  int spent = 0;
  for (const Decision& decision : path_) spent += decision.costs && decision.chosen > 0;
  for (; !path_.empty(); path_.pop_back()) {
    Decision& last = path_.back();
    if (last.costs && last.chosen > 0) --spent;
    if (last.chosen + 1 < last.count && spent + last.costs <= bound_) {
      ++last.chosen;
      depth_ = 0;
      forget();
      return true;
    }
  }
  return false;
}

std::size_t ReplayChooser::decide(Question, std::span<const int> options) {
  const std::size_t chosen = next_ < replayed_.size() ? replayed_[next_++] : 0;
  if (chosen >= options.size())
    throw Error(
        "this trace is of another scenario, or of another state of the sources: it chooses among more than "
        "there is");
  return chosen;
}

}  // namespace espalier::simulation::checker
