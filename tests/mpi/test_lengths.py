"""What a rank sends to another is compared with what that one expects. More is an error of class MPI_ERR_TRUNCATE which names
both, less is delivered, as hosts do; nothing hangs, and nothing is written beyond what was sent. A job makes many such calls,
each on a communicator of its own."""

import re
from dataclasses import dataclass

import hosts
import pytest

pytestmark = pytest.mark.needs_espalier

STRICT = {"ESPALIER_FALLBACK": "error"}
TO_ALL = ["alltoallv", "alltoallw", "neighbor_allgatherv", "neighbor_alltoallv", "neighbor_alltoallw"]
CALLS = ["gatherv", "scatterv", *TO_ALL]
NONBLOCKING = [f"i{name}" for name in CALLS]
OWN = ["gatherv", "scatterv", "alltoallv", "alltoallw", "neighbor_alltoallv", "neighbor_alltoallw"]
GOES_ON = ("no error", "no error")


@dataclass(frozen=True)
class Case:
    name: str
    sent: int
    expected: int
    own: bool = False

    def __str__(self):
        return f"{self.name}:{self.sent}:{self.expected}" + ":own" * self.own

    @property
    def collective(self):
        return self.name.removeprefix("persistent_").removeprefix("i")

    def receiver(self, ranks):
        if self.own:
            return 0 if self.collective.startswith(("gather", "scatter")) else 1
        return 1 if self.collective == "scatterv" else 2 % ranks if self.collective.startswith("neighbor") else 0


class Ending:
    """How each rank came out of one case: (of the call, of a barrier after it)."""

    def __init__(self, case, ranks, run):
        self.case, self.run = case, run
        prepared = case.name.startswith("persistent_")
        self.call = f"MPI_{case.name.removeprefix('persistent_').capitalize()}" + "_init" * prepared
        found = re.findall(rf"^{case}: rank (\d): (no error|truncated|error), then (no error|error), new communicator works"
                           r"(?:; (\d+) bytes, (\d+) spoilt)?$", run.out, re.M)
        self.of = {int(rank): (call, later) for rank, call, later, _, _ in found}
        self.bytes = [(int(right), int(spoilt)) for _, _, _, right, spoilt in found if right]
        assert run.status == 0 and len(found) == len(self.of) == ranks and len(self.bytes) == 1, str(self)
        self.receiver = case.receiver(ranks)

    def __str__(self):
        of_case = [line for line in self.run.out.splitlines() if line.startswith(f"{self.case}: ")]
        return "\n".join([f"{self.case}:", *of_case, str(self.run)])

    @property
    def calls(self):
        return {call for call, _ in self.of.values()}

    @property
    def later(self):
        return {later for _, later in self.of.values()}

    @property
    def others(self):
        return {end for rank, end in self.of.items() if rank != self.receiver}

    def says(self, words):
        return re.search(rf"{self.call}(?: of \d+ bytes)? (?:failed|is not served by Espalier): .*{words}", self.run.err)


def endings(launch, host, ranks, cases, env=STRICT):
    cases = list(cases)
    run = launch(host, ranks, "lengths", *cases, env=env, timeout=120)
    return [Ending(case, ranks, run) for case in cases]


def of_all(names, lengths, own=False):
    return [Case(name, sent, expected, own) for name in names for sent, expected in lengths]


def all_are_delivered(launch, host, ranks, cases, env=STRICT):
    for end in endings(launch, host, ranks, cases, env):
        assert set(end.of.values()) == {GOES_ON} and end.bytes == [(end.case.sent, 0)], str(end)


def full(*values, **named):
    return pytest.param(*values, marks=pytest.mark.full, **named)


# Lengths are compared above the host: all of them under one, and under the others what has a fixture of three hosts.
ONE_HOST = pytest.mark.parametrize("name_of_host", ["mpich", full("openmpi"), full("impi")])
TWO_OR_THREE = pytest.mark.parametrize("ranks", [2, 3])
# In flag lines; a line and a slot; in a slot, by less than a line of the cache; in several chunks, as many and more.
LENGTHS = pytest.mark.parametrize("lengths", [
    pytest.param([(16, 32), (16, 1000), (1000, 1010), (100000, 200000)], id="usual"), full([(1000000, 1000010)], id="long")])
# Two ranks go by what moves either way: these lengths lead to one and the same.
SAME_WAY = [(16, 32), (1000, 1010)]


def swapped(lengths):
    return [(second, first) for first, second in lengths]


@ONE_HOST
@TWO_OR_THREE
@LENGTHS
def test_more_is_truncated(launch, name_of_host, lengths, ranks):
    for end in endings(launch, hosts.HOSTS[name_of_host], ranks, of_all(CALLS, swapped(lengths))):
        assert end.of[end.receiver][0] == "truncated" and end.later == {"error"}, str(end)
        assert end.says(rf"rank \d sends {end.case.sent} bytes to rank \d, which expects {end.case.expected};"), str(end)
        assert end.bytes == [(0, 0)], str(end)


