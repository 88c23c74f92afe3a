// Feeds bytes to what takes the descriptor out of a message (src/memory/copy/descriptor_message.hpp).
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "memory/copy/descriptor_message.hpp"

using espalier::Descriptor;

// The first byte is how much of the room the message says that it fills, the second its flags.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  // No more room than there is: what lies behind is the sanitizer's.
  std::vector<std::max_align_t> room((size + sizeof(std::max_align_t)) / sizeof(std::max_align_t));
  auto* const bytes = reinterpret_cast<std::uint8_t*>(room.data());
  std::copy(data + 2, data + size, bytes);
  msghdr header{};
  header.msg_control = bytes;
  header.msg_controllen = std::min<std::size_t>(data[0], size - 2);
  header.msg_flags = data[1] & 1 ? MSG_CTRUNC : 0;
  // Numbers of descriptors that are not open: those of this process are not the message's to close.
  for (std::size_t at = CMSG_LEN(0); at + sizeof(int) <= size - 2; at += sizeof(int)) {
    const int number = 100'000 + data[2 + at];
    std::memcpy(bytes + at, &number, sizeof number);
  }
  const Descriptor found = espalier::memory::descriptor_in(header);
  if (found && (header.msg_controllen < CMSG_LEN(sizeof(int)) || header.msg_flags != 0)) std::abort();
  return 0;
}
