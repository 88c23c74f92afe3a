"""The C program under a real host, with an interposer that is right and with one that is wrong in each collective."""

import atexit
import functools
import json
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

from espalier.bench import build as bench_build, hosts, jobs, process
from espalier.bench.collectives import ALL, ALLTOALLW, NAMES, NEIGHBOURS

HOST = hosts.HOSTS["mpich"]
needs_host = pytest.mark.skipif(not HOST.library_folder.exists(), reason="MPICH is not set up")


@functools.cache
def build(*flags):
    """Once for all tests of this process."""
    target = Path(tempfile.mkdtemp(prefix="espalier-interposer-")) / "libinterposer.so"
    atexit.register(shutil.rmtree, target.parent, ignore_errors=True)
    source = bench_build.source_tree() / "tests" / "bench" / "interposer.c"
    include = f"-I{HOST.folder / 'include'}"
    subprocess.run(["gcc", "-shared", "-fPIC", "-O2", include, *flags, "-o", str(target), str(source)], check=True)
    return target


def run(folder, ranks, preload, *options, host=HOST):
    out = folder / "out.jsonl"
    cpus = ",".join(map(str, hosts.cores()))
    program = [str(bench_build.compare(host)), "--cpus", cpus, "--out", str(out), "--rounds", "2", *options]
    settings = hosts.environment(host, ranks) | (hosts.preloaded(preload) if preload else {})
    outcome = process.run(hosts.launcher(host, ranks) + program, settings, 120)
    assert outcome.fine, outcome.failure()
    return jobs.read_lines(out.read_text())


@needs_host
@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_every_point_is_measured_and_right(tmp_path, ranks):
    found = run(tmp_path, ranks, build(), "--sizes", "8,65536", "--limits", "--rotate-roots")
    assert found["end"] == {"rounds": 2, "wrong": 0}
    assert found["run"]["ranks"] == ranks and found["run"]["mpi_library"].endswith("libinterposer.so")
    points = [(r["collective"], r["bytes"]) for r in found["rounds"] if r["round"] == 0]
    sized = [(name, size) for name in NAMES[1:] for size in (8, 65536)]
    assert points == [("barrier", 0), *sized]
    assert found["run"]["taken"] == list(NAMES) and found["run"]["left_out"] == []
    assert all(r["espalier_us"] > 0 and r["host_us"] >= r["host_mean_us"] * 0.999 for r in found["rounds"] if ranks > 1)
    oversubscribed = ranks > len(hosts.cores())
    assert len(found["limits"]) == (0 if oversubscribed else 4) and len(found["switches"]) == (2 if oversubscribed else 0)
    assert all(entry["switch_us"] > 0 for entry in found["switches"]) and json.dumps(found)


@needs_host
@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_pieces_are_measured_where_they_are_asked_for(tmp_path, ranks):
    names = ALLTOALLW + NEIGHBOURS
    found = run(tmp_path, ranks, build(), "--sizes", "8,65536", "--collectives", ",".join(names))
    assert found["end"] == {"rounds": 2, "wrong": 0} and found["run"]["taken"] == list(names)
    points = [(r["collective"], r["bytes"]) for r in found["rounds"] if r["round"] == 0]
    assert points == [(name, size) for name in names for size in (8, 65536)]


@needs_host
@pytest.mark.parametrize("more, timed_twice", [([], True), (["--late", "100"], False)])
def test_short_calls_that_hold_together_are_timed_both_ways(tmp_path, more, timed_twice):
    found = run(tmp_path, 2, build(), "--sizes", "1024,2048", "--collectives", "barrier,bcast,allreduce", *more)
    assert found["end"]["wrong"] == 0 and {r["timing"] for r in found["rounds"]} == {"single"}
    in_blocks = {(r["collective"], r["bytes"]) for r in found["rounds"] if "host_block_us" in r}
    assert in_blocks == ({("barrier", 0), ("allreduce", 1024)} if timed_twice else set())
    assert all(r["host_block_us"] > 0 and r["espalier_block_us"] > 0 for r in found["rounds"] if "host_block_us" in r)


