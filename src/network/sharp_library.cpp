#include "network/sharp_library.hpp"

#include <dlfcn.h>

#include <map>
#include <mutex>

#include "base/files.hpp"
#include "base/format.hpp"
#include "base/printable.hpp"
#include "network/sharp_error.hpp"

namespace espalier::network {
namespace {

[[noreturn]] void fail(const std::string& what) {
  throw SharpError(SharpError::no_library, what + "; name the library in ESPALIER_SHARP_LIB");
}

void* open_first(const std::string& path) {
  if (!path.empty()) {
    // dlopen() would wait for a FIFO without end.
    if (const std::string why = why_no_plain_file(path); !why.empty())
      fail(formatted("{} cannot be loaded: {}", printable(path), why));
    void* found = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!found) fail(formatted("{} cannot be loaded ({})", printable(path), printable(dlerror())));
    return found;
  }
  for (const char* name : {"libsharp_coll.so", "libsharp_coll.so.5"})
    if (void* found = dlopen(name, RTLD_NOW | RTLD_LOCAL)) return found;
  fail("there is no libsharp_coll.so here");
}

template <class Symbol>
void look_up(void* library, const char* name, Symbol& symbol, bool is_needed = true) {
  symbol = reinterpret_cast<Symbol>(dlsym(library, name));
  if (!symbol && is_needed) fail(formatted("the SHARP library lacks {}", name));
}

SharpLibrary read(const std::string& path) {
  void* const library = open_first(path);
  SharpLibrary result{};
#define ESPALIER_LOOK_UP(name) look_up(library, "sharp_coll_" #name, result.name);
  ESPALIER_SHARP_CALLS(ESPALIER_LOOK_UP)
#undef ESPALIER_LOOK_UP
  look_up(library, "sharp_coll_default_config", result.default_config);
  look_up(library, "espalier_sharp_last_problem", result.last_problem, false);
  return result;
}

}  // namespace

const SharpLibrary& SharpLibrary::load(const std::string& path) {
  static std::mutex mutex;
  static auto* known = new std::map<std::string, SharpLibrary>;
  const std::lock_guard lock(mutex);
  const auto found = known->find(path);
  return found != known->end() ? found->second : known->emplace(path, read(path)).first->second;
}

}  // namespace espalier::network
