#include "runtime/statistics/counters_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "base/descriptor.hpp"
#include "base/format.hpp"
#include "base/ticks.hpp"
#include "runtime/statistics/counters.hpp"

namespace espalier::runtime::statistics::counters_file {
namespace {

// Not destroyed: the process may end while they are used.
std::string& path = *new std::string;  // empty: no file
Header* header = nullptr;
std::size_t length = 0;

std::string path_of(const std::string& target, int rank) { return formatted("{}.rank-{}", target, rank); }

/// With the folder's real name, since the program may change its working directory; empty: there is no such
/// folder.
std::string absolute(const std::string& file) {
  const std::size_t slash = file.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : file.substr(0, slash + 1);
  char real[PATH_MAX];
  if (!realpath(folder.c_str(), real)) return "";
  return std::string(real) + '/' + file.substr(slash == std::string::npos ? 0 : slash + 1);
}

/// Beside a pipe, a terminal or a link to one nothing is put.
bool is_plain_or_absent(const std::string& target) {
  struct stat status;
  return lstat(target.c_str(), &status) != 0 ? errno == ENOENT : S_ISREG(status.st_mode);
}

/// Beyond it a process gets SIGXFSZ.
bool is_within_limit(std::size_t bytes) {
  rlimit limit{};
  return getrlimit(RLIMIT_FSIZE, &limit) == 0 && (limit.rlim_cur == RLIM_INFINITY || bytes <= limit.rlim_cur);
}

/// Pages of the file, reserved: a store into a page for which the disk has no room would be a SIGBUS.
void* map(int descriptor, std::size_t offset, std::size_t bytes) {
  if (!is_within_limit(offset + bytes)) return nullptr;
  if (posix_fallocate(descriptor, static_cast<off_t>(offset), static_cast<off_t>(bytes)) != 0) return nullptr;
  void* place =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, static_cast<off_t>(offset));
  return place == MAP_FAILED ? nullptr : place;
}

template <std::size_t room>
void put_name(char (&field)[room], const std::string& text) {
  text.copy(field, room - 1);
}

void fill(Header& target, const Author& author) {
  target.byte_order = 0x01020304;
  target.version = 3;
  target.header_bytes = header_bytes;
  target.row_bytes = sizeof(Row);
  target.seconds_per_tick = ticks::seconds_per_tick();
  target.started = std::time(nullptr);
  target.rank = author.rank;
  target.ranks = author.ranks;
  target.process = getpid();
  put_name(target.host, author.host);
  put_name(target.build, author.build);
  std::atomic_thread_fence(std::memory_order_release);  // the name says that the rest is there
  std::memcpy(target.magic, "espalier counts", sizeof target.magic);
}

void remove_those_of_more_ranks(const std::string& target, int ranks) {
  while (unlink(path_of(target, ranks).c_str()) == 0) ++ranks;
}

}  // namespace

bool is_open() { return header != nullptr; }

bool open(const std::string& target, const Author& author) {
  const std::string file = absolute(target);
  if (is_open() || file.empty() || !is_plain_or_absent(file)) return false;
  if (author.rank == 0) remove_those_of_more_ranks(file, author.ranks);
  const std::string mine = path_of(file, author.rank);
  // A run of the same name that still goes on keeps its pages.
  if (unlink(mine.c_str()) != 0 && errno != ENOENT) return false;
  const Descriptor descriptor = open_file(mine.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0666);
  if (!descriptor) return false;
  void* place = map(descriptor.get(), 0, header_bytes);
  if (!place) {
    unlink(mine.c_str());
    return false;
  }
  header = static_cast<Header*>(place);
  path = mine;
  length = header_bytes;
  fill(*header, author);
  return true;
}

void* extend(std::size_t bytes) {
  if (!is_open() || path.empty()) return nullptr;
  const Descriptor descriptor = open_file(path.c_str(), O_RDWR | O_NOFOLLOW);
  void* place = descriptor ? map(descriptor.get(), length, bytes) : nullptr;
  if (place)
    length += bytes;
  else
    header->is_partial = 1;
  return place;
}

void remove() {
  if (path.empty()) return;
  unlink(path.c_str());
  path.clear();
}

}  // namespace espalier::runtime::statistics::counters_file
