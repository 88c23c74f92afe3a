// Windows under an MPI that Espalier is preloaded into: the contract of docs/windows.md, subject by subject.
//   windows contract | stream NOTIFICATIONS IDS BYTES | busy | lent | copied   [SEED]
#include <string>

#include "checks.hpp"

namespace {

void run(const std::string& subject, espalier_comm* comm, char** words) {
  if (subject == "contract") {
    test_all_ranks_to_every_node(comm);
    test_long_puts_and_gets(comm);
    test_atomic_operations(comm);
    test_reset_has_one_winner(comm);
    test_errors(comm);
    test_bound_memory(comm);
    test_waits_of_others_drive(comm);
    test_many_windows(comm);
  } else if (subject == "stream") {
    test_stream(comm, std::atol(words[0]), std::atoi(words[1]),
                static_cast<std::size_t>(std::atol(words[2])));
  } else if (subject == "busy") {
    test_busy_target(comm);
  } else if (subject == "lent" || subject == "copied") {
    test_lent(comm, subject == "lent");
  } else {
    std::fprintf(stderr, "no such subject: %s\n", subject.c_str());
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
}

}  // namespace

int main(int argc, char** argv) {
  espalier_comm* comm = nullptr;
  if (espalier_comm_world(&comm) == ESPALIER_OK) return 1;  // there is no world yet
  MPI_Init(&argc, &argv);
  const std::string subject = argc > 1 ? argv[1] : "";
  const int arguments = subject == "stream" ? 3 : 0;
  if (argc < 2 + arguments) MPI_Abort(MPI_COMM_WORLD, 2);
  if (argc > 2 + arguments) seed = static_cast<unsigned>(std::atoi(argv[2 + arguments]));
  if (espalier_comm_world(&comm) != ESPALIER_OK) {  // and no abort, after which a launcher may lose the words
    std::fprintf(stderr, "windows: %s\n", espalier_error_text());
    MPI_Finalize();
    return 5;
  }
  CHECK(espalier_comm_rank(comm) == my_rank() && espalier_comm_size(comm) == ranks());
  {
    const Window window(comm, 64, 1);
    if (my_rank() == 0)
      std::printf("windows: %d nodes, transport %s (%s)\n", window.nodes(), espalier_window_transport(window),
                  espalier_window_why(window));
  }
  run(subject, comm, argv + 2);
  espalier_comm_free(comm);
  long all = 0;
  MPI_Reduce(&checks, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  if (my_rank() == 0) std::printf("windows: %ld checks passed, %d ranks\n", all, ranks());
  MPI_Finalize();
  return 0;
}
