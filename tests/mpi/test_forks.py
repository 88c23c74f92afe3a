"""Child processes of ranks: what they see of MPI_Alloc_mem's memory."""

import hosts
import pytest
from test_programs import STRICT, succeeded

MORE = [pytest.param("mpich-abi", 2), pytest.param("impi-abi", 2, marks=pytest.mark.full), pytest.param("debian-mpich", 2, marks=pytest.mark.full),
        pytest.param("debian-openmpi", 2, marks=pytest.mark.full)]


def launch_forks(launch, name, ranks, *arguments, env=None):
    host = hosts.HOSTS[name]
    if reason := hosts.missing(host):
        pytest.skip(reason)
    settings = {} if hosts.BARE else {**STRICT, **(env or {})}
    # Open MPI says that forks may be a danger with some networks.
    succeeded(launch(host, ranks, "forks", *arguments, env={"OMPI_MCA_mpi_warn_on_fork": "0", **settings}), "forks")


@pytest.mark.sanitizer
@pytest.mark.parametrize("name, ranks", [("mpich", 2), ("openmpi", 3), ("impi", 2), *MORE])
def test_children_see_the_memory_as_it_was_at_the_fork(launch, name, ranks):
    """Later writes, frees on either side, grandchildren, forks beside threads that allocate: as with the host's memory."""
    launch_forks(launch, name, ranks)


@pytest.mark.parametrize("name", [*hosts.THREE, pytest.param("mpich-abi", marks=pytest.mark.full)])
def test_children_of_clone_neither_crash_nor_free(launch, name):
    """Handlers of fork() do not run for them."""
    if hosts.BARE:
        pytest.skip("ESPALIER_TEST_BARE=1: the host's MPI_Free_mem is the child's own")
    launch_forks(launch, name, 2, "clone")


@pytest.mark.parametrize("setting", [{"ESPALIER_ALLOC_MEM": "off"}, {"ESPALIER_ALLOC_KEEP": "0"}], ids=str)
def test_with_other_settings(launch, setting):
    launch_forks(launch, "mpich", 2, env=setting)
