"""MPI_Alloc_mem: memory that the ranks of a node read where it lies."""

import json

import hosts
import pytest
from test_checked import passed
from test_programs import STRICT, succeeded

pytestmark = pytest.mark.needs_espalier

# So that the checked run's blocks are long enough: the built-in rules lend later.
RULES = {"schema": 1, "rules": [
    {"collective": "allreduce", "bytes": [8193, None], "algorithm": "sliced", "zero_copy": 16384},
    {"collective": ["bcast"], "algorithm": "tree", "zero_copy": 16384},
    {"collective": ["allgather", "allgatherv", "alltoall", "alltoallv", "reduce_scatter", "reduce_scatter_block"], "algorithm": "exchange",
     "zero_copy": 16384},
    {"collective": ["gather", "gatherv", "scatter", "scatterv"], "algorithm": "direct", "zero_copy": 16384}]}


def allocated(statistics):
    return statistics.read()["allocated"]


@pytest.mark.every_host
@pytest.mark.sanitizer
@pytest.mark.parametrize("ranks", [2, 4])
def test_what_a_program_may_do(launch, host, ranks, statistics):
    succeeded(launch(host, ranks, "allocated", "wrong", env={**STRICT, **statistics.env}), "allocated")
    found = allocated(statistics)
    assert found["blocks"] == ranks * (2 * 20 + 2 + 2 + 1) and found["reads"] >= 20 * ranks * (ranks - 1), found


@pytest.mark.parametrize("name", ["mpich", *(pytest.param(name, marks=pytest.mark.full) for name in ("openmpi", "impi", "mpich-abi"))])
@pytest.mark.parametrize("setting", [{"ESPALIER_ALLOC_MEM": "off"}, {"ESPALIER": "off"}], ids=str)
def test_switched_off(launch, name, setting, statistics):
    succeeded(launch(hosts.HOSTS[name], 2, "allocated", env={**setting, **statistics.env}), "allocated")
    if "ESPALIER" not in setting:
        assert allocated(statistics) == {"blocks": 0, "reads": 0}


@pytest.mark.parametrize("name, limit", [("mpich", "ulimit -f 200000"),
                                         pytest.param("mpich", "ulimit -v 8000000", marks=pytest.mark.unsanitized),
                                         pytest.param("openmpi", "ulimit -f 200000", marks=pytest.mark.full)])
def test_where_there_is_no_heap_the_host_gives_memory(launch, name, limit, statistics):
    """A limit on files or address space: nothing is killed for that."""
    host = hosts.HOSTS[name]
    script = f"{limit}; exec {hosts.program(host, 'allocated')}"
    succeeded(launch(host, 2, "/bin/sh", "-c", script, env=statistics.env), "allocated")
    assert allocated(statistics) == {"blocks": 0, "reads": 0}


@pytest.mark.parametrize("name, ranks", [("mpich", 3), ("impi", 2), ("openmpi", 4),
                                         *(pytest.param(*row, marks=pytest.mark.full) for row in (
                                             ("mpich", 8), ("impi", 5), ("openmpi", 2), ("mpich-abi", 4)))])
def test_every_result_is_right(launch, name, ranks, statistics, tmp_path):
    """The checked run with all its long buffers from MPI_Alloc_mem."""
    rules = tmp_path / "rules.json"
    rules.write_text(json.dumps(RULES))
    env = {**STRICT, **statistics.env, "ESPALIER_RULES": str(rules)}
    passed(launch(hosts.HOSTS[name], ranks, "checked", "--buffers", "allocated", env=env, timeout=150))
    found = allocated(statistics)
    assert found["blocks"] > 100 and found["reads"] > 100, found


def test_nodes_of_one_rank_read_nothing_of_each_other(launch, statistics):
    """What lies on another node, pretended here, is not to be read."""
    succeeded(launch(hosts.HOSTS["mpich"], 2, "allocated", env={**STRICT, **statistics.env, "ESPALIER_NODES": "2"}), "allocated")
    assert allocated(statistics)["reads"] == 0
