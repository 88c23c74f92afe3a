#include "sharp/frame.hpp"

#include <bit>
#include <cstring>

#include "base/format.hpp"

namespace espalier::sharp {
namespace {

constexpr std::uint32_t magic = 0x47415345;  // "ESAG"
constexpr std::uint8_t version = 2;          // 1: the token was sent

template <class Integer>
Integer in_order(Integer value) {
  static_assert(std::endian::native == std::endian::little, "frames are little-endian: swap the bytes here");
  return value;
}

/// The head, field by field, for writing and reading alike.
template <class Visit>
void visit_head(Frame& frame, std::uint32_t& bytes, Visit visit) {
  visit(frame.kind);
  visit(frame.operation);
  visit(frame.op);
  visit(frame.type);
  visit(frame.role);
  visit(frame.flags);
  visit(bytes);
  visit(frame.code);
  visit(frame.rank);
  visit(frame.size);
  visit(frame.root);
  visit(frame.job);
  visit(frame.group);
  visit(frame.sequence);
}

class Writer {
 public:
  explicit Writer(std::byte* to) : to_(to) {}
  template <class Field>
  void operator()(Field value) {
    value = in_order(value);
    std::memcpy(to_, &value, sizeof value);
    to_ += sizeof value;
  }

 private:
  std::byte* to_;
};

class Taker {
 public:
  explicit Taker(const std::byte* from) : from_(from) {}
  template <class Field>
  void operator()(Field& value) {
    std::memcpy(&value, from_, sizeof value);
    value = in_order(value);
    from_ += sizeof value;
  }

 private:
  const std::byte* from_;
};

// magic, version, three bytes of nothing, then the fields: 8 + 5 + 2 + 5 * 4 + 3 * 8 = 59 of 64 bytes.
constexpr std::size_t fields_at = 8;

void check(const Frame& frame) {
  if (frame.kind < Kind::hello || frame.kind > Kind::pong)
    throw ProtocolError(formatted("a frame of kind {}, which does not exist", static_cast<int>(frame.kind)));
  if (frame.operation > Operation::bcast)
    throw ProtocolError(
        formatted("an operation {}, which does not exist", static_cast<int>(frame.operation)));
  if (frame.role > Role::node)
    throw ProtocolError(formatted("a role {}, which does not exist", static_cast<int>(frame.role)));
}

}  // namespace

std::string Frame::text() const {
  return std::string(reinterpret_cast<const char*>(payload.data()), payload.size());
}

void Frame::set_text(std::string_view text) {
  const auto* first = reinterpret_cast<const std::byte*>(text.data());
  payload.assign(first, first + text.size());
}

void append(std::vector<std::byte>& out, const Frame& frame) {
  std::byte head[head_bytes] = {};
  Writer start(head);
  start(magic);
  start(version);
  auto bytes = static_cast<std::uint32_t>(frame.payload.size());
  visit_head(const_cast<Frame&>(frame), bytes, Writer(head + fields_at));
  out.insert(out.end(), head, head + head_bytes);
  out.insert(out.end(), frame.payload.begin(), frame.payload.end());
}

void Reader::feed(std::span<const std::byte> bytes) {
  // Whole frames have been taken out before more is read, so this moves less than a frame.
  buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(read_));
  read_ = 0;
  buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
}

void Reader::trim() {
  constexpr std::size_t small = 4096;  // what most frames need is kept
  buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(read_));
  read_ = 0;
  if (buffer_.capacity() > small && buffer_.size() < buffer_.capacity() / 2) buffer_.shrink_to_fit();
}

std::optional<Frame> Reader::next() {
  const std::size_t held = buffer_.size() - read_;
  if (held < head_bytes) return std::nullopt;
  const std::byte* head = buffer_.data() + read_;
  std::uint32_t start = 0;
  std::uint8_t spoken = 0;
  Taker take(head);
  take(start);
  take(spoken);
  if (start != magic) throw ProtocolError("what came is no frame of an aggregation tree");
  if (spoken != version)
    throw ProtocolError(
        formatted("the other side speaks version {} of the protocol, this one {}", spoken, version));
  Frame frame;
  std::uint32_t bytes = 0;
  visit_head(frame, bytes, Taker(head + fields_at));
  check(frame);
  if (bytes > longest_)
    throw ProtocolError(formatted("a payload of {} bytes where {} are the most", bytes, longest_));
  if (held < head_bytes + bytes) return std::nullopt;
  frame.payload.assign(head + head_bytes, head + head_bytes + bytes);
  read_ += head_bytes + bytes;
  return frame;
}

}  // namespace espalier::sharp
