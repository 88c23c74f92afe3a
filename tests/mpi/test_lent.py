"""What espalier_allgatherv_lent puts together once on each node, over nodes that are pretended. One node: tests/capi."""

import hosts
import pytest
import windows

pytestmark = pytest.mark.needs_espalier


@pytest.mark.parametrize("name, network, ranks, nodes", [
    ("mpich", "notified-ring", 7, "3+1+3"),
    *(pytest.param(*row, marks=pytest.mark.full) for row in (
        ("openmpi", "ring", 6, "3:cyclic"),
        ("mpich", "dissemination", 7, "3+1+3"), ("impi", "notified-ring", 6, "3:cyclic"), ("openmpi", "notified-ring", 5, "5"),
        ("mpich", "ring", 4, "1"), ("impi", "ring", 7, "3+1+3")))])
def test_ranks_of_a_node_read_it_where_it_lies(launch, name, network, ranks, nodes):
    env = {"ESPALIER_NODES": nodes, "ESPALIER_NETWORK_ALLGATHERV": network}
    host = hosts.HOSTS[name]
    windows.passed(launch(host, ranks, windows.program(host), "lent", env=env, timeout=120))


@pytest.mark.full
def test_without_memory_in_common_each_rank_has_a_copy(launch):
    env = {"ESPALIER_NODES": "3+1+3", "ESPALIER_NODE_STAGE": "p2p"}
    host = hosts.HOSTS["mpich"]
    windows.passed(launch(host, 7, windows.program(host), "copied", env=env, timeout=120))
