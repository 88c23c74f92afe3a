#include "port.hpp"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <system_error>
#include <utility>

namespace {

// The kernel's virtio_net_hdr, whose header C++ cannot read (a member is called class).
struct Note {
  std::uint8_t flags, gso_type;
  std::uint16_t header_length, gso_size, checksum_start, checksum_offset;
};
static_assert(sizeof(Note) == 10);

constexpr std::size_t kNote = sizeof(Note);
constexpr std::size_t kMostFrame = 70'000;
// Far more than TCP keeps under way: a frame that is dropped costs a retransmission timeout of 200 ms.
constexpr std::size_t kMostWaiting = std::size_t{64} << 20;
constexpr std::int64_t kTryAgain = 20'000;  // ns

[[noreturn]] void fail(const std::string& what) {
  throw std::system_error(errno, std::generic_category(), what);
}

template <class T>
int set(int descriptor, int level, int name, T value) {
  return setsockopt(descriptor, level, name, &value, sizeof value);
}

void bind_to(int descriptor, const std::string& interface) {
  sockaddr_ll address{};
  address.sll_family = AF_PACKET;
  address.sll_protocol = htons(ETH_P_ALL);
  address.sll_ifindex = static_cast<int>(if_nametoindex(interface.c_str()));
  if (!address.sll_ifindex || bind(descriptor, reinterpret_cast<sockaddr*>(&address), sizeof address))
    fail("interface " + interface);
  packet_mreq all{};
  all.mr_ifindex = address.sll_ifindex;
  all.mr_type = PACKET_MR_PROMISC;  // frames for other addresses are what a switch is for
  if (set(descriptor, SOL_PACKET, PACKET_ADD_MEMBERSHIP, all)) fail("promiscuous mode on " + interface);
}

std::uint64_t address_at(std::span<const std::byte> frame, std::size_t at) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < ETH_ALEN; ++i)
    value = value << 8 | std::to_integer<unsigned>(frame[kNote + at + i]);
  return value;
}

}  // namespace

Port::Port(const std::string& interface)
    : descriptor_(socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)) {
  if (descriptor_ < 0) fail("packet socket");
  try {
    if (set(descriptor_, SOL_PACKET, PACKET_VNET_HDR, 1)) fail("offload notes on " + interface);
    if (set(descriptor_, SOL_PACKET, PACKET_IGNORE_OUTGOING, 1))
      fail("PACKET_IGNORE_OUTGOING on " + interface);
    set(descriptor_, SOL_PACKET, PACKET_QDISC_BYPASS, 1);
    set(descriptor_, SOL_SOCKET, SO_RCVBUFFORCE, 16 << 20);
    set(descriptor_, SOL_SOCKET, SO_SNDBUFFORCE, 16 << 20);
    bind_to(descriptor_, interface);
  } catch (...) {
    close(descriptor_);
    throw;
  }
}

Port::Port(Port&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), waiting_(std::move(other.waiting_)) {}

Port::~Port() {
  if (descriptor_ >= 0) close(descriptor_);
}

std::span<const std::byte> Port::receive() {
  static std::array<std::byte, kMostFrame> room;
  const ssize_t length = recv(descriptor_, room.data(), room.size(), 0);
  if (length < static_cast<ssize_t>(kNote + ETH_HLEN)) return {};
  return {room.data(), static_cast<std::size_t>(length)};
}

bool Port::enqueue(std::int64_t due_ns, std::span<const std::byte> bytes) {
  if (waiting_bytes_ + bytes.size() > kMostWaiting) return ++dropped, false;
  waiting_bytes_ += bytes.size();
  waiting_.push_back({due_ns, {bytes.begin(), bytes.end()}});
  return true;
}

std::int64_t Port::send_due(std::int64_t now_ns) {
  while (!waiting_.empty()) {
    const Frame& next = waiting_.front();
    if (next.due_ns > now_ns) return next.due_ns;
    if (send(descriptor_, next.bytes.data(), next.bytes.size(), 0) >= 0)
      ++sent;
    else if (errno == EAGAIN || errno == ENOBUFS)
      return now_ns + kTryAgain;
    else
      ++dropped;  // the node may be going down
    waiting_bytes_ -= next.bytes.size();
    waiting_.pop_front();
  }
  return -1;
}

std::uint64_t destination_of(std::span<const std::byte> frame) { return address_at(frame, 0); }
std::uint64_t source_of(std::span<const std::byte> frame) { return address_at(frame, ETH_ALEN); }

// A segment left in one piece would be several frames: each with its headers, and with preamble, check sum
// and gap (24 bytes).
std::size_t wire_bytes(std::span<const std::byte> frame) {
  constexpr std::size_t headers = 54, around = 24;  // Ethernet, IP, TCP
  Note note;
  std::memcpy(&note, frame.data(), sizeof note);
  const std::size_t bytes = frame.size() - kNote;
  const std::size_t pieces = note.gso_type && note.gso_size ? (bytes + note.gso_size - 1) / note.gso_size : 1;
  return bytes + (pieces - 1) * headers + pieces * around;
}
