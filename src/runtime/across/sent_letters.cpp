#include "runtime/across/sent_letters.hpp"

#include <chrono>
#include <new>
#include <utility>

#include "base/error.hpp"

namespace espalier::runtime::across {

SentLetters& SentLetters::instance() {
  static SentLetters& letters = *new SentLetters;  // never destroyed, as Process
  return letters;
}

void SentLetters::add(network::Transport& transport, network::Ticket ticket,
                      std::shared_ptr<const Letter> letter) {
  if (transport.test(ticket)) return;  // short ones have gone at once
  const std::lock_guard lock(mutex_);
  all_.push_back({&transport, ticket, std::move(letter)});
}

void SentLetters::look() {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (lock) std::erase_if(all_, [](const Sent& sent) { return sent.transport->test(sent.ticket); });
}

bool SentLetters::all_have_gone() {
  const std::lock_guard lock(mutex_);
  return all_.empty();
}

// A reader that has given up its call receives nothing any more, hence the deadline; the host may then still read there.
void SentLetters::finish() {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  try {
    do look();
    while (!all_have_gone() && std::chrono::steady_clock::now() < deadline);
  } catch (const Error&) {  // the host ends
  }
  static std::list<Sent>& left_behind = *new std::list<Sent>;
  const std::lock_guard lock(mutex_);
  left_behind.splice(left_behind.end(), all_);
}

}  // namespace espalier::runtime::across
