#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <vector>

#include "options.hpp"
#include "port.hpp"

// Carries every frame from the port it came in by to the port behind which its destination was seen (to all
// others if none was), so much later.
class Switch {
 public:
  explicit Switch(const Options& options);

  // Until `stop` is set by a handler of a signal that is blocked but for the time of the waits in here.
  void run(const std::atomic<bool>& stop);

  void print_counts() const;

 private:
  std::int64_t send_due();
  void take_in(std::size_t from);
  void pass_on(std::size_t from, std::span<const std::byte> frame);
  void queue(std::size_t to, std::span<const std::byte> frame, std::int64_t start_ns, std::int64_t wire_ns);

  std::int64_t delay_ns_;
  double ns_per_byte_;
  std::vector<Port> ports_;
  std::map<std::uint64_t, std::size_t> behind_;  // Ethernet address -> port
};
