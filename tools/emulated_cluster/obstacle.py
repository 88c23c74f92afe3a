"""Why no emulated cluster can be made here; tried, not guessed."""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import Optional

from emulated_cluster import kernel

_TOOLS = {"ip": "iproute2", "nsenter": "util-linux"}


def _try_all() -> None:
    """What a cluster needs, in name spaces that end with the calling process."""
    kernel.unshare(kernel.NEW_NODE)
    kernel.mount(None, "/", None, kernel.RECURSIVE | kernel.PRIVATE)
    kernel.mount("tmpfs", "/tmp", "tmpfs")
    lines = "link add br0 type bridge\nlink add p0 type veth peer name p1\n"
    done = subprocess.run(["ip", "-batch", "-"], input=lines, capture_output=True, text=True)
    if done.returncode:
        raise OSError(f"no bridge or veth interfaces: {done.stderr.strip()}")


def obstacle() -> Optional[str]:
    """None if a cluster can be made, else the reason in one line."""
    if os.geteuid() != 0:
        return "emulated nodes need root: name spaces for network, mounts and processes"
    for tool, package in _TOOLS.items():
        if not shutil.which(tool):
            return f"'{tool}' is not installed (package {package})"
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            _try_all()
        except BaseException as error:
            os.write(writer, str(error).encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as words:
        why = words.read()
    os.waitpid(pid, 0)
    return f"emulated nodes are refused here: {why}" if why else None
