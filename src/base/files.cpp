#include "base/files.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "base/descriptor.hpp"

namespace espalier {

std::optional<std::string> read_file(const std::string& path) {
  const Descriptor file = open_file(path.c_str(), O_RDONLY);
  if (!file) return std::nullopt;
  std::string text;
  std::array<char, 16384> piece;
  while (true) {
    const ssize_t bytes = read(file.get(), piece.data(), piece.size());
    if (bytes == 0) return text;
    if (bytes > 0) text.append(piece.data(), static_cast<std::size_t>(bytes));
    if (bytes < 0 && errno != EINTR) return std::nullopt;
  }
}

std::string text_of(const std::string& path) { return read_file(path).value_or(""); }

bool write_file(const std::string& path, std::string_view text) {
  const Descriptor file = open_file(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
  if (!file) return false;
  while (!text.empty()) {
    const ssize_t bytes = write(file.get(), text.data(), text.size());
    if (bytes >= 0) text.remove_prefix(static_cast<std::size_t>(bytes));
    if (bytes < 0 && errno != EINTR) return false;
  }
  return true;
}

}  // namespace espalier
