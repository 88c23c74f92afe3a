"""A collective that fails on one rank: the ranks that share no memory with it hear of it, with its reason, and none waits for ever."""

import hosts
import pytest

pytestmark = pytest.mark.needs_espalier
full = pytest.mark.full


def check(launch, host, ranks, rank, how, **env):
    run = launch(host, ranks, "errors_returned", 5, rank, how, env={"ESPALIER_FALLBACK": "error", **env}, timeout=120,
                 library=f"{host.library}:{hosts.preloadable(host, 'failing_sends')}")
    assert run.status == 0, str(run)
    assert set(run.out.splitlines()) == {f"rank {each}: error, then error, new communicator works" for each in range(ranks)}, str(run)
    assert run.err.count(f"rank {rank}: the host's MPI_Isend") >= ranks - 1, str(run)


@pytest.mark.parametrize("ranks, nodes, stage, rank", [(3, "1", "p2p", 2), (4, "2", "p2p", 3), (4, "2", "shm", 2),
                                                       pytest.param(5, "3", "p2p", 1, marks=full), pytest.param(2, "1", "p2p", 1, marks=full)])
def test_all_hear_of_it(launch, host, ranks, nodes, stage, rank):
    check(launch, host, ranks, rank, "once", ESPALIER_NODES=nodes, **({"ESPALIER_NODE_STAGE": "p2p"} if stage == "p2p" else {}))


@pytest.mark.parametrize("name", ["mpich", "openmpi", "impi", "mpich-abi", "impi-abi"])
def test_an_error_that_the_host_finds(launch, name):
    """The host calls the error handler of Espalier's own communicator, which must not end the job."""
    check(launch, hosts.HOSTS[name], 2, 1, "host", ESPALIER_NODES="2")
