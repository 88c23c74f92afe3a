// The texts of GASPI's errors.
#include "capi/gaspi/errors/failure.hpp"

#include <cstdio>

namespace espalier::capi::gaspi {
namespace {

// No destructors: static objects of the program may call us after those of this thread have run.
thread_local gaspi_return_t last_code = GASPI_SUCCESS;
thread_local char last_text[2048] = "";

const char* general_text(gaspi_return_t code) {
  switch (code) {
    case GASPI_SUCCESS:
      return "success";
    case GASPI_TIMEOUT:
      return "the time is over; call again with the same arguments";
    case GASPI_ERR_ENV:
      return "the program was not started in a way that is known";
    case GASPI_ERR_NOINIT:
      return "before gaspi_proc_init or after gaspi_proc_term";
    case GASPI_ERR_INV_SEG:
      return "no such segment";
    case GASPI_ERR_INV_GROUP:
      return "no such group";
    case GASPI_ERR_INV_RANK:
      return "no such rank";
    case GASPI_ERR_INV_QUEUE:
      return "no such queue";
    case GASPI_QUEUE_FULL:
      return "the queue is full; gaspi_wait makes room";
    default:
      return "error";
  }
}

}  // namespace

void keep_failure(gaspi_return_t code, const char* function, const char* text) {
  last_code = code;
  std::snprintf(last_text, sizeof last_text, "%s: %s", function, text);
}

}  // namespace espalier::capi::gaspi

using namespace espalier::capi::gaspi;

extern "C" {

gaspi_string_t gaspi_error_str(gaspi_return_t code) {
  return code == last_code && *last_text ? last_text : const_cast<char*>(general_text(code));
}

gaspi_return_t gaspi_print_error(gaspi_return_t code, gaspi_string_t* text) {
  if (!text) return GASPI_ERR_NULLPTR;
  *text = gaspi_error_str(code);
  return GASPI_SUCCESS;
}

}  // extern "C"