@needs_host
def test_ranks_that_share_a_core_are_switched_to(tmp_path):
    found = run(tmp_path, 3, build(), "--cpus", str(hosts.cores()[0]), "--limits", "--collectives", "barrier")
    assert [entry["per_core"] for entry in found["switches"]] == [3, 3]
    assert found["run"]["affinity"] == hosts.cores()[:1] and not found["run"]["pinned"]
    assert all(entry["switch_us"] > 0 for entry in found["switches"])


@needs_host
def test_limits_name_the_cut(tmp_path):
    if len(hosts.cores()) < 2:
        pytest.skip("one core: nothing can be copied in and out at the same time")
    found = run(tmp_path, 2, build(), "--limits", "--sizes", "8,1048576", "--collectives", "barrier")
    assert all(entry["memcpy_us"] > 0 and entry["pipe_us"] > 0 for entry in found["limits"])
    assert {entry["pipe_chunk"] for entry in found["limits"] if entry["bytes"] == 8} == {4096}
    assert all(4096 <= entry["pipe_chunk"] <= 65536 and entry["pipe_slots"] in (2, 4, 8) for entry in found["limits"])


@needs_host
def test_a_late_rank_does_not_count_its_own_delay(tmp_path):
    options = ["--late", "20000", "--collectives", "barrier,bcast,scan", "--sizes", "8", "--rounds", "1"]
    found = run(tmp_path, 2, build(), *options)
    assert found["run"]["late_us"] == 20000 and found["end"]["wrong"] == 0
    assert all(0 < r["host_us"] for r in found["rounds"])
    assert min(r["host_us"] for r in found["rounds"]) < 20000


@needs_host
def test_single_calls_come_in_alternating_blocks(tmp_path):
    found = run(tmp_path, 2, build(), "--each", "--collectives", "allreduce", "--sizes", "8")
    assert [(e["round"], e["side"]) for e in found["each"]] == [(0, "host"), (0, "espalier"), (1, "espalier"), (1, "host")]
    assert all(len(e["us"]) == 256 and min(e["us"]) > 0 for e in found["each"]) and found["rounds"] == []


@needs_host
def test_points_that_need_too_much_memory_are_left_out_and_named(tmp_path):
    found = run(tmp_path, 2, build(), "--memory", "500000", "--sizes", "65536,131072", "--collectives", "bcast,allgather")
    assert found["run"]["left_out"] == [{"collective": "bcast", "bytes": 131072}, {"collective": "allgather", "bytes": 131072}]
    assert {r["bytes"] for r in found["rounds"]} == {65536}


@needs_host
def test_calls_only(tmp_path):
    found = run(tmp_path, 2, build(), "--calls-only", "--sizes", "8,64")
    assert found["rounds"] == [] and found["end"] == {"rounds": 0, "wrong": 0}
    assert run(tmp_path, 2, build("-DLIE"), "--calls-only", "--sizes", "64")["end"]["wrong"] > 0


@needs_host
@pytest.mark.parametrize("name", [name for name in hosts.HOSTS if hosts.HOSTS[name].library_folder.exists()])
def test_ranks_leave_their_launchers_session(tmp_path, name):
    options = ["--sessions", "own", "--collectives", "barrier", "--host-only"]
    found = run(tmp_path, 2, None, *options, host=hosts.HOSTS[name])
    assert found["run"]["own_sessions"] and not found["run"]["shared_session"]


@needs_host
def test_ranks_whose_yields_are_weak(tmp_path):
    """Two ranks on one core in two sessions: early ones sleep before the start, and all come to it."""
    options = ["--sessions", "own", "--cpus", "0", "--collectives", "barrier,bcast,scatter", "--sizes", "8,262144"]
    found = run(tmp_path, 2, build(), *options)
    assert found["run"]["weak_yields"] == found["run"]["autogroup"] and found["end"]["wrong"] == 0


@needs_host
@pytest.mark.parametrize("collective", ALL)
@pytest.mark.parametrize("reused", [False, pytest.param(True, marks=pytest.mark.full)])
def test_wrong_results_are_seen(tmp_path, collective, reused):
    """Right ones are not taken for wrong: test_every_point_is_measured_and_right and the tests behind it."""
    options = ["--collectives", collective, "--sizes", "1024"] + (["--reused"] if reused else [])
    assert run(tmp_path, 2, build("-DLIE"), *options)["end"]["wrong"] > 0
    if reused:
        assert run(tmp_path, 2, build(), *options)["end"]["wrong"] == 0


