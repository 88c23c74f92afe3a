#include "network/window/outbox.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace espalier::network {

void Outbox::send(int process, const Request& request, const void* data, std::size_t bytes) {
  Cell cell{0, {}};
  if (!spare_.empty()) {
    cell.content = std::move(spare_.back());
    spare_.pop_back();
  }
  cell.content.resize(sizeof request + bytes);
  std::memcpy(cell.content.data(), &request, sizeof request);
  if (bytes > 0) std::memcpy(cell.content.data() + sizeof request, data, bytes);
  cell.ticket = transport_.send(process, tag_, cell.content.data(), cell.content.size());
  held_ += cell.content.size() + overhead;
  under_way_.push_back(std::move(cell));
}

bool Outbox::drive() {
  const std::size_t before = under_way_.size();
  // The oldest only, since a look has its price; all of them when room is short and the oldest is stuck.
  while (!under_way_.empty() && transport_.test(under_way_.front().ticket)) {
    give_back(under_way_.front());
    under_way_.pop_front();
  }
  if (full())
    std::erase_if(under_way_, [&](Cell& cell) {
      if (!transport_.test(cell.ticket)) return false;
      give_back(cell);
      return true;
    });
  return under_way_.size() < before;
}

void Outbox::give_back(Cell& cell) {
  constexpr std::size_t most_spare = 64;
  held_ -= cell.content.size() + overhead;
  if (spare_.size() < most_spare) spare_.push_back(std::move(cell.content));
}

}  // namespace espalier::network
