// Return addresses of the program's own frames, and what of a file they are in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace espalier::runtime::statistics::stack {

/// Writes up to `most` return addresses of this thread, innermost first, from the first frame on that is
/// neither Espalier's nor of a library of the host MPI. How many there are. Takes no memory; follows the
/// unwind tables, and ends where there are none.
int walk(void** addresses, int most);

struct Place {
  std::string file;       ///< full path, as it was loaded; empty: in no file
  std::uint64_t address;  ///< in the file's own numbering, of the call instruction's last byte
  std::string symbol;     ///< of the dynamic symbol table; empty: there is none
};
Place place_of(void* return_address);

}  // namespace espalier::runtime::statistics::stack
