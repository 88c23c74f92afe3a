"""Revoked communicators: their collectives are the host's, whose error programs wait for. Under Open MPI alone: MPICH 5 ends in an
assertion of its own, and Intel MPI has no such function."""

import re

import hosts
import pytest


@pytest.mark.parametrize("ranks", [2, 4])
def test_collectives_fail_as_the_hosts(launch, ranks):
    run = launch(hosts.HOSTS["openmpi"], ranks, "revoked")
    assert run.status == 0, str(run)
    assert re.search(r"^revoked: 0 failed$", run.out, re.M), str(run)
