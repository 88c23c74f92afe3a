"""tools/second_try.py: which failed tests `make test` runs a second time."""

import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tools"))

import second_try  # noqa: E402

LOST = 'def test_lost():\n    assert 0 == 213, "the launcher has lost the end"\n'
PASSES = "def test_passes():\n    pass\n"
WRONG = 'def test_wrong():\n    assert False, "rank 3: a sum is wrong"\n'
CAUGHT = 'def test_caught():\n    raise RuntimeError("the results differ")\n'
MANY = "import pytest\n@pytest.mark.parametrize('n', range(9))\ndef test_many(n):\n    assert n == 99\n"
IN_SOURCE = "def test_in_source():\n    # what would be wrong\n    assert 5 == 6\n"


@pytest.fixture
def candidates(tmp_path, monkeypatch):
    monkeypatch.delenv("ESPALIER_TEST_FULL", raising=False)

    def run(*texts):
        folder = tmp_path / "tests"
        folder.mkdir()
        for number, text in enumerate(texts):
            (folder / f"test_{number}.py").write_text(text)
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--junitxml=report.xml", "--rootdir=.", "tests"]
        subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
        assert (tmp_path / "report.xml").exists()
        return second_try.candidates(tmp_path / "report.xml", tmp_path)

    return run


def test_a_failure_that_tells_of_no_wrong_result_is_tried_again(candidates):
    assert candidates(LOST, PASSES, IN_SOURCE) == ["tests/test_0.py::test_lost", "tests/test_2.py::test_in_source"]


@pytest.mark.parametrize("text", [WRONG, CAUGHT, MANY])
def test_others_count_as_they_are(candidates, text):
    assert candidates(LOST, text) == []


def test_none_when_rare_failures_are_looked_for(candidates, monkeypatch):
    monkeypatch.setenv("ESPALIER_TEST_FULL", "1")
    assert candidates(LOST) == []


def test_no_report_no_second_try(tmp_path):
    assert second_try.candidates(tmp_path / "none.xml", tmp_path) == []
