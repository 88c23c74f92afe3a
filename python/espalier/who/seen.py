"""A rank as it was seen: its record and its process together, with names in place of addresses. It goes through JSON, so
that what several machines saw can be put together."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Optional

from espalier.who.processes import HasState


@dataclass(frozen=True)
class Comm:
    id: str
    name: str
    size: int
    rank: int  # of the rank that says it
    first: int = 0
    stride: int = 0

    def process(self, rank: int) -> Optional[int]:
        return self.first + rank * self.stride if self.stride else None


@dataclass(frozen=True)
class Call:
    communicator: Optional[str]  # id; None: one that is not known
    collective: str
    sequence: Optional[int] = None  # among the communicator's calls; None: the ranks still meet, or it is not known
    by_host: bool = False
    bytes: Optional[int] = None
    root: Optional[int] = None
    seconds: Optional[float] = None  # since it began
    ended: Optional[float] = None  # seconds since; None: it has not, or no clock was read
    place: str = ""  # where the program called
    site: int = 0

    @property
    def key(self) -> tuple[Optional[str], bool, Optional[int]]:
        return self.communicator, self.by_host, self.sequence


@dataclass
class Seen(HasState):
    job: str
    rank: int
    ranks: int
    machine: str
    node: str
    pid: int
    state: str  # as in /proc/PID/stat; empty: gone
    has_left: bool = False
    has_moved: bool = False  # it has begun calls between two looks
    calls_per_second: float = 0.0
    processor: Optional[float] = None  # of one core, used between the looks
    inside: list[Call] = field(default_factory=list)  # one for each thread that is in a collective
    requests: str = ""  # where it called what may wait for requests; empty: it is in no such call
    calls: list[Call] = field(default_factory=list)  # the last ones before, oldest first
    communicators: list[Comm] = field(default_factory=list)
    waits_in: str = ""  # function of the kernel
    stack: list[str] = field(default_factory=list)
    no_stack: str = ""  # why
    host: str = ""
    build: str = ""
    at_ns: int = 0  # of its machine's CLOCK_MONOTONIC: the moment from which its calls' seconds count back
    boot: str = ""  # which start of its machine that clock counts from
    between: float = 0.0  # seconds between the two looks
    faults: int = 0  # pages that it had to read between them
    delayed: Optional[float] = None  # of the time between them it was ready and had no processor; None: not known
    core: Optional[int] = None  # on which it runs, or ran last
    beside: list[str] = field(default_factory=list)  # what else runs there, of a rank that waits for its processor
    swapped: int = 0  # bytes of it in swap, of a rank that is held up

    def comm(self, identity: Optional[str]) -> Optional[Comm]:
        return next((each for each in self.communicators if each.id == identity), None)

    @property
    def last(self) -> Optional[Call]:
        return self.calls[-1] if self.calls else None

    def begun(self, identity: Optional[str], by_host: bool) -> Optional[int]:
        """The latest call that it has begun there; None: none that is known."""
        there = (call for call in (*self.inside, *self.calls) if (call.communicator, call.by_host) == (identity, by_host))
        known = [call.sequence for call in there]
        return max((number for number in known if number is not None), default=None)

    def document(self) -> dict[str, Any]:
        return asdict(self)


def from_document(item: dict[str, Any]) -> Seen:
    fields = dict(item)
    for name, kind in (("inside", Call), ("calls", Call), ("communicators", Comm)):
        fields[name] = [kind(**each) for each in item[name]]
    return Seen(**fields)
