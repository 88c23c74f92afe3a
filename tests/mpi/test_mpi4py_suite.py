"""mpi4py's own tests of collectives under MPICH and Open MPI."""

import hosts
import mpi4py_suite
import pytest


@pytest.mark.slow
@pytest.mark.parametrize("name, ranks", [("mpich", 3), ("openmpi", 2), pytest.param("mpich", 2, marks=pytest.mark.full),
                                         pytest.param("openmpi", 3, marks=pytest.mark.full)])
def test_mpi4py_own_suite(name, ranks, statistics):
    host = hosts.HOSTS[name]
    outcome = mpi4py_suite.run(host, ranks, env={"ESPALIER_FALLBACK": "error", **statistics.env})
    count, well = mpi4py_suite.summary(outcome)
    assert well and count > 100, str(outcome)
    if ranks > 1:
        statistics.check(host, ranks, hosts.COLLECTIVES)
