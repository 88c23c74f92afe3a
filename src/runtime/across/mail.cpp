#include "runtime/across/mail.hpp"

#include <utility>

#include "base/error.hpp"
#include "runtime/process/process.hpp"
#include "runtime/process/tags.hpp"

namespace espalier::runtime::across {

// All calls of this rank are complete, so it has received all that is for it; ranks take a block of tags only where it
// is free on all of them. Of calls that were given up something may still come.
Mail::~Mail() {
  for (Coming& coming : coming_) static_cast<void>(coming.letter.release());
  if (tags_ < 0 || !may_give_back_ || !coming_.empty()) return;
  if (Tags* const tags = Process::instance().tags()) tags->give_back(tags_);
}

void Mail::send(int rank, const std::shared_ptr<const Letter>& letter) {
  const auto ticket =
      transport_.send(processes_[static_cast<std::size_t>(rank)], tag_, letter->data(), letter->size());
  sent_.add(transport_, ticket, letter);
}

bool Mail::collect() {
  while (const auto arrival = transport_.probe(tag_)) {
    if (arrival->bytes < sizeof(Head)) throw Error("a message of a nonblocking collective is too short");
    auto letter = std::make_unique<Letter>(arrival->bytes);
    const auto ticket = transport_.receive(arrival->process, tag_, letter->data(), letter->size());
    coming_.push_back({ticket, std::move(letter)});
  }
  bool any = false;
  for (auto each = coming_.begin(); each != coming_.end();) {
    if (!transport_.test(each->ticket)) {
      ++each;
      continue;
    }
    const Head head = head_of(*each->letter);
    of_call(head.stream, head.call)
        .insert_or_assign({head.node, head.part, static_cast<int>(head.piece)}, std::move(*each->letter));
    each = coming_.erase(each);
    any = true;
  }
  return any;
}

}  // namespace espalier::runtime::across
