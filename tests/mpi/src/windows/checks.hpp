// What the subjects of the windows program share.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "espalier/espalier_window.h"

// Errors end the job: a rank that went on would leave the others waiting.
#define DO(call)                                                                                 \
  do {                                                                                           \
    if ((call) != ESPALIER_OK) {                                                                 \
      std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, espalier_error_text()); \
      MPI_Abort(MPI_COMM_WORLD, 3);                                                              \
    }                                                                                            \
  } while (0)
#define CHECK(condition)                                                                                \
  do {                                                                                                  \
    ++checks;                                                                                           \
    if (!(condition)) {                                                                                 \
      std::fprintf(stderr, "FAILED %s:%d on rank %d: %s\n", __FILE__, __LINE__, my_rank(), #condition); \
      MPI_Abort(MPI_COMM_WORLD, 4);                                                                     \
    }                                                                                                   \
  } while (0)

inline long checks = 0;
inline unsigned seed = 1;

inline int my_rank() {
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}
inline int ranks() {
  int size;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

/// What `sender` puts the n-th time: differs in every byte from what it put before, and from other jobs'.
inline unsigned char pattern(int sender, std::uint64_t n, std::size_t i) {
  return static_cast<unsigned char>(seed * 31 + static_cast<unsigned>(sender) * 101 + n * 7 + i * 13 +
                                    (i >> 8));
}
inline void fill(void* data, std::size_t bytes, int sender, std::uint64_t n) {
  for (std::size_t i = 0; i < bytes; ++i) static_cast<unsigned char*>(data)[i] = pattern(sender, n, i);
}
inline bool holds(const void* data, std::size_t bytes, int sender, std::uint64_t n) {
  for (std::size_t i = 0; i < bytes; ++i)
    if (static_cast<const unsigned char*>(data)[i] != pattern(sender, n, i)) return false;
  return true;
}

struct Window {
  espalier_window* w = nullptr;
  Window(espalier_comm* comm, std::size_t bytes, int ids) {
    DO(espalier_window_create(comm, bytes, ids, &w));
  }
  ~Window() { DO(espalier_window_free(w)); }
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;
  operator espalier_window*() const { return w; }
  unsigned char* memory() const { return static_cast<unsigned char*>(espalier_window_memory(w)); }
  int nodes() const { return espalier_window_nodes(w); }
  int node() const { return espalier_window_node(w); }
  int local_rank() const { return espalier_window_local_rank(w); }
  int local_size() const { return espalier_window_local_size(w, node()); }
  int wait(int first, int count) const {
    int id = -1;
    DO(espalier_window_notify_waitsome(w, first, count, 60000, &id));
    return id;
  }
  std::uint32_t reset(int id) const {
    std::uint32_t old = 0;
    DO(espalier_window_notify_reset(w, id, &old));
    return old;
  }
};

// The subjects; all are collective.
void test_all_ranks_to_every_node(espalier_comm* comm);
void test_long_puts_and_gets(espalier_comm* comm);
void test_atomic_operations(espalier_comm* comm);
void test_reset_has_one_winner(espalier_comm* comm);
void test_errors(espalier_comm* comm);
void test_bound_memory(espalier_comm* comm);
void test_stream(espalier_comm* comm, long notifications, int ids, std::size_t bytes);
void test_busy_target(espalier_comm* comm);
void test_waits_of_others_drive(espalier_comm* comm);
void test_many_windows(espalier_comm* comm);
/// `shared`: the ranks of a node have memory in common.
void test_lent(espalier_comm* comm, bool shared);
