"""Without name spaces: MPICH told by its own variables to take one machine for several nodes. Needs no rights."""

import re

import hosts
import pytest
from emulated_cluster import parse_layout
from jobs import build
from test_checked import SERVED, passed
from test_layouts import LINE

CLIQUES = {"2x2": "2", "4x2": "4", "4x2-cyclic": "4"}


def cliques(layout):
    block = {} if layout.endswith("-cyclic") else {"MPIR_CVAR_CLIQUES_BY_BLOCK": "1"}
    return {"MPIR_CVAR_NUM_CLIQUES": CLIQUES[layout], **block}


def launch(layout, name, *words, env=None, **more):
    host = hosts.HOSTS["mpich"]
    env = {**cliques(layout), **(env or {})}
    return hosts.launch(host, parse_layout(layout).ranks, build(host, name), *words, env=env, **more)


@pytest.mark.parametrize("layout", CLIQUES)
def test_node_sizes(layout):
    wanted = parse_layout(layout)
    run = launch(layout, "nodes")
    assert run.status == 0, str(run)
    where = wanted.node_of_ranks()
    sizes = [int(size) for _, _, _, size, _ in LINE.findall(run.out)]
    sums = [int(total) for *_, total in LINE.findall(run.out)]
    assert sizes == [where.count(node) for node in where], str(run)
    assert sums == [sum(r + 1 for r, its in enumerate(where) if its == node) for node in where], str(run)


@pytest.mark.parametrize(
    "layout", ["4x2", pytest.param("2x2", marks=pytest.mark.full), pytest.param("4x2-cyclic", marks=pytest.mark.full)]
)
def test_results_are_right(layout):
    run = launch(layout, "checked", *SERVED.arguments, env=SERVED.env, timeout=200)
    assert passed(run) == parse_layout(layout).ranks


def test_a_late_root():
    run = launch("2x2", "late_root", 10)
    assert run.status == 0 and re.search(r"^late_root: 0 failed$", run.out, re.M), str(run)
