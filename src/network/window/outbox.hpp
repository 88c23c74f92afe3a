// Requests under way: copies that the window keeps until they have left.
#pragma once

#include <cstddef>
#include <deque>
#include <vector>

#include "network/transport.hpp"
#include "network/window/request.hpp"

namespace espalier::network {

/// Bounded: a sender that is faster than its targets must not eat the memory.
class Outbox {
 public:
  Outbox(Transport& transport, int tag) : transport_(transport), tag_(tag) {}

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

}  // namespace espalier::network
