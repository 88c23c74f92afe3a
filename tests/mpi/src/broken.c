/* A preloaded library that breaks one collective on purpose (BROKEN=...), to prove that the checked run
   notices. It stands where Espalier stands; what it does not break goes to the host. */
#include <mpi.h>

#include <stdlib.h>
#include <string.h>

static int broken(const char* what) {
  const char* asked = getenv("BROKEN");
  return asked && strcmp(asked, what) == 0;
}

static int many(MPI_Comm comm) {
  int size;
  PMPI_Comm_size(comm, &size);
  return size > 1;
}

int MPI_Barrier(MPI_Comm comm) {
  if (broken("barrier does nothing")) return MPI_SUCCESS;
  if (broken("rank 1 stays away from barriers")) {
    int rank;
    PMPI_Comm_rank(comm, &rank);
    if (rank == 1) return MPI_SUCCESS;
  }
  return PMPI_Barrier(comm);
}

int MPI_Bcast(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  if (broken("bcast always from rank 0")) return PMPI_Bcast(buffer, count, type, 0, comm);
  if (broken("bcast forgets the last element of long messages") && count > 1000)
    return PMPI_Bcast(buffer, count - 1, type, root, comm);
  if (broken("bcast fills the holes")) {
    MPI_Aint lower, extent;
    int size, rank;
    PMPI_Type_get_extent(type, &lower, &extent);
    PMPI_Type_size(type, &size);
    PMPI_Comm_rank(comm, &rank);
    int status = PMPI_Bcast(buffer, count, type, root, comm);
    if (rank != root && extent > size && count > 0) memset((char*)buffer + size, 0, (size_t)(extent - size));
    return status;
  }
  return PMPI_Bcast(buffer, count, type, root, comm);
}

/* Rank order reversed: only operators that are not commutative can tell. */
static int backwards(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op,
                     MPI_Comm comm) {
  MPI_Comm reversed;
  int rank;
  PMPI_Comm_rank(comm, &rank);
  PMPI_Comm_split(comm, 0, -rank, &reversed);
  int status = PMPI_Allreduce(send, receive, count, type, op, reversed);
  PMPI_Comm_free(&reversed);
  return status;
}

int MPI_Allreduce(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  int commutative = 1;
  PMPI_Op_commutative(op, &commutative);
  if (broken("allreduce ignores rank order") && !commutative)
    return backwards(send, receive, count, type, op, comm);
  if (broken("allreduce in place does nothing") && send == MPI_IN_PLACE && many(comm)) return MPI_SUCCESS;
  if (broken("allreduce minimum for maximum") && op == MPI_MAX) op = MPI_MIN;
  int status = PMPI_Allreduce(send, receive, count, type, op, comm);
  if (broken("allreduce writes behind the buffer") && type == MPI_UINT32_T) ((unsigned*)receive)[count] = 0;
  if (broken("allreduce differs in one bit on rank 1") && type == MPI_DOUBLE && count > 16) {
    int rank;
    PMPI_Comm_rank(comm, &rank);
    if (rank == 1) ((unsigned char*)receive)[8 * (count - 1)] ^= 1;
  }
  if (broken("allreduce loses MINLOC's index") && op == MPI_MINLOC && type == MPI_DOUBLE_INT && count > 1)
    ((int*)receive)[4 * (count - 1) + 2] ^= 1;
  return status;
}

int MPI_Reduce(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, int root,
               MPI_Comm comm) {
  int size;
  PMPI_Comm_size(comm, &size);
  if (broken("reduce to another root") && size > 2 && send != MPI_IN_PLACE) {
    int rank;
    PMPI_Comm_rank(comm, &rank);
    int wrong = size - 1 - root;
    if (root != wrong) {
      void* spare = malloc((size_t)count * 64 + 64);
      int status = PMPI_Reduce(send, spare, count, type, op, wrong, comm);
      free(spare);
      return status;
    }
  }
  return PMPI_Reduce(send, receive, count, type, op, root, comm);
}
