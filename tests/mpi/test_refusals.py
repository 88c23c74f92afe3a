"""A machine that refuses: small or no /dev/shm, no memfd, a small budget. It works, or falls back and says why."""

import re
import subprocess

import hosts
import pytest
from namespaces import GONE, READ_ONLY, SMALL, in_a_mount_namespace

SUBJECTS = "barrier,roots,sizes,communicators,random"


def passed(run):
    assert run.status == 0, str(run)
    assert re.search(r"^\d+ passed, 0 failed", run.out, re.M), str(run)


@pytest.mark.parametrize("ranks", [pytest.param(2, marks=pytest.mark.full), 8])
def test_dev_shm_of_64_mebibytes(launch, host, ranks, statistics):
    wrap = in_a_mount_namespace(SMALL)
    passed(launch(host, ranks, "checked", "--only", SUBJECTS, wrap=wrap, env=statistics.env))
    statistics.check(host, ranks)


# MPICH 5 cannot even start without /dev/shm (MPI_Init: out of memory); the other two can.
@pytest.mark.parametrize("name, script", [
    pytest.param("openmpi", READ_ONLY, id="openmpi-read-only"), pytest.param("impi", GONE, id="impi-unmounted"),
    pytest.param("openmpi", GONE, id="openmpi-unmounted", marks=pytest.mark.full),
    pytest.param("impi", READ_ONLY, id="impi-read-only", marks=pytest.mark.full)])
def test_no_dev_shm(launch, name, script, statistics):
    """Espalier goes by memfd and must not notice."""
    wrap = in_a_mount_namespace(script)
    host = hosts.HOSTS[name]
    passed(launch(host, 3, "checked", "--only", SUBJECTS, wrap=wrap, env=statistics.env))
    statistics.check(host, 3)


@pytest.mark.parametrize("refusal, ranks", [("EPERM", 4), pytest.param("ENOSYS", 4, marks=pytest.mark.full),
                                            ("ENOSYS", 2), pytest.param("EPERM", 2, marks=pytest.mark.full)])
def test_memfd_refused(launch, host, refusal, ranks, statistics):
    """Then it is shm_open, unlinked at once: it still runs through shared memory."""
    wrap = [hosts.plain_program("no_memfd"), refusal]
    tried = subprocess.run([*wrap, "true"], capture_output=True, text=True)
    if tried.returncode == 3:
        pytest.skip(tried.stderr.strip())
    passed(launch(host, ranks, "checked", "--only", SUBJECTS, wrap=list(map(str, wrap)), env=statistics.env))
    statistics.check(host, ranks)


def test_memfd_refused_and_no_dev_shm(launch, statistics):
    """No way to share memory at all: the host does everything, the results are right, and the statistics say why."""
    wrap = [*in_a_mount_namespace(READ_ONLY), str(hosts.plain_program("no_memfd")), "EPERM"]
    host = hosts.HOSTS["openmpi"]
    run = launch(host, 3, "checked", "--only", SUBJECTS, wrap=wrap,
                 env={**statistics.env, "ESPALIER_FALLBACK": "silent"})
    passed(run)
    if not hosts.BARE:
        on_host = [row for row in statistics.read()["rows"] if row["transport"] == "host"]
        assert on_host and all(row["fallback"] for row in on_host)


@pytest.mark.needs_espalier
@pytest.mark.parametrize("name, budget", [
    ("mpich", "0"), ("mpich", "64KiB"), ("mpich", "1MiB"), ("openmpi", "64KiB"), ("impi", "64KiB"),
    *(pytest.param(*case, marks=pytest.mark.full)
      for case in (("openmpi", "0"), ("openmpi", "1MiB"), ("impi", "0"), ("impi", "1MiB")))])
def test_a_small_budget(launch, name, budget, statistics):
    """When the budget is spent a communicator falls back, all ranks together, and says so."""
    run = launch(hosts.HOSTS[name], 4, "checked", "--only", SUBJECTS,
                 env={**statistics.env, "ESPALIER_SHM": budget, "ESPALIER_FALLBACK": "warn"})
    passed(run)
    fallen = [row for row in statistics.read()["rows"] if row["fallback"]]
    if budget == "0":
        assert fallen and "espalier" in run.err.lower(), str(run)
