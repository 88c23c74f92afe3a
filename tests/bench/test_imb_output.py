from pathlib import Path

from espalier.demo import imb

SAMPLE = (Path(__file__).parent / "imb_sample.txt").read_text()


def test_every_row_is_read():
    lines = imb.parse(SAMPLE)
    assert [(x.collective, x.ranks, x.bytes) for x in lines] == [
        ("Barrier", 2, 0),
        *[("Bcast", 2, size) for size in (8, 16, 32, 64)],
        *[("Allreduce", 4, size) for size in (8, 16)],
    ]
    assert lines[0] == imb.Line("Barrier", 2, 0, 100, 0.38, 0.39, 0.385)
    assert lines[1].most == 4.09 and lines[1].repetitions == 100


def test_what_launchers_say_in_between_is_skipped():
    noisy = SAMPLE.replace("           16          100         0.25", "warning: 1 2 3\n 1 2 3\n           16          100         0.25")
    assert imb.parse(noisy) == imb.parse(SAMPLE)


def test_a_row_that_is_cut_off_is_skipped():
    assert len(imb.parse(SAMPLE[: SAMPLE.index("0.21         0.39")])) == 3


def test_time_outs_are_no_rows():
    row = "           64          100         0.20         0.39         0.30"
    text = SAMPLE.replace(row, "           64 time-out.; Time limit (x) is over")
    assert text != SAMPLE and len(imb.parse(text)) == len(imb.parse(SAMPLE)) - 1


def test_points_of_a_full_run():
    found = imb.points(4, 8, 4 << 20)
    assert found[0] == (4, "barrier", 0) and found[1] == (4, "bcast", 8) and found[-1] == (4, "allreduce", 4 << 20)
    assert len(found) == 1 + 3 * 20


def test_nothing_in_no_output():
    assert imb.parse("") == [] and imb.parse("mpirun: not found\n") == []
