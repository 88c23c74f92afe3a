"""tools/cost_model.py: a model's file out of a result of bench-cluster."""

import json
import subprocess
import sys

import pytest
from conftest import ROOT

TOOL = ROOT / "tools" / "cost_model.py"
NODE = ("--flag-ns", "150", "--copy-ns-per-byte", "0.06", "--reduce-ns-per-byte", "0.08")


def message(where, latency, rate, gap, **changes):
    return {
        "host": "mpich",
        "layout": "4x2",
        "where": where,
        "latency_us": latency,
        "ns_per_byte": rate,
        "gap_us": gap,
        "gap_ns_per_byte": rate,
        "sizes": [],
        **changes,
    }


def point(collective, size, median, **changes):
    return {
        "host": "mpich",
        "layout": "4x2",
        "collective": collective,
        "bytes": size,
        "served": "espalier",
        "espalier_us": {"least": 1.0, "median": median, "most": 9999.0},
        **changes,
    }


RESULT = {
    "schema": "espalier-cluster-bench/1",
    "date": "2026-01-02T03:04:05+00:00",
    "settings": {"delay_us": 500, "rate_mbit": 1000},
    "messages": [message("within a node", 1.5, 0.2, 0.5), message("between nodes", 600.25, 8.5, 4.5)],
    "points": [
        point("bcast", 8, 700.5),
        point("barrier", 0, 800.0),
        point("bcast", 8, 1.0, layout="8x2"),
        point("bcast", 8, 1.0, host="impi"),
        point("allreduce", 8, 1.0, served="host"),
    ],
}


@pytest.fixture
def tool(tmp_path):
    def run(result, *words):
        (tmp_path / "result.json").write_text(result if isinstance(result, str) else json.dumps(result))
        return subprocess.run(
            [sys.executable, TOOL, tmp_path / "result.json", "--host", "mpich", "--layout", "4x2", *NODE,
             "--output", tmp_path / "model.json", *words],
            capture_output=True, text=True,
        )  # fmt: skip

    return run


def test_parameters_and_measured_calls(tool, tmp_path):
    done = tool(RESULT, "--overhead-ns", "1000")
    assert done.returncode == 0, done.stderr
    model = json.loads((tmp_path / "model.json").read_text())
    assert model["network"] == {"latency_ns": 598250, "overhead_ns": 1000, "gap_ns": 4500, "ns_per_byte": 8.5}
    assert model["node"] == {
        "flag_ns": 150,
        "copy_ns_per_byte": 0.06,
        "reduce_ns_per_byte": 0.08,
        "message_ns": 1500,
        "message_ns_per_byte": 0.2,
    }
    assert "4 nodes of 2 ranks, 500 µs delay, 1000 Mbit/s, mpich's messages, measured 2026-01-02" in model["name"]
    rows = model["published"]["rows"]
    assert [(row["collective"], row["bytes"], row["total_ns"]) for row in rows] == [
        ("bcast", 8, 700500),
        ("barrier", 0, 800000),
    ]
    assert "2 measured calls" in done.stdout


def test_messages_that_ask_first(tool, tmp_path):
    """Beyond 32 KiB a message takes 1.2 ms more; 20 µs more of a shorter one are its spread."""
    times = {8: 600, 32768: 600.25 + 0.0085 * 32768 + 20, 65536: 1800.25 + 0.0085 * 65536, 262144: 1800.25 + 0.0085 * 262144}
    sizes = [{"bytes": size, "half_trip_us": {"median": us}} for size, us in times.items()]
    done = tool({**RESULT, "messages": [RESULT["messages"][0], message("between nodes", 600.25, 8.5, 4.5, sizes=sizes)]})
    assert done.returncode == 0, done.stderr
    network = json.loads((tmp_path / "model.json").read_text())["network"]
    assert network["eager_bytes"] == 32768 and network["handshake_ns"] == pytest.approx(1200000)


@pytest.mark.parametrize(
    "result, words, said",
    [
        ("{", [], "cannot be read"),
        ({"schema": "espalier-bench/1"}, [], "no result of bench-cluster"),
        (RESULT, ["--layout", "3+1+3"], "equally many consecutive ranks"),
        (RESULT, ["--host", "impi"], "there are those of mpich 4x2"),
        (RESULT, ["--overhead-ns", "400000"], "more than the 600.25 µs"),
        ({**RESULT, "settings": {}}, [], "lacks 'delay_us'"),
    ],
)
def test_what_cannot_be_made_is_said_in_a_line(tool, tmp_path, result, words, said):
    done = tool(result, *words)
    assert done.returncode == 2 and said in done.stderr and done.stderr.count("\n") == 1, done.stderr
    assert not (tmp_path / "model.json").exists()
