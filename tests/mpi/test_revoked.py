"""Revoked communicators: their collectives are the host's, whose error programs wait for."""

import re

import hosts
import pytest


@pytest.mark.parametrize("who, ranks", [("all", 2), ("all", 4), ("one", 2), ("one", 4)])
def test_collectives_fail_as_the_hosts(launch, who, ranks):
    run = launch(hosts.HOSTS["openmpi"], ranks, "revoked", who)
    assert run.status == 0, str(run)
    assert re.search(r"^revoked: 0 failed$", run.out, re.M), str(run)
