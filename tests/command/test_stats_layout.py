"""What is printed at MPI_Finalize and by `espalier stats FILE` is one layout."""

import json
import re

import pytest
from conftest import LIB, ROOT, VENVS, compile_c

from espalier.stats import table

PROGRAM = """
#include <mpi.h>
int main(int argc, char **argv) {
  double in[1024] = {1}, out[1024];
  MPI_Init(&argc, &argv);
  for (int i = 0; i < 50; ++i) {
    MPI_Allreduce(in, out, 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Bcast(in, 1024, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
"""


def cells(text):
    """Lines of the table in columns; times differ from run to run."""
    lines = text.splitlines()
    begin = next(at for at, line in enumerate(lines) if line.startswith("ranks  "))
    end = lines.index(table.LEGEND[0])
    return [re.split(r"\s{2,}", line.strip()) for line in lines[begin:end]], lines[end:]


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    return compile_c([str(VENVS / "mpich/bin/mpicc")], PROGRAM, tmp_path_factory.mktemp("program") / "program")


@pytest.fixture
def command(program):
    return ["--", VENVS / "mpich/bin/mpirun", "-n", "2", program]


def test_both_print_one_layout(espalier, command, tmp_path):
    printed = espalier("run", "--stats", *command, lib=LIB)
    espalier("run", f"--stats={tmp_path}/run.json", *command, lib=LIB)
    shown = espalier("stats", tmp_path / "run.json")
    assert (printed.returncode, shown.returncode) == (0, 0), printed.stderr + shown.stderr
    (ours, legend), (theirs, last) = cells(printed.stderr), cells(shown.stdout)
    assert ours[0] == theirs[0] == list(table.HEADINGS)
    assert [row[:4] for row in ours] == [row[:4] for row in theirs] and ["2", "allreduce", "64B .. <128B", "50"] in [
        row[:4] for row in ours
    ]
    assert legend[: len(last)] == last == list(table.LEGEND)
    title = r"what ran \(2 ranks, MPICH Version: \S+, mpich build, [\d.]+ (s|ms)\)$"
    assert re.search("^espalier: " + title, printed.stderr, re.M) and re.search("^" + title, shown.stdout, re.M)


def test_what_is_counted_can_be(espalier, command, tmp_path):
    espalier("run", f"--stats={tmp_path}/run.json", *command, lib=LIB)
    report = json.loads((tmp_path / "run.json").read_text())
    for row in report["rows"]:
        assert 0 < row["mean_seconds"] <= row["slowest_seconds"] < report["run_seconds"]


def test_headings_and_legend_are_the_librarys():
    """Also where the library that is built is older."""
    source = (ROOT / "src/runtime/statistics/table.cpp").read_text()
    assert re.findall(r'Column\{"([^"]+)"', source) == list(table.HEADINGS)
    legend = "".join(re.findall(r'"(.*?)"', source.split("legend =")[1].split(";\n")[0]))
    assert legend.replace("\\n", "\n") == "\n".join(table.LEGEND) + "\n"
