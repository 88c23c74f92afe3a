"""That `make test-asan` and `make test-tsan` find something: the interposer's own reads and writes are watched in every rank."""

import hosts
import pytest

pytestmark = pytest.mark.needs_espalier
by_asan = pytest.mark.skipif("libasan" not in hosts.PRELOAD_FIRST, reason="the interposers have no sanitizer: make test-asan")
by_tsan = pytest.mark.skipif("libtsan" not in hosts.PRELOAD_FIRST, reason="the interposers have no sanitizer: make test-tsan")


@pytest.mark.every_host
@by_asan
def test_a_read_behind_a_block_is_reported(launch, host, tmp_path):
    run = launch(host, 2, "short_block", env={"ASAN_OPTIONS": f"detect_leaks=0:log_path={tmp_path}/report"})
    assert run.status != 0, str(run)
    reports = [path.read_text() for path in tmp_path.glob("report.*")]
    assert any("heap-buffer-overflow" in text and "libespalier" in text for text in reports), f"{run}\n{reports}"


@by_asan
def test_what_a_rank_says_of_undefined_behaviour_is_read(tmp_path):
    said = "echo 'src/a.cpp:3:14: runtime error: null pointer passed as argument 2' >&2"
    with pytest.raises(hosts.Undefined, match="null pointer"):
        hosts.run(["sh", "-c", said], None, 10, tmp_path)
    assert hosts.run(["sh", "-c", "echo 'runtime error' >&2"], None, 10, tmp_path).status == 0


@by_tsan
def test_threads_that_receive_into_one_buffer_are_reported(launch, tmp_path):
    options = f"ignore_noninstrumented_modules=0:log_path={tmp_path}/report"
    run = launch(hosts.HOSTS["impi"], 2, "one_buffer", env={"TSAN_OPTIONS": options})
    assert run.out.count("one_buffer: done") == 2, str(run)
    reports = [path.read_text() for path in tmp_path.glob("report.*")]
    assert any("data race" in text and "libespalier" in text for text in reports), f"{run}\n{reports}"
