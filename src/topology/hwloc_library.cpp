#include "topology/hwloc_library.hpp"

#include <dlfcn.h>

#include "base/environment.hpp"
#include "base/format.hpp"
#include "base/printable.hpp"

namespace espalier::topology {

namespace {

template <class Function>
bool find(void* handle, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(handle, name));
  return function != nullptr;
}

}  // namespace

std::unique_ptr<HwlocLibrary> HwlocLibrary::load(const char* name, std::string& reason) {
  // hwloc reads variables of its own, and one of them names plugins that it would load.
  if (has_more_rights_than_user()) {
    reason = "the program has more rights than its user, and hwloc reads the user's variables";
    return nullptr;
  }
  std::unique_ptr<HwlocLibrary> library(new HwlocLibrary);
  library->handle_ = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
  if (!library->handle_ || !library->resolve()) {
    const char* message = dlerror();
    reason = message ? printable(message) : formatted("{} cannot be loaded", name);
    return nullptr;
  }
  unsigned version = library->get_api_version();
  if (version >> 16 != HWLOC_API_VERSION >> 16) {  // within a major version the structures keep their layout
    reason = formatted("{} is of hwloc {}, this build needs hwloc {}", name, version >> 16,
                       HWLOC_API_VERSION >> 16);
    return nullptr;
  }
  return library;
}

HwlocLibrary::~HwlocLibrary() {
  if (handle_) dlclose(handle_);
}

bool HwlocLibrary::resolve() {
  return find(handle_, "hwloc_get_api_version", get_api_version) &&
         find(handle_, "hwloc_topology_init", topology_init) &&
         find(handle_, "hwloc_topology_destroy", topology_destroy) &&
         find(handle_, "hwloc_topology_set_flags", topology_set_flags) &&
         find(handle_, "hwloc_topology_set_xmlbuffer", topology_set_xmlbuffer) &&
         find(handle_, "hwloc_topology_set_synthetic", topology_set_synthetic) &&
         find(handle_, "hwloc_topology_load", topology_load) &&
         find(handle_, "hwloc_get_obj_by_depth", get_obj_by_depth) &&
         find(handle_, "hwloc_bitmap_next", bitmap_next) &&
         find(handle_, "hwloc_topology_export_xmlbuffer", topology_export_xmlbuffer) &&
         find(handle_, "hwloc_free_xmlbuffer", free_xmlbuffer);
}

}  // namespace espalier::topology
