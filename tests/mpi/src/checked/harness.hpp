// Counting, reporting, and the watchdog of the checked run.
#pragma once

#include "group.hpp"

#include <algorithm>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace checked {

// One call of a collective, as failures and the watchdog print it. All strings outlive the call.
struct Call {
  const char* collective;
  const Group* group;
  int root = -1;
  long count = 0;
  const char* type = "";
  const char* op = "";
};

// Starts the watchdog: a rank that stays in one call for `seconds` says so and ends the job.
void start(int seconds);
// Names the subject (one file of checks) that the following calls belong to.
void subject(const char* name);
// Every call of a collective is announced, so that the watchdog can say where a rank hangs.
void begin(const Call& call);
void pass();
void fail(long element, const std::string& expected, const std::string& got);
// Adds all ranks' counts (point to point, on nothing that is under test) and prints them on rank 0. Returns
// the exit status.
int finish();

// Digest of float results, printed at the end: two runs with equal ranks must print the same.
void digest(const void* bytes, std::size_t size);

// CHECKED_BARE=1: no Espalier here, so what hosts are known to get wrong is left out.
bool on_bare_host();

// As long as it lives, errors that belong to no communicator, which go to the world's handler or self's, end
// nothing. By a handler of our own: Intel MPI 2021.18 has MPI_ERRORS_RETURN and MPI_ERRORS_ABORT of the
// standard ABI swapped. It counts them, for MPICH 5.0.2 returns success where such a handler has been called.
class ErrorsCounted {
 public:
  ErrorsCounted();
  ~ErrorsCounted();
  ErrorsCounted(const ErrorsCounted&) = delete;
  ErrorsCounted& operator=(const ErrorsCounted&) = delete;
  bool none() const;

 private:
  MPI_Errhandler world_, self_, counting_;
};

double now();
void sleep_for(double seconds);

std::string hex(const void* bytes, std::size_t size);

template <class T>
std::string show(const T& value) {
  if constexpr (requires { std::to_string(value); })
    return std::to_string(value) + " (0x" + hex(&value, sizeof value) + ")";
  else
    return "0x" + hex(&value, sizeof value);
}

// Compares element by element with ==; reports the first difference only.
template <class T>
bool compare(const T* expected, const T* got, long count) {
  for (long i = 0; i < count; ++i)
    if (!(expected[i] == got[i])) {
      fail(i, show(expected[i]), show(got[i]));
      return false;
    }
  pass();
  return true;
}

template <class T>
bool compare(const std::vector<T>& expected, const std::vector<T>& got) {
  return compare(expected.data(), got.data(), static_cast<long>(std::min(expected.size(), got.size())));
}

}  // namespace checked
