"""`espalier run --flight` and `espalier report` of what it and the statistics leave, of programs that really run."""

import json

import pytest
from conftest import LIB, VENVS, compile_c

MPIRUN = VENVS / "mpich/bin/mpirun"

# Rank 1 comes 6 ms late to each of 150 allreduces, which follow on 50 bcasts that are short.
PROGRAM = """
#include <mpi.h>
#include <unistd.h>
int main(int argc, char **argv) {
  double in[1024] = {1}, out[1024];
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < 50; ++i) MPI_Bcast(in, 1024, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  for (int i = 0; i < 150; ++i) {
    if (rank == 1) usleep(6000);
    MPI_Allreduce(in, out, 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    return compile_c([str(VENVS / "mpich/bin/mpicc")], PROGRAM, tmp_path_factory.mktemp("program") / "program")


def run(espalier, program, *options):
    result = espalier("run", *options, "--", MPIRUN, "-n", "2", program, lib=LIB)
    assert result.returncode == 0, result.stderr
    return result


def seen(espalier, path):
    """By rank; the calls oldest first."""
    result = espalier("who", "--json", path)
    assert result.returncode == 0, result.stderr
    (job,) = json.loads(result.stdout)["jobs"]
    return {each["rank"]: each for each in job["seen"]}


def test_each_of_the_last_calls_has_its_times_at_the_end(espalier, program, tmp_path):
    run(espalier, program, f"--flight={tmp_path}/last")
    ranks = seen(espalier, tmp_path / "last")
    assert sorted(ranks) == [0, 1] and len({each["boot"] for each in ranks.values()}) == 1
    for each in ranks.values():
        assert each["boot"] and each["at_ns"] > 0 and len(each["calls"]) >= 60
        assert {call["collective"] for call in each["calls"]} == {"allreduce"} and each["calls"][-1]["sequence"] == 200
        assert all(call["seconds"] >= call["ended"] >= 0 for call in each["calls"])
    shown = espalier("report", tmp_path / "last", "--text", COLUMNS="120")
    assert "Rank 1 came last most often" in shown.stdout and "as chance" not in shown.stdout, shown.stdout
    assert shown.stdout.splitlines()[3].startswith("rank 0 ") and "." in shown.stdout.splitlines()[3], shown.stdout


def test_a_stretch_in_the_middle(espalier, program, tmp_path):
    """Short calls in a row, of which one in 32 has times without being asked."""
    run(espalier, program, f"--flight={tmp_path}/last", "--flight-at", "45")
    for each in seen(espalier, tmp_path / "last").values():
        assert each["calls"][-1]["sequence"] == 45 and len(each["calls"]) >= 40
        assert all(call["seconds"] is not None and call["ended"] is not None for call in each["calls"])
    made = espalier("report", tmp_path / "last", "--stretch", "20:30", "-o", tmp_path / "page.html")
    assert made.returncode == 0, made.stderr
    page = (tmp_path / "page.html").read_text()
    assert "the 2 ranks made 22 calls" in page
    assert 'aria-label="Calls of each rank over time' in page


def test_nothing_is_written_unless_it_is_asked_for(espalier, program, tmp_path):
    run(espalier, program, "--set", f"flight={tmp_path}/last")
    assert list(tmp_path.iterdir()) == []


def test_a_moment_that_is_none_is_told(espalier, program, tmp_path):
    result = run(espalier, program, "--set", f"flight={tmp_path}/last", "--set", "flight_at=-3")
    assert "ESPALIER_FLIGHT_AT=-3 is neither `end` nor a number of calls" in result.stderr
    assert list(tmp_path.iterdir()) == []
    assert "goes with --flight" in espalier("run", "--flight-at", "3", "--", "true").stderr


def test_the_page_of_a_run(espalier, program, tmp_path):
    run(espalier, program, f"--stats={tmp_path}/run.json", "--arrivals", f"--flight={tmp_path}/last")
    row = next(row for row in json.loads((tmp_path / "run.json").read_text())["rows"] if row["collective"] == "allreduce")
    assert sum(row["arrival_spread"]) == 150 and row["mean_bytes"] == 64
    assert sum(row["arrival_spread"][20:]) >= 140, "later than a millisecond"
    assert row["came_last"][0]["rank"] == 1 and row["came_last"][0]["calls"] >= 140
    made = espalier("report", tmp_path / "run.json", "--flight", tmp_path / "last", "--limits", "opteron")
    assert made.returncode == 0 and f"written: {tmp_path}/run.html" in made.stdout, made.stderr
    page = (tmp_path / "run.html").read_text()
    for heading in ("Calls over time", "When the ranks came", "Beside the machine's limits"):
        assert f"<h2>{heading}</h2>" in page, heading
    assert page.count("<svg") == 3 and "Most waiting for the last rank" in page
    shown = espalier("report", tmp_path / "run.json", "--text", "--limits", "opteron", COLUMNS="200").stdout
    assert "of the limit" in shown and "bcast 8KiB .. <16KiB" in shown


def test_without_arrivals_the_page_says_how_to_get_them(espalier, program, tmp_path):
    run(espalier, program, f"--stats={tmp_path}/run.json")
    shown = espalier("report", tmp_path / "run.json", "--text").stdout
    assert "--arrivals" in shown and "Waiting was not counted" in shown


def test_options_of_a_run_are_refused_for_a_bench(espalier, tmp_path):
    (tmp_path / "bench.json").write_text('{"schema": "espalier-bench/1"}')
    assert "which the options are for" in espalier("report", tmp_path / "bench.json", "--text").stderr
    (tmp_path / "run.json").write_text('{"schema": 1, "rows": []}')
    assert "--points takes a result" in espalier("report", tmp_path / "run.json", "--points", tmp_path / "x").stderr
    assert "missing or of the wrong kind" in espalier("report", tmp_path / "run.json").stderr
