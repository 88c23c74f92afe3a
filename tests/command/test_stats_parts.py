"""`espalier stats` of a run that did not end well: from the counters that its ranks have left."""

import json
import os
import struct
import time

from conftest import RECORDED

HEADER = struct.Struct("@16sIIIIdqiiiI256s16s")
ROW = struct.Struct("@8QQ31QIiBBBBI24s24s40s344s")


def row(collective=b"allreduce", calls=10, ticks=5000, why=b"", by_host=0, size=2, in_use=1, size_class=4, waited=0, last=0, carried=0, spread=()):
    return ROW.pack(calls, ticks, 3, 2, 1, 0, waited, last, carried, *spread, *[0] * (31 - len(spread)), 0, size, in_use, size_class, 3, by_host, 0, collective, b"exchange",
                    b"host" if by_host else b"shared memory", why)


def part(folder, rank, *rows, ranks=2, started=None, host=b"MPICH Version: 5.0.2", magic=b"espalier counts\0", version=3):
    header = HEADER.pack(magic, 0x01020304, version, 4096, ROW.size, 1e-9, int(started or time.time()), rank, ranks, 1, 0, host,
                         b"mpich")
    path = folder / f"run.json.rank-{rank}"
    path.write_bytes(header.ljust(4096, b"\0") + b"".join(rows) + bytes(ROW.size))
    return path


def report(espalier, folder):
    result = espalier("stats", "--json", folder / "run.json")
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def test_ranks_are_added_up(espalier, tmp_path):
    for rank in (0, 1):
        part(tmp_path, rank, row(), row(ticks=7000), row(b"bcast", why=b"no room", by_host=1), row(in_use=0), row(calls=0))
    found = report(espalier, tmp_path)
    assert (found["ranks"], found["counted"], found["host"], found["build"]) == (2, 2, "MPICH Version: 5.0.2", "mpich")
    served = next(entry for entry in found["rows"] if entry["collective"] == "allreduce")
    assert (served["calls"], served["bytes_from"], served["bytes_to"]) == (20, 8, 15)
    assert abs(served["mean_seconds"] - 12e-6) < 1e-12 and abs(served["slowest_seconds"] - 12e-6) < 1e-12
    assert abs(served["seconds"] - 12e-6) < 1e-12 and served["wait"] == {"spin": 12, "progress": 8, "yield": 4, "sleep": 0}
    assert next(entry for entry in found["rows"] if entry["fallback"] == "no room")["calls"] == 10
    assert found["communicators"][0]["transport"] == "host"
    assert "what 2 of its ranks have counted" in espalier("stats", tmp_path / "run.json").stdout


def test_the_slowest_rank_and_the_mean(espalier, tmp_path):
    part(tmp_path, 0, row(ticks=1000))
    part(tmp_path, 1, row(ticks=9000))
    found = report(espalier, tmp_path)["rows"][0]
    assert abs(found["mean_seconds"] - 5e-6) < 1e-12 and abs(found["slowest_seconds"] - 9e-6) < 1e-12


def test_waiting_for_the_last_rank(espalier, tmp_path):
    part(tmp_path, 0, row(ticks=9000, waited=8000, last=2, carried=80, spread=(0, 0, 1, 1)))
    part(tmp_path, 1, row(ticks=3000, waited=1000, last=8, carried=100, spread=(1, 0, 7)))
    found = report(espalier, tmp_path)["rows"][0]
    assert abs(found["waited_seconds"] - 4.5e-6) < 1e-12 and found["mostly_last"] == {"rank": 1, "calls": 8}
    assert found["came_last"] == [{"rank": 1, "calls": 8}, {"rank": 0, "calls": 2}]
    assert found["arrival_spread"] == [1, 0, 8, 1] + [0] * 27 and found["mean_bytes"] == 9
    shown = espalier("stats", tmp_path / "run.json", COLUMNS="400").stdout
    assert " 75 % " in shown and "came last most often: rank 1 in 8 of 10 allreduce" in shown


def test_one_rank_of_two_is_enough(espalier, tmp_path):
    part(tmp_path, 1, row())
    found = report(espalier, tmp_path)
    assert found["counted"] == 1 and found["rows"][0]["calls"] == 10 and abs(found["rows"][0]["seconds"] - 5e-6) < 1e-12


def test_ranks_of_an_earlier_run_do_not_count(espalier, tmp_path):
    part(tmp_path, 0, row())
    part(tmp_path, 1, row(), started=time.time() - 5000)
    assert report(espalier, tmp_path)["counted"] == 1


def test_a_run_that_came_later_and_ended_well_goes_before(espalier, tmp_path):
    part(tmp_path, 0, row(), started=time.time() - 60)
    (tmp_path / "run.json").write_text((RECORDED / "stats.json").read_text())
    assert "counted" not in report(espalier, tmp_path)
    os.utime(tmp_path / "run.json", (1, 1))
    assert report(espalier, tmp_path)["counted"] == 1


def test_what_is_no_such_file_is_passed_over(espalier, tmp_path):
    part(tmp_path, 0, magic=bytes(16))
    (tmp_path / "run.json.rank-1").write_bytes(b"short")
    (tmp_path / "run.json.rank-x").write_bytes(b"")
    assert "cannot be read" in espalier("stats", tmp_path / "run.json").stderr
    part(tmp_path, 0, row(), ranks=0)
    assert "damaged" in espalier("stats", tmp_path / "run.json").stderr
    part(tmp_path, 0, row(), version=99)
    assert "another version" in espalier("stats", tmp_path / "run.json").stderr


def test_control_characters_are_not_printed(espalier, tmp_path):
    """Neither from the ranks' files nor from a JSON file, which anything may have written."""
    part(tmp_path, 0, row(why=b"\x1b[2J", by_host=1), host=b"a\x1b]0;t\x07\xff")
    printed = espalier("stats", tmp_path / "run.json").stdout
    assert "\x1b" not in printed and "\x07" not in printed and "\\x1b[2J" in printed
    text = json.loads((RECORDED / "stats.json").read_text())
    text["host"] = "Open MPI\0\x1b[31m"
    text["rows"][0]["transport"] = "shared\x1b[2J\n\u202ememory"
    (tmp_path / "other.json").write_text(json.dumps(text))
    printed = espalier("stats", tmp_path / "other.json").stdout
    assert not {"\0", "\x1b", "\u202e"} & set(printed)
    assert "Open MPI, mpich build" in printed and "shared\\x1b[2J \\u202ememory" in printed
