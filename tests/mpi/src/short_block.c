/* A block that is shorter than the call says: its last elements are not the program's. */
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    const int count = 512;
    double *given = malloc((count - 8) * sizeof *given), *taken = malloc(count * sizeof *taken);
    for (int i = 0; i < count - 8; ++i) given[i] = i;
    MPI_Allreduce(given, taken, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    free(given);
    free(taken);
    MPI_Finalize();
    return 0;
}
