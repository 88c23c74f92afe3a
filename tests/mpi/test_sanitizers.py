"""That `make test-asan` finds something: the interposer's own reads are watched in every rank."""

import hosts
import pytest

pytestmark = pytest.mark.needs_espalier


@pytest.mark.every_host
@pytest.mark.skipif(not hosts.PRELOAD_FIRST, reason="the interposers have no sanitizer: make test-asan")
def test_a_read_behind_a_block_is_reported(launch, host, tmp_path):
    run = launch(host, 2, "short_block", env={"ASAN_OPTIONS": f"detect_leaks=0:log_path={tmp_path}/report"})
    assert run.status != 0, str(run)
    reports = [path.read_text() for path in tmp_path.glob("report.*")]
    assert any("heap-buffer-overflow" in text and "libespalier" in text for text in reports), f"{run}\n{reports}"


@pytest.mark.skipif(not hosts.PRELOAD_FIRST, reason="the interposers have no sanitizer: make test-asan")
def test_what_a_rank_says_of_undefined_behaviour_is_read(tmp_path):
    said = "echo 'src/a.cpp:3:14: runtime error: null pointer passed as argument 2' >&2"
    with pytest.raises(hosts.Undefined, match="null pointer"):
        hosts.run(["sh", "-c", said], None, 10, tmp_path)
    assert hosts.run(["sh", "-c", "echo 'runtime error' >&2"], None, 10, tmp_path).status == 0
