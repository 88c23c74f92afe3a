// Errors of the GASPI layer: a code with a text. No exception leaves it.
#pragma once

#include <stdexcept>
#include <string>

#include "espalier/gaspi.h"

namespace espalier::capi::gaspi {

class Failure : public std::runtime_error {
 public:
  Failure(gaspi_return_t error_code, const std::string& text) : std::runtime_error(text), code(error_code) {}
  const gaspi_return_t code;
};

/// Not an error: the call has to be repeated.
struct TimedOut {};

/// Of a call of the C API. Throws Failure with its text.
inline void check(int status, gaspi_return_t code = GASPI_ERROR) {
  if (status != ESPALIER_OK) throw Failure(code, espalier_error_text());
}

/// Of this thread: the code of its last call that failed, and its text.
void keep_failure(gaspi_return_t code, const char* function, const char* text);

/// Runs `body`; the code of what it threw, with `function` before its text.
template <class Body>
gaspi_return_t guarded(const char* function, Body body) noexcept {
  try {
    body();
    return GASPI_SUCCESS;
  } catch (const TimedOut&) {
    return GASPI_TIMEOUT;
  } catch (const Failure& failure) {
    keep_failure(failure.code, function, failure.what());
    return failure.code;
  } catch (const std::exception& failure) {
    keep_failure(GASPI_ERROR, function, failure.what());
    return GASPI_ERROR;
  }
}

template <class Place>
void check_place(const Place* place) {
  if (!place) throw Failure(GASPI_ERR_NULLPTR, "the place for the result is NULL");
}

}  // namespace espalier::capi::gaspi
