"""Help, suggestions, narrow terminals and colours: what every command has in common."""

import os
import pty
import re
import select
import shlex
import subprocess
import sys
import termios
import time

import pytest
from conftest import LIB, RECORDED, clean_environment

from espalier import terminal
from espalier.app import COMMANDS, build
from espalier.interface import help as espalier_help, suggest
from espalier.terminal import Column

ALL = sorted(COMMANDS)


@pytest.mark.parametrize("words", [[], *([name] for name in ALL)], ids=lambda words: words[0] if words else "espalier")
def test_help(espalier, words):
    long, short = espalier(*words, "--help"), espalier(*words, "-h")
    assert (long.returncode, long.stderr) == (0, "") and short.stdout == long.stdout
    assert "Examples:" in long.stdout


def examples_of(text):
    """Lines of help that a shell would take, as the command gets them: without $(...) and redirections."""
    lines = text.split("Examples:")[1].strip().splitlines()
    return [shlex.split(re.sub(r'^eval "\$\((.*)\)"$', r"\1", line.strip()).split(" > ")[0]) for line in lines]


@pytest.mark.parametrize("name", ALL)
def test_examples_are_command_lines_that_are_taken(espalier, name):
    found = examples_of(espalier(name, "-h").stdout)
    assert any(words[:2] == ["espalier", name] for words in found)
    for _, command, *words in found:
        import typer.main

        group = typer.main.get_command(build(ALL))
        with group.commands[command].make_context(command, words):
            pass


@pytest.mark.parametrize("width", [40, 57, 80])
@pytest.mark.parametrize("name", ALL)
def test_help_fits(espalier, name, width):
    text = espalier(name, "-h", COLUMNS=str(width)).stdout.split("Examples:")[0]
    for line in text.splitlines():
        assert len(line) <= width or " " not in line.strip(), line


def test_an_unknown_command_and_what_it_may_have_meant(espalier):
    result = espalier("topp")
    assert result.returncode == 2 and re.fullmatch(r"espalier: .*'topp'; did you mean topo\?.*\n", result.stderr)
    assert "did you mean" not in espalier("xyzzy").stderr


def test_an_unknown_option_and_what_it_may_have_meant(espalier):
    result = espalier("topo", "--rnks", "4")
    assert result.returncode == 2 and "--ranks" in result.stderr and "Traceback" not in result.stderr


