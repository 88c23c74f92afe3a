"""Bad input gives one clear line that names it, and the program still runs right."""

import json
import os
import re

import hosts
import pytest

pytestmark = pytest.mark.needs_espalier


def lines_of_espalier(run):
    lines = (line for line in run.err.splitlines() if "espalier" in line.lower())
    return [line for line in lines if "what ran" not in line and "why not:" not in line]  # the statistics' title and legend


def told_once(run, *words):
    """One line, not one per rank, and it names what was wrong."""
    assert run.status == 0, str(run)
    assert re.search(r"^\d+ passed, 0 failed", run.out, re.M), str(run)
    lines = lines_of_espalier(run)
    assert len(lines) == 1, f"{len(lines)} lines\n{run}"
    for word in words:
        assert word in lines[0], f"no {word!r} in: {lines[0]}"


def run_with(launch, **env):
    return launch(hosts.HOSTS["mpich"], 3, "checked", "--only", "roots", env=env)


def test_nothing_to_say(launch):
    """The other tests count lines: without bad input there are none."""
    assert lines_of_espalier(run_with(launch)) == []


def test_unknown_key(launch):
    told_once(run_with(launch, ESPALIER_ALREDUCE="tree"), "ESPALIER_ALREDUCE")


@pytest.mark.parametrize("key, value", [
    ("ESPALIER_ALLREDUCE", "quick"), ("ESPALIER_FALLBACK", "perhaps"), ("ESPALIER_WAIT", "nap"), ("ESPALIER_SHM", "much"),
    ("ESPALIER_TREE", "numa=flat socket=kary:zero"), ("ESPALIER_TREE", "castle=flat"), ("ESPALIER_TREE", "machine=")])
def test_bad_value(launch, key, value):
    told_once(run_with(launch, **{key: value}), key)


@pytest.mark.parametrize("content", [
    "", "{", '{"schema": 1, "rules": [{"collective": "allreduce", "algorithm": }]}', "[]",
    json.dumps({"schema": 999, "rules": []}),
    json.dumps({"schema": 1, "rules": [{"collective": "allgatherings", "algorithm": "tree"}]})],
    ids=["empty", "cut", "no value", "a list", "schema", "collective"])
def test_malformed_rules(launch, tmp_path, content):
    rules = tmp_path / "rules.json"
    rules.write_text(content)
    told_once(run_with(launch, ESPALIER_RULES=str(rules)), "rules.json")


def test_rules_that_are_not_there(launch, tmp_path):
    told_once(run_with(launch, ESPALIER_RULES=str(tmp_path / "absent.json")), "absent.json")


def made(folder, kind):
    path = folder / kind
    if kind == "fifo":
        os.mkfifo(path)
    if kind == "huge":
        with open(path, "wb") as file:
            file.truncate(1 << 30)
    return {"device": "/dev/zero", "folder": str(folder)}.get(kind, str(path))


@pytest.mark.parametrize("key", ["ESPALIER_CONFIG", "ESPALIER_RULES", "HWLOC_XMLFILE"])
@pytest.mark.parametrize("kind, words", [("fifo", "it is a FIFO"), ("device", "it is a device"), ("folder", "it is a directory"),
                                         ("huge", "it has 1073741824 bytes")])
def test_what_is_no_file_of_some_size(launch, tmp_path, key, kind, words):
    """It is refused at once: nothing waits for a writer, and no memory fills."""
    told_once(run_with(launch, **{key: made(tmp_path, kind)}), words)


def test_statistics_for_a_fifo_without_a_reader(launch, tmp_path):
    """They are printed instead."""
    run = run_with(launch, ESPALIER_STATS=made(tmp_path, "fifo"))
    assert run.status == 0 and "cannot write the statistics" in run.err, str(run)


def test_statistics_that_cannot_be_written(launch):
    run = run_with(launch, ESPALIER_STATS="/nowhere/at/all.json")
    told_once(run, "/nowhere/at/all.json")
