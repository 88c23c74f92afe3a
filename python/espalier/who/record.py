"""What ranks leave in shared memory about their calls: the layout of src/runtime/flight/record.hpp, read."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field, replace
from typing import Callable, Optional

VERSION = 2
BYTES = 16384
MAGIC = b"espalier flight\0"
PAGE = 4096

# As in src/base/collective.hpp, in that order; a test compares them.
COLLECTIVES = (
    *("barrier", "bcast", "reduce", "allreduce", "allgather", "allgatherv", "gather", "gatherv", "scatter", "scatterv"),
    *("alltoall", "alltoallv", "reduce_scatter_block", "reduce_scatter", "scan", "exscan", "alltoallw"),
    *("neighbor_allgather", "neighbor_allgatherv", "neighbor_alltoall", "neighbor_alltoallv", "neighbor_alltoallw"),
)
ROOTED = ("bcast", "reduce", "gather", "gatherv", "scatter", "scatterv")

# magic, version, bytes, job, node, started, process, rank, ranks, rank on the node, ranks there, has left, two moments
_HEADER = struct.Struct("@16sIIQQQiiiiiI4Q80s16s")
_LINE = struct.Struct("@QQQiiii24s")
_ENTRY = struct.Struct("@QQiIQQQQQ")  # site, communicator, root, collective, call, bytes, state if it has times, begin, end
_RING = struct.Struct("@Q16xQQ24x")  # behind its entries: state, where it waits for requests, thread
_HEADER_ROOM, _LINES, _RINGS, _KEPT = 256, 48, 3, 64
_ENTRIES = _KEPT * _ENTRY.size
_HOST_CALL = 1 << 63
_ARENA = struct.Struct("@8sI4xQQQ")  # src/memory/arena.cpp: magic, version, units, where they begin, bytes of the notes
_MOST_NOTES = 1 << 30


@dataclass(frozen=True)
class Communicator:
    handle: int
    id: str  # equal on its ranks
    size: int
    rank: int  # of the process in it
    first: int
    stride: int  # rank r is rank first + r * stride of the job; 0: that is not known
    name: str

    def process(self, rank: int) -> Optional[int]:
        """Which rank of the job that is."""
        return self.first + rank * self.stride if self.stride else None


@dataclass(frozen=True)
class Call:
    number: int  # of the thread's calls
    collective: str
    site: int
    handle: int
    sequence: Optional[int]  # among the communicator's calls
    by_host: bool
    bytes: Optional[int]
    root: Optional[int]
    begin: Optional[int]  # ticks
    end: Optional[int]


@dataclass(frozen=True)
class Thread:
    number: int  # of the kernel; 0: a ring that several share
    begun: int
    current: Optional[Call]
    last: list[Call]  # oldest first, without the current one
    waits_at: int  # site of a call that may wait for requests; 0: in none


@dataclass(frozen=True)
class Rank:
    job: str
    node: str
    rank: int
    ranks: int
    node_rank: int
    node_ranks: int
    process: int
    started: int
    has_left: bool
    moments: tuple[tuple[int, int], tuple[int, int]]  # (ticks, nanoseconds)
    host: str
    build: str
    threads: list[Thread]
    communicators: dict[int, Communicator] = field(default_factory=dict)  # by handle


Read = Callable[[int, int], bytes]  # at, bytes: what there is


def ranks_of(read: Read) -> list[Rank]:
    """All ranks that left something in that memory: a node's arena, or what one rank has to itself."""
    begin, pages = _pages(read)
    found = []
    for at in range(begin, begin + pages * PAGE, PAGE):
        if read(at, len(MAGIC)) == MAGIC and (rank := _rank_at(read, at)) is not None:
            found.append(rank)
    return found


def _rank_at(read: Read, at: int) -> Optional[Rank]:
    """Its rank may be writing, so it is read twice: what is there is known of the calls that both times know of."""
    before = read(at, BYTES)
    for _ in range(5):
        data = read(at, BYTES)
        if len(data) < BYTES or len(before) < BYTES or _states(before) == _states(data):
            break
        before = data
    return _rank(before, data)


