"""What `--json` prints fits its schema, for the recorded answers and for the library's own."""

import json

import pytest
from conftest import LIB, RECORDED
from jsonschema import Draft202012Validator

from espalier.interface import document

KINDS = ("topo", "explain", "doctor")
EXPLAINED = [
    ["allreduce", "64KiB"],
    ["barrier", "-n", "8", "--cores", "2"],
    ["reduce", "8", "-n", "4", "--op", "user"],
    ["allreduce", "64KiB", "--nodes", "16", "--ranks-per-node", "4"],
    ["reduce_scatter", "64KiB", "--nodes", "16", "-n", "64"],
    ["allgatherv", "1MiB", "--nodes", "4", "-n", "8", "--op", "user"],
    ["window", "--nodes", "4"],
    ["memory", "-n", "16"],
    ["algorithms"],
    ["--config"],
    ["--published"],
]


def printed(result, kind):
    """The document of a command that went well, held to its schema."""
    assert result.returncode == 0, result.stderr
    found = json.loads(result.stdout)
    Draft202012Validator(document.schema(kind)).validate(found)
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_schemas_are_schemas(kind):
    Draft202012Validator.check_schema(document.schema(kind))


@pytest.mark.parametrize("kind", KINDS)
def test_schemas_refuse_what_is_none(kind):
    assert not Draft202012Validator(document.schema(kind)).is_valid({"schema": f"espalier-{kind}/1"})


@pytest.mark.parametrize("words", EXPLAINED, ids=" ".join)
def test_explain(espalier, words):
    found = printed(espalier("explain", *words, "--json", lib=LIB), "explain")
    assert found["request"]["what"] == found["what"]


def test_explain_of_a_run(espalier):
    words = ["allreduce", "8", "--nodes", 2, "-n", 4, "--run", RECORDED / "stats.json", "--json"]
    found = printed(espalier("explain", *words, lib=LIB), "explain")
    assert found["answer"]["run"]["file"].endswith("stats.json")


def test_explain_holds_what_the_library_said(espalier, describer):
    found = printed(espalier("explain", "allreduce", "64KiB", "-n", 8, "--json", lib=describer), "explain")
    assert found["answer"] == json.loads((RECORDED / "plan.json").read_text())
    assert (found["what"], found["request"]["bytes"], found["request"]["ranks"]) == ("plan", 65536, 8)


@pytest.mark.parametrize("words", [[], ["-n", 6, "--synthetic", "package:2 numa:2 core:2 pu:1", "--root", 3]])
def test_topo(espalier, words):
    found = printed(espalier("topo", *words, "--json", lib=LIB), "topo")
    assert len(found["gather"]["parent"]) == found["ranks"] == len(found["groups"]["ranks"])


def test_topo_with_a_picture_prints_nothing_else(espalier, tmp_path):
    printed(espalier("topo", "-n", 2, "--json", "--svg", tmp_path / "t.svg", lib=LIB), "topo")
    assert (tmp_path / "t.svg").exists()


def test_doctor(espalier):
    found = printed(espalier("doctor", "--json", lib=LIB), "doctor")
    assert found["good"] and {"memfd", "futex"} <= {check["name"] for check in found["checks"]}


def test_doctor_that_misses_something(espalier, tmp_path):
    result = espalier("doctor", "--quick", "--json", lib=tmp_path)
    found = json.loads(result.stdout)
    Draft202012Validator(document.schema("doctor")).validate(found)
    assert result.returncode == 1 and not found["good"]
    assert any(check["state"] == "no" and check["todo"] for check in found["checks"])


def test_doctor_of_a_job_keeps_its_output_apart(espalier, libraries):
    result = espalier("doctor", "--json", "--", "echo", "said by the job", lib=libraries)
    assert not json.loads(result.stdout)["good"] and "said by the job" in result.stderr


def test_a_mistake_prints_no_document(espalier):
    result = espalier("explain", "alreduce", "8", "--json", lib=LIB)
    assert (result.returncode, result.stdout) == (2, "") and "did you mean allreduce?" in result.stderr
