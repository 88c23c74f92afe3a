"""What is to be written is looked at before the work begins: one line, exit code 2, and nothing was started."""

import os
import re
import subprocess
import tempfile
from pathlib import Path

import pytest
from conftest import LIB, RECORDED

from espalier.interface import outputs
from espalier.problem import Problem

MISSING = "/no/such/folder"


@pytest.mark.parametrize(
    "words, said",
    [
        (["topo", "-n", 2, "--svg", f"{MISSING}/t.svg"], f"--svg {MISSING}/t.svg: there is no folder {MISSING}"),
        (["topo", "-n", 2, "--svg", "{here}"], "is a folder, and should be a file"),
        (["simulate", "allreduce", "--timeline"], "--timeline draws into a file: add --out NAME"),
        (["simulate", "allreduce", "--out", f"{MISSING}/a"], f"there is no folder {MISSING}"),
        (["simulate", "--calibrate", f"{MISSING}/a.json"], f"there is no folder {MISSING}"),
        (["demo", "--output", "{file}"], "is a file, and should be a folder"),
        (["demo", "--output", "{file}/in/it"], "{file} is a file, not a folder"),
        (["bench", "--json", "{file}/b.json"], "{file} is a file, not a folder"),
        (["bench", "--setup", "--json", "{here}"], "is a folder, and should be a file"),
        (["report", "{file}", "--output", "{here}"], "is a folder, and should be a file"),
        (["report", "{file}", "--points", "{file}/p.json"], "{file} is a file, not a folder"),
        (["aggregate", "--nodes", 2, "--file", f"{MISSING}/t.json"], f"there is no folder {MISSING}"),
    ],
    ids=lambda value: " ".join(map(str, value)) if isinstance(value, list) else "",
)
def test_outputs_are_checked_first(espalier, describer, tmp_path, words, said):
    """Behind a library that notes what it was asked: it was asked nothing."""
    file = tmp_path / "a file"
    file.write_text("")
    filled = {"here": tmp_path, "file": file}
    result = espalier(*(str(word).format(**filled) for word in words), lib=describer)
    assert result.returncode == 2, result.stdout + result.stderr
    assert re.fullmatch(rf"espalier: .*{re.escape(said.format(**filled))}.*\n", result.stderr), result.stderr
    assert result.stdout == "" and not (describer / "request.json").exists()


def refused(check, path):
    """What an ordinary user is told: root may write everywhere."""
    reader, writer = os.pipe()
    if (child := os.fork()) == 0:
        if os.geteuid() == 0:
            os.setresuid(65534, 65534, 65534)
        try:
            check("--svg", path)
        except Problem as problem:
            os.write(writer, str(problem).encode())
        os._exit(0)
    os.close(writer)
    os.waitpid(child, 0)
    with open(reader) as said:
        return said.read()


@pytest.mark.parametrize("check, path", [(outputs.check_file, "t.svg"), (outputs.check_tree, "a/b.json")])
def test_what_may_not_be_written(check, path):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o555)
        assert refused(check, folder / path).endswith(f"{folder} may not be written")
        folder.chmod(0o777)
        assert refused(check, folder / path) == ""


def test_what_can_be_written_is_not_refused(tmp_path):
    outputs.check_file("--svg", tmp_path / "new")
    (tmp_path / "old").write_text("")
    outputs.check_file("--svg", tmp_path / "old")
    outputs.check_tree("--json", tmp_path / "many/new/folders/b.json")
    outputs.check_tree("--json", tmp_path / "old")
    outputs.check_tree("--output", tmp_path, is_folder=True)
    outputs.check_file("--svg", None)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["old"]


def test_the_file_of_statistics_may_be_another_nodes(espalier):
    result = espalier("run", f"--stats={MISSING}/run.json", "--", "true")
    assert result.returncode == 0 and f"there is no folder {MISSING} here" in result.stderr
    assert "no folder" not in espalier("run", "-q", f"--stats={MISSING}/run.json", "--", "true").stderr


def test_numbers_below_their_least(espalier):
    for words in (["--rounds", "0"], ["--passes", "-1"], ["--seconds", "-2"]):
        result = espalier("bench", *words, lib=LIB)
        assert result.returncode == 2 and words[0] in result.stderr, result.stderr


def test_a_command_that_is_not_there_starts_no_tree(espalier):
    result = espalier("aggregate", "--nodes", 2, "--", "./no-such", lib=LIB)
    assert result.returncode == 127 and "'./no-such'" in result.stderr


@pytest.mark.skipif(not (LIB.parent / "bin/espalier-aggd").exists(), reason="built without Asio: no espalier-aggd")
def test_the_daemon_says_what_it_takes():
    def aggd(*words):
        return subprocess.run([LIB.parent / "bin/espalier-aggd", *words], capture_output=True, text=True)

    for word in ("-h", "--help"):
        done = aggd(word)
        assert (done.returncode, done.stderr) == (0, "") and done.stdout.startswith("usage: espalier-aggd TREE.json NAME")
        assert all(option in done.stdout for option in ("--with-parent", "--version", "Exit code"))
    done = aggd("--version")
    assert done.returncode == 0 and re.fullmatch(r"espalier-aggd \d+\.\d+\.\d+\n", done.stdout)
    for words in ([], ["--hlep"], ["-h", "more"], [RECORDED / "none.json", "a0", "--alone"]):
        done = aggd(*words)
        assert done.returncode == (1 if words[:1] == ["-h"] else 2) and done.stderr
