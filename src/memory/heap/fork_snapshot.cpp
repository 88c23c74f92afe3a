// Copies the used part of a file for a child process, or keeps a descriptor for a private view of it.
#include "memory/heap/fork_snapshot.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <optional>

#include "base/descriptor.hpp"
#include "memory/heap/kernel_mapping.hpp"

namespace espalier::memory {
namespace {

constexpr std::size_t unit_of_blocks = 512;  // of st_blocks, whatever the file system

/// The number behind `name` in the file, or at its beginning if `name` is empty. None: no number is there.
std::optional<std::size_t> number_in(const char* path, const char* name = "") {
  const Descriptor file = open_file(path, O_RDONLY);
  char text[8192] = {};
  if (!file || read(file.get(), text, sizeof text - 1) <= 0) return std::nullopt;
  const char* number = std::strstr(text, name);
  if (!number) return std::nullopt;
  number += std::strlen(name);
  while (*number == ' ') ++number;
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(number, text + sizeof text, value);
  return error == std::errc() ? std::optional(value) : std::nullopt;
}

/// The free memory of the control group that a container shows as its root; SIZE_MAX: there is no limit.
std::size_t available_in_group() {
  const auto limit = number_in("/sys/fs/cgroup/memory.max");
  const auto used = number_in("/sys/fs/cgroup/memory.current");
  if (!limit || !used) return SIZE_MAX;
  constexpr const char* stat = "/sys/fs/cgroup/memory.stat";
  const std::size_t cached =
      number_in(stat, "\nactive_file ").value_or(0) + number_in(stat, "\ninactive_file ").value_or(0);
  return *limit + cached > *used ? *limit + cached - *used : 0;
}

/// The memory that the kernel can give without its out-of-memory killer.
std::size_t available_memory() {
  const auto kibibytes = number_in("/proc/meminfo", "MemAvailable:");
  return std::min(kibibytes ? *kibibytes * 1024 : SIZE_MAX, available_in_group());
}

bool has_memory_for_copy_of(int descriptor) {
  // The kernel always finds this much.
  constexpr std::size_t little = 16 * 1024 * 1024;
  struct stat status;
  if (fstat(descriptor, &status) != 0) return false;
  const std::size_t bytes = static_cast<std::size_t>(status.st_blocks) * unit_of_blocks;
  return bytes <= little || bytes < available_memory();
}

bool copy(int descriptor, std::byte* to, off_t from, off_t end) {
  while (from < end) {
    const ssize_t bytes = pread(descriptor, to, static_cast<std::size_t>(end - from), from);
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes <= 0) return false;
    to += bytes;
    from += bytes;
  }
  return true;
}

/// Reads the file, not the mapping: a load from a mapped page that was never written would allocate the page.
bool copy_data(int descriptor, std::byte* to, off_t begin, off_t end) {
  for (off_t from = begin; (from = lseek(descriptor, from, SEEK_DATA)) >= 0 && from < end;) {
    const off_t until = std::min(lseek(descriptor, from, SEEK_HOLE), end);
    if (until <= from || !copy(descriptor, to + (from - begin), from, until)) return false;
    from = until;
  }
  return true;
}

void* reserve(std::size_t bytes) {
  void* place =
      kernel::map(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return place == MAP_FAILED ? nullptr : place;
}

}  // namespace

void ForkSnapshot::take(int descriptor, std::size_t begin, std::size_t end) {
  begin_ = begin;
  size_ = end - begin;
  if (has_memory_for_copy_of(descriptor)) copy_ = reserve(size_);
  if (copy_ && copy_data(descriptor, static_cast<std::byte*>(copy_), static_cast<off_t>(begin),
                         static_cast<off_t>(end)))
    return;
  if (copy_) kernel::unmap(copy_, size_);
  copy_ = nullptr;
  // A duplicate: the child has closed the heap's own descriptor before it calls move_to().
  file_ = fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
}

void ForkSnapshot::move_to(void* address) {
  if (copy_)
    kernel::move(copy_, size_, address);
  else if (file_ >= 0)
    kernel::map(address, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE, file_,
                static_cast<off_t>(begin_));
  copy_ = nullptr;
  drop();
}

void ForkSnapshot::drop() {
  if (copy_) kernel::unmap(copy_, size_);
  if (file_ >= 0) close(file_);
  *this = {};
}

}  // namespace espalier::memory
