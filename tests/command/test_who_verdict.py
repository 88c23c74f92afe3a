"""Who waits for whom, and how it is said, of ranks made up here."""

import json

import pytest
from jsonschema import Draft202012Validator

from espalier.interface import document
from espalier.who import flight, show, verdict, waiting
from espalier.who.clock import clock_of
from espalier.who.seen import Call, Comm, Seen, from_document

JOB = "00000000000000aa"


def world(rank, ranks=4):
    return Comm("w", "MPI_COMM_WORLD", ranks, rank, 0, 1)


def call(collective="allreduce", sequence=12, communicator="w", **more):
    return Call(communicator, collective, sequence, **{"bytes": 8, "seconds": 3.0, "place": "step (app.c:9)", **more})


def rank(number, inside=None, last=None, state="S", ranks=4, **more):
    calls = [last] if last else [call("barrier", 11, seconds=4.0, ended=3.5, bytes=0)]
    return Seen(JOB, number, ranks, "n1", "node", 100 + number, state, inside=[inside] if inside else [], calls=calls,
                **{"communicators": [world(number, ranks)], **more})


def said(ranks):
    return verdict.lines(ranks, waiting.analyse(ranks))


def first(*ranks):
    waits = waiting.analyse(list(ranks))
    return waits.guilty, verdict.lines(list(ranks), waits)[0]


def test_a_rank_that_computes():
    guilty, line = first(*(rank(n, call()) for n in (0, 1, 2)), rank(3, state="R", stack=["solve (app.c:40)", "main (app.c:5)"]))
    assert guilty == [3]
    assert line == (
        "ranks 0-2 wait in allreduce #12 of MPI_COMM_WORLD (8 bytes) since 3.0 s for rank 3, which computes outside MPI "
        "since 3.5 s in solve (app.c:40) < main (app.c:5); its last call was barrier #11 (called at step (app.c:9))"
    )


def test_without_a_stack_less_is_said():
    for stack in ([], ["sched_yield", "??", "??"]):  # the host's own wait looks like that where frames have no names
        assert "which runs outside Espalier's calls" in first(*(rank(n, call()) for n in (0, 1, 2)), rank(3, state="R", stack=stack))[1]


@pytest.mark.parametrize(
    "more, words",
    [
        ({"state": "T"}, "which is stopped (SIGSTOP or SIGTSTP)"),
        ({"state": "Z"}, "which died (process 103 has died)"),
        ({"state": ""}, "which died (process 103 is gone)"),
        ({"state": "D"}, "which waits for the kernel"),
        ({"has_left": True}, "which has called MPI_Finalize, and makes no more calls"),
        ({"requests": "get (app.c:7)"}, "which is in a call that may wait for requests (MPI_Wait and the like) (called at get (app.c:7))"),
        ({"stack": ["poll", "PMPI_Recv", "get (app.c:7)", "main"]}, "which waits in MPI_Recv of the host MPI (called at get (app.c:7))"),
        ({"stack": ["poll", "MPI_Wait", "??"], "requests": "get (app.c:7)"}, "MPI_Wait of the host MPI (called at get (app.c:7))"),
    ],
)
def test_what_the_awaited_rank_does(more, words):
    guilty, line = first(*(rank(n, call()) for n in (0, 1, 2)), rank(3, **more))
    assert guilty == [3] and words in line, line


READS = {"between": 0.1, "faults": 512, "state": "D"}
SHARES = {"between": 0.1, "delayed": 0.75, "state": "R", "core": 1, "beside": ["hog (process 4711)", "rank 2"]}


@pytest.mark.parametrize(
    "more, words",
    [
        (READS, "which reads its memory back: 512 major faults in 100 ms; it waits for the kernel"),
        ({**READS, "state": "R", "swapped": 3 << 30}, "512 major faults in 100 ms, 3,072 MiB of it are in swap; it runs outside"),
        (SHARES, "which waits for its processor: 75 of 100 ms, beside hog (process 4711), rank 2 on core 1; it runs outside"),
        ({**SHARES, "beside": []}, "which waits for its processor: 75 of 100 ms, on core 1; it runs outside"),
        ({**SHARES, "beside": list("abcde")}, "beside a, b, c and 2 more on core 1"),
    ],
)
def test_a_rank_that_is_held_up(more, words):
    guilty, line = first(*(rank(n, call()) for n in (0, 1, 2)), rank(3, **more))
    assert guilty == [3] and words in line, line


@pytest.mark.parametrize(
    "more", [{**READS, "state": "R", "faults": 3}, {**SHARES, "delayed": 0.1}, {**SHARES, "delayed": None}, {**READS, "faults": 0}]
)
def test_a_little_is_no_cause(more):
    line = first(*(rank(n, call()) for n in (0, 1, 2)), rank(3, **more))[1]
    assert "memory back" not in line and "its processor" not in line, line


