"""Text of a host goes into statistics up to its first NUL, without control characters."""

import json
import re

import hosts
import pytest

pytestmark = pytest.mark.needs_espalier


@pytest.mark.parametrize("name", [*hosts.THREE, "debian-openmpi", "debian-mpich"])
def test_version_of_the_host(launch, name, statistics):
    """Debian's Open MPI counts the NUL behind its version."""
    host = hosts.HOSTS[name]
    if why := hosts.missing(host):
        pytest.skip(why)
    program = "collectives" if host.fortran else "ended_early"
    run = launch(host, 2, program, env=statistics.env, timeout=120)
    assert run.status == 0, str(run)
    assert "\\u0000" not in statistics.path.read_text()
    version = statistics.read()["host"]
    assert any(word in version for word in ("MPICH", "Open MPI", "Intel")), version
    assert version.isprintable() and version == version.strip()
    assert json.loads(statistics.path.read_text())["rows"]


@pytest.mark.parametrize("name", ["debian-openmpi", "openmpi"])
def test_the_table_is_not_cut(launch, name):
    host = hosts.HOSTS[name]
    if why := hosts.missing(host):
        pytest.skip(why)
    program = "collectives" if host.fortran else "ended_early"
    run = launch(host, 2, program, env={"ESPALIER_STATS": "1"}, timeout=120)
    assert run.status == 0, str(run)
    whole = re.search(r" build, [\d.]+ \w+\)\n", run.err)
    assert "\0" not in run.err and whole and "allreduce" in run.err, str(run)
