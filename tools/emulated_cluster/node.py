"""The first process of a node, or of the head: makes the node what it is, then reaps until it is killed."""

from __future__ import annotations

import os
import signal
import socket
import sys
import traceback
from dataclasses import dataclass
from typing import Callable, NoReturn, Optional, Sequence

from emulated_cluster import filesystems, kernel, network


@dataclass
class Birth:
    """A node under way: its process id (as the head counts them), and the pipes to and from its first process."""

    name: str
    pid: int
    to_node: int
    from_node: int

    def go_on(self) -> None:
        os.write(self.to_node, b"g")
        os.close(self.to_node)

    def await_ready(self) -> None:
        """Raises OSError with the node's own words if it could not be made."""
        words = b""
        while part := os.read(self.from_node, 4096):
            words += part
        os.close(self.from_node)
        if words != b"ready":
            raise OSError(f"node {self.name}: {words.decode(errors='replace') or 'ended before it was ready'}")


def reap(watched: Optional[int] = None) -> NoReturn:
    """What a first process has to do: collect the orphans of its node. If `watched` ends, so does the node."""
    while True:
        signal.sigwait({signal.SIGCHLD})
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                break
            if not pid:
                break
            if pid == watched:
                print(f"emulated cluster: the switch ended (status {status}), and the cluster with it", file=sys.stderr)
                os._exit(1)


def forked(work: Callable[[], None]) -> int:
    """A child that does `work` and never comes back from it."""
    pid = os.fork()
    if pid:
        return pid
    try:
        work()
    except BaseException:
        traceback.print_exc()
    os._exit(1)


def _live(name: str, hosts: str, keep: Sequence[str], go: int, ready: int) -> None:
    try:
        socket.sethostname(name)
        if not os.read(go, 1):
            os._exit(1)
        filesystems.make_private(name, hosts, keep)
        network.configure(name)
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
        os.write(ready, b"ready")
    except BaseException as error:
        os.write(ready, str(error).encode())
        os._exit(1)
    os.close(ready)
    reap()


def bear(name: str, hosts: str, keep: Sequence[str]) -> Birth:
    """Starts a node's first process, which waits for `go_on`. A process may make only one name space for process ids,
    so each node has a go-between, which ends at once and leaves the node to the caller, the first process of the head.
    """
    go, to_node = os.pipe()
    from_node, ready = os.pipe()

    def between() -> None:
        os.close(to_node)
        os.close(from_node)
        kernel.unshare(kernel.NEW_NODE)
        pid = forked(lambda: _live(name, hosts, keep, go, ready))
        os.write(ready, f"{pid}\n".encode())
        os._exit(0)

    middle = forked(between)
    os.close(go)
    os.close(ready)
    os.waitpid(middle, 0)
    return Birth(name, _read_pid(from_node, name), to_node, from_node)


def _read_pid(descriptor: int, name: str) -> int:
    line = b""
    while not line.endswith(b"\n"):
        part = os.read(descriptor, 1)
        if not part:
            raise OSError(f"node {name}: no name spaces: {line.decode(errors='replace')}")
        line += part
    return int(line)
