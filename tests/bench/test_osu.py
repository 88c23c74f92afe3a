"""The tables that come first: single calls and blocks, named; key=value lines; failures by their reasons."""

import re

from rich.console import Console

from espalier.bench import command, process
from espalier.bench.results import compare, osu, stats, table, verdict
from made_up import make_document, make_job, make_round, steady


def both_ways(collective="allreduce", size=8, rounds=5):
    """Single calls of 3 and 1.5 µs, in blocks 1 and 0.25 µs."""
    twice = {"timing": "single", "host_block_us": 1.0, "espalier_block_us": 0.25}
    return [{**make_round(collective, size, 3.0, 1.5, 60.0, number), **twice} for number in range(rounds)]


def shown(document, **more):
    console = Console(record=True, width=160)
    command.show(document, console, **more)
    return console.export_text()


def test_single_calls_come_first_and_blocks_are_named():
    document = make_document(make_job("mpich", 2, both_ways() + steady("bcast", 1 << 20, 100.0, 50.0)))
    text = shown(document)
    assert "Against the goals" not in text and text.index("MPICH, 2 ranks, buffers written") > 0
    rows = {line.split()[0]: line.split() for line in text.splitlines() if line.startswith(("allreduce", "bcast"))}
    assert rows["allreduce"] == ["allreduce", "8B", "3.00", "1.50", "2.00", "1.00", "0.25", "4.00"]
    assert rows["bcast"] == ["bcast", "1MiB", "100.0", "50.00", "2.00"]
    assert "one call at a time from a common start; in blocks: calls that follow on each other" in text


def test_forty_columns():
    console = Console(record=True, width=40)
    command.show(make_document(make_job("mpich", 2, both_ways())), console)
    lines = console.export_text().splitlines()
    assert {"  host             3.00", "  in blocks: host  1.00", "  size             8B"} <= set(map(str.rstrip, lines))


def test_without_blocks_there_are_no_columns_of_them():
    text = shown(make_document(make_job("mpich", 2, steady("bcast", 8, 3.0, 1.5))))
    assert "in blocks" not in text


def test_goals_use_the_single_calls():
    document = make_document(make_job("mpich", 2, both_ways()))
    assert [(s.key.timing, s.ratio.mid) for s in stats.summarise(document)] == [("single", 2.0)]
    assert [(s.key.timing, s.ratio.mid) for s in stats.blocks(document)] == [("block", 4.0)]
    mean = next(goal for goal in verdict.verdict(document) if goal.name == "best-peer-mean-near")
    assert mean.note.startswith("2.00 x") and "Against the goals" in shown(document, goals=True)


def test_points_alone_say_the_same():
    document = make_document(make_job("mpich", 2, both_ways()))
    alone = {**document, "jobs": [], "points": stats.points(document)}
    assert [s.key for s in stats.summarise(alone)] == [s.key for s in stats.summarise(document)]
    assert [s.key for s in stats.blocks(alone)] == [s.key for s in stats.blocks(document)]


def test_a_kept_result_in_blocks_is_compared_with_blocks():
    """Files from before have short calls in blocks alone, and do not say so."""
    old = make_document(make_job("mpich", 2, steady("allreduce", 8, 2.0, 0.5) + steady("bcast", 8, 3.0, 3.0)))
    new = make_document(make_job("mpich", 2, both_ways() + steady("bcast", 8, 3.0, 1.5)))
    assert {s.key.collective: s.key.timing for s in stats.summarise(old)} == {"allreduce": "block", "bcast": "single"}
    found = compare.changes(stats.summarise(old) + stats.blocks(old), stats.summarise(new) + stats.blocks(new))
    assert {(change.new.key.collective, change.new.key.timing): change.factor for change in found} == {
        ("allreduce", "block"): 2.0,
        ("bcast", "single"): 2.0,
    }


def test_key_value_lines():
    lines = list(osu.key_values(make_document(make_job("mpich", 2, both_ways(), place="one core"))))
    assert len(lines) == 2 and all(re.fullmatch(r"(\w+=\S+ ?)+", line) for line in lines)
    single, block = (dict(word.split("=") for word in line.split()) for line in lines)
    assert (single["timing"], single["host_us"], single["ratio"], single["place"]) == ("single", "3", "2", "one_core")
    assert (block["timing"], block["host_us"], block["espalier_us"], block["bytes"]) == ("block", "1", "0.25", "8")


def test_one_line_for_each_distinct_failure():
    def failed(command, why, *last):
        return {"command": command, "why": why, "last_lines": ["noise", *last]}

    failures = [failed("mpirun a", "ended with code 6", "no [memory]"), failed("mpirun b", "ended with code 6", "no [memory]")]
    failures += [failed("mpirun c", "ran past its time limit")]
    console = Console(record=True, width=60)
    table.print_failures(failures, console)
    assert console.export_text().splitlines() == [
        "2 jobs ended with code 6: no [memory]  (the first: mpirun a)",
        "a job ran past its time limit: noise  (mpirun c)",
    ]
    table.print_failures(failures, console, details=True)
    assert console.export_text().count("| noise") == 3


def test_what_a_launcher_adds_is_not_the_reason():
    lines = [
        "compare: bad option of this MPI, which has no persistent collectives: '--persistent'",
        "-" * 74,
        "Primary job  terminated normally, but 1 process returned",
        "a non-zero exit code. Per user-direction, the job has been aborted.",
        "mpirun detected that one or more processes exited with non-zero status, thus causing",
        "the job to be terminated. The first process to do so was:",
        "  Process name: [[1234,1],0]",
        "  Exit code:    2",
    ]
    assert process.telling(lines) == lines[0]
    assert process.telling(lines[1:3]) == lines[2] and process.telling([]) == ""
    hydra = ["own words", "YOUR APPLICATION TERMINATED WITH THE EXIT STRING: Killed (signal 9)", "This typically refers to a problem"]
    assert process.telling(hydra) == "own words"
