"""`espalier tune` as a user types it: mistakes, a machine that is only described, and one short run under a real MPI."""

import json
import subprocess

import pytest
from conftest import LIB, VENVS, clean_environment

from espalier.simulate import run as simulate_run

MPIRUN = VENVS / "mpich" / "bin" / "mpirun"
needs_mpi = pytest.mark.skipif(not MPIRUN.exists() or not (LIB / "libespalier-mpich.so").exists(), reason="MPICH or Espalier is not built")
needs_simulator = pytest.mark.skipif(not simulate_run.program().exists(), reason="built without Boost.Context")


@pytest.mark.parametrize(
    "words, said",
    [
        (["--budget", "3"], "give it 10s at least"),
        (["--budget", "soon"], "write it as 90s, 5m or 1h"),
        (["--machine", "epyc-9654"], "name a file with --output"),
        (["--machine", "nope", "-o", "FOLDER/x.json"], "there is no such file"),
        (["--machine", "epyc-9654", "-o", "FOLDER/x.json", "--mpirun", "mpirun"], "it has no --mpirun"),
        (["--plot", "a.gif"], "ends in .png or .svg"),
        (["--ranks", "1"], "must lie between 2 and 256"),
        (["--ranks", "two"], "is no list of numbers of ranks"),
        (["--collectives", "alreduce"], "did you mean allreduce?"),
        (["--collectives", ""], "no collective named"),
        (["--sizes", "7"], "multiples of 8 bytes"),
        (["--mpirun", "/no/such/mpirun"], "there is no such program"),
        (["--mpirun", "/bin/true"], "is no launcher of MPICH, Intel MPI or Open MPI"),
        (["--from", "/no/such/file"], "No such file or directory"),
        (["--when-busy", "never"], "ask, wait, go"),
        (["-o", "FOLDER/file/x.json"], "is a file, not a folder"),
        (["--bogus"], "No such option"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_mistakes(espalier, words, said, tmp_path):
    (tmp_path / "file").write_text("")
    done = espalier("tune", *(word.replace("FOLDER", str(tmp_path)) for word in words))
    assert done.returncode == 2 and said in done.stderr and "Traceback" not in done.stderr
    assert not (tmp_path / "x.json").exists()


def test_help_names_its_page(espalier):
    done = espalier("tune", "-h")
    assert done.returncode == 0 and "docs/tuning.md" in done.stdout and "espalier tune --from run.json" in done.stdout


def test_what_no_program_would_find_has_to_be_named(espalier, tmp_path):
    done = espalier("tune", "--mpirun", tmp_path / "none", ESPALIER_TUNED="off", lib=LIB)
    assert done.returncode == 2 and "there is no such program" in done.stderr


@needs_simulator
def test_sixty_four_ranks_of_a_machine_that_is_only_described(espalier, tmp_path):
    """The same search and verdict as on a real one, on simulated times."""
    words = ["--machine", "epyc-9654", "--ranks", 64, "--collectives", "allgather,barrier", "--sizes", "8,8K", "--budget", "10m"]
    slow = {"collective": "allgather", "algorithm": "exchange", "chunk": "32KiB"}  # in place of the default, which is hard to beat
    (tmp_path / "slow.json").write_text(json.dumps({"schema": 1, "rules": [slow]}))
    files = {"XDG_CACHE_HOME": str(tmp_path / "cache"), "ESPALIER_RULES": str(tmp_path / "slow.json")}
    done = espalier("tune", *words, "-o", tmp_path / "rules.json", "--json", tmp_path / "found.json", "--plot", tmp_path / "map.png",
                    lib=LIB, **files)
    assert done.returncode == 0, done.stderr
    assert "3 calls measured" in done.stdout and f"ESPALIER_RULES={tmp_path / 'rules.json'} uses it" in done.stdout
    found = json.loads((tmp_path / "rules.json").read_text())
    assert found["rules"] and all(rule["ranks"] == 64 and rule["evidence"].startswith("modelled: ") for rule in found["rules"])
    assert {row["collective"] for row in json.loads((tmp_path / "found.json").read_text())["calls"]} == {"allgather", "barrier"}
    assert (tmp_path / "map.png").read_bytes()[:4] == b"\x89PNG"
    assert list((tmp_path / "cache" / "espalier" / "tune").glob("*.jsonl")) == []  # a run that is over leaves nothing to go on with
    rule = found["rules"][0]
    size = rule.get("bytes", [0])[0]
    told = espalier("explain", rule["collective"], *([size] if "bytes" in rule else []), "-n", 64, "--cores", 64, lib=LIB,
                    ESPALIER_RULES=str(tmp_path / "rules.json"))
    assert told.returncode == 0 and str(tmp_path / "rules.json") in told.stdout and "modelled:" in told.stdout, told.stderr


@needs_mpi
def test_a_short_run_under_a_real_mpi(espalier, tmp_path):
    """Whether anything is faster is this machine's affair; that all was measured and a file was written is not."""
    home = {"XDG_CONFIG_HOME": str(tmp_path / "config"), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    words = ["--mpirun", MPIRUN, "--ranks", 2, "--collectives", "bcast,allreduce", "--sizes", "8", "--budget", "10s"]
    done = espalier("tune", *words, "--model", "skylake-6138f", "--when-busy", "go", "--json", tmp_path / "found.json", lib=LIB,
                    **home, timeout=300)
    assert done.returncode == 0, done.stderr
    assert "2 calls measured" in done.stdout and "found by itself" in done.stdout
    calls = json.loads((tmp_path / "found.json").read_text())["calls"]
    assert all(row["us"]["host"] > 0 and row["us"]["default"] > 0 and len(row["us"]) > 2 for row in calls)
    (file,) = (tmp_path / "config" / "espalier").iterdir()
    tuned = json.loads(file.read_text())["tuned"]
    assert tuned["host"].startswith("MPICH") and tuned["machine"] and tuned["launcher"] == "mpirun"


@needs_mpi
def test_rules_that_were_tuned_are_found_and_explained(espalier, programs, tmp_path):
    """By the name that the library gives them: a program takes its plan from there, and `explain` says what was measured."""
    home = {"XDG_CONFIG_HOME": str(tmp_path / "config"), "ESPALIER_LIB": str(LIB)}
    version = subprocess.run([MPIRUN.parent / "mpichversion"], capture_output=True, text=True).stdout.splitlines()
    host = "MPICH Version:" + version[0].partition(":")[2] if version else ""
    text = "import ctypes, json, sys; l = ctypes.CDLL(sys.argv[1]); l.espalier_describe.restype = ctypes.c_char_p; print(l.espalier_describe(sys.argv[2].encode()).decode())"
    asked = json.dumps({"what": "tuned", "host": host})
    described = subprocess.run(["python3", "-c", text, str(LIB / "libespalier.so.0"), asked], env=clean_environment(**home),
                               capture_output=True, text=True, check=True)
    facts = json.loads(described.stdout)
    assert facts["folders"][0] == str(tmp_path / "config" / "espalier") and facts["file"] is None
    folder = tmp_path / "config" / "espalier"
    folder.mkdir(parents=True)
    tuned = {key: facts[key] for key in ("machine", "host", "espalier")}
    rule = {"collective": "allreduce", "algorithm": "sliced", "chunk": "16KiB", "evidence": "measured: by this test"}
    (folder / facts["name"]).write_text(json.dumps({"schema": 1, "tuned": tuned, "rules": [rule]}))
    told = espalier("explain", "allreduce", "64KiB", "-n", 4, lib=LIB, **home)
    assert str(folder / facts["name"]) in told.stdout and "measured: by this test" in told.stdout and "sliced" in told.stdout
    off = espalier("explain", "allreduce", "64KiB", "-n", 4, lib=LIB, **home, ESPALIER_TUNED="off")
    assert "measured: by this test" not in off.stdout


@needs_mpi
def test_the_host_by_its_own(espalier, tmp_path):
    words = ["--mpirun", MPIRUN, "--ranks", 2, "--collectives", "bcast", "--sizes", "8", "--budget", "10s", "--when-busy", "go"]
    done = espalier("tune", *words, "--export", tmp_path / "tuned.json", timeout=300)
    assert done.returncode == 0, done.stderr
    assert "1 calls" in done.stderr and str(tmp_path / "tuned.json") in done.stdout
    assert "collective=exscan" in json.loads((tmp_path / "tuned.json").read_text())
