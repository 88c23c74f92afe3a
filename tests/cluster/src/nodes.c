/* Every rank says which host it is on, its place among the ranks that MPI_COMM_TYPE_SHARED puts together, and
   a sum over those: "rank 3: host n1, 1 of 2, sum 7". */
#include <mpi.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { room = 200, tag = 3 };

static void describe(char* line, int rank) {
  MPI_Comm node;
  int place, size, mine = rank + 1, sum = 0;
  char host[80] = "";
  gethostname(host, sizeof host - 1);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
  MPI_Comm_rank(node, &place);
  MPI_Comm_size(node, &size);
  MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, node);
  MPI_Comm_free(&node);
  snprintf(line, room, "rank %d: host %s, %d of %d, sum %d", rank, host, place, size, sum);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  char line[room] = "";
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  describe(line, rank);
  if (rank) MPI_Send(line, room, MPI_CHAR, 0, tag, MPI_COMM_WORLD);
  for (int other = 0; !rank && other < size; ++other) {
    if (other) MPI_Recv(line, room, MPI_CHAR, other, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    puts(line);
  }
  MPI_Finalize();
  return 0;
}
