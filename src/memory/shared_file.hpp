// What a file must be before this process maps it for memory that it shares with others.
#pragma once

#include <cstddef>
#include <string>

namespace espalier::memory {

/// Makes an anonymous file the user's alone, and fixes its size for ever. False: `why` says which call the
/// system refused.
bool seal(int descriptor, std::string& why);

/// Whether it is a plain file of `bytes` that belongs to this process's user and that no other user may open.
/// False: `why` says what is wrong.
bool is_own_file(int descriptor, std::size_t bytes, std::string& why);

/// Whether its size is fixed for ever: an access to a page behind the end of a file ends the process.
bool is_sealed(int descriptor, std::string& why);

}  // namespace espalier::memory
