"""The file of an aggregation tree: which aggregation nodes there are, where they listen, who is above whom."""

from __future__ import annotations

import json
import os
import secrets
import socket
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Callable, NamedTuple

from espalier.problem import Problem

# What libespalier-sharp.so and espalier-aggd read (sharp/tree_file.hpp).
LIMITS = (
    "groups",
    "slots",
    "slots_per_group",
    "payload",
    "locked_payload",
    "members",
    "connections",
    "join_seconds",
    "silence_seconds",
    "memory",
    "types",
    "ops",
)


class Place(NamedTuple):
    """Where an aggregation node listens."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"


def parents(nodes: int, radix: int) -> list[int]:
    """For each aggregation node of a tree over so many compute nodes the number of its parent, -1 for the root, which is
    number 0; at most `radix` children each. Those of a level follow on each other, and so do the children of a node."""
    if nodes < 1 or radix < 2:
        raise Problem("an aggregation tree needs at least 1 node and a radix of at least 2")
    widths = [-(-nodes // radix)]
    while widths[0] > 1:
        widths.insert(0, -(-widths[0] // radix))
    found, above = [-1], 0
    for upper, width in zip(widths, widths[1:]):
        # Evenly, so that no node has one child where another is full.
        found += [above + child * upper // width for child in range(width)]
        above += upper
    return found


def free_ports(host: str, number: int) -> list[int]:
    """Ports of this machine on which no process listens now."""
    sockets = [socket.socket() for _ in range(number)]
    try:
        for each in sockets:
            each.bind((host, 0))
        return [each.getsockname()[1] for each in sockets]
    except OSError as error:
        raise Problem(f"no port to listen on at {host} ({error.strerror}); say --port for other machines") from error
    finally:
        for each in sockets:
            each.close()


def places(number: int, hosts: Sequence[str], first_port: int | None) -> list[Place]:
    """In turn over the hosts; on each port after port."""
    counts = [len(range(i, number, len(hosts))) for i in range(len(hosts))]
    ports: Callable[[int], list[int]] = (
        (lambda i: free_ports(hosts[i], counts[i]))
        if first_port is None
        else (lambda i: list(range(first_port, first_port + counts[i])))
    )
    by_host = [iter(ports(i)) for i in range(len(hosts))]
    return [Place(hosts[i % len(hosts)], next(by_host[i % len(hosts)])) for i in range(number)]


def document(above: Sequence[int], where: Sequence[Place], limits: dict[str, int]) -> dict[str, Any]:
    nodes: list[dict[str, Any]] = []
    for number, (parent, place) in enumerate(zip(above, where)):
        node = {"name": f"a{number}", "address": str(place)}
        nodes.append(node if parent < 0 else {**node, "parent": f"a{parent}"})
    return {"schema": 1, "token": secrets.token_hex(32), "limits": limits, "nodes": nodes}


def write(tree: dict[str, Any], path: Path) -> None:
    """For the owner's eyes only, from the first byte on: it holds the token."""
    spare = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with open(os.open(spare, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            json.dump(tree, file, indent=1)
            file.write("\n")
        os.replace(spare, path)
    except OSError as error:
        raise Problem(f"cannot write {path} ({error.strerror})") from error


def limit(text: str) -> tuple[str, int]:
    """KEY=NUMBER of --limit."""
    key, _, value = text.partition("=")
    if key not in LIMITS or not value.isdigit():
        raise Problem(f"--limit {text}: write KEY=NUMBER; the keys are {', '.join(LIMITS)}")
    return key, int(value)
