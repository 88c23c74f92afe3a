// Whole files. Unlike the standard library's streams these leave no descriptor to a program that another
// thread starts meanwhile.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace espalier {

/// All that the file holds. None: it cannot be read, and errno says why.
std::optional<std::string> read_file(const std::string& path);

/// The same; empty where it cannot be read.
std::string text_of(const std::string& path);

/// Makes the file, or puts the text in place of what it holds. False: it cannot be written, and errno says
/// why.
bool write_file(const std::string& path, std::string_view text);

}  // namespace espalier
