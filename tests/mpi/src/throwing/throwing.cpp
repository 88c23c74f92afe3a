// Error handlers and operators of the program that throw. The arguments: what throws ("handler" or
// "operator"), and what it throws ("error", an exception of the standard library, or "number").
#include <mpi.h>

#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

int rank, size, failed = 0;
bool throws_number = false, armed = false;

void expect(bool holds, const std::string& what) {
  if (holds) return;
  ++failed;
  std::printf("throwing, rank %d: %s\n", rank, what.c_str());
}

[[noreturn]] void throw_it() {
  if (throws_number) throw 42;
  throw std::runtime_error("the program's own");
}

void handler(MPI_Comm*, int*, ...) { throw_it(); }

void add(void* in, void* inout, int* count, MPI_Datatype*) {
  if (armed) throw_it();
  for (int i = 0; i < *count; ++i) static_cast<int*>(inout)[i] += static_cast<int*>(in)[i];
}

enum class End { good, error, thrown };

template <class Call>
End end_of(Call call) {
  try {
    return call() == MPI_SUCCESS ? End::good : End::error;
  } catch (const std::runtime_error& error) {
    expect(!throws_number && error.what() == std::string("the program's own"), "another exception came out");
  } catch (int number) {
    expect(throws_number && number == 42, "another number came out");
  }
  return End::thrown;
}

void check_sum(MPI_Comm comm, MPI_Op op) {
  const int mine = rank + 1;
  int sum = -1;
  MPI_Allreduce(&mine, &sum, 1, MPI_INT, op, comm);
  expect(sum == size * (size + 1) / 2, "a sum is wrong");
}

// Of the host's errors and, with a communicator that has been used, of ours.
void check_handlers() {
  MPI_Errhandler throwing;
  MPI_Comm_create_errhandler(handler, &throwing);
  for (int round = 0; round < 20; ++round) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, throwing);
    if (round % 2) check_sum(comm, MPI_SUM);
    int x = 0;
    expect(end_of([&] { return MPI_Bcast(&x, 1, MPI_INT, 9999, comm); }) == End::thrown, "no exception");
    check_sum(comm, MPI_SUM);
    MPI_Comm_free(&comm);
    check_sum(MPI_COMM_WORLD, MPI_SUM);
  }
  MPI_Errhandler_free(&throwing);
}

using Collective = int (*)(const std::vector<int>&, std::vector<int>&, MPI_Op, MPI_Comm);
const Collective collectives[] = {
    [](const std::vector<int>& in, std::vector<int>& out, MPI_Op op, MPI_Comm comm) {
      return MPI_Allreduce(in.data(), out.data(), static_cast<int>(in.size()), MPI_INT, op, comm);
    },
    [](const std::vector<int>& in, std::vector<int>& out, MPI_Op op, MPI_Comm comm) {
      return MPI_Reduce(in.data(), out.data(), static_cast<int>(in.size()), MPI_INT, op, 0, comm);
    },
    [](const std::vector<int>& in, std::vector<int>& out, MPI_Op op, MPI_Comm comm) {
      return MPI_Scan(in.data(), out.data(), static_cast<int>(in.size()), MPI_INT, op, comm);
    },
    [](const std::vector<int>& in, std::vector<int>& out, MPI_Op op, MPI_Comm comm) {
      return MPI_Exscan(in.data(), out.data(), static_cast<int>(in.size()), MPI_INT, op, comm);
    },
    [](const std::vector<int>& in, std::vector<int>& out, MPI_Op op, MPI_Comm comm) {
      return MPI_Reduce_scatter_block(in.data(), out.data(), static_cast<int>(in.size()) / size, MPI_INT, op,
                                      comm);
    },
};

// A rank whose operator throws has left the collective: the others get an error instead of waiting for it, in
// this call or in the next, and a new communicator works.
void check_operator(const Collective& collective, std::size_t elements, MPI_Op op) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  check_sum(comm, op);
  std::vector<int> in(elements * static_cast<std::size_t>(size), 1), out(in.size());
  armed = true;
  const End end = end_of([&] { return collective(in, out, op, comm); });
  armed = false;
  const int threw = end == End::thrown;
  int throwers = 0;
  MPI_Allreduce(&threw, &throwers, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  expect(throwers > 0, "the operator threw nowhere");
  expect(end_of([&] { return MPI_Barrier(comm); }) == End::error, "a later call was no error");
  MPI_Comm_free(&comm);
  check_sum(MPI_COMM_WORLD, op);
}

void check_operators() {
  MPI_Op op;
  MPI_Op_create(add, 1, &op);
  for (const Collective& collective : collectives)
    for (const std::size_t elements : {1, 1000, 100000}) check_operator(collective, elements, op);
  MPI_Op_free(&op);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  throws_number = argc > 2 && std::strcmp(argv[2], "number") == 0;
  if (argc > 1 && std::strcmp(argv[1], "handler") == 0)
    check_handlers();
  else
    check_operators();
  std::printf("throwing, rank %d: %d failed\n", rank, failed);
  std::fflush(stdout);
  MPI_Finalize();
  return failed != 0;
}
