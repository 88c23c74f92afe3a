"""Reductions and barriers on aggregation nodes, across nodes that are only pretended. Real ones: tests/cluster/test_sharp.py."""

import json
import os
import re

import hosts
import pytest
import sharp_trees
from test_checked import passed

pytestmark = [
    pytest.mark.needs_espalier,
    pytest.mark.skipif(bool(sharp_trees.missing()), reason=str(sharp_trees.missing())),
]
MPICH = hosts.HOSTS["mpich"]
OFFLOADED = ("barrier", "reduce", "allreduce")
SUBJECTS = "barrier,roots,in_place,operators"


def run(launch, host, ranks, nodes, settings, statistics, subjects=SUBJECTS, **more):
    env = {"ESPALIER_NODES": nodes, **settings, **statistics.env, **more}
    without = ["--without", "MPI_REAL16,MPI_COMPLEX32"] if host.kind == "intel" else []
    return launch(host, ranks, "checked", "--only", subjects, *without, env=env, timeout=150)


def rows(statistics, algorithm):
    return {row["collective"] for row in statistics.read()["rows"] if row["algorithm"] == algorithm and row["calls"]}


def reasons(statistics):
    return {row["passed_over"] for row in statistics.read()["rows"] if row["passed_over"]}


# What the daemons offer by default (sharp/limits.hpp), in the words of src/reduce/names.cpp.
OFFERED = {"max", "min", "sum", "land", "band", "lor", "bor", "lxor", "bxor", "int8", "int16", "int32", "int64", "uint8", "uint16",
           "uint32", "uint64", "float16", "float32", "float64"}


def check_that_only_what_they_lack_was_passed_over(statistics):
    lacking = [re.fullmatch(r"the aggregation nodes do not have the (?:operator|type) (\w+)", why) for why in reasons(statistics)]
    assert all(lacking) and not OFFERED & {each[1] for each in lacking}, reasons(statistics)


full = pytest.mark.full


@pytest.mark.parametrize("name, radix", [("mpich", 2), ("openmpi", 8), pytest.param("mpich", 8, marks=full),
                                         pytest.param("openmpi", 2, marks=full)])
def test_every_result_is_right(launch, name, radix, statistics, tmp_path):
    with sharp_trees.running(tmp_path, 4, radix) as (tree, daemons):
        outcome = run(launch, hosts.HOSTS[name], 8, "4", sharp_trees.settings(tree), statistics)
        passed(outcome)
        assert daemons.ended() == []
    assert rows(statistics, "sharp") == set(OFFLOADED)
    check_that_only_what_they_lack_was_passed_over(statistics)
    # Pairs and products are not for aggregation nodes, and that is said.
    assert any("operator prod" in why for why in reasons(statistics)), reasons(statistics)


@pytest.mark.parametrize("ranks, nodes, stage, subjects", [
    (7, "3+1+3", "p2p", "barrier,roots"), (8, "4:cyclic", "shared", "barrier,roots"),
    pytest.param(7, "3+1+3", "shared", "roots,communicators", marks=full),
    pytest.param(8, "4:cyclic", "p2p", "roots,communicators", marks=full)])
def test_other_placements_by_shared_memory_and_by_messages(launch, ranks, nodes, stage, subjects, statistics, tmp_path):
    with sharp_trees.running(tmp_path, 4, 2) as (tree, _):
        outcome = run(launch, MPICH, ranks, nodes, sharp_trees.settings(tree), statistics, subjects,
                      ESPALIER_NODE_STAGE=stage)
    passed(outcome)
    assert rows(statistics, "sharp")


def test_messages_longer_than_an_operation_are_pipelined(launch, statistics, tmp_path):
    forced = {f"ESPALIER_NETWORK_{name}": "sharp" for name in ("REDUCE", "ALLREDUCE")}
    with sharp_trees.running(tmp_path, 4, 8, payload=1000) as (tree, _):
        outcome = run(launch, MPICH, 8, "4", sharp_trees.settings(tree, **forced), statistics, "roots,in_place")
    passed(outcome)
    long = [row for row in statistics.read()["rows"] if row["algorithm"] == "sharp" and row["bytes_from"] >= 65536]
    assert {row["collective"] for row in long} >= {"allreduce"}


def test_the_group_is_made_after_so_many_calls(launch, statistics, tmp_path):
    with sharp_trees.running(tmp_path, 2, 8) as (tree, _):
        outcome = run(launch, MPICH, 4, "2", sharp_trees.settings(tree, calls=5), statistics, "barrier,roots,in_place")
    passed(outcome)
    assert rows(statistics, "sharp")
    assert any("made after 5 calls" in why for why in reasons(statistics))


# --- what may go wrong ----------------------------------------------------------------------------------------------

