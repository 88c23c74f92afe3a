"""mpi4py's own tests of collectives under MPICH and Open MPI."""

import hosts
import mpi4py_suite
import pytest


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
