// Variables of the environment, unless the program has rights that its user does not have.
#pragma once

#include <sys/auxv.h>

#include <cstdlib>

namespace espalier {

/// Whether the program has more rights than the user who started it: it is set-user-ID or has file
/// capabilities. No variable and no file that the user names may change what such a program does.
inline bool has_more_rights_than_user() { return getauxval(AT_SECURE) != 0; }

/// nullptr also for a program that has more rights than its user.
inline const char* variable(const char* name) {
  return has_more_rights_than_user() ? nullptr : std::getenv(name);
}

}  // namespace espalier
