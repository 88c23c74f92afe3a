#include "base/descriptor.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace espalier {

void Descriptor::close() {
  const int error = errno;
  if (number_ >= 0) ::close(release());
  errno = error;
}

Descriptor own_descriptor(int number) {
  if (number < 0 || number > STDERR_FILENO) return Descriptor(number);
  Descriptor standard(number);
  return Descriptor(fcntl(number, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
}

Descriptor open_file(const char* path, int flags, unsigned mode) {
  return own_descriptor(open(path, flags | O_CLOEXEC, mode));
}

}  // namespace espalier