@pytest.mark.parametrize("more", [READS, SHARES])
def test_what_holds_up_a_rank_that_waits_stops_or_is_dead_is_not_said(more):
    """It lacks a message, or a signal; that it polls beside others is no cause."""
    for state in ({"stack": ["poll", "PMPI_Recv", "main"]}, {"requests": "get (app.c:7)"}, {"state": "T"}, {"state": ""}):
        line = first(*(rank(n, call()) for n in (0, 1, 2)), rank(3, **{**more, **state}))[1]
        assert "memory back" not in line and "its processor" not in line, line


@pytest.mark.parametrize("more, guilty", [(READS, [3]), (SHARES, [3]), ({**SHARES, "beside": ["rank 2"]}, [])])
def test_a_rank_that_is_held_up_in_a_call_to_which_all_have_come(more, guilty):
    """Ranks that wait share cores, too: one beside other ranks alone is not to blame."""
    assert first(*(rank(n, call()) for n in (0, 1, 2)), rank(3, call(), **more))[0] == guilty


def test_one_that_cannot_go_on_comes_before_one_that_is_held_up():
    ranks = [rank(0, call()), rank(1, call(), **READS), rank(2, call(), state=""), rank(3, call(), **SHARES)]
    assert first(*ranks)[0] == [2]


def test_a_crawl_names_the_rank_that_is_held_up():
    ranks = [*(rank(n, call(), has_moved=True, calls_per_second=9.0) for n in (0, 1, 2)), rank(3, has_moved=True, **READS)]
    assert said(ranks)[0] == (
        "the job goes on: up to 9 calls per second of a rank; rank 3 reads its memory back: 512 major faults in 100 ms"
    )


def test_a_rank_that_is_stopped_in_a_call_to_which_all_have_come():
    ranks = [*(rank(n, call()) for n in (0, 1, 2)), rank(3, call(), state="T")]
    guilty, line = first(*ranks)
    assert guilty == [3] and "for rank 3, which is stopped" in line, line


def test_a_rank_in_an_earlier_call_holds_up_the_others():
    guilty, line = first(*(rank(n, call()) for n in (0, 1, 2)), rank(3, call("barrier", 11, bytes=0), call("scan", 10), "R"))
    assert guilty == [3] and "for rank 3, which is in barrier #11 of MPI_COMM_WORLD since 3.0 s" in line, line


def test_in_a_bcast_ranks_wait_for_the_root_alone():
    bcast = call("bcast", root=1)
    guilty, line = first(rank(0, bcast), rank(1, state="R"), rank(2, bcast), rank(3, state="R"))
    assert guilty == [1] and line.startswith("ranks 0, 2 wait in bcast #12"), line


def test_in_a_scan_ranks_wait_for_those_below():
    scan = call("scan")
    assert first(rank(0, scan), rank(1, state="R"), rank(2, scan), rank(3, state="R"))[0] == [1, 3]
    assert first(rank(0, state="R"), rank(1, scan), rank(2, scan), rank(3, state="R"))[0] == [0]


def test_a_chain_leads_to_its_end():
    row = Comm("r", "row", 2, 0, 2, 1)
    ranks = [
        rank(0, call()),
        rank(1, call()),
        rank(2, call("barrier", 1, "r"), communicators=[world(2), row]),
        rank(3, state="T", communicators=[world(3), Comm("r", "row", 2, 1, 2, 1)]),
    ]
    guilty, line = first(*ranks)
    assert guilty == [3] and "is stopped" in line
    assert any(each.startswith("rank 2 waits in barrier #1 of row") for each in said(ranks))


def test_two_communicators_in_another_order():
    comms = lambda n: [Comm("a", "a", 2, n, 0, 1), Comm("b", "b", 2, n, 0, 1)]  # noqa: E731
    ranks = [
        rank(0, call("barrier", 1, "a"), ranks=2, communicators=comms(0)),
        rank(1, call("barrier", 1, "b"), ranks=2, communicators=comms(1)),
    ]
    for each in ranks:  # they poll, and may do so beside others: that is not why they wait
        each.state, each.between, each.delayed, each.beside = "R", 0.1, 0.9, ["hog (process 4711)"]
    waits = waiting.analyse(ranks)
    assert (waits.guilty, waits.circle) == ([], [0, 1])
    assert said(ranks)[0].startswith("ranks 0, 1 wait for each other: rank 0 is in barrier #1 of a")


