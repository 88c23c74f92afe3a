// Checks and seals files that processes share.
#include "memory/shared_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/format.hpp"

namespace espalier::memory {
namespace {

// F_SEAL_SEAL: no seal can be added that would stop writing.
constexpr int size_is_fixed = F_SEAL_SHRINK | F_SEAL_GROW;

}  // namespace

bool seal(int descriptor, std::string& why) {
  // The system makes anonymous files that all users may open, if they can name them.
  if (fchmod(descriptor, S_IRUSR | S_IWUSR) != 0) {
    why = formatted("fchmod of a memfd: {}", std::strerror(errno));
    return false;
  }
  if (fcntl(descriptor, F_ADD_SEALS, size_is_fixed | F_SEAL_SEAL) != 0) {
    why = formatted("fcntl(F_ADD_SEALS) of a memfd: {}", std::strerror(errno));
    return false;
  }
  return true;
}

bool is_own_file(int descriptor, std::size_t bytes, std::string& why) {
  struct stat status;
  if (fstat(descriptor, &status) != 0)
    why = formatted("shared memory: fstat: {}", std::strerror(errno));
  else if (!S_ISREG(status.st_mode))
    why = "what was offered as shared memory is no plain file";
  else if (status.st_uid != geteuid())
    why = formatted("the shared memory belongs to user {}, not to user {}", status.st_uid, geteuid());
  else if ((status.st_mode & (S_IRWXG | S_IRWXO)) != 0)
    why = formatted("other users may open the shared memory (mode {:o})", status.st_mode & 07777u);
  else if (static_cast<std::size_t>(status.st_size) != bytes)
    why = formatted("the shared memory has {} bytes, and {} were agreed", status.st_size, bytes);
  else
    return true;
  return false;
}

bool is_sealed(int descriptor, std::string& why) {
  const int seals = fcntl(descriptor, F_GET_SEALS);
  if (seals < 0)
    why = formatted("shared memory: fcntl(F_GET_SEALS): {}", std::strerror(errno));
  else if ((seals & size_is_fixed) != size_is_fixed)
    why = "the shared memory is not sealed: a process could make it shorter";
  else
    return true;
  return false;
}

}  // namespace espalier::memory
