// Whole files. Unlike the standard library's streams these leave no descriptor to a program that another
// thread starts meanwhile.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace espalier {

/// No file that is read is longer: rules, settings and topologies have some kilobytes.
inline constexpr std::size_t longest_file = std::size_t{16} << 20;

/// All that the file holds. None: it cannot be read, and `why` says the reason. A directory, a FIFO, a
/// socket, a device and a file of more than `longest_file` are refused before a byte is read, so a read never
/// waits and never fills the memory.
std::optional<std::string> read_file(const std::string& path, std::string& why);

/// The same, without the reason.
std::optional<std::string> read_file(const std::string& path);

/// The same; empty where it cannot be read.
std::string text_of(const std::string& path);

/// Why `path` is no plain file, such as "it is a FIFO"; empty: it is one, or it cannot be looked at.
std::string why_no_plain_file(const std::string& path);

/// Makes the file, or puts the text in place of what it holds. A FIFO that no process reads is refused at
/// once. False: it cannot be written, and errno says why.
bool write_file(const std::string& path, std::string_view text);

}  // namespace espalier
