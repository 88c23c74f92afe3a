// Text from outside (the host MPI, the environment, the system), made fit for a terminal and for JSON.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace espalier {

/// What precedes the first NUL, as one line of valid UTF-8 of at most `most` bytes ("..." ends one that was
/// cut). Blanks of any kind become single spaces, none at either end; other control characters and bytes that
/// are no UTF-8 become \xNN.
std::string printable(std::string_view text, std::size_t most = 1024);

/// The same without a bound for text of several lines: line feeds, tabs and spaces stay as they are, a NUL
/// becomes
/// \x00.
std::string printable_lines(std::string_view text);

}  // namespace espalier
