"""Finds the shared memory of jobs: by the descriptors that ranks keep open, or else through their address space."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Optional

from espalier.who import processes, record
from espalier.who.record import Rank

_NAME = re.compile(r"/(memfd:|dev/shm/)espalier")


def ranks_seen_by(pids: Iterable[int]) -> list[Rank]:
    """All ranks of the memory that any of these processes has; each piece of memory is read once."""
    seen: set[tuple[int, int]] = set()
    found: list[tuple[int, Rank]] = []
    pids = list(pids)
    for pid in pids:
        descriptors = _descriptors(pid)
        for path in descriptors:
            found += ((pid, rank) for rank in _through_descriptor(path, seen))
        if not descriptors:
            found += ((pid, rank) for rank in _through_address_space(pid, seen))
    return _as_counted_here(found, pids)


def _as_counted_here(found: list[tuple[int, Rank]], pids: list[int]) -> list[Rank]:
    """A rank in a container notes its number there. Here it is the process that started then and has that number for itself,
    in the same name space as the one through which its memory was found if there are several. Where there is none it is gone.
    """
    ranks = [rank for _, rank in found]
    if all(processes.look(rank.process, rank.started).is_alive for rank in ranks):
        return ranks
    here: dict[tuple[int, int], list[int]] = {}
    for pid in pids:
        own = processes.own_number_of(pid)
        if own is not None:
            here.setdefault((own, processes.look(pid).started), []).append(pid)
    return [_counted_here(rank, pid, here) for pid, rank in found]


def _counted_here(rank: Rank, finder: int, here: dict[tuple[int, int], list[int]]) -> Rank:
    fitting = here.get((rank.process, rank.started), [])
    space = processes.space_of(finder)
    beside = [pid for pid in fitting if processes.space_of(pid) == space]
    return replace(rank, process=(beside or fitting or [rank.process])[0])


def _descriptors(pid: int) -> list[str]:
    folder = f"/proc/{pid}/fd"
    try:
        names = os.listdir(folder)
    except OSError:
        return []
    paths = []
    for name in names:
        try:
            if _NAME.match(os.readlink(f"{folder}/{name}")):
                paths.append(f"{folder}/{name}")
        except OSError:
            continue
    return paths


def _through_descriptor(path: str, seen: set[tuple[int, int]]) -> list[Rank]:
    try:
        status = os.stat(path)
        key = (status.st_dev, status.st_ino)
        if key in seen:
            return []
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError:
        return []
    seen.add(key)
    try:
        return record.ranks_of(lambda at, size: os.pread(descriptor, size, at))
    except OSError:
        return []
    finally:
        os.close(descriptor)


def _through_address_space(pid: int, seen: set[tuple[int, int]]) -> list[Rank]:
    """A program may have closed descriptors that are not its own. Takes the right to trace the process."""
    mapping = _mapping(pid)
    if mapping is None or mapping[1] in seen:
        return []
    seen.add(mapping[1])
    try:
        with open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
            descriptor = memory.fileno()
            return record.ranks_of(lambda at, size: os.pread(descriptor, size, mapping[0] + at))
    except OSError:
        return []


def _mapping(pid: int) -> Optional[tuple[int, tuple[int, int]]]:
    """Where it begins, and which file it is."""
    try:
        with open(f"/proc/{pid}/maps", encoding="utf-8", errors="replace") as file:
            for line in file:
                addresses, _, offset, device, inode, *path = line.split(maxsplit=5)
                if path and _NAME.match(path[0]) and int(offset, 16) == 0:
                    major, minor = (int(part, 16) for part in device.split(":"))
                    return int(addresses.partition("-")[0], 16), (os.makedev(major, minor), int(inode))
    except (OSError, ValueError):
        pass
    return None


def has_library(pid: int) -> bool:
    """Whether an interposer of Espalier's is loaded there."""
    try:
        with open(f"/proc/{pid}/maps", encoding="utf-8", errors="replace") as file:
            return any("/libespalier-" in line for line in file)
    except OSError:
        return False
