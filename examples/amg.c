// Algebraic multigrid on a three-dimensional Poisson problem: conjugate gradients with hypre's BoomerAMG, which is what the AMG
// benchmark is made of. Debian: apt-get install libhypre-dev libopenmpi-dev
//
//   mpicc -O2 -I/usr/include/hypre amg.c -o amg -lHYPRE -lm
//   mpirun -n 2 ./amg --grid 40 --history FILE
//
// Grid N: N x N x N points, seven-point stencil, in slabs of the third direction. The right-hand side is the matrix times ones, so the
// exact solution is known.
#include <HYPRE.h>
#include <HYPRE_krylov.h>
#include <HYPRE_parcsr_ls.h>
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { most_iterations = 60 };
static const double tolerance = 1e-8;

static int n = 32;  // points in each direction
static const char* history = NULL;

static void read_options(int argc, char** argv) {
  for (int i = 1; i + 1 < argc; i += 2) {
    if (!strcmp(argv[i], "--grid")) n = atoi(argv[i + 1]);
    if (!strcmp(argv[i], "--history")) history = argv[i + 1];
  }
}

// A row of the matrix; returns how many entries it has. `sum`: of the entries.
static int row_of(HYPRE_BigInt i, HYPRE_BigInt* columns, double* values, double* sum) {
  const HYPRE_BigInt plane = (HYPRE_BigInt)n * n, x = i % n, y = i / n % n, z = i / plane;
  const HYPRE_BigInt steps[] = {1, n, plane}, at[] = {x, y, z};
  int count = 0;
  columns[count] = i;
  values[count++] = 6;
  for (int d = 0; d < 3; ++d)
    for (int sign = -1; sign <= 1; sign += 2)
      if (at[d] + sign >= 0 && at[d] + sign < n) {
        columns[count] = i + sign * steps[d];
        values[count++] = -1;
      }
  *sum = 6 - (count - 1);
  return count;
}

static HYPRE_IJVector vector_of(HYPRE_BigInt first, HYPRE_BigInt last) {
  HYPRE_IJVector made;
  HYPRE_IJVectorCreate(MPI_COMM_WORLD, first, last, &made);
  HYPRE_IJVectorSetObjectType(made, HYPRE_PARCSR);
  HYPRE_IJVectorInitialize(made);
  return made;
}

static double largest_error(HYPRE_IJVector x, HYPRE_BigInt first, HYPRE_BigInt last) {
  double mine = 0, all = 0;
  for (HYPRE_BigInt i = first; i <= last; ++i) {
    double value;
    HYPRE_IJVectorGetValues(x, 1, &i, &value);
    mine = fmax(mine, fabs(value - 1));
  }
  MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return all;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  HYPRE_Init();
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  read_options(argc, argv);
  if (n < ranks) {
    if (rank == 0) fprintf(stderr, "amg: fewer planes than ranks\n");
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  const HYPRE_BigInt plane = (HYPRE_BigInt)n * n;
  const HYPRE_BigInt first = plane * ((HYPRE_BigInt)n * rank / ranks), last = plane * ((HYPRE_BigInt)n * (rank + 1) / ranks) - 1;

  HYPRE_IJMatrix matrix;
  HYPRE_IJMatrixCreate(MPI_COMM_WORLD, first, last, first, last, &matrix);
  HYPRE_IJMatrixSetObjectType(matrix, HYPRE_PARCSR);
  HYPRE_IJMatrixInitialize(matrix);
  HYPRE_IJVector right = vector_of(first, last), x = vector_of(first, last);
  for (HYPRE_BigInt i = first; i <= last; ++i) {
    HYPRE_BigInt columns[7];
    double values[7], sum, zero = 0;
    HYPRE_Int count = row_of(i, columns, values, &sum);
    HYPRE_IJMatrixSetValues(matrix, 1, &count, &i, columns, values);
    HYPRE_IJVectorSetValues(right, 1, &i, &sum);
    HYPRE_IJVectorSetValues(x, 1, &i, &zero);
  }
  HYPRE_IJMatrixAssemble(matrix);
  HYPRE_IJVectorAssemble(right);
  HYPRE_IJVectorAssemble(x);
  HYPRE_ParCSRMatrix a;
  HYPRE_ParVector b, solution;
  HYPRE_IJMatrixGetObject(matrix, (void**)&a);
  HYPRE_IJVectorGetObject(right, (void**)&b);
  HYPRE_IJVectorGetObject(x, (void**)&solution);

  HYPRE_Solver solver, multigrid;
  HYPRE_ParCSRPCGCreate(MPI_COMM_WORLD, &solver);
  HYPRE_PCGSetMaxIter(solver, most_iterations);
  HYPRE_PCGSetTol(solver, tolerance);
  HYPRE_PCGSetTwoNorm(solver, 1);
  HYPRE_PCGSetLogging(solver, 1);
  HYPRE_BoomerAMGCreate(&multigrid);
  HYPRE_BoomerAMGSetTol(multigrid, 0);
  HYPRE_BoomerAMGSetMaxIter(multigrid, 1);
  HYPRE_PCGSetPrecond(solver, (HYPRE_PtrToSolverFcn)HYPRE_BoomerAMGSolve, (HYPRE_PtrToSolverFcn)HYPRE_BoomerAMGSetup, multigrid);

  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  HYPRE_ParCSRPCGSetup(solver, a, b, solution);
  HYPRE_ParCSRPCGSolve(solver, a, b, solution);
  MPI_Barrier(MPI_COMM_WORLD);
  const double seconds = MPI_Wtime() - begin;

  HYPRE_Int iterations;
  double residual;
  HYPRE_PCGGetNumIterations(solver, &iterations);
  HYPRE_PCGGetFinalRelativeResidualNorm(solver, &residual);
  const double error = largest_error(x, first, last);
  const int is_right = residual <= tolerance && error < 1e-5;
  if (rank == 0) {
    printf("amg: ranks %d, grid %d, iterations %d, seconds %.6f, residual %.3e, error %.3e, %s\n", ranks, n, (int)iterations, seconds,
           residual, error, is_right ? "right" : "WRONG");
    FILE* file = history ? fopen(history, "w") : NULL;
    if (file) {
      fprintf(file, "%d\n%.17g\n%.17g\n", (int)iterations, residual, error);
      fclose(file);
    }
  }
  HYPRE_BoomerAMGDestroy(multigrid);
  HYPRE_ParCSRPCGDestroy(solver);
  HYPRE_IJMatrixDestroy(matrix);
  HYPRE_IJVectorDestroy(right);
  HYPRE_IJVectorDestroy(x);
  HYPRE_Finalize();
  MPI_Finalize();
  return is_right ? 0 : 1;
}