CODES = list(range(-20, 0))
POINTS = ["init", "group.1", "group.1@1", "operation.1", "operation.4", "operation.4@1", "operation.4=late"]
QUICK = [("init", -7), ("init", -13), ("group.1", -18), ("group.1@1", -20), ("operation.1", -2), ("operation.4@1", -7),
         ("operation.4=late", -1)]
ALL = [pytest.param(point, code, marks=[] if (point, code) in QUICK else pytest.mark.full) for point in POINTS for code in CODES]


def fault(point, code):
    return f"operation.4=late:{code}" if point.endswith("late") else f"{point}={code}"


@pytest.mark.parametrize("name", ["mpich", pytest.param("openmpi", marks=full)])
@pytest.mark.parametrize("point, code", ALL)
def test_every_fault_ends_in_right_results_by_other_algorithms(launch, name, point, code, statistics, tmp_path):
    with sharp_trees.running(tmp_path, 4, 2) as (tree, _):
        settings = sharp_trees.settings(tree, ESPALIER_SHARP_FAULTS=fault(point, code))
        outcome = run(launch, hosts.HOSTS[name], 8, "4", settings, statistics, "barrier,roots,in_place")
    passed(outcome)
    # A group whose members fail unlike each other is agreed to have failed by the worst code.
    named = {code} if "@" not in point else {code, -6, -1}
    assert any(f"{each} SHARP_COLL_E" in why for each in named for why in reasons(statistics)), reasons(statistics)


@pytest.mark.parametrize("fault", ["operation.3@1=drop", "operation.2@0=delay:300000",
                                   pytest.param("operation.3=drop", marks=full)])
def test_connections_that_end_and_delays(launch, fault, statistics, tmp_path):
    with sharp_trees.running(tmp_path, 4, 2) as (tree, _):
        settings = sharp_trees.settings(tree, ESPALIER_SHARP_FAULTS=fault)
        outcome = run(launch, MPICH, 8, "4", settings, statistics, "barrier,in_place")
    passed(outcome)


@pytest.mark.parametrize("name", ["mpich", pytest.param("openmpi", marks=full)])
def test_what_cannot_be_done_again_is_an_error_on_all_ranks(launch, name, tmp_path):
    """One leader's operation fails when the others' have ended: its call cannot be done again, and theirs neither."""
    with sharp_trees.running(tmp_path, 4, 2) as (tree, _):
        settings = sharp_trees.settings(tree, ESPALIER_SHARP_FAULTS="operation.4@1=late:-7", ESPALIER_SHARP_TIMEOUT="20000")
        outcome = launch(hosts.HOSTS[name], 8, "errors_returned", env={"ESPALIER_NODES": "4", **settings}, timeout=120)
    assert outcome.status == 0, str(outcome)
    expected = {f"rank {rank}: error, then error, new communicator works" for rank in range(8)}
    assert set(outcome.out.splitlines()) == expected, str(outcome)
    assert "failed while its result was on its way" in outcome.err, str(outcome)


def test_no_tree_and_no_library(launch, statistics, tmp_path):
    for settings in ({"ESPALIER_AGGREGATION": str(tmp_path / "none.json")}, {"ESPALIER_SHARP_LIB": str(tmp_path / "none.so")}):
        env = {**sharp_trees.settings(tmp_path / "none.json"), **settings}
        outcome = run(launch, MPICH, 4, "2", env, statistics, "barrier,roots")
        passed(outcome)
        assert rows(statistics, "sharp") == set()
        assert any("process 0" in why for why in reasons(statistics)), reasons(statistics)


def test_quota_of_the_tree(launch, statistics, tmp_path):
    """Communicators beyond the tree's groups take other algorithms."""
    with sharp_trees.running(tmp_path, 4, 2, groups=1) as (tree, _):
        outcome = run(launch, MPICH, 8, "4", sharp_trees.settings(tree), statistics, "communicators")
    passed(outcome)
    assert any("SHARP_COLL_EQUOTA" in why for why in reasons(statistics)), reasons(statistics)
    assert rows(statistics, "sharp")


# --- an independent library that checks what it is given ------------------------------------------------------------

@pytest.mark.parametrize("name", ["mpich", pytest.param("openmpi", marks=full)])
def test_the_client_keeps_to_the_interface(launch, name, statistics):
    env = {"ESPALIER_SHARP": "on", "ESPALIER_SHARP_LIB": str(sharp_trees.mock()), "ESPALIER_SHARP_CALLS": "0",
           "MOCK_NODES": "4", "ESPALIER_NETWORK_ALLREDUCE": "sharp"}
    outcome = run(launch, hosts.HOSTS[name], 8, "4", env, statistics)
    passed(outcome)
    assert "MOCK:" not in outcome.err, str(outcome)
    done = re.search(r"MOCK-DONE: (\d+) operations", outcome.err)
    assert done and int(done[1]) > 100, str(outcome)
    assert rows(statistics, "sharp") == set(OFFLOADED)


