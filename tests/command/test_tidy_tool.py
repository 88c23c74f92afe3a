"""tools/tidy.py: which files it takes, and that a finding is shown once."""

import importlib.util
from pathlib import Path

import pytest

from espalier.install import source_tree

ROOT = source_tree()
found_at = importlib.util.spec_from_file_location("tidy", ROOT / "tools" / "tidy.py")
tidy = importlib.util.module_from_spec(found_at)
found_at.loader.exec_module(tidy)

OUTPUT = """/tree/src/a.hpp:3:1: error: first [bugprone-one]
    3 | code
      | ^
/tree/src/b.hpp:1:1: note: see there
/tree/src/a.cpp:7:2: warning: second [bugprone-two]
    7 | more
"""


def test_each_file_of_src_is_taken_once():
    commands = [("src/mpi/a.cpp", "mpich -Werror -c"), ("src/mpi/a.cpp", "ompi"), ("tests/b.cpp", "c++"), ("src/tree/c.cpp", "c++")]
    entries = [{"file": str(ROOT / name), "command": command} for name, command in commands]
    assert [entry["command"] for entry in tidy.one_of_each(entries)] == ["mpich -c", "c++"]


def test_files_and_folders_can_be_chosen():
    files = [ROOT / name for name in ("src/tree/a.cpp", "src/tree/b.cpp", "src/treetop.cpp", "src/base/c.cpp")]
    assert tidy.under(files, [ROOT / "src/tree", ROOT / "src/base/c.cpp"]) == [files[0], files[1], files[3]]


def test_a_finding_has_the_lines_behind_it():
    first, second = tidy.findings(OUTPUT)
    assert first.startswith("/tree/src/a.hpp:3:1: error: first") and first.endswith("/tree/src/b.hpp:1:1: note: see there")
    assert [tidy.place(finding) for finding in (first, second)] == [Path("/tree/src/a.hpp"), Path("/tree/src/a.cpp")]
    assert second == "/tree/src/a.cpp:7:2: warning: second [bugprone-two]\n    7 | more"


def test_a_finding_of_a_header_is_shown_once(capsys):
    count = tidy.run([Path("a.cpp"), Path("b.cpp"), Path("c.cpp")], 2, lambda file: tidy.findings(OUTPUT))
    assert count == 2 and capsys.readouterr().out.count("first") == 1


@pytest.mark.parametrize("text, code", [("exit 1", 1), ("kill -SEGV $$", -11)])
def test_a_program_that_fails_without_a_finding_is_one(tmp_path, text, code):
    program = tmp_path / "clang-tidy"
    program.write_text(f"#!/bin/sh\necho 'something broke' >&2\n{text}\n")
    program.chmod(0o755)
    assert tidy.check(str(program), Path("a.cpp")) == [f"a.cpp: clang-tidy ended with {code}: something broke"]
