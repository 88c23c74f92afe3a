// A global object that uses MPI, and ends it, in its destructor: after main, and after all that was made
// later than the object has been destroyed.
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

void sum(const void* in, void* inout, const int* count) {
  for (int i = 0; i < *count; ++i) static_cast<double*>(inout)[i] += static_cast<const double*>(in)[i];
}

struct World {
  MPI_Comm comm = MPI_COMM_NULL;

  ~World() {
    int rank, size, wrong = 0;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (const int elements : {1, 1000, 300000}) {
      std::vector<double> ones(static_cast<std::size_t>(elements), 1), sums(ones.size());
      MPI_Allreduce(ones.data(), sums.data(), elements, MPI_DOUBLE, MPI_SUM, comm);
      for (const double each : sums) wrong += each != size;
    }
    MPI_Comm copy;
    MPI_Comm_dup(comm, &copy);
    double one = 1, total = 0;
    MPI_Op op;
    MPI_Op_create([](void* in, void* inout, int* n, MPI_Datatype*) { sum(in, inout, n); }, 1, &op);
    MPI_Allreduce(&one, &total, 1, MPI_DOUBLE, op, copy);
    wrong += total != size;
    MPI_Op_free(&op);
    MPI_Request request;
    MPI_Allreduce_init(&one, &total, 1, MPI_DOUBLE, MPI_SUM, copy, MPI_INFO_NULL, &request);
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    wrong += total != size;
    MPI_Request_free(&request);
    void* memory;
    MPI_Alloc_mem(1 << 20, MPI_INFO_NULL, &memory);
    MPI_Bcast(memory, 1 << 20, MPI_BYTE, 0, copy);
    MPI_Free_mem(memory);
    // An error needs the most of what may be gone: texts, settings, the list of what was said.
    MPI_Comm_set_errhandler(copy, MPI_ERRORS_RETURN);
    wrong += MPI_Bcast(&one, 1, MPI_DOUBLE, 9999, copy) == MPI_SUCCESS;
    MPI_Comm_free(&copy);
    MPI_Comm_free(&comm);
    std::printf("static_objects, rank %d: %d failed\n", rank, wrong);
    std::fflush(stdout);
    MPI_Finalize();
    if (wrong) std::_Exit(1);
  }
};

World world;

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_dup(MPI_COMM_WORLD, &world.comm);
  if (argc > 1) MPI_Barrier(world.comm);  // without it the first collective of all comes after main
  return 0;
}
