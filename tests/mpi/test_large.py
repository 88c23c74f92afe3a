"""Large: thousands of communicators that live at once."""

import hosts
import pytest
from test_programs import succeeded


@pytest.mark.parametrize("total, living", [(500, 100), pytest.param(5000, 1500, marks=pytest.mark.full)])
def test_thousands_of_communicators(launch, total, living):
    """More than the budget holds: some are the host's. MPICH itself has numbers for 2,000 at a time."""
    run = launch(hosts.HOSTS["mpich"], 4, "many_communicators", total, living, env={"ESPALIER_FALLBACK": "silent"}, timeout=300)
    succeeded(run, "many_communicators")