@ONE_HOST
@LENGTHS
def test_less_is_delivered(launch, name_of_host, lengths):
    all_are_delivered(launch, hosts.HOSTS[name_of_host], 3, of_all(CALLS, lengths))


@pytest.mark.every_host
def test_less_is_delivered_among_two(launch, host):
    cases = of_all(["gatherv", "scatterv"], [(16, 32), (16, 1000), (16, 100000), (100000, 200000)])
    all_are_delivered(launch, host, 2, cases + of_all(TO_ALL, SAME_WAY))


@pytest.mark.every_host
def test_two_ranks_that_go_different_ways(launch, host):
    cases = of_all(["alltoallv", "neighbor_alltoallw"], [(16, 1000), (100000, 200000), (200000, 200010)])
    for end in endings(launch, host, 2, cases):
        assert "error" in end.calls and end.later == {"error"}, str(end)


@ONE_HOST
@pytest.mark.parametrize("ranks, first", [(2, 0), (3, 1), full(2, 1), full(3, 0)])
def test_nothing_where_something_is_expected(launch, name_of_host, ranks, first):
    """It is delivered, too, or an error: no rank waits for ever, and none reads what was never written. Many of these cases
    wait, so two ranks and three have them by turns."""
    cases = of_all(CALLS, [(0, 32), (0, 1000), (0, 200000)])[first::2]
    for end in endings(launch, hosts.HOSTS[name_of_host], ranks, cases):
        assert end.bytes == [(0, 0)], str(end)
        assert end.later == {"no error"} or "error" in end.calls | end.later, str(end)


@pytest.mark.every_host
@TWO_OR_THREE
def test_own_block_of_allgatherv(launch, host, ranks):
    """Its rank alone knows how long it is. In one of these calls all other ranks wait for it."""
    for end in endings(launch, host, ranks, of_all(["allgatherv"], [(32, 16), (16, 0), (200000, 100000)])):
        assert end.of[1][0] == "truncated" and end.later == {"error"}, str(end)


@pytest.mark.every_host
@TWO_OR_THREE
def test_short_own_block_of_allgatherv(launch, host, ranks):
    all_are_delivered(launch, host, ranks, of_all(["allgatherv"], [(16, 32), (0, 32), (16, 100000)]))


@ONE_HOST
@TWO_OR_THREE
@LENGTHS
def test_more_in_nonblocking_calls(launch, name_of_host, lengths, ranks):
    """The receiver alone has an error, when it completes the call, and the communicator works on."""
    for end in endings(launch, hosts.HOSTS[name_of_host], ranks, of_all(NONBLOCKING, swapped(lengths))):
        assert end.of[end.receiver] == ("truncated", "no error") and end.others == {GOES_ON}, str(end)
        assert end.says(rf"rank \d wants {end.case.expected} bytes of rank \d, which sends {end.case.sent};"), str(end)
        assert end.bytes[0][1] == 0, str(end)


@ONE_HOST
@TWO_OR_THREE
@LENGTHS
def test_less_in_nonblocking_calls(launch, name_of_host, lengths, ranks):
    all_are_delivered(launch, hosts.HOSTS[name_of_host], ranks, of_all(NONBLOCKING, [*lengths, (0, 32), (0, 200000)]))


@pytest.mark.every_host
@TWO_OR_THREE
def test_own_block(launch, host, ranks):
    """Hosts deliver less of it; a call that one rank left to its host alone would never end."""
    all_are_delivered(launch, host, ranks, of_all(OWN, [(16, 32)], own=True))
    for end in endings(launch, host, ranks, of_all(OWN, [(32, 16)], own=True)):
        assert end.of[end.receiver] == ("truncated", "error"), str(end)


@pytest.mark.every_host
@TWO_OR_THREE
def test_own_block_in_nonblocking_calls(launch, host, ranks):
    names = [f"i{name}" for name in OWN]
    all_are_delivered(launch, host, ranks, of_all(names, [(16, 32)], own=True))
    for end in endings(launch, host, ranks, of_all(names, [(32, 16)], own=True)):
        assert end.of[end.receiver] == ("truncated", "no error") and end.others == {GOES_ON}, str(end)


@pytest.mark.every_host
@TWO_OR_THREE
def test_own_block_of_nonblocking_allgathers(launch, host, ranks):
    """All other ranks get it, too."""
    cases = of_all(["iallgather", "iallgatherv"], [(16, 32), (32, 16), (100000, 16)])
    for end in endings(launch, host, ranks, cases):
        of_all_ranks = GOES_ON if end.case.sent < end.case.expected else ("truncated", "no error")
        assert set(end.of.values()) == {of_all_ranks}, str(end)


@TWO_OR_THREE
def test_own_block_of_persistent_calls(launch, ranks):
    """Readers go by one length for all blocks, so it is the host's, on all ranks."""
    cases = [Case(f"persistent_{name}", 16, expected, own=True)
             for name, expected in (("allgather", 100000), ("gather", 100000), ("alltoall", 32), ("scatter", 32))]
    for end in endings(launch, hosts.HOSTS["mpich"], ranks, cases):
        assert set(end.of.values()) == {GOES_ON}, str(end)


