"""Which ranks of a group share a node, as far as each can say; that they do is then tried (communicator.meet)."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple


class Places(NamedTuple):
    """The ranks of each node, in the order of the nodes' first ranks, and this rank's node."""

    nodes: list[list[int]]
    mine: int

    @property
    def ranks(self) -> list[int]:
        return self.nodes[self.mine]


def places(keys: list[bytes], rank: int) -> Places:
    """Of ranks that said these keys of themselves."""
    nodes: dict[bytes, list[int]] = {}
    for other, key in enumerate(keys):
        nodes.setdefault(key, []).append(other)
    return Places(list(nodes.values()), list(nodes).index(keys[rank]))


def key(process: int, processes: int) -> bytes:
    """Of a process of the job: different for processes that cannot share memory, as far as it knows."""
    spaces = []
    for name in ("net", "user"):
        with suppress(OSError):
            spaces.append(os.readlink(f"/proc/self/ns/{name}"))
    boot = ""
    with suppress(OSError):
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    pretended = pretended_node(os.environ.get("ESPALIER_NODES", ""), process, processes)
    return " ".join([boot, os.uname().nodename, *spaces, str(os.getuid()), str(pretended)]).encode()


def pretended_node(text: str, process: int, processes: int) -> int:
    """As src/runtime/process/emulated_nodes.cpp, which refuses a text that says nothing of it."""
    with suppress(ValueError, IndexError, ZeroDivisionError):
        if text.endswith(":cyclic"):
            return process % int(text[: -len(":cyclic")])
        if "+" in text:
            sizes = [int(word) for word in text.split("+")]
            pattern = [node for node, size in enumerate(sizes) for _ in range(size)]
            return process // len(pattern) * len(sizes) + pattern[process % len(pattern)]
        if text:
            return process * int(text) // processes
    return 0
