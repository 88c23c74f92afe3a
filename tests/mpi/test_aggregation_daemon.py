"""espalier-aggd and its peers, by a client that is written here from the protocol alone: who is let in, what peers can make it
hold, and that idle connections keep no other peer out."""

import hashlib
import hmac
import json
import os
import resource
import socket
import struct
import time
from pathlib import Path

import pytest
import sharp_trees
from espalier.aggregate import tree as aggregation_tree

pytestmark = [
    pytest.mark.needs_espalier,
    pytest.mark.skipif(bool(sharp_trees.missing()), reason=str(sharp_trees.missing())),
]
# Magic, version, kind, operation, op, type, role, flags, bytes, code, rank, size, root, job, group, sequence.
HEAD = struct.Struct("<IB3xBBBBBHIiIIIQQQ5x")
MAGIC, VERSION, PATIENCE = 0x47415345, 2, 20
HELLO, CHALLENGE, PROOF, WELCOME, REFUSED, JOIN, FAILED = 1, 2, 3, 4, 5, 6, 10
JOB = 77


def frame(kind, payload=b"", role=0, rank=0, size=0, group=0):
    return HEAD.pack(MAGIC, VERSION, kind, 0, 0, 0, role, 0, len(payload), 0, rank, size, 0, JOB, group, 0) + payload


def proof(token, whose, asked, theirs, ours, rank=0):
    texts = [text.encode() for text in (whose, asked, "")]
    message = b"".join(struct.pack("<Q", len(text)) + text for text in texts) + struct.pack("<QQ", JOB, rank) + theirs + ours
    return hmac.digest(token.encode(), message, hashlib.sha256)


class Client:
    def __init__(self, place):
        self.socket = socket.create_connection((place.host, place.port), timeout=PATIENCE)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def read(self, number):
        data = b""
        while len(data) < number:
            more = self.socket.recv(number - len(data))
            if not more:
                raise EOFError
            data += more
        return data

    def hear(self):
        """(kind, payload) of the next frame."""
        head = HEAD.unpack(self.read(HEAD.size))
        return head[2], self.read(head[8])

    def greet(self, token, name):
        """The kind of the last answer. The node has to prove itself first."""
        nonce = os.urandom(32)
        self.socket.sendall(frame(HELLO, nonce))
        kind, payload = self.hear()
        assert kind == CHALLENGE and len(payload) == 64
        assert payload[32:] == proof(TOKENS[name], "espalier aggregation node", name, nonce, payload[:32])
        mine = proof(token, "espalier peer of an aggregation node", name, nonce, payload[:32])
        self.socket.sendall(frame(PROOF, mine))
        return self.hear()[0]


TOKENS = {}  # of the node's name: of the tree that a test runs


@pytest.fixture
def node(tmp_path):
    """(where the only node of a tree listens, its token, its process)"""
    with sharp_trees.running(tmp_path, 1, 8, connections=64, memory=16 << 20) as (file, daemons):
        tree = json.loads(file.read_text())
        host, _, port = tree["nodes"][0]["address"].rpartition(":")
        TOKENS["a0"] = tree["token"]
        yield aggregation_tree.Place(host, int(port)), tree["token"], daemons.processes["a0"]


def test_who_is_let_in(node):
    place, token, _ = node
    with Client(place) as client:
        assert client.greet(token, "a0") == WELCOME
    with Client(place) as client:
        assert client.greet(token[:-1] + "?", "a0") == REFUSED
    with Client(place) as client:  # what was the protocol before: the token itself
        client.socket.sendall(frame(HELLO, token.encode(), size=len(token)))
        assert client.hear()[0] == REFUSED
    with Client(place) as client:  # nothing before the proof
        client.socket.sendall(frame(JOIN, size=1))
        assert client.hear()[0] == REFUSED


def resident(process):
    return int(Path(f"/proc/{process.pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_what_they_make_it_hold(node):
    """77 KB of joins of huge groups, and far more joins of groups that are possible."""
    place, token, process = node
    before = resident(process)
    with Client(place) as client:
        assert client.greet(token, "a0") == WELCOME
        for size in (65536, 64):
            for first in range(0, 5000, 100):
                client.socket.sendall(b"".join(frame(JOIN, size=size, group=size + first + i) for i in range(100)))
                answers = [client.hear()[0] for _ in range(100 if size > 64 or first >= 100 else 68)]  # 32 groups may be waiting
                assert set(answers) == {FAILED}
        assert resident(process) < before + (24 << 20)
    assert process.poll() is None


def test_idle_connections_lock_nobody_out(node):
    """More of them than the node has places and descriptors."""
    place, token, process = node
    resource.prlimit(process.pid, resource.RLIMIT_NOFILE, (48, 48))
    idle = [socket.create_connection((place.host, place.port), timeout=PATIENCE) for _ in range(100)]
    try:
        until = time.monotonic() + PATIENCE
        while True:
            with Client(place) as client:
                try:
                    if client.greet(token, "a0") == WELCOME:
                        break
                except (EOFError, ConnectionError):
                    assert time.monotonic() < until, "no peer gets in"
    finally:
        for each in idle:
            each.close()
    assert process.poll() is None
