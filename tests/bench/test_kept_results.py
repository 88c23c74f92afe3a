"""Holds docs/results small, and what is kept there readable."""

import io

import pytest
from PIL import Image, ImageChops

from espalier import picture, text_file
from espalier.bench import file
from espalier.install import source_tree

RESULTS = source_tree() / "docs" / "results"
MOST_IN_ALL = 2_000_000
MOST_OF_A_FILE = 400_000
MOST_OF_A_PLAIN_FILE = 20_000
FILES = sorted(path for path in RESULTS.rglob("*") if path.is_file())
DOCUMENTS = [path for path in FILES if text_file.plain_name(path).suffix == ".json"]
PLAIN = [path for path in DOCUMENTS if path.suffix != text_file.COMPRESSED]
OF_THE_BENCH = [path for path in DOCUMENTS if file.read_json(path).get("schema") == file.SCHEMA]


def name(path):
    return path.name


def test_the_folder_is_small():
    assert sum(path.stat().st_size for path in FILES) <= MOST_IN_ALL


@pytest.mark.parametrize("path", FILES, ids=name)
def test_a_file_is_small(path):
    assert path.stat().st_size <= MOST_OF_A_FILE


@pytest.mark.parametrize("path", FILES, ids=name)
def test_only_results_pictures_and_pages_are_kept(path):
    assert path in DOCUMENTS or path.suffix in (".png", ".md"), "bench/README.md says what is kept"


@pytest.mark.parametrize("path", PLAIN, ids=name)
def test_a_long_result_is_compressed(path):
    assert path.stat().st_size <= MOST_OF_A_PLAIN_FILE, "keep it as .json.xz"


@pytest.mark.parametrize("path", OF_THE_BENCH, ids=name)
def test_a_result_of_the_bench_is_loaded(path):
    assert file.load(path)["machine"]


@pytest.mark.parametrize("path", [path for path in FILES if path.suffix == ".png"], ids=name)
def test_a_picture_has_a_palette(path):
    with Image.open(path) as kept:
        assert kept.mode == "P"


def test_a_saved_picture_is_small_and_shows_the_same(tmp_path):
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots()
    axes.plot([1, 2, 3], [3, 1, 2], color="#D55E00")
    axes.set_title("a plot")
    whole = io.BytesIO()
    figure.savefig(whole, format="png", bbox_inches="tight", dpi=130)
    picture.save_png(figure, tmp_path / "plot.png", dpi=130)
    plt.close(figure)
    with Image.open(whole) as wanted, Image.open(tmp_path / "plot.png") as found:
        assert found.mode == "P" and found.size == wanted.size
        beside = ImageChops.difference(wanted.convert("RGB"), found.convert("RGB"))
        assert max(most for _, most in beside.getextrema()) <= 8
    assert (tmp_path / "plot.png").stat().st_size < len(whole.getvalue()) / 1.5
