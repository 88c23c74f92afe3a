"""`espalier lint` as a user types it: mistakes, and one short run under a real MPI."""

import json

import pytest
from conftest import LIB, VENVS

MPIRUN = VENVS / "mpich" / "bin" / "mpirun"
needs_mpi = pytest.mark.skipif(not MPIRUN.exists(), reason="MPICH is not set up")


@pytest.mark.parametrize(
    "words, said",
    [
        (["--budget", "1"], "give it 10s at least"),
        (["--plot", "a.gif"], "ends in .png or .svg"),
        (["--ranks", "0"], "must lie between 2 and 256"),
        (["--collectives", "scn"], "did you mean scan?"),
        (["--sizes", "9"], "multiples of 8 bytes"),
        (["--mpirun", "/no/such/mpirun"], "there is no such program"),
        (["--mpirun", "/bin/true"], "is no launcher of MPICH, Intel MPI or Open MPI"),
        (["--most", "0"], "--most"),
        (["--json", "FOLDER/file/x.json"], "is a file, not a folder"),
        (["--when-busy", "never"], "ask, wait, go"),
        (["--bogus"], "No such option"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_mistakes(espalier, words, said, tmp_path):
    (tmp_path / "file").write_text("")
    done = espalier("lint", *(word.replace("FOLDER", str(tmp_path)) for word in words))
    assert done.returncode == 2 and said in done.stderr and "Traceback" not in done.stderr


def test_help_names_its_page(espalier):
    done = espalier("lint", "-h")
    assert done.returncode == 0 and "docs/lint.md" in done.stdout


@needs_mpi
def test_a_short_run_under_a_real_mpi(espalier, tmp_path):
    """Whether it finds anything is this machine's affair; that all was measured is not. No library of Espalier is there."""
    words = ["--mpirun", MPIRUN, "--ranks", 2, "--collectives", "bcast,scan", "--sizes", "8,64", "--budget", "20s", "--most", 1]
    done = espalier("lint", *words, "--no-ways", "--when-busy", "go", "--json", tmp_path / "found.json", timeout=300)
    assert done.returncode == 0, done.stderr
    assert "MPICH" in done.stdout and "calls measured" in done.stdout
    found = json.loads((tmp_path / "found.json").read_text())
    assert found["schema"] == "espalier-lint/1" and found["host"].startswith("MPICH")
    assert all(low <= middle <= high for low, middle, high in (each["us"] for each in found["times"]))
