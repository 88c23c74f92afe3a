"""Completion: what each shell's script is told, and that the scripts are of their shell."""

import os
import shlex
import shutil
import subprocess
import sys

import pytest
from conftest import LIB, clean_environment

from espalier.app import COMMANDS
from espalier.completion import VARIABLE

SHELLS = ("bash", "zsh", "fish")
SETTINGS = {"ESPALIER_LIB": str(LIB)}


@pytest.fixture
def path(tmp_path):
    """A PATH whose first folder has this command as `espalier`."""
    command = tmp_path / "espalier"
    command.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m espalier "$@"\n')
    command.chmod(0o755)
    return f"{tmp_path}:{os.environ['PATH']}"


def script(espalier, shell):
    done = espalier("completion", shell)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def in_bash(espalier, path, *words):
    """What bash would offer behind these words, of which the last has been begun."""
    line = " ".join(map(shlex.quote, words))
    program = (
        f"{script(espalier, 'bash')}\nCOMP_WORDS=(espalier {line})\nCOMP_CWORD={len(words)}\n"
        '_espalier_completion espalier\nprintf "%s\\n" "${COMPREPLY[@]}"\n'
    )
    done = subprocess.run(
        ["bash", "--norc", "-c", program], env=clean_environment(PATH=path, **SETTINGS), capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.split()


@pytest.mark.parametrize(
    "words, offered",
    [
        (["to"], ["topo"]),
        (["topo", "--sv"], ["--svg"]),
        (["explain", "allr"], ["allreduce"]),
        (["explain", "win"], ["window"]),
        (["explain", "allreduce", "8", "--type", "dou"], ["double", "double_complex"]),
        (["explain", "--model", "opt"], ["opteron"]),
        (["simulate", "reduce_"], ["reduce_scatter_block", "reduce_scatter"]),
        (["simulate", "--machine", "fr"], ["frontera"]),
        (["simulate", "bcast", "--versus", "host,s"], ["host,sharp"]),
        (["simulate", "allreduce", "--plan", "x:network=re"], ["x:network=recursive-doubling"]),
        (["run", "--set", "slot"], ["slots=", "slot="]),
        (["run", "--set", "ESPALIER_SLOTS"], ["ESPALIER_SLOTS="]),
        (["run", "--wait", "s"], ["spin", "sleep"]),
        (["bench", "--collectives", "bcast,sc"], ["bcast,scatter", "bcast,scatterv", "bcast,scan"]),
        (["tune", "--collectives", "bcast,sc"], ["bcast,scatter", "bcast,scatterv", "bcast,scan"]),
        (["tune", "--machine", "fr"], ["frontera"]),
        (["lint", "--collectives", "bcast,sca"], ["bcast,scatter", "bcast,scan"]),
        (["completion", ""], list(SHELLS)),
        (["topo", "--svg", ""], []),  # a file: the shell's own
    ],
    ids=lambda value: " ".join(value),
)
def test_what_bash_offers(espalier, path, words, offered):
    assert in_bash(espalier, path, *words) == offered


def test_every_command_is_offered(espalier, path):
    assert sorted(in_bash(espalier, path, "")) == sorted(COMMANDS)


@pytest.mark.parametrize("shell", ["zsh", "fish"])
@pytest.mark.parametrize("line, word", [("espalier explain allr", "allreduce"), ("espalier run --set ", "slots="), ("espalier to", "topo")])
def test_what_the_others_are_told(espalier, shell, line, word):
    asked = {VARIABLE: f"complete_{shell}", "_TYPER_COMPLETE_ARGS": line, "_TYPER_COMPLETE_FISH_ACTION": "get-args"}
    done = espalier(**asked, lib=LIB)
    assert done.returncode == 0 and word in done.stdout and "Traceback" not in done.stderr


@pytest.mark.parametrize("shell", SHELLS)
def test_scripts_are_of_their_shell(espalier, tmp_path, shell):
    text = script(espalier, shell)
    assert text == script(espalier, shell) and f"{VARIABLE}=complete_{shell}" in text
    if shell == "zsh":
        assert text.startswith("#compdef espalier\n")  # else zsh does not find it
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"no {shell} to read the script")
    (tmp_path / "script").write_text(text)
    done = subprocess.run([program, "-n", tmp_path / "script"], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_without_the_library_there_is_less_and_no_error(espalier, path, monkeypatch, tmp_path):
    monkeypatch.setitem(SETTINGS, "ESPALIER_LIB", str(tmp_path))
    assert in_bash(espalier, path, "explain", "allr") == ["allreduce"]
    assert in_bash(espalier, path, "run", "--set", "slo") == []


def test_another_shell(espalier):
    result = espalier("completion", "fsh")
    assert result.returncode == 2 and "did you mean fish?" in result.stderr
