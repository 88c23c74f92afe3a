"""`espalier who` on one emulated node, which asks the other one: the launcher that the user names, one `who` a node, one table."""

import json
import os
import re
import shlex
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import hosts
import pytest
from emulated_cluster import parse_layout
from emulated_cluster.hosts import KIND, oversubscribed_settings
from emulated_cluster.launchers import options
from espalier.who import nodes
from hangs import WHO, check, looked, ranks_below, seeds, stuck, who
from messenger import messenger

pytestmark = pytest.mark.needs_espalier

LAYOUT = parse_layout("2x2")
ASK = Path(__file__).with_name("ask_node")
SETTINGS = {"PYTHONPATH": str(hosts.REPOSITORY / "python"), "COLUMNS": "200", "ESPALIER_REMOTE": shlex.join(WHO[:-1])}


@contextmanager
def stuck_on(cluster, name, how, guilty):
    host = hosts.HOSTS[name]
    placement = options(KIND[name], cluster, LAYOUT)
    with stuck(host, how, guilty, settings=oversubscribed_settings(name), wrap=cluster.words(), placement=placement) as pid:
        yield pid


@pytest.fixture
def asks(cluster, tmp_path):
    """What n0 asks n1 by: words for `--launcher`."""
    with messenger(cluster, tmp_path / "socket", SETTINGS):
        yield f"{sys.executable} {ASK} {tmp_path / 'socket'}"


def who_on(cluster, node, *words, **env):
    return subprocess.run([*cluster.words(node), *WHO, *map(str, words)], env={**os.environ, **SETTINGS, **env},
                          capture_output=True, text=True, timeout=120)


def job_on(cluster, *words):
    done = who_on(cluster, "n0", "--json", *words)
    assert done.returncode == 0, done.stderr
    (job,) = json.loads(done.stdout)["jobs"]
    return job


@pytest.mark.parametrize("hang", seeds(is_emulated=True, short=(27,)))
def test_of_seeds(cluster, asks, hang):
    with stuck_on(cluster, hang.host, hang.how, hang.guilty):
        job = looked(hang, lambda: job_on(cluster, "--hosts", "n1", "--launcher", asks))
        assert [seen["machine"] for seen in job["seen"]] == ["n0", "n0", "n1", "n1"]
        check(hang.how, hang.guilty, job)


def test_one_table_of_both_nodes(cluster, asks):
    """And what one node sees alone; and a node that cannot be asked beside one that can."""
    with stuck_on(cluster, "mpich", "loop", 3):
        alone = who_on(cluster, "n0")
        assert "2 of 4 ranks on n0" in alone.stdout and "for ranks 2, 3, which are not seen from here" in alone.stdout
        both = who_on(cluster, "n0", "--hosts", "n1,n99", "--launcher", asks)
        assert both.returncode == 0 and "4 of 4 ranks on n0, n1" in both.stdout, both.stdout + both.stderr
        assert "ranks 0-2 wait in allreduce #71 of MPI_COMM_WORLD" in both.stdout
        assert "for rank 3, which" in both.stdout
        assert "n99 cannot be asked (ssh: Could not resolve hostname n99)" in both.stderr


@pytest.mark.parametrize("node", ["head", None], ids=["from the head", "from outside"])
def test_ranks_are_seen_from_outside_of_their_name_space(cluster, node):
    """As those of a container are: their numbers are others there, and none of them is dead."""
    with stuck_on(cluster, "mpich", "loop", 3) as pid:
        done = who_on(cluster, node, "--json") if node else who(pid, "--json")
        (job,) = json.loads(done.stdout)["jobs"]
        check("loop", 3, job)
        assert {seen["state"] for seen in job["seen"]} <= set("RSD"), job["seen"]
        assert node or {seen["pid"] for seen in job["seen"]} == set(ranks_below(pid).values())


def test_a_dead_rank_is_seen_from_outside_of_its_name_space(cluster):
    with stuck_on(cluster, "mpich", "dead", 3) as pid:
        (job,) = json.loads(who(pid, "--json").stdout)["jobs"]
        check("dead", 3, job)
        assert "rank 3" in job["verdict"][0] and not re.search("rank [012] died", "".join(job["verdict"])), job["verdict"]


def test_by_the_mpirun_of_the_host(cluster, asks):
    """mpirun starts `espalier who` on n1 as it starts ranks there."""
    host = hosts.HOSTS["mpich"]
    agent = tmp_agent(asks)
    with stuck_on(cluster, "mpich", "stopped", 2):
        launcher = shlex.join([host.mpirun, "-launcher", "ssh", "-launcher-exec", str(agent)])
        job = job_on(cluster, "--hosts", "n1", "--launcher", launcher)
        check("stopped", 2, job)


def tmp_agent(asks):
    """mpirun takes one word."""
    agent = Path(asks.split()[-1]).with_name("agent")
    agent.write_text(f'#!/bin/sh\nexec {asks} "$@"\n')
    agent.chmod(0o755)
    return agent


@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.full] if name != "mpich" else []) for name in hosts.THREE])
def test_the_nodes_and_the_way_are_found_from_the_launcher(cluster, name):
    """From its command line, which names a file that only the cluster's head sees, or the nodes themselves."""
    with stuck_on(cluster, name, "pause", 1) as pid:
        found = nodes.of_job(ranks_below(pid).values())
        assert found.names == ("n0", "n1") and found.way.endswith("tools/emulated_cluster/agent"), found