@needs_host
@pytest.mark.parametrize("name", [name for name in hosts.HOSTS if hosts.HOSTS[name].library_folder.exists()])
def test_persistent_calls_are_measured_and_right(tmp_path, name):
    host = hosts.HOSTS[name]
    right = [collective for collective in NAMES if host.wrong_persistent.get(collective, (3, 0))[0] > 2]
    options = ["--persistent", "--sizes", "8,65536", "--rotate-roots", "--collectives", ",".join(right)]
    found = run(tmp_path, 2, None, *options, host=host)
    assert found["run"]["mode"] == "persistent" and found["end"] == {"rounds": 2, "wrong": 0}
    points = [(r["collective"], r["bytes"]) for r in found["rounds"] if r["round"] == 0]
    assert points == [(collective, size) for collective in right for size in ((8, 65536) if collective != "barrier" else (0,))]
    assert all(r["espalier_us"] > 0 and r["host_us"] > 0 for r in found["rounds"])


@needs_host
@pytest.mark.parametrize("collective", NAMES)
def test_wrong_results_of_persistent_calls_are_seen(tmp_path, collective):
    options = ["--persistent", "--calls-only", "--collectives", collective, "--sizes", "1024"]
    assert run(tmp_path, 2, build("-DLIE"), *options)["end"]["wrong"] > 0


@needs_host
def test_a_persistent_collective_is_taken_where_its_request_is_made(tmp_path):
    found = run(tmp_path, 2, build(), "--persistent", "--collectives", "bcast,reduce", "--sizes", "8")["run"]
    assert found["taken"] == ["bcast"] and found["mpi_library"] != found["host_library"]


@needs_host
def test_single_persistent_calls_and_a_late_rank(tmp_path):
    found = run(tmp_path, 2, build(), "--persistent", "--each", "--late", "100", "--collectives", "allreduce", "--sizes", "8")
    assert found["end"]["wrong"] == 0 and {e["side"] for e in found["each"]} == {"host", "espalier"}


@needs_host
@pytest.mark.parametrize("name", [name for name in hosts.HOSTS if hosts.HOSTS[name].library_folder.exists()])
def test_nonblocking_calls_are_measured_and_right(tmp_path, name):
    options = ["--nonblocking", "--compute", "20", "--sizes", "8,65536", "--rotate-roots"]
    found = run(tmp_path, 2, None, *options, host=hosts.HOSTS[name])
    assert (found["run"]["mode"], found["run"]["compute_us"]) == ("nonblocking", 20)
    assert found["end"] == {"rounds": 2, "wrong": 0} and {r["collective"] for r in found["rounds"]} == set(NAMES)
    assert all(r["espalier_us"] > 20 and r["host_us"] > 20 for r in found["rounds"])


@needs_host
@pytest.mark.parametrize("options", [["--nonblocking", "--persistent"], ["--compute", "20"]])
def test_modes_exclude_each_other(tmp_path, options):
    with pytest.raises(AssertionError):
        run(tmp_path, 2, None, *options, "--sizes", "8", "--collectives", "barrier")


@needs_host
def test_without_an_interposer_the_job_does_not_count(tmp_path):
    found = run(tmp_path, 2, None, "--sizes", "8", "--collectives", "barrier")
    assert found["run"]["mpi_library"] == found["run"]["host_library"]


@needs_host
@pytest.mark.parametrize(
    "options, words",
    [
        (["--sizes", "12"], "bad size '12'"),
        (["--collectives", "gatherw"], "bad collective 'gatherw'"),
        (["--sessions", "two"], "bad kind of sessions 'two'"),
        (["--late", "soon"], "bad time of a late arrival 'soon'"),
        (["--memory", "0"], "bad bound of memory '0'"),
        (["--pin", "maybe"], "bad pinning 'maybe'"),
        (["--rounds", "0"], "bad number of rounds '0'"),
        (["--out"], "bad option or missing value '--out'"),
        (["--cpus", "x"], "bad processor 'x'"),
    ],
)
def test_bad_options(options, words):
    done = subprocess.run([str(bench_build.compare(HOST)), *options], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2 and words in done.stderr and done.stderr.count("\n") == 1
