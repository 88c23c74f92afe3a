"""The C program under a real host, with an interposer that is right and with one that is wrong in each collective."""

import json
import subprocess

import pytest

from espalier import bench_build, bench_hosts, bench_jobs, bench_process

HOST = bench_hosts.HOSTS["mpich"]
needs_host = pytest.mark.skipif(not HOST.library_folder.exists(), reason="MPICH is not set up")


def build(folder, *flags):
    target = folder / "libinterposer.so"
    source = bench_build.source_tree() / "tests" / "bench" / "interposer.c"
    include = f"-I{HOST.folder / 'include'}"
    subprocess.run(["gcc", "-shared", "-fPIC", "-O2", include, *flags, "-o", str(target), str(source)], check=True)
    return target


def run(folder, ranks, preload, *options):
    out = folder / "out.jsonl"
    cpus = ",".join(map(str, bench_hosts.cores()))
    program = [str(bench_build.compare(HOST)), "--cpus", cpus, "--out", str(out), "--rounds", "2", *options]
    words = bench_hosts.launcher(HOST, ranks) + bench_process.wrapped({}, preload, program)
    outcome = bench_process.run(words, bench_hosts.environment(HOST, ranks), 120)
    assert outcome.fine, outcome.failure()
    return bench_jobs.read_lines(out.read_text())


@needs_host
@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_every_point_is_measured_and_right(tmp_path, ranks):
    found = run(tmp_path, ranks, build(tmp_path), "--sizes", "8,65536", "--limits", "--rotate-roots")
    assert found["end"] == {"rounds": 2, "wrong": 0}
    assert found["run"]["ranks"] == ranks and found["run"]["mpi_library"].endswith("libinterposer.so")
    points = [(r["collective"], r["bytes"]) for r in found["rounds"] if r["round"] == 0]
    sized = [(name, size) for name in ("bcast", "reduce", "allreduce") for size in (8, 65536)]
    assert points == [("barrier", 0), *sized]
    assert all(r["espalier_us"] > 0 and r["host_us"] >= r["host_mean_us"] * 0.999 for r in found["rounds"] if ranks > 1)
    assert len(found["limits"]) == 4 and json.dumps(found)


@needs_host
@pytest.mark.parametrize("collective", ["barrier", "bcast", "reduce", "allreduce"])
@pytest.mark.parametrize("reused", [False, True])
def test_wrong_results_are_seen(tmp_path, collective, reused):
    options = ["--collectives", collective, "--sizes", "1024"] + (["--reused"] if reused else [])
    assert run(tmp_path, 2, build(tmp_path, "-DLIE"), *options)["end"]["wrong"] > 0
    assert run(tmp_path, 2, build(tmp_path), *options)["end"]["wrong"] == 0


@needs_host
def test_without_an_interposer_the_job_does_not_count(tmp_path):
    found = run(tmp_path, 2, None, "--sizes", "8", "--collectives", "barrier")
    assert found["run"]["mpi_library"] == found["run"]["host_library"]


@needs_host
@pytest.mark.parametrize(
    "options, words",
    [
        (["--sizes", "12"], "bad size '12'"),
        (["--collectives", "gather"], "bad collective 'gather'"),
        (["--pin", "maybe"], "bad pinning 'maybe'"),
        (["--rounds", "0"], "bad number of rounds '0'"),
        (["--out"], "bad option or missing value '--out'"),
        (["--cpus", "x"], "bad processor 'x'"),
    ],
)
def test_bad_options(options, words):
    done = subprocess.run([str(bench_build.compare(HOST)), *options], capture_output=True, text=True, timeout=20)
    assert done.returncode == 2 and words in done.stderr and done.stderr.count("\n") == 1
