"""The process that owns a cluster. Whatever ends it or its maker, the kernel clears everything up.

    maker (a test run, a benchmark)          holds a pipe to the keeper; its end, however it comes, closes the pipe
      keeper                                 in a session of its own: Ctrl-C is the maker's affair. Owns the control group
        head (first process of a name space for process ids; killed with the keeper)
          nodes (each the first process of a name space inside the head's; killed with the head)
          switch

No name space, mount or interface has a name outside: they last as long as processes are in them. Standard input: one
line of JSON, what is wanted; its end ends the cluster. Standard output: one line of JSON, `head` and `nodes` (process
ids), `group`, or `error`.
"""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import subprocess
import sys
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from emulated_cluster import control_group, filesystems, kernel, network, node


def _switch(wanted: dict, names: list[str]) -> int:
    ports = [network.port_name(name) for name in (network.HEAD, *names)]
    words = [wanted["switch"], "--delay", str(wanted["delay_us"]), "--rate", str(wanted["rate_mbit"]), *ports]
    started = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    assert started.stdout is not None
    if not started.stdout.readline().startswith("ready"):
        raise OSError(f"the switch did not start: {' '.join(words)}")
    return started.pid


def _live_as_head(wanted: dict, tell: int) -> None:
    """The head is a node, too; and it makes the others and what joins them."""
    kernel.die_with_parent()
    kernel.unshare(kernel.NEW_NODE & ~kernel.NEW_PIDS)
    socket.sethostname(network.HEAD)
    names = [network.node_name(i) for i in range(wanted["nodes"])]
    hosts = network.hosts_file(names)
    filesystems.make_state()
    filesystems.make_private(network.HEAD, hosts, wanted["keep"])
    births = [node.bear(name, hosts, wanted["keep"]) for name in names]
    network.make_interfaces({birth.name: birth.pid for birth in births})
    network.configure(network.HEAD)
    switch = _switch(wanted, names) if wanted["switch"] else None
    if not switch:
        network.join_by_bridge(names)
    for birth in births:
        birth.go_on()
        (filesystems.STATE / f"{birth.name}.pid").write_text(f"{birth.pid}\n")
    for birth in births:
        birth.await_ready()
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
    os.write(tell, json.dumps({birth.name: birth.pid for birth in births}).encode() + b"\n")
    node.reap(switch)


def _head(wanted: dict, tell: int) -> None:
    try:
        _live_as_head(wanted, tell)
    except BaseException as error:
        os.write(tell, json.dumps({"error": str(error) or repr(error)}).encode() + b"\n")
    os._exit(1)


def _outside(head: int, inner: dict[str, int]) -> dict[str, int]:
    """From process ids as the head counts them to those of the machine."""
    found = {}
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        try:
            status = dict(line.split(":", 1) for line in (folder / "status").read_text().splitlines() if ":" in line)
        except OSError:
            continue
        ids = status["NSpid"].split()
        if int(status["PPid"]) == head and ids[-1] == "1":  # the first process of a name space inside the head's
            found[int(ids[-2])] = int(folder.name)
    return {name: found[pid] for name, pid in inner.items()}


def _line(descriptor: int) -> bytes:
    line = b""
    while not line.endswith(b"\n") and (part := os.read(descriptor, 65536)):
        line += part
    return line


def _start(wanted: dict) -> tuple[int, int, dict]:
    """The head's process id, a descriptor that ends with the head, and what it said."""
    kernel.unshare(kernel.NEW_PIDS)
    listen, tell = os.pipe()
    head = node.forked(lambda: _head(wanted, tell))
    os.close(tell)
    said = _line(listen)
    return head, listen, json.loads(said) if said else {"error": "the head ended without a word"}


def main() -> int:
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit(1))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    wanted = json.loads(sys.stdin.readline())
    group, why = control_group.make()
    head = None
    try:
        head, alive, said = _start(wanted)
        answer = said if "error" in said else {"head": head, "nodes": _outside(head, said)}
        print(json.dumps({**answer, "group": str(group) if group else None, "no_group": why}), flush=True)
        if "error" not in said:
            select.select([sys.stdin, alive], [], [])
    finally:
        if head:
            os.kill(head, signal.SIGKILL)
            os.waitpid(head, 0)  # the kernel lets it go only when all of its name space are gone
        control_group.remove(group)
    return 0


if __name__ == "__main__":
    sys.exit(main())
