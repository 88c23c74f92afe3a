// The functions of libsharp_coll, loaded at run time. Seen by the SHARP client alone: nothing else needs the
// interface.
#pragma once

#include <memory>
#include <string>

#include <sharp/api/sharp_coll.h>

namespace espalier::network {

#define ESPALIER_SHARP_CALLS(X) \
  X(init)                       \
  X(finalize)                   \
  X(caps_query)                 \
  X(progress)                   \
  X(comm_init)                  \
  X(comm_destroy)               \
  X(reg_mr) X(dereg_mr) X(do_barrier_nb) X(do_allreduce_nb) X(req_test) X(req_free) X(req_wait)

struct SharpLibrary {
// NOLINTNEXTLINE(bugprone-macro-parentheses): `name` is what is declared
#define ESPALIER_DECLARE(name) decltype(&sharp_coll_##name) name;
  ESPALIER_SHARP_CALLS(ESPALIER_DECLARE)
#undef ESPALIER_DECLARE
  const sharp_coll_config* default_config;
  /// More about this thread's last error; null in the hardware's library.
  const char* (*last_problem)();

  /// The file that `path` names; without one, libsharp_coll.so, then libsharp_coll.so.5. Stays loaded for
  /// ever: libraries of this kind leave threads and handlers behind. Throws SharpError.
  static const SharpLibrary& load(const std::string& path);
};

}  // namespace espalier::network
