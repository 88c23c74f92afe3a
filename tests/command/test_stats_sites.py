"""`espalier run --stats=FILE --sites N --arrivals`: where calls came from, and how long ranks waited for the last one."""

import json
import shutil
import subprocess

import pytest
from conftest import LIB, VENVS, compile_c

# Lines are counted from the first one.
PROGRAM = """#include <mpi.h>
#include <unistd.h>
static double in[1024] = {1}, out[1024];
__attribute__((noinline)) void exchange(void) {
  MPI_Allreduce(in, out, 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);  // line 5
  out[1] += 1;
}
__attribute__((noinline)) void solve(int rank) {
  for (int i = 0; i < 10; ++i) {
    if (rank == 1) usleep(20000);
    exchange();  // line 11
    out[2] += 1;
  }
}
int main(int argc, char **argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  solve(rank);  // line 19
  MPI_Bcast(in, 8, MPI_DOUBLE, 0, MPI_COMM_WORLD);  // line 20
  if (rank == 0) MPI_Allreduce(MPI_IN_PLACE, out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_SELF);
  MPI_Finalize();
  return 0;
}
"""

MPIRUN = VENVS / "mpich/bin/mpirun"


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    return compile_c([str(VENVS / "mpich/bin/mpicc"), "-g", "-O1"], PROGRAM, tmp_path_factory.mktemp("program") / "program")


def run(espalier, program, tmp_path, *options, **environment):
    result = espalier("run", f"--stats={tmp_path}/run.json", *options, "--", MPIRUN, "-n", "2", program, lib=LIB, **environment)
    assert result.returncode == 0, result.stderr
    return json.loads((tmp_path / "run.json").read_text())


def test_functions_and_lines(espalier, program, tmp_path):
    report = run(espalier, program, tmp_path, "--sites", "3")
    sites = {site["collective"]: site for site in report["sites"]}
    assert (sites["allreduce"]["calls"], sites["allreduce"]["ranks"]) == (20, 2)
    assert all(len(site["frames"]) == 3 and site["frames"][0]["file"] == str(program) for site in sites.values())
    shown = espalier("stats", tmp_path / "run.json", COLUMNS="400").stdout
    assert "exchange (program.c:5) < solve (program.c:11) < main (program.c:19)" in shown, shown
    assert "main (program.c:20)" in shown and "2 of 2" in shown


@pytest.mark.parametrize("other", ["llvm-symbolizer", None])
def test_by_another_program_or_none(espalier, program, tmp_path, other):
    if other and not shutil.which(other):
        pytest.skip(f"{other} is not installed")
    run(espalier, program, tmp_path, "--sites", "1")
    (tmp_path / "bin").mkdir()
    if other:
        (tmp_path / "bin" / other).symlink_to(shutil.which(other))
    shown = espalier("stats", tmp_path / "run.json", COLUMNS="400", PATH=str(tmp_path / "bin")).stdout
    assert ("exchange (program.c:5)" if other else "program+0x") in shown, shown


def test_without_debugging_information(espalier, program, tmp_path):
    stripped = shutil.copy(program, tmp_path / "stripped")
    subprocess.run(["strip", "-g", stripped], check=True)
    run(espalier, stripped, tmp_path, "--sites", "1")
    assert " exchange\n" in espalier("stats", tmp_path / "run.json", COLUMNS="400").stdout
    subprocess.run(["strip", stripped], check=True)
    assert " stripped+0x" in espalier("stats", tmp_path / "run.json", COLUMNS="400").stdout
    stripped.unlink()
    assert " stripped+0x" in espalier("stats", tmp_path / "run.json", COLUMNS="400").stdout


def test_calls_of_the_host_have_sites(espalier, program, tmp_path):
    report = run(espalier, program, tmp_path, "--sites", "1", ESPALIER_ALLREDUCE="host")
    site = next(site for site in report["sites"] if site["collective"] == "allreduce")
    assert site["by_host"] and site["calls"] == 20
    assert "2 of 2 (host)" in espalier("stats", tmp_path / "run.json", COLUMNS="400").stdout


def test_fortran_and_mpi4py(espalier, tmp_path):
    """A Fortran program's call comes through the host's wrappers, which are passed over; mpi4py's from its own library."""
    script = tmp_path / "script.py"
    script.write_text("from mpi4py import MPI\nMPI.COMM_WORLD.barrier()\n")
    result = espalier("run", f"--stats={tmp_path}/run.json", "--sites", "1", "--", MPIRUN, "-n", "2", VENVS / "mpich/bin/python", script,
                      lib=LIB)
    report = json.loads((tmp_path / "run.json").read_text())
    assert result.returncode == 0 and "mpi4py" in report["sites"][0]["frames"][0]["file"], report["sites"]
    if not shutil.which("mpif90.mpich"):
        pytest.skip("mpif90.mpich is not installed")
    source = tmp_path / "program.f90"
    source.write_text("program p\n  use mpi\n  integer :: e\n  call MPI_Init(e)\n  call MPI_Barrier(MPI_COMM_WORLD, e)\n"
                      "  call MPI_Finalize(e)\nend program\n")
    subprocess.run(["mpif90.mpich", "-g", source, "-o", tmp_path / "fortran"], check=True, cwd=tmp_path)
    espalier("run", f"--stats={tmp_path}/run.json", "--sites", "1", "--", "mpirun.mpich", "-n", "2", tmp_path / "fortran", lib=LIB)
    assert "(program.f90:5)" in espalier("stats", tmp_path / "run.json", COLUMNS="400").stdout


def test_the_page_has_them(espalier, program, tmp_path):
    run(espalier, program, tmp_path, "--sites", "1", "--arrivals")
    assert espalier("stats", tmp_path / "run.json", "--html", tmp_path / "run.html").returncode == 0
    page = (tmp_path / "run.html").read_text()
    assert "exchange (program.c:5)" in page and "Came last most often: rank 1" in page
    assert '<i class="waited"' in page and "Light: waiting for the last rank." in page


def test_nothing_is_counted_unless_it_is_asked_for(espalier, program, tmp_path):
    report = run(espalier, program, tmp_path)
    assert report["sites"] == [] and all(row["waited_seconds"] is None for row in report["rows"])


def test_who_came_last(espalier, program, tmp_path):
    """Rank 1 comes 20 ms later each time: rank 0 waits for it, so half of the time of both is that."""
    report = run(espalier, program, tmp_path, "--arrivals")
    rows = {row["collective"]: row for row in report["rows"]}
    late = rows["allreduce"]
    assert late["mostly_last"]["rank"] == 1 and late["mostly_last"]["calls"] >= 8
    assert 0.02 < late["waited_seconds"] <= late["mean_seconds"]
    assert rows["bcast"]["waited_seconds"] is not None  # a rank that is not the root waits for it alone
    shown = espalier("stats", tmp_path / "run.json", COLUMNS="400").stdout
    assert "came last most often: rank 1 in" in shown


def test_at_the_end_of_a_run_without_a_file(espalier, program):
    result = espalier("run", "--stats", "--sites", "1", "--", MPIRUN, "-n", "2", program, lib=LIB)
    assert "calls came from 2 places: `espalier stats FILE` names them" in result.stderr, result.stderr


@pytest.mark.parametrize("words, message", [
    (["--sites", "1"], "--sites says what is counted: it goes with --stats"),
    (["--arrivals"], "--arrivals says what is counted"),
    (["--stats", "--sites", "9"], "9"),
])
def test_wrong_options(espalier, words, message):
    result = espalier("run", *words, "--", "true")
    assert result.returncode == 2 and message in result.stderr
