// What goes wrong is said; and memory that the user binds.
#include <string>

#include "checks.hpp"

namespace {

bool says(const char* part) { return std::strstr(espalier_error_text(), part) != nullptr; }

#define REFUSED(call, code, part)                                                  \
  do {                                                                             \
    CHECK((call) == (code));                                                       \
    if (!says(part)) std::fprintf(stderr, "it says: %s\n", espalier_error_text()); \
    CHECK(says(part));                                                             \
  } while (0)

}  // namespace

void test_errors(espalier_comm* comm) {
  const Window window(comm, 100, 10);
  char data[200] = {};
  int id = -1;
  std::uint64_t old = 0;
  REFUSED(espalier_window_notify_waitsome(window, 3, 4, 30, &id), ESPALIER_ERR_TIMEOUT,
          "none of notifications 3 to 6 has come to node");
  REFUSED(espalier_window_notify_waitsome(window, 9, 1, 0, &id), ESPALIER_ERR_TIMEOUT,
          "notification 9 has not come");
  REFUSED(espalier_window_notify_waitsome(window, 9, 2, 0, &id), ESPALIER_ERR_ARGUMENT, "ids are 0 to 9");
  REFUSED(espalier_window_put(window, window.nodes(), 0, data, 1), ESPALIER_ERR_ARGUMENT, "nodes are 0 to");
  REFUSED(espalier_window_put(window, 0, 50, data, 51), ESPALIER_ERR_ARGUMENT, "51 bytes at offset 50");
  REFUSED(espalier_window_get(window, 0, ~std::size_t{0}, data, 2), ESPALIER_ERR_ARGUMENT,
          "leave its segments");
  REFUSED(espalier_window_notify(window, 0, 5, 0), ESPALIER_ERR_ARGUMENT, "the value 0");
  REFUSED(espalier_window_notify(window, 0, 10, 1), ESPALIER_ERR_ARGUMENT, "ids are 0 to 9");
  REFUSED(espalier_window_fetch_add(window, 0, 4, 1, &old), ESPALIER_ERR_ARGUMENT, "multiple of 8");
  REFUSED(espalier_window_put(window, 0, 0, nullptr, 1), ESPALIER_ERR_ARGUMENT, "source is NULL");
  REFUSED(espalier_window_flush(nullptr), ESPALIER_ERR_ARGUMENT, "window is NULL");
  REFUSED(espalier_window_flush_within(nullptr, 0), ESPALIER_ERR_ARGUMENT, "window is NULL");
  espalier_window* none = nullptr;
  REFUSED(espalier_window_create(comm, 1, 0, &none), ESPALIER_ERR_ARGUMENT, "0 notifications");
  if (ranks() > 1)
    REFUSED(espalier_window_create(comm, static_cast<std::size_t>(1 + my_rank() % 2), 1, &none),
            ESPALIER_ERR_REFUSED, "rank 1 asks for 2 bytes");
  DO(espalier_window_free(nullptr));
}

void test_bound_memory(espalier_comm* comm) {
  MPI_Comm node;
  int peers, node_number, next, previous;
  {
    const Window probe(comm, 0, 1);
    node_number = probe.node();
    peers = probe.local_size();
    next = (node_number + 1) % probe.nodes();
    previous = (node_number + probe.nodes() - 1) % probe.nodes();
  }
  MPI_Comm_split(MPI_COMM_WORLD, node_number, my_rank(), &node);
  const std::size_t bytes = 10000;
  unsigned char* memory = nullptr;
  MPI_Win shared;
  int local;
  MPI_Comm_rank(node, &local);
  MPI_Win_allocate_shared(local == 0 ? bytes : 0, 1, MPI_INFO_NULL, node, &memory, &shared);
  MPI_Aint size;
  int unit;
  MPI_Win_shared_query(shared, 0, &size, &unit, &memory);
  if (local == 0) fill(memory, bytes, 77, 1);
  MPI_Barrier(node);
  espalier_window* window = nullptr;
  DO(espalier_window_bind(comm, memory, bytes, 4, &window));
  CHECK(espalier_window_memory(window) == memory);
  CHECK(holds(memory, bytes, 77, 1));  // binding leaves it as it was
  MPI_Barrier(MPI_COMM_WORLD);
  std::vector<unsigned char> mine(bytes);
  fill(mine.data(), bytes, node_number, 2);
  if (local == peers - 1) DO(espalier_window_put_notify(window, next, 0, mine.data(), bytes, 3, 1));
  int id = -1;
  DO(espalier_window_notify_waitsome(window, 0, 4, 60000, &id));
  CHECK(id == 3 && holds(memory, bytes, previous, 2));
  DO(espalier_window_free(window));
  int most;
  MPI_Allreduce(&peers, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  if (most > 1)
    REFUSED(espalier_window_bind(comm, mine.data(), bytes, 4, &window), ESPALIER_ERR_REFUSED,
            "is not that of");
  MPI_Win_free(&shared);
  MPI_Comm_free(&node);
}
