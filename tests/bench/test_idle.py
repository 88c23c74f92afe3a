"""Before it measures: whether others use the machine, and what is done then."""

import io
import os

import pytest

from espalier.bench import idle
from espalier.problem import Problem


@pytest.fixture
def busy_times(monkeypatch):
    """So often the machine is found busy."""
    left = []

    def busy():
        return left.pop() if left else None

    monkeypatch.setattr(idle, "busy", busy)
    return left


def test_an_idle_machine_is_not_asked_about(busy_times, capsys):
    for way in idle.WAYS:
        idle.settle(way)
    assert capsys.readouterr().err == ""


def test_going_on_looks_at_nothing(busy_times):
    busy_times += ["load 9"]
    idle.settle("go")
    assert busy_times == ["load 9"]


def test_waiting_ends_when_the_others_do(busy_times, capsys):
    busy_times += ["load 9"] * 3
    idle.settle("wait")
    said = capsys.readouterr().err
    assert "busy (load 9); waiting" in said and "still busy" not in said and busy_times == []


def test_waiting_has_an_end(busy_times, capsys):
    busy_times += ["load 9"] * 1000
    idle.settle("wait", longest=0)
    assert "still busy (load 9); the times are not to be trusted" in capsys.readouterr().err


@pytest.mark.parametrize("answer, goes_on", [("y\n", True), ("Yes\n", True), ("n\n", False), ("\n", False), ("", False)])
def test_asking(busy_times, monkeypatch, answer, goes_on):
    busy_times += ["load 9"]
    monkeypatch.setattr("sys.stdin", io.StringIO(answer))
    if goes_on:
        return idle.settle("ask")
    with pytest.raises(Problem, match="nothing was measured") as found:
        idle.settle("ask")
    assert found.value.code == 1


def test_without_a_terminal_it_waits(monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO())
    assert idle.way_of(None) == "wait" and idle.way_of("go") == "go"
    with pytest.raises(Problem, match="did you mean wait"):
        idle.way_of("wiat")


def test_a_load_that_is_over_is_none(monkeypatch):
    """The mean of the last minute outlasts what made it."""
    monkeypatch.setattr(os, "getloadavg", lambda: (50.0, 1.0, 1.0))
    monkeypatch.setattr(idle, "share_in_use", lambda: 0.1)
    assert idle.busy() is None
    monkeypatch.setattr(idle, "share_in_use", lambda: 0.9)
    assert "load 50.0" in idle.busy() and "90%" in idle.busy()
    monkeypatch.setattr(os, "getloadavg", lambda: (0.0, 1.0, 1.0))
    assert idle.busy() is None


def test_shares_are_shares():
    assert 0 <= idle.share_in_use(0.05) <= 1
