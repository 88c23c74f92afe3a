// Every persistent collective against what MPI says comes out of it, in many rounds of a request, with
// buffers that change between them. Arguments choose parts: each, together, split, freed, operators,
// datatypes, user (without any, all of them) or leave them out ("-user"). For hosts that have it wrong:
// "-gather" leaves a collective out, "in-order" has all ranks start their requests in one order, "keep-types"
// frees datatypes after the request.
#include "case.hpp"

#include <cstdio>
#include <memory>
#include <string_view>

namespace persistent {

const Traits traits[kinds] = {{"barrier", 0, 0},
                              {"bcast", 0, 1, false, true},
                              {"reduce", 1, 1, false, true},
                              {"allreduce", 1, 1},
                              {"allgather", 1, each},
                              {"allgatherv", 1, each, true},
                              {"gather", 1, each, false, true},
                              {"gatherv", 1, each, true, true},
                              {"scatter", each, 1, false, true},
                              {"scatterv", each, 1, true, true},
                              {"alltoall", each, each},
                              {"alltoallv", each, each, true},
                              {"reduce_scatter_block", each, 1},
                              {"reduce_scatter", each, 1, true},
                              {"scan", 1, 1},
                              {"exscan", 1, 1}};
Options options;

namespace {

long checks = 0, failures = 0;

void run_alone(const Plan& plan) {
  Case one(plan);
  for (int round = 0; round < (plan.length > 1000 ? 2 : 5); ++round) {
    one.fill(round);
    round % 2 ? MPI_Startall(1, &one.request) : MPI_Start(&one.request);
    MPI_Wait(&one.request, MPI_STATUS_IGNORE);
    one.check(round);
  }
}

// One request after the other. 14 longs are what travels beside a flag.
void check_each(MPI_Comm comm) {
  constexpr int lengths[] = {0, 1, 13, 14, 15, 1000, 100000};
  const int size = Place(comm).size;
  for (int length : lengths)
    for (int kind = 0; kind < kinds; ++kind) {
      if (options.left_out[kind]) continue;
      const bool every_root = traits[kind].rooted && length < 100000;
      for (int root = every_root ? 0 : size - 1; root < size; ++root)
        for (bool in_place : {false, true})
          if (!in_place || (kind != barrier && kind != bcast))
            run_alone({static_cast<Kind>(kind), comm, length, root, in_place, (length + root) % 2 == 0});
    }
}

using Cases = std::vector<std::unique_ptr<Case>>;

// In another order on each rank; odd ranks now and then wait for each before they start the next, beside
// ranks that have started all before they wait for any.
void start_and_wait(Cases& cases, int rank, int round) {
  const std::size_t many = cases.size();
  const bool singly = rank % 2 && round % 3 == 2;
  const auto first = static_cast<std::size_t>(rank * 5 + round) % many;
  for (std::size_t k = 0; k < many; ++k) {
    const std::size_t next = singly     ? many - 1 - k
                             : rank % 2 ? (first + k) % many
                                        : (first + many - k) % many;
    MPI_Start(&cases[next]->request);
    if (singly) MPI_Wait(&cases[next]->request, MPI_STATUS_IGNORE);
  }
  if (singly) return;
  std::vector<MPI_Request> requests;
  for (const auto& one : cases) requests.push_back(one->request);
  MPI_Waitall(static_cast<int>(many), requests.data(), MPI_STATUSES_IGNORE);
  for (std::size_t k = 0; k < many; ++k)
    expect(requests[k] == cases[k]->request,
           [&] { return cases[k]->words(round) + ": the handle has changed"; });
}

// Two of each kind at once. `freed`: the communicator is gone before they start for the first time.
void check_together(MPI_Comm comm, bool freed) {
  Cases cases;
  const Place place(comm);
  for (int k = 0; k < 2 * kinds; ++k)
    if (const auto kind = static_cast<Kind>(k % kinds); !options.left_out[kind])
      cases.push_back(
          std::make_unique<Case>(Plan{kind, comm, k < kinds ? 14 : 700, k % place.size, k % 3 == 0}));
  if (freed) MPI_Comm_free(&comm);
  for (int round = 0; round < 6; ++round) {
    for (auto& one : cases) one->fill(round);
    start_and_wait(cases, options.in_order ? 0 : place.rank, round);
    for (auto& one : cases) one->check(round);
  }
}

void check_halves(bool freed) {
  MPI_Comm half;
  const int rank = Place(MPI_COMM_WORLD).rank;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
  check_together(half, freed);
  if (!freed) MPI_Comm_free(&half);
}

struct Part {
  const char* name;
  void (*run)();
  bool chosen = false, left_out = false;
};
Part parts[] = {{"each", [] { check_each(MPI_COMM_WORLD); }},
                {"together", [] { check_together(MPI_COMM_WORLD, false); }},
                {"split", [] { check_halves(false); }},
                {"freed", [] { check_halves(true); }},
                {"operators", [] { check_operators(MPI_COMM_WORLD); }},
                {"datatypes", [] { check_datatypes(MPI_COMM_WORLD); }},
                {"user", [] { check_user_operator(MPI_COMM_WORLD); }}};

void read(std::string_view argument) {
  const std::string_view leaves_out = argument.starts_with('-') ? argument.substr(1) : "";
  for (Part& part : parts) {
    part.chosen |= argument == part.name;
    part.left_out |= leaves_out == part.name;
  }
  for (int kind = 0; kind < kinds; ++kind) options.left_out[kind] |= leaves_out == traits[kind].name;
  options.in_order |= argument == "in-order";
  options.keeps_types |= argument == "keep-types";
}

int run(int argc, char** argv) {
  bool chosen = false;
  for (int k = 1; k < argc; ++k) read(argv[k]);
  for (const Part& part : parts) chosen |= part.chosen;
  for (const Part& part : parts)
    if ((part.chosen || !chosen) && !part.left_out) part.run();
  const long mine[] = {checks, failures};
  long all[2] = {};
  MPI_Reduce(mine, all, 2, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  if (Place(MPI_COMM_WORLD).rank == 0)
    std::printf("persistent_collectives: %ld checks, %ld failed\n", all[0], all[1]);
  return failures > 0;
}

}  // namespace

void count_check() { ++checks; }

void report(const std::string& what) {
  if (++failures <= 10) std::fprintf(stderr, "FAILED %s\n", what.c_str());
}

}  // namespace persistent

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int status = persistent::run(argc, argv);
  MPI_Finalize();
  return status;
}