def test_in_place(launch, statistics):
    """Alone: the subject's sums of unsigned integers go by the mock, too."""
    env = {"ESPALIER_SHARP": "on", "ESPALIER_SHARP_LIB": str(sharp_trees.mock()), "ESPALIER_SHARP_CALLS": "0", "MOCK_NODES": "4"}
    outcome = run(launch, MPICH, 8, "4", env, statistics, "in_place")
    assert outcome.status == 0 and " 0 failed" in outcome.out, str(outcome)
    assert rows(statistics, "sharp") == {"reduce", "allreduce"}


def test_the_mock_notices(launch, statistics):
    """The test of the test: with nodes of another size than Espalier believes two members are on one."""
    env = {"ESPALIER_SHARP": "on", "ESPALIER_SHARP_LIB": str(sharp_trees.mock()), "ESPALIER_SHARP_CALLS": "0",
           "MOCK_NODES": "2"}
    outcome = run(launch, MPICH, 4, "4", env, statistics, "barrier")
    assert outcome.status != 0 and "are on one node" in outcome.err


# --- a leader for each socket ----------------------------------------------------------------------------------------

def on_sockets(folder, host, launch, statistics, settings, subjects):
    """8 ranks on 2 nodes, two on each of their sockets: packages of a made-up machine, to whose CPUs the ranks are bound."""
    first, second, *_ = sorted(os.sched_getaffinity(0))
    bound = folder / "bound"
    bound.write_text(f"#!/bin/sh\nrank=${{PMI_RANK:-$OMPI_COMM_WORLD_RANK}}\n"
                     f'[ $((rank / 2 % 2)) = 0 ] && cpu={first} || cpu={second}\nexec taskset -c $cpu "$@"\n')
    bound.chmod(0o755)
    env = {"ESPALIER_NODES": "2", "ESPALIER_TOPOLOGY": f"package:{second + 1} core:1 pu:1", "ESPALIER_SHARP_LEADERS": "socket",
           **settings, **statistics.env}
    return launch(host, 8, bound, hosts.program(host, "checked"), "--only", subjects, env=env, timeout=150)


two_cpus = pytest.mark.skipif(hosts.CORES < 2, reason="ranks cannot be bound to two sockets: there is one CPU")


@two_cpus
@pytest.mark.parametrize("name", ["mpich", pytest.param("openmpi", marks=full)])
def test_each_socket_has_a_leader(launch, name, statistics, tmp_path):
    mock = {"ESPALIER_SHARP": "on", "ESPALIER_SHARP_LIB": str(sharp_trees.mock()), "ESPALIER_SHARP_CALLS": "0", "MOCK_NODES": "4"}
    outcome = on_sockets(tmp_path, hosts.HOSTS[name], launch, statistics, mock, "barrier,roots,in_place")
    passed(outcome)
    assert "groups of 4\n" in outcome.err, str(outcome)
    assert rows(statistics, "sharp") == set(OFFLOADED)


@full
@two_cpus
def test_sockets_and_a_tree(launch, statistics, tmp_path):
    with sharp_trees.running(tmp_path, 4, 2) as (tree, _):
        passed(on_sockets(tmp_path, MPICH, launch, statistics, sharp_trees.settings(tree), SUBJECTS + ",communicators"))
    assert rows(statistics, "sharp") == set(OFFLOADED)


def test_processes_that_are_not_bound_lead_by_node(launch, statistics):
    env = {"ESPALIER_SHARP": "on", "ESPALIER_SHARP_LIB": str(sharp_trees.mock()), "ESPALIER_SHARP_CALLS": "0", "MOCK_NODES": "2",
           "ESPALIER_SHARP_LEADERS": "socket", "ESPALIER_TOPOLOGY": "package:64 core:1 pu:1"}
    outcome = run(launch, MPICH, 4, "2", env, statistics, "barrier,roots")
    passed(outcome)
    assert "groups of 2\n" in outcome.err, str(outcome)


# --- what the user sees ---------------------------------------------------------------------------------------------

def test_the_reason_is_in_what_explain_says(launch, statistics, tmp_path):
    from test_sharp_explain import explained

    with sharp_trees.running(tmp_path, 4, 8) as (tree, _):
        settings = sharp_trees.settings(tree, ESPALIER_SHARP_FAULTS="group.1=-7")
        passed(run(launch, MPICH, 8, "4", settings, statistics, "barrier,in_place"))
    text = explained("allreduce", "64", "--nodes", "4", "--ranks-per-node", "2", "--run", str(statistics.path))
    assert "-7 SHARP_COLL_EQUOTA" in text, text
    assert json.loads(statistics.path.read_text())["schema"] == 1
