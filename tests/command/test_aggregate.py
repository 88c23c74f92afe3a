"""`espalier aggregate`: the shape of trees, their file, and aggregation nodes that live as long as they should."""

import json
import os
import select
import signal
import socket
import stat
import subprocess
import sys
import time

import pytest
from conftest import ROOT

from espalier.aggregate import tree as aggregation_tree
from espalier.explain import sharp
from espalier.install import daemon
from espalier.problem import Problem

needs_daemon = pytest.mark.skipif(not daemon().exists(), reason=f"{daemon()} is not built (libasio-dev)")


@pytest.mark.parametrize("nodes", [1, 2, 7, 8, 9, 64, 65, 1000])
@pytest.mark.parametrize("radix", [2, 3, 8])
def test_every_node_has_a_place_below_no_more_than_radix(nodes, radix):
    above = aggregation_tree.parents(nodes, radix)
    assert above[0] == -1 and all(0 <= parent < i for i, parent in enumerate(above[1:], 1))
    assert max((above.count(i) for i in range(len(above))), default=0) <= radix
    leaves = [i for i in range(len(above)) if i not in above]
    assert len(leaves) == -(-nodes // radix)
    depths = [_depth(above, leaf) for leaf in leaves]
    assert len(set(depths)) == 1  # all ranks are equally far from the root
    # Children of a node follow on each other, and levels do.
    assert above == sorted(above)


def _depth(above, node):
    return 1 if above[node] < 0 else 1 + _depth(above, above[node])


def test_nodes_go_to_hosts_in_turn():
    places = aggregation_tree.places(5, ["h0", "h1"], 7000)
    assert [str(place) for place in places] == ["h0:7000", "h1:7000", "h0:7001", "h1:7001", "h0:7002"]


def test_the_file_is_for_its_owner_alone(tmp_path):
    path = tmp_path / "tree.json"
    above = aggregation_tree.parents(9, 8)
    tree = aggregation_tree.document(above, aggregation_tree.places(3, ["h"], 1), {"payload": 512})
    aggregation_tree.write(tree, path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    found = json.loads(path.read_text())
    assert found["limits"] == {"payload": 512} and len(found["token"]) == 64
    assert [node.get("parent") for node in found["nodes"]] == [None, "a0", "a0"]
    assert aggregation_tree.document(above, aggregation_tree.places(3, ["h"], 1), {})["token"] != found["token"]


@pytest.mark.parametrize("text", ["payload", "payload=x", "size=3", "payload=-1"])
def test_other_limits_are_refused(text):
    with pytest.raises(Problem):
        aggregation_tree.limit(text)


def run(*words, **more):
    command = [sys.executable, "-m", "espalier", "aggregate", *map(str, words)]
    env = {**os.environ, "PYTHONPATH": str(ROOT / "python")}
    return subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more)


def is_listening(address):
    host, _, port = address.rpartition(":")
    with socket.socket() as probe:
        return probe.connect_ex((host, int(port))) == 0


@needs_daemon
def test_the_tree_lasts_as_long_as_the_command(tmp_path):
    file = tmp_path / "tree.json"
    look = "import os, sys; print(os.environ['ESPALIER_SHARP'], os.environ['ESPALIER_AGGREGATION']); sys.exit(7)"
    process = run("--nodes", 9, "--file", file, "--", sys.executable, "-c", look)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out.split()) == (7, ["on", str(file)]), err
    assert not any(is_listening(node["address"]) for node in json.loads(file.read_text())["nodes"])


@needs_daemon
def test_without_a_command_until_it_is_told_to_end(tmp_path):
    file = tmp_path / "tree.json"
    process = run("--nodes", 2, "--file", file, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler))
    lines = [process.stdout.readline() for _ in range(4)]
    assert lines[0] == "export ESPALIER_SHARP=on\n" and "Ctrl-C" in lines[3]
    (node,) = json.loads(file.read_text())["nodes"]
    assert is_listening(node["address"])
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == 0, process.stderr.read()
    assert not is_listening(node["address"])


@needs_daemon
def test_a_port_that_is_taken_is_an_error(tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        process = run("--nodes", 2, "--port", taken.getsockname()[1], "--", "true")
        _, err = process.communicate(timeout=60)
    assert process.returncode != 0 and "cannot listen" in err


@needs_daemon
def test_a_daemon_survives_garbage_and_half_frames(tmp_path):
    file = tmp_path / "tree.json"
    process = run("--nodes", 2, "--file", file, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler))
    for _ in range(4):
        process.stdout.readline()
    host, _, port = json.loads(file.read_text())["nodes"][0]["address"].rpartition(":")
    held = []
    for i in range(200):
        client = socket.create_connection((host, int(port)))
        client.sendall([b"", os.urandom(300), b"ESAG", b"ESAG\x01" + bytes(40), b"ESAG\x01" + bytes(3) + b"\x01" + bytes(200)][i % 5])
        held.append(client) if i % 3 else client.close()
    time.sleep(0.3)
    assert process.poll() is None
    for client in held:
        client.close()
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == 0


def test_explain_says_why_aggregation_nodes_were_passed_over():
    rows = [
        {"collective": "allreduce", "algorithm": "sharp", "calls": 5, "passed_over": None},
        {"collective": "allreduce", "algorithm": "ring", "calls": 2, "passed_over": "-7 SHARP_COLL_EQUOTA"},
        {"collective": "allreduce", "algorithm": "ring", "calls": 3, "passed_over": "-7 SHARP_COLL_EQUOTA"},
        {"collective": "bcast", "algorithm": "tree", "calls": 3, "passed_over": None},
    ]
    found = list(sharp.passed_over({"rows": rows}, "allreduce"))
    assert found == [("sharp", 5, ""), ("ring", 5, "-7 SHARP_COLL_EQUOTA")]
    assert list(sharp.passed_over({"rows": rows}, "bcast")) == []


@needs_daemon
def test_a_node_is_ready_when_it_has_reached_the_one_above(tmp_path):
    """A job that began before then found groups that could not be made, after half a minute."""
    above = aggregation_tree.parents(4, 2)
    tree = aggregation_tree.document(above, aggregation_tree.places(len(above), ["127.0.0.1"], None), {})
    path = tmp_path / "tree.json"
    aggregation_tree.write(tree, path)

    def start(name):
        return subprocess.Popen([str(daemon()), str(path), name, "--with-parent"], stdout=subprocess.PIPE, text=True)

    with start("a1") as leaf:
        try:
            assert not select.select([leaf.stdout], [], [], 0.5)[0], "ready, without the node above it"
            with start("a0") as root:
                try:
                    assert root.stdout.readline() == "a0: ready\n"
                    assert leaf.stdout.readline() == "a1: ready\n"
                finally:
                    root.terminate()
        finally:
            leaf.terminate()
