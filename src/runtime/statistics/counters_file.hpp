// The rows of one rank as a file, into which they are mapped: what a rank has counted is there when it dies,
// whatever it dies of. `FILE.rank-3` beside the file that ESPALIER_STATS names; gone when the run ends well.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace espalier::runtime::statistics {

/// Who counts, for the reader of the file.
struct Author {
  int rank = 0;
  int ranks = 1;
  std::string host, build;
};

namespace counters_file {

/// First in the file, of header_bytes; rows follow. All numbers are this machine's.
inline constexpr std::size_t header_bytes = 4096;
struct Header {
  char magic[16];  ///< "espalier counts", written last
  std::uint32_t byte_order;
  std::uint32_t version;
  std::uint32_t header_bytes;
  std::uint32_t row_bytes;
  double seconds_per_tick;
  std::int64_t started;  ///< seconds since 1970
  std::int32_t rank;
  std::int32_t ranks;
  std::int32_t process;
  std::uint32_t is_partial;  ///< there was no room for more rows
  char host[256];
  char build[16];
};

/// Opens `target`.rank-N for rows that are taken from now on. False: there is none (no room, no permission,
/// `target` is no plain file); rows lie in memory then. Rank 0 removes those of an earlier run that had more
/// ranks.
bool open(const std::string& target, const Author& author);
bool is_open();
/// So many bytes of it, zero, for as long as the process lives; null: none, keep them elsewhere. One thread
/// at a time.
void* extend(std::size_t bytes);
/// Takes the file away; what is mapped stays.
void remove();

}  // namespace counters_file
}  // namespace espalier::runtime::statistics
