#pragma once

#include <hwloc.h>  // types only: nothing of hwloc is linked

#include <memory>
#include <string>

namespace espalier::topology {

// libhwloc, loaded while this object lives. It is never a link-time dependency: the preloaded library must
// not drag it into a stranger's process, nor meet another version that a host MPI has brought along (hence
// RTLD_LOCAL).
class HwlocLibrary {
 public:
  // Null when the library cannot be loaded or is not of the version of the headers; `reason` then says why.
  static std::unique_ptr<HwlocLibrary> load(const char* name, std::string& reason);

  HwlocLibrary(const HwlocLibrary&) = delete;
  HwlocLibrary& operator=(const HwlocLibrary&) = delete;
  ~HwlocLibrary();

  decltype(&hwloc_get_api_version) get_api_version = nullptr;
  decltype(&hwloc_topology_init) topology_init = nullptr;
  decltype(&hwloc_topology_destroy) topology_destroy = nullptr;
  decltype(&hwloc_topology_set_flags) topology_set_flags = nullptr;
  decltype(&hwloc_topology_set_xmlbuffer) topology_set_xmlbuffer = nullptr;
  decltype(&hwloc_topology_set_synthetic) topology_set_synthetic = nullptr;
  decltype(&hwloc_topology_load) topology_load = nullptr;
  decltype(&hwloc_get_obj_by_depth) get_obj_by_depth = nullptr;
  decltype(&hwloc_bitmap_next) bitmap_next = nullptr;
  decltype(&hwloc_topology_export_xmlbuffer) topology_export_xmlbuffer = nullptr;
  decltype(&hwloc_free_xmlbuffer) free_xmlbuffer = nullptr;

 private:
  HwlocLibrary() = default;
  bool resolve();

  void* handle_ = nullptr;
};

}  // namespace espalier::topology
