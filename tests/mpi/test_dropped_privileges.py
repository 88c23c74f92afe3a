"""Ranks that may not look into each other's memory any more, in the middle of the program: no call fails, and one line says so."""

import hosts
import pytest

pytestmark = pytest.mark.needs_espalier
full = pytest.mark.full

COLLECTIVES = ["bcast", "gather", "gatherv", "scatter", "scatterv", "allgather", "allgatherv", "alltoall", "alltoallv"]
BY_KERNEL = {f"ESPALIER_{name.upper()}": "single-copy" for name in COLLECTIVES}
SAID = "any more ("


def check(launch, host, ranks, *arguments, times=1, **settings):
    run = launch(host, ranks, "dropped_privileges", *arguments, env={"ESPALIER_FALLBACK": "error", **settings},
                 library=f"{host.library}:{hosts.preloadable(host, 'refused_reads')}", timeout=90)
    assert run.status == 0 and run.out.strip() == "all right", str(run)
    assert run.err.count(SAID) == times, str(run)


@pytest.mark.parametrize("ranks, how, who", [(2, "user", "all"), (3, "dumpable", 1), (4, "host", 0), (5, "host", "all"),
                                             pytest.param(5, "user", 3, marks=full), pytest.param(2, "dumpable", 0, marks=full),
                                             pytest.param(3, "user", "all", marks=full)])
def test_reads_by_the_kernel(launch, host, ranks, how, who):
    check(launch, host, ranks, how, who, **BY_KERNEL)


@pytest.mark.parametrize("after, why", [(20, "EPERM"), (45, "EFAULT"), pytest.param(31, "ENOMEM", marks=full)])
def test_a_read_in_the_middle_of_a_call(launch, host, after, why):
    """Of one rank the n-th read fails, and all after it."""
    code = {"EPERM": 1, "ENOMEM": 12, "EFAULT": 14}[why]
    check(launch, host, 3, "host", "none", REFUSE_AFTER=str(after), REFUSE_WHY=str(code), **BY_KERNEL)


@pytest.mark.parametrize("ranks, how, who", [(2, "host", 1), (3, "host", "all"), (4, "host", 2),
                                             pytest.param(2, "user", "all", marks=full), pytest.param(5, "dumpable", 0, marks=full)])
def test_buffers_of_mpi_alloc_mem(launch, host, ranks, how, who):
    """Those are mapped, not read by the kernel; where that is refused for the first time the kernel reads them, or is refused, too."""
    check(launch, host, ranks, how, who, "allocated", times=2)