@TWO_OR_THREE
def test_own_block_of_short_persistent_calls(launch, ranks):
    """The others have begun, so it is an error on all ranks: in the host this one would wait for them."""
    cases = of_all(["persistent_allgather", "persistent_gather"], [(16, 32), (32, 16)], own=True)
    for end in endings(launch, hosts.HOSTS["mpich"], ranks, cases):
        assert end.of[end.receiver] == ("truncated" if end.case.sent > end.case.expected else "error", "no error"), str(end)
        assert end.others == {("error", "no error")}, str(end)
        assert end.says(f"wants {end.case.expected} bytes of rank") and end.says("could not prepare its part"), str(end)


OVER_NODES = {**STRICT, "ESPALIER_NODES": "2", "ESPALIER_NONBLOCKING": "on"}


@pytest.mark.parametrize("stage", ["shared", "p2p"])
def test_own_block_over_nodes(launch, stage):
    env = {"ESPALIER_NODES": "2", "ESPALIER_NODE_STAGE": stage, **STRICT}
    all_are_delivered(launch, hosts.HOSTS["mpich"], 4, [Case("alltoallv", 16, 32, own=True)], env=env)


@pytest.mark.parametrize("own", [False, True], ids=["between ranks", "own"])
def test_nonblocking_calls_over_nodes(launch, own):
    """A long block goes in messages of 1 MiB."""
    mpich, names = hosts.HOSTS["mpich"], ["igatherv", "iscatterv", "ialltoallv", "ineighbor_alltoallw"]
    lengths = [(16, 32), (16, 3000000), (1 << 20, 2 << 20)]
    all_are_delivered(launch, mpich, 4, of_all(names, lengths, own), env=OVER_NODES)
    for end in endings(launch, mpich, 4, of_all(names, swapped(lengths), own), env=OVER_NODES):
        assert end.of[end.receiver] == ("truncated", "no error") and end.others == {GOES_ON}, str(end)
        sends = rf"sends {end.case.sent};" if own or end.case.sent < 1 << 20 else r"sends \d+ or more;"
        assert end.says(rf"wants {end.case.expected} bytes of rank \d, which {sends}"), str(end)


def test_persistent_calls(launch):
    """All ranks know at once: of less, which a host is left to deliver, and of more."""
    mpich, names = hosts.HOSTS["mpich"], [f"persistent_{name}" for name in CALLS]
    for end in endings(launch, mpich, 3, of_all(names, [(16, 32)])):
        assert end.calls == {"error"} and end.says("wants 32 bytes"), str(end)
    all_are_delivered(launch, mpich, 3, of_all(names, [(16, 32)]), env={})
    for end in endings(launch, mpich, 3, of_all(names, [(32, 16)]), env={}):
        assert end.says(""), str(end)
        assert set(end.of.values()) == {("truncated", "no error")}, str(end)


@pytest.mark.parametrize("algorithm", ["single_copy", "direct"])
@TWO_OR_THREE
def test_blocks_that_are_read_where_they_lie(launch, ranks, algorithm):
    mpich, names, lengths = hosts.HOSTS["mpich"], ["gatherv", "scatterv"], [(100000, 200000), (1000, 200000)]
    env = {**STRICT, **{f"ESPALIER_{name.upper()}": algorithm for name in names}}
    for end in endings(launch, mpich, ranks, of_all(names, swapped(lengths)), env=env):
        assert end.of[end.receiver][0] == "truncated", str(end)
    all_are_delivered(launch, mpich, ranks, of_all(names, lengths), env=env)


@pytest.mark.parametrize("algorithm", ["exchange", "central", "single_copy"])
def test_every_way_of_alltoallv(launch, algorithm):
    mpich, names = hosts.HOSTS["mpich"], ["alltoallv", "alltoallw"]
    env = {**STRICT, **{f"ESPALIER_{name.upper()}": algorithm for name in names}}
    lengths = [(16, 32), (1000, 1010), (6000, 6001), (200000, 200001)]
    for end in endings(launch, mpich, 3, of_all(names, swapped(lengths)), env=env):
        assert end.of[0][0] == "truncated", str(end)
    all_are_delivered(launch, mpich, 3, of_all(names, lengths), env=env)


@pytest.mark.parametrize("ranks, env", [(2, {}), (2, {"ESPALIER_BARRIER": "exchange"}), (2, {"ESPALIER_BARRIER": "tree"}),
                                        (3, {"ESPALIER_BARRIER": "exchange", "ESPALIER_CHUNK": "4KiB"}),
                                        full(3, {"ESPALIER_BARRIER": "tree", "ESPALIER_CHUNK": "4KiB"}), full(4, {})])
def test_ranks_that_run_ahead_of_a_late_one(launch, host, ranks, env):
    """Their lines are taken by later calls, of other kinds, too, but not before the late rank has compared."""
    run = launch(host, ranks, "rows", env={**STRICT, **env}, timeout=120)
    assert run.status == 0 and run.out.count("all rows are right") == ranks, str(run)
