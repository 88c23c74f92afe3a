"""The windows program: how it is built and what it says."""

import os
import re
from dataclasses import dataclass, replace

import hosts


def with_library(host, name, sources=hosts.SOURCES):
    """Built with libespalier.so, as its users' programs are; the interposer, which is loaded first, has the same calls."""
    flags = [*host.flags, f"-I{hosts.REPOSITORY / 'include'}"]
    libraries = [*host.libraries, f"-L{hosts.LIBRARIES}", "-lespalier", f"-Wl,-rpath,{hosts.LIBRARIES}"]
    return hosts.program(replace(host, flags=flags, libraries=libraries), name, sources)


def program(host):
    return with_library(host, "windows")


@dataclass
class Outcome:
    nodes: int
    transport: str
    why: str


def passed(run):
    assert run.status == 0, str(run)
    about = re.search(r"^windows: (\d+) nodes, transport (\w+) \((.*)\)$", run.out, re.M)
    total = re.search(r"^windows: (\d+) checks passed, \d+ ranks$", run.out, re.M)
    assert about and total and int(total[1]) > 10, f"no line that says what passed\n{run}"
    return Outcome(int(about[1]), about[2], about[3])


def names_in_shm():
    return {name for name in os.listdir("/dev/shm") if name.startswith("espalier-")}
