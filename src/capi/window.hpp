// The window that the C API hands out.
#pragma once

#include <memory>

#include "capi/errors/error.hpp"
#include "espalier/espalier_window.h"
#include "runtime/window/window.hpp"

struct espalier_window {
  std::unique_ptr<espalier::runtime::Window> window;
};

namespace espalier::capi {

inline network::NodeWindow& checked(espalier_window* window) {
  if (!window) throw CodedError(ESPALIER_ERR_ARGUMENT, "the window is NULL");
  return **window->window;
}

}  // namespace espalier::capi
