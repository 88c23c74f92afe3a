"""mpi4py's own tests of collectives under MPICH and Open MPI."""

import hosts
import mpi4py_suite
import pytest


@pytest.mark.alone
@pytest.mark.slow
@pytest.mark.parametrize("ranks", [2, pytest.param(3, marks=pytest.mark.full)])
@pytest.mark.parametrize("name", ["mpich", "openmpi"])
def test_mpi4py_own_suite(name, ranks, statistics):
    host = hosts.HOSTS[name]
    outcome = mpi4py_suite.run(host, ranks, env={"ESPALIER_FALLBACK": "error", **statistics.env})
    count, well = mpi4py_suite.summary(outcome)
    assert well and count > 100, str(outcome)
    if ranks > 1:
        statistics.check(host, ranks, hosts.COLLECTIVES)


@pytest.mark.slow
@pytest.mark.full
@pytest.mark.needs_espalier
@pytest.mark.parametrize("name", ["mpich", "openmpi"])
@pytest.mark.parametrize("ranks, nodes", [(3, "2+1"), (4, "2:cyclic")])
def test_mpi4py_own_suite_across_nodes(name, ranks, nodes, statistics):
    # Over nodes `error` would forbid what is the host's: persistent and nonblocking collectives, which are so without a reason
    # where they are off, those of neighbours, and alltoallw.
    off = {"ESPALIER_PERSISTENT": "off", "ESPALIER_NONBLOCKING": "off"}
    env = {"ESPALIER_FALLBACK": "error", **off, "ESPALIER_NODES": nodes, **statistics.env}
    outcome = mpi4py_suite.run(hosts.HOSTS[name], ranks, env=env, options=("-e", "ngh", "-x", "Alltoallw"))
    count, well = mpi4py_suite.summary(outcome)
    assert well and count > 100, str(outcome)
    rows = statistics.read()["rows"]
    across = {row["collective"] for row in rows if row["calls"] and row["transport"] == "shared memory and messages"}
    assert set(hosts.SPANNING) <= across, f"across nodes: {sorted(across)}"


@pytest.mark.slow
@pytest.mark.full
@pytest.mark.needs_espalier
@pytest.mark.parametrize("name", ["mpich", "openmpi", "impi"])
def test_mpi4py_own_suite_of_requests_across_nodes(name, statistics):
    """test_cco_nb_* and test_cco_pr_*: nonblocking and persistent collectives, of which the host serves none."""
    env = {"ESPALIER_FALLBACK": "error", "ESPALIER_NONBLOCKING": "on", "ESPALIER_NODES": "2+1", **statistics.env}
    outcome = mpi4py_suite.run(hosts.HOSTS[name], 3, env=env, options=("-e", "cco_(buf|obj|vec|ngh)"))
    count, well = mpi4py_suite.summary(outcome)
    assert well and count > 50, str(outcome)
    rows = [row for row in statistics.read()["rows"] if row["calls"] and "messages" in row["transport"]]
    assert {"nonblocking", "persistent"} <= {row["algorithm"] for row in rows}, str(rows)