def _states(data: bytes) -> list[int]:
    return [_RING.unpack_from(data, at + _ENTRIES)[0] for at in _ring_places()]


def _pages(read: Read) -> tuple[int, int]:
    head = read(0, _ARENA.size)
    if len(head) < _ARENA.size:
        return 0, 0
    if head[: len(MAGIC)] == MAGIC:
        return 0, 1
    magic, version, _, first, notes = _ARENA.unpack(head)
    if magic != b"espalier" or version != 1 or not 0 < notes <= first or notes > _MOST_NOTES:
        return 0, 0
    begin = first - notes
    return (begin, notes // PAGE) if begin % PAGE == 0 else (0, 0)


def _rank(before: bytes, data: bytes) -> Optional[Rank]:
    """None: cut off, or of another version."""
    if min(len(before), len(data)) < BYTES:
        return None
    (_, version, size, job, node, started, process, rank, ranks, node_rank, node_ranks, left, t0, n0, t1, n1, host, build) = (
        _HEADER.unpack_from(data)
    )
    if version != VERSION or size != BYTES or not 0 <= rank < ranks:
        return None
    communicators = {}
    for at in range(_HEADER_ROOM, _HEADER_ROOM + _LINES * _LINE.size, _LINE.size):
        handle, high, low, members, own, first, stride, name = _LINE.unpack_from(data, at)
        if handle and members > 0:
            identity = f"{high:016x}{low:016x}"
            communicators[handle] = Communicator(handle, identity, members, own, first, stride, _text(name))
    threads = []
    for at in _ring_places():
        thread = _thread(before, data, at)
        if thread.begun or thread.waits_at:
            threads.append(thread)
    return Rank(
        *(f"{job:016x}", f"{node:016x}", rank, ranks, node_rank, node_ranks, process, started, bool(left)),
        *(((t0, n0), (t1, n1)), _text(host), _text(build), threads, communicators),
    )


def _ring_places() -> range:
    first, each = _HEADER_ROOM + _LINES * _LINE.size, _ENTRIES + _RING.size
    return range(first, first + _RINGS * each, each)


def _thread(before: bytes, data: bytes, at: int) -> Thread:
    """In `data` are the calls that had begun when `before` was read, but for those that are overwritten since."""
    state, waits_at, number = _RING.unpack_from(data, at + _ENTRIES)
    earlier, *_ = _RING.unpack_from(before, at + _ENTRIES)
    begun, stays = state >> 1, state & 1 and state == earlier
    oldest = begun - _KEPT + (1 if stays else 2)  # outside a rank may have begun to write the next one
    known = [_call(data, at, each) for each in range(max(1, oldest), min(begun, earlier >> 1) + 1)]
    calls = [call for call in known if call is not None]
    inside = calls.pop() if stays and calls else None
    if inside is not None:
        inside = replace(inside, end=None)
    elif state & 1 and calls and calls[-1].number == begun:
        calls.pop()  # it has begun meanwhile
    return Thread(number, begun, inside, calls, waits_at)


def _call(data: bytes, ring: int, number: int) -> Optional[Call]:
    """None: that is no call."""
    site, handle, root, collective, call, size, timed, begin, end = _ENTRY.unpack_from(data, ring + number % _KEPT * _ENTRY.size)
    if collective >= len(COLLECTIVES):
        return None
    name = COLLECTIVES[collective]
    by_host = bool(call & _HOST_CALL)
    if timed != 2 * number + 1:
        begin = end = 0  # of the call that had the entry before
    return Call(
        *(number, name, site, handle, (call & ~_HOST_CALL) or None, by_host),
        *(size if call else None, root if name in ROOTED else None, begin or None, end or None),
    )


def _text(field: bytes) -> str:
    return field.split(b"\0", 1)[0].decode("utf-8", "replace")
