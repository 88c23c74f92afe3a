#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <vector>

// A frame as a packet socket hands it over: the kernel's note on offloads, then the Ethernet frame. Segments
// that the sender's kernel left in one piece (up to 64 KiB) stay in one piece.
struct Frame {
  std::int64_t due_ns;
  std::vector<std::byte> bytes;
};

// One interface of the switch: a packet socket, and the frames that wait to leave through it.
class Port {
 public:
  // Needs the right to packet sockets (CAP_NET_RAW). Throws std::system_error.
  explicit Port(const std::string& interface);
  ~Port();
  Port(Port&& other) noexcept;
  Port(const Port&) = delete;
  Port& operator=(const Port&) = delete;

  int descriptor() const { return descriptor_; }

  // The next frame that came in, in memory that lasts until the next call; empty: there is none.
  std::span<const std::byte> receive();

  // False, and the frame counts as dropped, if too much waits already.
  bool enqueue(std::int64_t due_ns, std::span<const std::byte> bytes);

  // Sends what is due. Returns when the next one is, or -1 if nothing waits.
  std::int64_t send_due(std::int64_t now_ns);

  std::int64_t free_in_ns = 0, free_out_ns = 0;  // with a rate: until when the wire is taken, each way
  std::uint64_t sent = 0, dropped = 0;

 private:
  int descriptor_;
  std::size_t waiting_bytes_ = 0;
  std::deque<Frame> waiting_;
};

// Ethernet addresses of a received frame as numbers, and how many bytes it takes on a wire.
std::uint64_t destination_of(std::span<const std::byte> frame);
std::uint64_t source_of(std::span<const std::byte> frame);
std::size_t wire_bytes(std::span<const std::byte> frame);