@pytest.mark.parametrize(
    "words, near",
    [
        (["explain", "alreduce", "8"], "allreduce"),
        (["explain", "windw"], "window"),
        (["explain", "reduce", "8", "--op", "smu"], "sum"),
        (["explain", "reduce", "8", "--type", "dubble"], "double"),
        (["explain", "reduce", "8", "--nodes", "2", "--model", "opteon"], "opteron"),
        (["simulate", "alreduce"], "allreduce"),
        (["simulate", "allreduce", "--machine", "fronterra"], "frontera"),
        (["bench", "--collectives", "bcats"], "bcast"),
        (["run", "--set", "flalback=warn", "--", "true"], "fallback"),
        (["run", "--set", "ESPALIER_ALREDUCE=tree", "--", "true"], "allreduce"),
        (["run", "--wait", "yeild", "--", "true"], "yield"),
        (["run", "--mpi", "opmi", "--", "true"], "ompi"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else value,
)
def test_misspelt_words(espalier, words, near):
    result = espalier(*words, lib=LIB)
    assert result.returncode == 2 and result.stderr.count("\n") == 1, result.stderr
    assert re.search(rf"did you mean {near}\?", result.stderr), result.stderr


def test_what_is_not_near_is_not_suggested():
    assert suggest.hint("quark", ("double", "int")) == ""
    assert suggest.hint("DOUBEL", ("double", "int")) == "; did you mean double?"


def test_settings_that_are_known_are_taken(espalier):
    """Also those of the tests, and all where there is no library to ask."""
    words = ["--set", "slots=4", "--set", "ESPALIER_NETWORK_BCAST=tree", "--set", "test_made_up=1", "--", "true"]
    assert espalier("run", "-q", *words, lib=LIB).returncode == 0
    assert espalier("run", "-q", "--set", "slotz=4", "--", "true").returncode == 0


def on_terminal(*words, columns, **more):
    """What the command prints on a terminal of so many columns."""
    leader, follower = pty.openpty()
    termios.tcsetwinsize(follower, (40, columns))
    environment = clean_environment(ESPALIER_LIB=str(LIB), TERM="xterm-256color", **more)
    environment.pop("COLUMNS", None)
    command = [sys.executable, "-m", "espalier", *map(str, words)]
    process = subprocess.Popen(command, stdin=follower, stdout=follower, stderr=follower, env=environment)
    os.close(follower)
    text, until = b"", time.monotonic() + 60
    while time.monotonic() < until and select.select([leader], [], [], 60)[0]:
        try:
            piece = os.read(leader, 65536)
        except OSError:  # the last one has closed it
            break
        text += piece
    os.close(leader)
    assert process.wait(60) in (0, 1)
    return text.decode().replace("\r\n", "\n")


SHOWN = [
    ["topo", "-n", 4],
    ["explain", "allreduce", "64KiB", "-n", 4],
    ["explain", "allreduce", "64KiB", "--nodes", 4, "-n", 8],
    ["explain", "--config"],
    ["explain", "algorithms"],
    ["explain", "--published"],
    ["explain", "memory", "-n", 4],
    ["stats", RECORDED / "stats.json"],
    ["doctor", "--quick"],
]
CODE = re.compile(r"\x1b\[[\d;]*m")


@pytest.mark.skipif(not hasattr(termios, "tcsetwinsize"), reason="Python before 3.11 cannot set a terminal's size")
@pytest.mark.parametrize("words", SHOWN, ids=lambda words: " ".join(map(str, words[:2])))
def test_forty_columns(words):
    text = on_terminal(*words, columns=40, NO_COLOR="1")
    assert len(text.splitlines()) > 3
    for line in CODE.sub("", text).splitlines():
        assert "…" not in line or "8B … 15B" in line or "MiB … " in line or "cpus" in line, f"cut off: {line}"
        # A word is not broken, but where rich has to.
        assert len(line) <= 40 or " " not in line.strip(), line


@pytest.mark.parametrize("words", SHOWN, ids=lambda words: " ".join(map(str, words[:2])))
def test_no_line_ends_in_blanks(espalier, words):
    text = espalier(*words, lib=LIB).stdout
    assert text and [line for line in text.splitlines() if line != line.rstrip()] == []


def test_colours_and_none():
    if not hasattr(termios, "tcsetwinsize"):
        pytest.skip("Python before 3.11 cannot set a terminal's size")
    assert "\x1b[32m" in on_terminal("doctor", "--quick", columns=120)
    assert not re.search(r"\x1b\[(3|4|9|10)\d", on_terminal("doctor", "--quick", columns=120, NO_COLOR="1"))


def test_a_file_gets_neither_colours_nor_folds(espalier):
    text = espalier("explain", "--config", lib=LIB).stdout
    assert "\x1b" not in text and any(len(line) > 100 for line in text.splitlines())


def test_a_table_that_does_not_fit_is_a_list(capsys):
    columns, rows = [Column("name"), Column("time", right=True), Column("why", wraps=True)], [["one", "3 µs", "w " * 40]]
    terminal.print_table(columns, rows, out=terminal._console_class()(file=sys.stdout, width=24, highlight=False))
    narrow = capsys.readouterr().out
    terminal.print_table(columns, rows, out=terminal._console_class()(file=sys.stdout, width=80, highlight=False))
    wide = capsys.readouterr().out
    assert narrow.startswith("one\n  time  3 µs\n  why   w w") and wide.startswith("name  time  why")


def test_lines_of_facts_are_folded_behind_their_names():
    assert terminal.facts([("a", "one two three four"), ("bcd", None), ("ef", "x\ny")], 18) == [
        "a   one two three",
        "    four",
        "ef  x",
        "    y",
    ]


def test_help_is_at_least_forty_columns_wide(monkeypatch):
    monkeypatch.setenv("COLUMNS", "10")
    assert espalier_help.columns() == 40