def test_different_collectives_and_lengths():
    ranks = [*(rank(n, call("bcast", 5, root=0)) for n in (0, 1, 2)), rank(3, call("allreduce", 5))]
    assert said(ranks)[0] == (
        "ranks 0-2 are in bcast #5 (called at step (app.c:9)) and rank 3 is in allreduce #5 (called at step (app.c:9)): "
        "they call different collectives"
    )
    ranks[3] = rank(3, call("bcast", 5, root=0, bytes=16))
    assert said(ranks)[0].endswith("different lengths or roots")


def test_a_difference_in_a_call_that_some_have_left():
    ranks = [*(rank(n, call()) for n in (0, 1, 2)), rank(3, call("bcast", 11, root=0), call("scan", 10))]
    assert said(ranks)[0].startswith("ranks 0-2 were in barrier #11 (called at step (app.c:9)) and rank 3 is in bcast #11")


def test_a_member_that_never_used_the_communicator():
    pair = [Comm("p", "pair", 2, 0, 0, 0)]
    line = first(rank(0, call("barrier", None, "p"), communicators=[world(0), *pair]), rank(1, state="R"))[1]
    assert "the ranks still meet" in line and "1 rank that have not used this communicator" in line


def test_a_death_is_said_also_where_nobody_waits():
    assert said([rank(0), rank(1, state="")])[0] == "rank 1 died: its process 101 is gone"


def test_a_job_that_goes_on():
    assert said([rank(n, call(), has_moved=True, calls_per_second=1234.0) for n in range(4)])[0].startswith("the job goes on: up to 1,234")


def test_calls_of_the_host():
    hosts = call("exscan", 3, by_host=True)
    line = first(rank(0, hosts), *(rank(n, state="R") for n in (1, 2, 3)))[1]
    assert "exscan of MPI_COMM_WORLD (8 bytes, served by the host)" in line


def test_threads_are_all_seen():
    other = Comm("o", "other", 4, 0, 0, 1)
    both = rank(0, call(), communicators=[world(0), other])
    both.inside.append(call("barrier", 1, "o"))
    assert waiting.analyse([both, *(rank(n, call()) for n in (1, 2, 3))]).guilty == [1, 2, 3]
    assert len(waiting.analyse([both]).groups) == 2


def ranks_of_a_job():
    return [*(rank(n, call()) for n in (0, 1, 2)), rank(3, state="T")]


def test_the_document_fits_its_schema_and_comes_back():
    found = {"schema": "espalier-who/1", **show.document({JOB: ranks_of_a_job()})}
    Draft202012Validator(document.schema("who")).validate(json.loads(json.dumps(found)))
    assert [from_document(item) for item in found["jobs"][0]["seen"]] == ranks_of_a_job()


def test_the_flight_record_as_statistics_and_for_pytorch(tmp_path):
    ranks = ranks_of_a_job()
    assert flight.write(ranks, tmp_path / "f.json", None) == [tmp_path / "f.json"]
    report = flight.statistics_of(json.loads((tmp_path / "f.json").read_text()))
    rows = {row["collective"]: row for row in report["rows"]}
    assert rows["allreduce"]["calls"] == 1 and rows["allreduce"]["slowest_seconds"] == 3.0
    assert rows["barrier"]["mean_seconds"] == 0.5
    entries = flight.of_pytorch(ranks[0], ranks)["entries"]
    assert [entry["state"] for entry in entries] == ["completed", "started"]
    assert [entry["profiling_name"] for entry in entries] == ["nccl:all_reduce_barrier", "nccl:all_reduce"]


def test_the_clock_takes_the_moments_that_are_farthest_apart():
    class Moments:
        def __init__(self, *moments):
            self.moments = moments

    clock = clock_of([Moments((1000, 5_000_000), (3000, 6_000_000)), Moments((1010, 5_005_000), (401_000, 205_000_000))])
    assert clock.per_tick == pytest.approx(500, rel=1e-3)
    assert clock.ago(401_000, 206_000_000) == pytest.approx(0.001)
    assert clock_of([Moments((1, 10), (2, 20))]).ago(1, 30) is None


@pytest.mark.parametrize(
    "numbers, text", [([3], "rank 3"), ([0, 1], "ranks 0, 1"), ([0, 1, 2, 5], "ranks 0-2, 5"), ([7, 9, 8], "ranks 7-9")]
)
def test_numbers(numbers, text):
    assert verdict.some(numbers) == text


@pytest.mark.parametrize("seconds, text", [(0.0123, "12 ms"), (2.34, "2.3 s"), (300, "5 min"), (7200, "2.0 h")])
def test_spans(seconds, text):
    assert verdict.span(seconds) == text
