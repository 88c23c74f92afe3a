// Requests under way: copies that the window keeps until they have left.
#pragma once

#include <cstddef>
#include <cstring>
#include <deque>
#include <utility>
#include <vector>

#include "network/transport.hpp"
#include "network/window/platform.hpp"
#include "network/window/request.hpp"

namespace espalier::network {

/// Bounded: a sender that is faster than its targets must not eat the memory.
template <class Platform>
class BasicOutbox {
 public:
  BasicOutbox(Transport& transport, int tag) : transport_(transport), tag_(tag) {}

  bool full() const { return held_ >= most_held; }
  bool empty() const { return under_way_.empty(); }
  void send(int process, const Request& request, const void* data, std::size_t bytes);
  /// Takes back what has left; true if anything has.
  bool drive();

 private:
  static constexpr std::size_t most_held = 2 << 20;
  static constexpr std::size_t overhead = 64;  // of a cell, however short its content
  struct Cell {
    Ticket ticket;
    std::vector<std::byte> content;
  };
  void give_back(Cell& cell);

  Transport& transport_;
  int tag_;
  std::size_t held_ = 0;
  std::deque<Cell> under_way_;
  std::vector<std::vector<std::byte>> spare_;  // fresh memory costs more than what is done with it
};

template <class Platform>
void BasicOutbox<Platform>::send(int process, const Request& request, const void* data, std::size_t bytes) {
  Cell cell{0, {}};
  if (!spare_.empty()) {
    cell.content = std::move(spare_.back());
    spare_.pop_back();
  }
  cell.content.resize(sizeof request + bytes);
  std::memcpy(cell.content.data(), &request, sizeof request);
  if (bytes > 0) Platform::copy(cell.content.data() + sizeof request, data, bytes);
  cell.ticket = transport_.send(process, tag_, cell.content.data(), cell.content.size());
  held_ += cell.content.size() + overhead;
  under_way_.push_back(std::move(cell));
}

template <class Platform>
bool BasicOutbox<Platform>::drive() {
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

template <class Platform>
void BasicOutbox<Platform>::give_back(Cell& cell) {
  constexpr std::size_t most_spare = 64;
  held_ -= cell.content.size() + overhead;
  if (spare_.size() < most_spare) spare_.push_back(std::move(cell.content));
}

}  // namespace espalier::network
