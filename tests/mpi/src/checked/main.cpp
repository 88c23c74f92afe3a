// The checked run: every result of every collective compared with a plain reference.
//   checked [--only subject[,subject...]] [--without type[,type...]] [--seed n] [--buffers allocated]
//   [--patience seconds]
#include "allocated.hpp"
#include "checks.hpp"
#include "harness.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>

using namespace checked;

namespace {

struct Options {
  std::string only, without;
  std::uint64_t seed = 1;
  int patience = 60;
  bool allocated = false;  // long buffers come from MPI_Alloc_mem
};

bool parse(int argc, char** argv, Options& options) {
  for (int i = 1; i + 1 < argc; i += 2) {
    if (!std::strcmp(argv[i], "--only"))
      options.only = std::string(",") + argv[i + 1] + ",";
    else if (!std::strcmp(argv[i], "--without"))
      options.without = std::string(",") + argv[i + 1] + ",";
    else if (!std::strcmp(argv[i], "--seed"))
      options.seed = std::strtoull(argv[i + 1], nullptr, 10);
    else if (!std::strcmp(argv[i], "--buffers"))
      options.allocated = !std::strcmp(argv[i + 1], "allocated");
    else if (!std::strcmp(argv[i], "--patience"))
      options.patience = std::atoi(argv[i + 1]);
    else
      return false;
  }
  return argc % 2 == 1;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  Options options;
  if (!parse(argc, argv, options)) {
    std::fprintf(stderr, "usage: checked [--only subject,...] [--seed n] [--patience seconds]\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  Group world(MPI_COMM_WORLD, "MPI_COMM_WORLD");
  start(options.patience);
  if (options.allocated) allocate_by_mpi();

  struct Subject {
    const char* name;
    std::function<void(const Group&)> check;
  };
  const Subject subjects[] = {
      {"barrier", check_barrier},
      {"roots", check_roots},
      {"sizes", check_sizes},
      {"zero", check_zero_counts},
      {"in_place", check_in_place},
      {"operators", [&](const Group& group) { check_operators(group, options.without); }},
      {"pairs", check_pairs},
      {"user_operators", check_user_operators},
      {"derived", check_derived},
      {"blocks", check_blocks},
      {"derived_blocks", check_derived_blocks},
      {"alltoallw", check_alltoallw},
      {"neighbours", check_neighbours},
      {"prefixes", check_prefixes},
      {"communicators", check_communicators},
      {"interleaved", check_interleaved},
      {"random", [&](const Group& group) { check_random(group, options.seed); }},
      {"identity", check_identity},
      {"count_forms", check_count_forms}};
  for (const Subject& one : subjects) {
    if (!options.only.empty() && options.only.find(std::string(",") + one.name + ",") == std::string::npos)
      continue;
    double begun = now();
    subject(one.name);
    one.check(world);
    if (world.rank == 0) std::printf("%-15s %6.2f s\n", one.name, now() - begun);
  }
  int status = finish();
  stop_allocating();
  MPI_Finalize();
  return status;
}
