"""The program that measures candidates in turns (bench/trials), under a real host."""

import json
import subprocess

import pytest

from espalier.bench import build as bench_build, hosts, process
from espalier.bench.collectives import NAMES

HOST = hosts.HOSTS["mpich"]
pytestmark = pytest.mark.skipif(not HOST.library_folder.exists(), reason="MPICH is not set up")


def run(folder, points, *options):
    (folder / "points").write_text(points)
    words = ["--points", str(folder / "points"), "--out", str(folder / "out"), "--rounds", "2", *options]
    outcome = process.run([*hosts.launcher(HOST, 2), str(bench_build.trials(HOST)), *words], hosts.environment(HOST, 2), 120)
    assert outcome.fine, outcome.failure()
    return [json.loads(line) for line in (folder / "out").read_text().splitlines()]


@pytest.mark.parametrize("options", [[], ["--shift", "8"], ["--derived"]], ids=" ".join)
def test_every_collective_is_measured_and_right(tmp_path, options):
    """By the host alone; a datatype of its own only where no operator is at work."""
    moves = ("bcast", "allgather", "gather", "scatter", "alltoall")
    names = [name for name in NAMES if name != "barrier" and ("--derived" not in options or name in moves)]
    found = run(tmp_path, "barrier 0 host\n" + "".join(f"{name} 4096 host\n" for name in names), *options)
    assert found[0]["host_version"].startswith("MPICH") and found[-1]["wrong"] == 0
    rounds = [(entry["collective"], entry["round"], entry["root"]) for entry in found if entry["kind"] == "trials"]
    assert sorted(rounds) == sorted((name, i, i) for name in ["barrier", *names] for i in (0, 1))
    assert all(entry["sides"] == ["host"] and entry["us"][0] > 0 for entry in found if entry["kind"] == "trials")


@pytest.mark.parametrize("line", ["bcst 8 host", "bcast 9 host", "bcast 8 99", "bcast 8 -1", "bcast"])
def test_lines_that_are_none(tmp_path, line):
    (tmp_path / "points").write_text(f"barrier 0 host\n{line}\n")
    done = subprocess.run([bench_build.trials(HOST), "--points", tmp_path / "points"], capture_output=True, text=True)
    assert done.returncode == 2 and "points:2:" in done.stderr


def test_options_that_are_none(tmp_path):
    for words in (["--points"], ["--points", str(tmp_path / "none")], ["--shift", "7", "--points", "x"], []):
        assert subprocess.run([bench_build.trials(HOST), *words], capture_output=True).returncode == 2


@pytest.mark.parametrize("program", ["compare", "trials"])
def test_ranks_that_cannot_write_end_in_order(tmp_path, program):
    """The launcher passes on what they say: of a job that is aborted it may lose that."""
    (tmp_path / "points").write_text("barrier 0 host\n")
    words = ["--points", str(tmp_path / "points")] if program == "trials" else ["--host-only"]
    command = [str(getattr(bench_build, program)(HOST)), *words, "--out", f"{tmp_path}/none/out"]
    outcome = process.run([*hosts.launcher(HOST, 2), *command], hosts.environment(HOST, 2), 60)
    assert outcome.code == 1 and outcome.output == f"{program}: cannot write {tmp_path}/none/out\n", outcome.output
