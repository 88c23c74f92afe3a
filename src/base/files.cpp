// Reads and writes whole files, and refuses what is no plain file of some size.
#include "base/files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "base/descriptor.hpp"
#include "base/format.hpp"

namespace espalier {
namespace {

const char* kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return "a directory";
  if (S_ISFIFO(mode)) return "a FIFO";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

std::string refusal_of(const struct stat& status) {
  if (!S_ISREG(status.st_mode)) return formatted("it is {}, not a plain file", kind_of(status.st_mode));
  if (status.st_size > static_cast<off_t>(longest_file))
    return formatted("it has {} bytes, and at most {} are read", status.st_size, longest_file);
  return "";
}

/// Asked before the file is opened, since opening a device may do something.
bool is_refused(const std::string& path, std::string& why) {
  struct stat status;
  if (stat(path.c_str(), &status) != 0) return false;  // open_file() says why
  why = refusal_of(status);
  return !why.empty();
}

/// The path may lead to another file by now.
bool is_refused(const Descriptor& file, std::string& why) {
  struct stat status;
  why = fstat(file.get(), &status) == 0 ? refusal_of(status) : std::strerror(errno);
  return !why.empty();
}

/// Files of /proc have no size: what is read counts.
std::optional<std::string> all_of(const Descriptor& file, std::string& why) {
  std::string text;
  std::array<char, 16384> piece;
  while (text.size() <= longest_file) {
    const ssize_t bytes = read(file.get(), piece.data(), piece.size());
    if (bytes == 0) return text;
    if (bytes > 0) text.append(piece.data(), static_cast<std::size_t>(bytes));
    if (bytes < 0 && errno != EINTR) {
      why = std::strerror(errno);
      return std::nullopt;
    }
  }
  why = formatted("it has more than {} bytes", longest_file);
  return std::nullopt;
}

}  // namespace

std::optional<std::string> read_file(const std::string& path, std::string& why) {
  if (is_refused(path, why)) return std::nullopt;
  // O_NONBLOCK: a FIFO that has just taken the file's place does not hold us up.
  const Descriptor file = open_file(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY);
  if (!file) {
    why = std::strerror(errno);
    return std::nullopt;
  }
  if (is_refused(file, why)) return std::nullopt;
  return all_of(file, why);
}

std::optional<std::string> read_file(const std::string& path) {
  std::string why;
  return read_file(path, why);
}

std::string text_of(const std::string& path) { return read_file(path).value_or(""); }

std::string why_no_plain_file(const std::string& path) {
  struct stat status;
  if (stat(path.c_str(), &status) != 0 || S_ISREG(status.st_mode)) return "";
  return formatted("it is {}, not a plain file", kind_of(status.st_mode));
}

bool write_file(const std::string& path, std::string_view text) {
  constexpr int flags = O_WRONLY | O_CREAT | O_TRUNC | O_NONBLOCK | O_NOCTTY;
  const Descriptor file = open_file(path.c_str(), flags, 0666);
  // Without O_NONBLOCK a pipe whose reader is slower than we are still gets everything.
  if (!file || fcntl(file.get(), F_SETFL, O_WRONLY) != 0) return false;
  while (!text.empty()) {
    const ssize_t bytes = write(file.get(), text.data(), text.size());
    if (bytes >= 0) text.remove_prefix(static_cast<std::size_t>(bytes));
    if (bytes < 0 && errno != EINTR) return false;
  }
  return true;
}

}  // namespace espalier
