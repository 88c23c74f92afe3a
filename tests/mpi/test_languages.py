"""Fortran and Python programs, as they are, are intercepted: shown by the statistics."""

import re

import hosts
import pytest


def succeeded(run, name):
    assert run.status == 0, str(run)
    assert re.search(rf"{re.escape(name)}: 0 failed", run.out), str(run)


@pytest.mark.parametrize("name", ["debian-mpich", "debian-openmpi"])
@pytest.mark.parametrize("program", ["collectives", "collectives_f08"])
@pytest.mark.parametrize("ranks", [2, 4])
def test_fortran(launch, name, program, ranks, statistics):
    host = hosts.HOSTS[name]
    if reason := hosts.missing(host):
        pytest.fail(reason)
    run = launch(host, ranks, program, env={"ESPALIER_FALLBACK": "error", **statistics.env})
    succeeded(run, f"{program}.f90")
    statistics.check(host, ranks, hosts.COLLECTIVES)


@pytest.mark.every_host
@pytest.mark.parametrize("ranks", [1, 2, 5])
def test_mpi4py(launch, host, ranks, statistics):
    run = launch(host, ranks, host.python, hosts.SOURCES / "collectives.py",
                 env={"ESPALIER_FALLBACK": "error", **statistics.env})
    succeeded(run, "collectives.py")
    if ranks > 1:
        statistics.check(host, ranks, hosts.COLLECTIVES)


@pytest.mark.needs_espalier
def test_statistics_tell_sizes_and_communicators(launch, statistics):
    """The file has what its schema promises, and its numbers add up."""
    host = hosts.HOSTS["mpich"]
    succeeded(launch(host, 4, host.python, hosts.SOURCES / "collectives.py", env=statistics.env), "collectives.py")
    data = statistics.check(host, 4)
    shapes = {one["id"]: one for one in data["communicators"]}
    assert any(one["size"] == 4 for one in shapes.values()) and any(one["size"] == 2 for one in shapes.values())
    for row in data["rows"]:
        assert row["communicator"] in shapes
        assert row["bytes_from"] <= row["bytes_to"] and row["calls"] > 0 and row["seconds"] >= 0
        assert set(row["wait"]) == {"spin", "progress", "yield", "sleep"}
        assert row["transport"] in ("shared memory", "host") and (row["transport"] != "host" or row["fallback"])
    # 4 counts, 4 roots: Bcasts of numpy arrays on the world, and a few more.
    assert sum(row["calls"] for row in data["rows"] if row["collective"] == "bcast") >= 17
