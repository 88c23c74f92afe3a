"""The cluster as tests and benchmarks use it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import Iterator, Optional, Sequence

from emulated_cluster import network
from emulated_cluster.filesystems import STATE

AGENT = Path(__file__).resolve().parent / "agent"
REPOSITORY = AGENT.parents[2]
SWITCH = REPOSITORY / "build" / "bin" / "delaying_switch"
_CLOSING = 15  # seconds


class ClusterError(Exception):
    """The cluster could not be made, or something in it does not answer."""


class Cluster:
    """`nodes` emulated nodes n0, n1, … and a head, on which launchers run. One thread uses it; `stopped` may be used by
    another at the same time.

    delay_us, rate_mbit: 0 and 0 join the nodes by the kernel's bridge; else by the switch that delays every frame by
    `delay_us` microseconds and carries `rate_mbit` million bits a second (0: no limit) into and out of each node.
    keep: folders below /tmp or /dev/shm that all nodes must see (each node has its own /tmp and /dev/shm); the
    repository, its environments and the working directory are among them anyway.

    Ends with `close`, with the `with` block, or with this process, whatever ends it. Raises ClusterError.
    """

    def __init__(self, nodes: int, delay_us: float = 0, rate_mbit: float = 0, keep: Sequence[os.PathLike] = ()):
        if not 1 <= nodes <= network.MOST_NODES:
            raise ClusterError(f"{nodes} nodes: an emulated cluster has 1 to {network.MOST_NODES}")
        self.nodes = [network.node_name(i) for i in range(nodes)]
        self.delay_us, self.rate_mbit = delay_us, rate_mbit
        switch = self._switch() if delay_us or rate_mbit else ""
        wanted = {
            "nodes": nodes,
            "delay_us": delay_us,
            "rate_mbit": rate_mbit,
            "switch": switch,
            "keep": _kept(keep, switch),
        }
        self._keeper = self._start(wanted)
        said = self._first_words()
        self.pids: dict[str, int] = {network.HEAD: said["head"], **said["nodes"]}
        self.group = said["group"]  # None: there is no CPU control group, …
        self.no_group = said["no_group"]  # … and why

    @staticmethod
    def _switch() -> str:
        path = Path(os.environ.get("ESPALIER_SWITCH", SWITCH))
        if not path.exists():
            raise ClusterError(f"the delaying switch is not at {path}; run `make build`")
        return str(path)

    @staticmethod
    def _start(wanted: dict) -> subprocess.Popen:
        words = [sys.executable, str(Path(__file__).with_name("keeper.py"))]
        keeper = subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True
        )
        keeper.stdin.write(json.dumps(wanted) + "\n")
        keeper.stdin.flush()
        return keeper

    def _first_words(self) -> dict:
        line = self._keeper.stdout.readline()
        said = json.loads(line) if line else {"error": "its keeper ended at once"}
        if "error" in said:
            self.close()
            raise ClusterError(f"the emulated cluster could not be made: {said['error']}")
        return said

    def close(self) -> None:
        """Ends every process of the cluster; returns when nothing is left of it. May be called again."""
        self._keeper.stdin.close()
        try:
            self._keeper.wait(_CLOSING)
        except subprocess.TimeoutExpired:
            self._keeper.kill()  # its head, and all in it, dies with it
            self._keeper.wait()
            raise ClusterError("the emulated cluster did not end in time; its keeper was killed") from None
        finally:
            self._keeper.stdout.close()

    def __enter__(self) -> "Cluster":
        return self

    def __exit__(self, *_) -> None:
        self.close()

    # --- commands in it ---------------------------------------------------------------------------------------------

    def words(self, node: str = network.HEAD) -> list[str]:
        """To be put before a command so that it runs on `node`, in the working directory if that is seen there."""
        # The shell forks, not nsenter: that stops itself when its child is stopped, and nothing would wake it.
        inside = ["nsenter", "-t", str(self.pids[node]), "-n", "-u", "-i", "-m", "-p", "--no-fork", "--"]
        inside += ["sh", "-c", '(cd "$0" 2>/dev/null || cd /; exec "$@"); exit $?', os.getcwd()]
        if not self.group:
            return inside
        return ["sh", "-c", 'echo $$ > "$0" && exec "$@"', f"{self.group}/cgroup.procs", *inside]

    def write(self, name: str, text: str) -> str:
        """A file on the head; returns its path there."""
        Path(f"/proc/{self.pids[network.HEAD]}/root{STATE / name}").write_text(text)
        return str(STATE / name)

    def processes(self, node: str) -> list[int]:
        """What runs on a node, without its first process; on the head without the switch."""
        first = self.pids[node]
        space = os.readlink(f"/proc/{first}/ns/pid")
        return [pid for pid in _all_processes() if pid != first and _runs_in(pid, space) and not _is_switch(pid)]

    def clear(self, patience: float = 5.0) -> None:
        """Kills every process that a job left behind, on all nodes."""
        until = time.monotonic() + patience
        while left := [pid for node in self.pids for pid in self.processes(node)]:
            if time.monotonic() > until:
                raise ClusterError(f"processes {left} of the emulated cluster do not end")
            for pid in left:
                _signal(pid, signal.SIGKILL)
            time.sleep(0.02)

    @contextmanager
    def stopped(self, node: str) -> Iterator[list[int]]:
        """Every process of the node stands still inside the block; yields their ids."""
        held = self.processes(node)
        for pid in held:
            _signal(pid, signal.SIGSTOP)
        try:
            yield held
        finally:
            for pid in held:
                _signal(pid, signal.SIGCONT)


def _kept(more: Sequence[os.PathLike], switch: str) -> list[str]:
    folders = [REPOSITORY, (REPOSITORY / ".venv").resolve(), Path.cwd(), *map(Path, more)]
    folders += [Path(switch).resolve().parent] if switch else []
    return [str(folder.absolute()) for folder in folders]


def _all_processes() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def _runs_in(pid: int, space: str) -> bool:
    try:
        return os.readlink(f"/proc/{pid}/ns/pid") == space
    except OSError:
        return False


def _is_switch(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip() == "delaying_switch"[:15]
    except OSError:
        return False


def _signal(pid: int, number: Optional[int]) -> None:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass
