import json
from pathlib import Path

import pytest
from rich.console import Console

from made_up import make_document, make_each, make_job, make_limit, steady
from espalier import install
from espalier.bench import file
from espalier.bench.results import compare
from espalier.report import command as report_command
from espalier.bench.results.stats import summarise
from espalier.problem import Problem


def problem_of(path: Path) -> str:
    with pytest.raises(Problem) as caught:
        file.load(path)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_paths_within_the_tree_are_kept_relative(tmp_path, document):
    document["jobs"][0]["command"] = f"{install.source_tree()}/.venv/mpich/bin/mpirun -n 2 {install.source_tree()}/build/bench/compare"
    file.save(document, tmp_path / "bench.json")
    assert file.load(tmp_path / "bench.json")["jobs"][0]["command"] == ".venv/mpich/bin/mpirun -n 2 build/bench/compare"


def test_saved_is_loaded(tmp_path, document):
    file.save(document, tmp_path / "new" / "bench.json")
    assert file.load(tmp_path / "new" / "bench.json") == document


@pytest.mark.parametrize("name", ["bench.json", "bench.json.xz"])
def test_plain_and_compressed_files_say_the_same(tmp_path, document, name):
    file.save(document, tmp_path / name)
    assert file.load(tmp_path / name) == document
    assert (tmp_path / name).read_bytes().startswith(b"\xfd7zXZ" if name.endswith(".xz") else b"{")


def test_a_compressed_file_that_is_written_again_does_not_differ(tmp_path, document):
    file.save(document, tmp_path / "one.json.xz")
    file.save(file.load(tmp_path / "one.json.xz"), tmp_path / "other.json.xz")
    assert (tmp_path / "one.json.xz").read_bytes() == (tmp_path / "other.json.xz").read_bytes()


@pytest.mark.parametrize("damaged", [lambda content: content[:-20], lambda content: b"{}", lambda content: content[:40] + content[42:]])
def test_a_damaged_compressed_file(tmp_path, document, damaged):
    path = tmp_path / "bench.json.xz"
    file.save(document, path)
    path.write_bytes(damaged(path.read_bytes()))
    assert "is not JSON: it is not compressed by xz, or not whole" in problem_of(path)


def test_the_page_of_a_compressed_file(tmp_path, document, capsys):
    file.save(document, tmp_path / "bench.json.xz")
    nothing = {name: None for name in ("output", "points", "flight", "stretch", "limits")}
    report_command.report(tmp_path / "bench.json.xz", **nothing, text=False)
    assert capsys.readouterr().out == f"written: {tmp_path / 'bench.html'}\n"
    assert (tmp_path / "bench.html").read_text(encoding="utf-8") == report_command.page(document)


def test_a_round_is_one_line(tmp_path, document):
    file.save(document, tmp_path / "bench.json")
    lines = (tmp_path / "bench.json").read_text().splitlines()
    assert sum('"host_us"' in line for line in lines) == len(document["jobs"][0]["rounds"])


def test_missing_file(tmp_path):
    assert "No such file" in problem_of(tmp_path / "none.json")


@pytest.mark.parametrize("text, words", [("{", "is not JSON"), ("[]", "names no schema"), ('{"a": 1}', "names no schema")])
def test_no_bench_file(tmp_path, text, words):
    path = tmp_path / "bad.json"
    path.write_text(text)
    assert words in problem_of(path)


def test_wrong_schema(tmp_path, document):
    path = tmp_path / "old.json"
    path.write_text(json.dumps(document | {"schema": "espalier-bench/0"}))
    assert "schema 'espalier-bench/0'" in problem_of(path)


def test_missing_field_is_named(tmp_path, document):
    del document["jobs"][0]["rounds"][3]["f_ns"]
    file.save(document, tmp_path / "f.json")
    assert "job 0 round 3 has no proper 'f_ns'" in problem_of(tmp_path / "f.json")


def kept(document, path: Path) -> dict:
    file.save(file.points_alone(document), path)
    return file.load(path)


def test_points_alone_say_what_the_rounds_said(tmp_path, document):
    again = kept(document, tmp_path / "points.json")
    assert again["jobs"] == []
    for found, wanted in zip(summarise(again), summarise(document), strict=True):
        assert (found.key, found.rounds, found.served) == (wanted.key, wanted.rounds, wanted.served)
        assert found.flag_ns == pytest.approx(wanted.flag_ns, abs=0.1)
        for one, other in ((found.host, wanted.host), (found.espalier, wanted.espalier), (found.ratio, wanted.ratio)):
            assert (one is None) == (other is None)
            assert one is None or vars(one) == pytest.approx(vars(other), abs=1e-4)


def test_a_run_is_compared_with_points_alone(tmp_path, document):
    console = Console(record=True, width=200)
    compare.print_all(kept(document, tmp_path / "points.json"), document, console)
    assert f"{len(summarise(document))} points in both runs" in console.export_text()


def test_points_alone_make_a_page(tmp_path, document):
    page = report_command.page(kept(document, tmp_path / "points.json"))
    assert "MPICH, 2 ranks, near" in page and "MPICH, 2 ranks, far" in page
    assert page.count("<svg") == report_command.page(document).count("<svg")
    assert ">2.00<" in page and "(2.00–2.00)" in page


@pytest.mark.parametrize("name", ["host", "buffers", "rounds", "served", "host_us", "espalier_us", "ratio"])
def test_missing_field_of_a_point_is_named(tmp_path, document, name):
    bad = file.points_alone(document)
    del bad["points"][1][name]
    file.save(bad, tmp_path / "points.json")
    assert f"point 1 has no proper '{name}'" in problem_of(tmp_path / "points.json")


def test_missing_field_of_a_spread_is_named(tmp_path, document):
    bad = file.points_alone(document)
    del bad["points"][1]["ratio"]["median"]
    file.save(bad, tmp_path / "points.json")
    assert "ratio of point 1 has no proper 'median'" in problem_of(tmp_path / "points.json")


def test_cannot_write(tmp_path, document):
    (tmp_path / "file").write_text("")
    with pytest.raises(Problem, match="cannot write"):
        file.save(document, tmp_path / "file" / "bench.json")


def changes(old, new):
    return compare.changes(summarise(make_document(make_job("mpich", 2, old))), summarise(make_document(make_job("mpich", 2, new))))


def test_like_points_are_compared():
    (found,) = changes(steady("bcast", 8, 1.0, 0.5), steady("bcast", 8, 1.0, 0.25) + steady("bcast", 64, 1.0, 1.0))
    assert found.real and found.factor == 2 and found.comparable


def test_near_is_not_compared_with_far():
    assert changes(steady("bcast", 8, 1.0, 0.5), steady("bcast", 8, 3.0, 1.5, f_ns=250)) == []


def test_noise_is_no_change():
    (found,) = changes(steady("bcast", 8, 1.0, 0.50), steady("bcast", 8, 1.0, 0.52))
    assert not found.real


def test_another_machine_is_left_out():
    (found,) = changes(steady("bcast", 8, 1.0, 0.5, f_ns=30), steady("bcast", 8, 1.0, 0.9, f_ns=110))
    assert not found.comparable


def test_the_table_names_what_became_slower(capsys):
    found = changes(steady("bcast", 8, 1.0, 0.5), steady("bcast", 8, 1.0, 1.0))
    compare.print_changes(found, Console(width=120))
    out = capsys.readouterr().out
    assert "1 changed beyond noise" in out and "2.00 x slower" in out


def test_yardsticks_and_neighbours_are_compared_too(capsys):
    def document(pipe_us, switch_us, p95):
        switches = [{"round": 0, "per_core": 2, "switch_us": switch_us, "f_ns": 60.0}]
        two = make_job("mpich", 2, steady("bcast", 8, 1, 1), limits=[make_limit(1 << 20, 0, pipe_us)])
        four = make_job("mpich", 4, steady("bcast", 8, 1, 1), switches=switches)
        return make_document(two, four, make_job("impi", 2, [], each=[make_each("espalier", p95)]))

    compare.print_all(document(100.0, 4.0, 2.0), document(50.0, 8.0, 3.0), Console(width=140))
    out = capsys.readouterr().out
    assert "C(1MiB) near" in out and "0.50" in out and "S, 4 ranks under mpich" in out and "2.00" in out
    assert "back to back: impi, Espalier" in out and "1.50" in out


def test_persistent_calls_are_compared_with_persistent_calls_only(capsys):
    job = lambda us, mode: make_job("mpich", 4, steady("bcast", 8, us, us), mode=mode, each=[make_each("espalier", us)])
    blocking, persistent = make_document(job(1.0, "blocking")), make_document(job(2.0, "persistent"))
    compare.print_all(blocking, persistent, Console(width=140))
    out = capsys.readouterr().out
    assert "0 points in both runs" in out and "back to back" not in out
    compare.print_all(persistent, make_document(job(8.0, "persistent")), Console(width=140))
    out = capsys.readouterr().out
    assert "Changes since the kept run, persistent calls" in out and "4.00 x slower" in out


def test_a_quota_is_not_compared_with_the_whole_machine():
    old = summarise(make_document(make_job("mpich", 4, steady("bcast", 8, 1.0, 1.0))))
    new = summarise(make_document(make_job("mpich", 4, steady("bcast", 8, 2.0, 2.0), place="quota")))
    assert compare.changes(old, new) == []


def test_an_installed_command_saves_what_it_measured(tmp_path, monkeypatch):
    """There is no clone whose paths could be shortened."""
    monkeypatch.setattr("espalier.install.installed", object())
    file.save({"folder": "/somewhere"}, tmp_path / "points.json")
    assert file.read_json(tmp_path / "points.json") == {"folder": "/somewhere"}
