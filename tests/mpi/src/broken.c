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
  if (broken("bcast writes where no memory is")) *(volatile char*)NULL = 1;
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

int MPI_File_read_at_all(MPI_File file, MPI_Offset offset, void* buffer, int count, MPI_Datatype type, MPI_Status* status) {
  if (broken("read_at_all reads from the beginning")) offset = 0;
  return PMPI_File_read_at_all(file, offset, buffer, count, type, status);
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

int MPI_Allgather(const void* send, int count, MPI_Datatype type, void* receive, int receive_count,
                  MPI_Datatype receive_type, MPI_Comm comm) {
  int status = PMPI_Allgather(send, count, type, receive, receive_count, receive_type, comm);
  if (broken("allgather swaps two blocks") && many(comm) && receive_type == MPI_UINT32_T) {
    unsigned* blocks = receive;
    for (int i = 0; i < receive_count; ++i) {
      unsigned spare = blocks[i];
      blocks[i] = blocks[receive_count + i];
      blocks[receive_count + i] = spare;
    }
  }
  return status;
}

int MPI_Allgatherv(const void* send, int count, MPI_Datatype type, void* receive, const int counts[],
                   const int places[], MPI_Datatype receive_type, MPI_Comm comm) {
  int size;
  PMPI_Comm_size(comm, &size);
  if (!broken("allgatherv ignores displacements") || send == MPI_IN_PLACE)
    return PMPI_Allgatherv(send, count, type, receive, counts, places, receive_type, comm);
  int* sums = malloc((size_t)size * sizeof *sums);
  for (int i = 0, sum = 0; i < size; sum += counts[i++]) sums[i] = sum;
  int status = PMPI_Allgatherv(send, count, type, receive, counts, sums, receive_type, comm);
  free(sums);
  return status;
}

int MPI_Gather(const void* send, int count, MPI_Datatype type, void* receive, int receive_count,
               MPI_Datatype receive_type, int root, MPI_Comm comm) {
  int size, rank;
  PMPI_Comm_size(comm, &size);
  PMPI_Comm_rank(comm, &rank);
  int status = PMPI_Gather(send, count, type, receive, receive_count, receive_type, root, comm);
  if (broken("gather forgets the last rank") && rank == root && size > 1 && receive_type == MPI_UINT32_T)
    memset((unsigned*)receive + (size - 1) * receive_count, 0, (size_t)receive_count * sizeof(unsigned));
  return status;
}

int MPI_Scatterv(const void* send, const int counts[], const int places[], MPI_Datatype type, void* receive,
                 int count, MPI_Datatype receive_type, int root, MPI_Comm comm) {
  int status = PMPI_Scatterv(send, counts, places, type, receive, count, receive_type, root, comm);
  if (broken("scatterv fills the holes") && receive != MPI_IN_PLACE && count > 0) {
    MPI_Aint lower, extent;
    int size;
    PMPI_Type_get_extent(receive_type, &lower, &extent);
    PMPI_Type_size(receive_type, &size);
    if (extent > size) memset((char*)receive + size, 0, (size_t)(extent - size));
  }
  return status;
}

int MPI_Alltoall(const void* send, int count, MPI_Datatype type, void* receive, int receive_count,
                 MPI_Datatype receive_type, MPI_Comm comm) {
  if (broken("alltoall in place does nothing") && send == MPI_IN_PLACE) return MPI_SUCCESS;
  return PMPI_Alltoall(send, count, type, receive, receive_count, receive_type, comm);
}

int MPI_Alltoallv(const void* send, const int counts[], const int places[], MPI_Datatype type, void* receive,
                  const int receive_counts[], const int receive_places[], MPI_Datatype receive_type,
                  MPI_Comm comm) {
  if (!broken("alltoallv sends to oneself only") || send == MPI_IN_PLACE)
    return PMPI_Alltoallv(send, counts, places, type, receive, receive_counts, receive_places, receive_type,
                          comm);
  int size, rank;
  PMPI_Comm_size(comm, &size);
  PMPI_Comm_rank(comm, &rank);
  int *out = calloc((size_t)size, sizeof *out), *in = calloc((size_t)size, sizeof *in);
  out[rank] = counts[rank];
  in[rank] = receive_counts[rank];
  int status = PMPI_Alltoallv(send, out, places, type, receive, in, receive_places, receive_type, comm);
  free(out);
  free(in);
  return status;
}

int MPI_Scan(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  int commutative = 1;
  PMPI_Op_commutative(op, &commutative);
  if (broken("scan leaves out the own vector")) return PMPI_Exscan(send, receive, count, type, op, comm);
  if (broken("scan ignores rank order") && !commutative && many(comm))
    return backwards(send, receive, count, type, op, comm);
  return PMPI_Scan(send, receive, count, type, op, comm);
}

int MPI_Exscan(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  if (broken("exscan takes the own vector in")) return PMPI_Scan(send, receive, count, type, op, comm);
  return PMPI_Exscan(send, receive, count, type, op, comm);
}

int MPI_Reduce_scatter(const void* send, void* receive, const int counts[], MPI_Datatype type, MPI_Op op,
                       MPI_Comm comm) {
  int rank, size, total = 0;
  PMPI_Comm_rank(comm, &rank);
  PMPI_Comm_size(comm, &size);
  for (int i = 0; i < size; ++i) total += counts[i];
  if (!broken("reduce_scatter gives all ranks the first block") || send == MPI_IN_PLACE ||
      type != MPI_UINT32_T)
    return PMPI_Reduce_scatter(send, receive, counts, type, op, comm);
  unsigned* whole = malloc((size_t)total * sizeof *whole + 1);
  int status = PMPI_Allreduce(send, whole, total, type, op, comm);
  memcpy(receive, whole, (size_t)counts[rank] * sizeof *whole);
  free(whole);
  return status;
}
