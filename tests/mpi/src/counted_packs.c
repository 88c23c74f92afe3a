/* A library to preload behind Espalier's: how often the host has packed or unpacked for it. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>

static int packs = 0;

int counted_packs(void) { return packs; }

#define COUNTED(name, parameters, arguments)         \
  int name parameters {                              \
    int(*next) parameters;                           \
    *(void**)&next = dlsym(RTLD_NEXT, #name);        \
    ++packs;                                         \
    return next arguments;                           \
  }

COUNTED(PMPI_Pack, (const void* in, int count, MPI_Datatype type, void* out, int size, int* place, MPI_Comm comm),
        (in, count, type, out, size, place, comm))
COUNTED(PMPI_Unpack, (const void* in, int size, int* place, void* out, int count, MPI_Datatype type, MPI_Comm comm),
        (in, size, place, out, count, type, comm))
#if MPI_VERSION >= 4
COUNTED(PMPI_Pack_c,
        (const void* in, MPI_Count count, MPI_Datatype type, void* out, MPI_Count size, MPI_Count* place, MPI_Comm comm),
        (in, count, type, out, size, place, comm))
COUNTED(PMPI_Unpack_c,
        (const void* in, MPI_Count size, MPI_Count* place, void* out, MPI_Count count, MPI_Datatype type, MPI_Comm comm),
        (in, size, place, out, count, type, comm))
#endif
