"""Addresses, interfaces and the bridge. All lies in the head's and the nodes' network name spaces and ends with them.

Every node has `eth0`, and the head too; the other end of each lies in the head's name space and is called a port. A
bridge joins the ports, or the delaying switch does.
"""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Sequence

NETWORK = "10.77.0"
HEAD = "head"
MOST_NODES = 60
_HEAD_ADDRESS = f"{NETWORK}.254"


def node_name(number: int) -> str:
    return f"n{number}"


def port_name(node: str) -> str:
    return f"port-{node}"


def address(node: str) -> str:
    return _HEAD_ADDRESS if node == HEAD else f"{NETWORK}.{int(node[1:]) + 1}"


def hosts_file(nodes: Sequence[str]) -> str:
    return "127.0.0.1 localhost\n" + "".join(f"{address(name)} {name}\n" for name in (HEAD, *nodes))


def _ip(lines: Sequence[str]) -> None:
    done = subprocess.run(["ip", "-batch", "-"], input="\n".join(lines) + "\n", capture_output=True, text=True)
    if done.returncode:
        raise OSError(f"ip: {done.stderr.strip()} (in: {'; '.join(lines)})")


def _no_ipv6() -> None:
    """Its announcements would only be noise on the switch."""
    for which in ("all", "default"):
        path = Path(f"/proc/sys/net/ipv6/conf/{which}/disable_ipv6")
        if path.exists():
            path.write_text("1")


def make_interfaces(node_pids: dict[str, int]) -> None:
    """In the head's name space: a pair for the head and for each node, whose process id says where its end goes."""
    _no_ipv6()
    lines = [f"link add eth0 type veth peer name {port_name(HEAD)}"]
    lines += [f"link add {port_name(name)} type veth peer name eth0 netns {pid}" for name, pid in node_pids.items()]
    _ip(lines)
    for name in (HEAD, *node_pids):
        # The head's kernel would else answer for the head's address on every port.
        Path(f"/proc/sys/net/ipv4/conf/{port_name(name)}/arp_ignore").write_text("8")
    _ip([f"link set {port_name(name)} up" for name in (HEAD, *node_pids)])


def join_by_bridge(nodes: Sequence[str]) -> None:
    # With an address of its own: else it takes on that of a port, and another one when ports come and go.
    lines = ["link add br0 address 02:00:00:00:00:fe type bridge stp_state 0 forward_delay 0", "link set br0 up"]
    _ip(lines + [f"link set {port_name(name)} master br0" for name in (HEAD, *nodes)])


def configure(node: str) -> None:
    """In the node's own name space, once its interface is there."""
    _no_ipv6()
    _ip(["link set lo up", f"addr add {address(node)}/24 dev eth0", "link set eth0 up"])
