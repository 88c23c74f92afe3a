"""Large: counts and displacements beyond 32 bits in every collective, thousands of communicators."""

import hosts
import pytest
from test_programs import STRICT, memory_available, succeeded

GIB = 1 << 30


@pytest.mark.full
@pytest.mark.alone
@pytest.mark.slow
@pytest.mark.unsanitized
@pytest.mark.parametrize("name, form", [
    ("mpich", "blocking"), ("mpich", "nonblocking"), ("mpich", "persistent"),
    ("impi", "blocking"),  # started ones of that length end its MPI_Wait in an error, without Espalier, too
])  # Open MPI 5 has no forms with MPI_Count
def test_counts_beyond_two_to_the_31(launch, name, form):
    """Started ones are the host's where they do not fit into the node's memory; all results are looked at."""
    if memory_available() < 15 * GIB:
        pytest.skip(f"needs 15 GiB of free memory, there are {memory_available() // GIB}")
    env = STRICT if form == "blocking" else {"ESPALIER_FALLBACK": "silent"}
    succeeded(launch(hosts.HOSTS[name], 2, "huge", form, env=env, timeout=580), "huge")


@pytest.mark.parametrize("name, total, living", [
    ("mpich", 500, 100),
    *(pytest.param(*case, marks=pytest.mark.full) for case in (("mpich", 5000, 1500), ("impi", 5000, 1500), ("openmpi", 5000, 5000)))])
def test_thousands_of_communicators(launch, name, total, living):
    """More than the budget holds: some are the host's. MPICH itself has numbers for 2,000 at a time."""
    run = launch(hosts.HOSTS[name], 4, "many_communicators", total, living, env={"ESPALIER_FALLBACK": "silent"}, timeout=300)
    succeeded(run, "many_communicators")
