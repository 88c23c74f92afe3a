// libespalier.so's functions, as the extension finds them at run time, and its errors.
#pragma once

#include <dlfcn.h>
#include <torch/csrc/distributed/c10d/Types.hpp>

#include <cstddef>
#include <string>

#include "espalier.h"

namespace espalier_torch {

/// The functions by their names without `espalier_`. Of a library that is loaded already.
struct Library {
  explicit Library(const std::string& path) : handle(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    TORCH_CHECK(handle, "espalier: ", dlerror());
  }
  template <class Function>
  Function* find(const char* name) const {
    void* found = dlsym(handle, name);
    TORCH_CHECK(found, "espalier: no function ", name, " in the library");
    return reinterpret_cast<Function*>(found);
  }

  void* handle;
#define ESPALIER_FUNCTION(name)                                                              \
  decltype(&espalier_##name) name = find<std::remove_pointer_t<decltype(&espalier_##name)>>( \
      "espalier"                                                                             \
      "_" #name)
  ESPALIER_FUNCTION(comm_set_timeout);
  ESPALIER_FUNCTION(comm_set_background);
  ESPALIER_FUNCTION(comm_set_label);
  ESPALIER_FUNCTION(comm_free);
  ESPALIER_FUNCTION(barrier);
  ESPALIER_FUNCTION(bcast);
  ESPALIER_FUNCTION(reduce);
  ESPALIER_FUNCTION(allreduce);
  ESPALIER_FUNCTION(reduce_scatter_block);
  ESPALIER_FUNCTION(reduce_scatter);
  ESPALIER_FUNCTION(allgather);
  ESPALIER_FUNCTION(allgatherv);
  ESPALIER_FUNCTION(gather);
  ESPALIER_FUNCTION(scatter);
  ESPALIER_FUNCTION(alltoallv);
  ESPALIER_FUNCTION(error_text);
#undef ESPALIER_FUNCTION
  const void* in_place = *find<const void*>("ESPALIER_IN_PLACE");
};

}  // namespace espalier_torch
