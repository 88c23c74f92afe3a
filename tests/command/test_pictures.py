"""The pictures of `espalier topo`: they fit, nothing lies on another, and every rank is in its boxes, of large machines too."""

import itertools
import re
import xml.etree.ElementTree as ET

import pytest
from conftest import LIB

SVG = "{http://www.w3.org/2000/svg}"
MOST_COLUMNS, MOST_LINES = 1500, 2600
CASES = [
    ("package:2 numa:2 core:2 pu:1", 8, None),
    ("package:2 numa:4 core:8 pu:1", 64, None),
    ("package:2 numa:4 core:8 pu:1", 64, "kary:2 leaders=last skew=right"),
    ("package:2 numa:8 core:16 pu:1", 256, None),
    ("package:2 numa:8 core:16 pu:1", 256, "numa=chain package=knomial:2"),
    ("package:2 core:128 pu:1", 256, "kary:2"),
    ("core:256 pu:1", 256, "flat"),
    ("core:256 pu:1", 256, "chain"),
    ("numa:4 core:2 pu:1", 32, None),  # several ranks a core
]


def numbers(text):
    """ "1-3,7" to {1, 2, 3, 7}."""
    pairs = (piece.partition("-")[::2] for piece in text.split(","))
    return {number for low, high in pairs for number in range(int(low), int(high or low) + 1)}


def drawn(espalier, folder, machine, ranks, tree):
    words = ["topo", "--synthetic", machine, "-n", ranks, "--svg", folder / "t.svg"]
    result = espalier(*words, *(["--tree", tree] if tree else []), lib=LIB)
    assert result.returncode == 0, result.stderr
    return ET.parse(folder / "t.svg").getroot()


def boxes(panel):
    """Label and sides."""
    found = [each for each in panel.findall(f"{SVG}rect") if "box" in each.get("class")]
    labels = [each.text for each in panel.findall(f"{SVG}text") if each.get("class") == "label"]
    sides = [[float(each.get(name)) for name in ("x", "y", "width", "height")] for each in found]
    return [(label, x, y, x + width, y + height) for label, (x, y, width, height) in zip(labels, sides)]


def places(panel):
    """Ranks and sides of each place where ranks are drawn."""
    texts = {kind: [each for each in panel.findall(f"{SVG}text") if each.get("class").split()[0] == kind] for kind in ("number", "several")}
    found = []
    for text, circle in zip(texts["number"], panel.findall(f"{SVG}circle")):
        x, y, r = (float(circle.get(name)) for name in ("cx", "cy", "r"))
        found.append((numbers(text.text), x - r, y - r, x + r, y + r))
    bundles = [each for each in panel.findall(f"{SVG}rect") if each.get("class") == "bundle"]
    for text, each in zip(texts["several"], bundles):
        x, y, width, height = (float(each.get(name)) for name in ("x", "y", "width", "height"))
        found.append((numbers(text.text), x, y, x + width, y + height))
    return found


@pytest.mark.parametrize("machine, ranks, tree", CASES, ids=lambda value: str(value))
def test_pictures_fit_and_are_right(espalier, tmp_path, machine, ranks, tree):
    picture = drawn(espalier, tmp_path, machine, ranks, tree)
    assert float(picture.get("width")) <= MOST_COLUMNS and float(picture.get("height")) <= MOST_LINES
    for panel in picture.findall(f"{SVG}g"):
        found = places(panel)
        assert sorted(rank for each in found for rank in each[0]) == list(range(ranks))
        for (_, *a), (_, *b) in itertools.combinations(found, 2):
            assert a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1], "two places lie on each other"
        for label, left, top, right, bottom in boxes(panel):
            members = numbers(label.split(" · ")[1])
            for inside, x1, y1, x2, y2 in found:
                is_in = left <= x1 and x2 <= right and top <= y1 and y2 <= bottom
                assert is_in == (inside <= members), (label, inside)
        lines = [path for path in panel.findall(f"{SVG}path") if path.get("class") in ("inner", "outer")]
        assert len(lines) == len(found) - 1


def test_order_collective_processors_and_legend(espalier, tmp_path):
    picture = drawn(espalier, tmp_path, "package:2 core:4 pu:1", 8, None)
    titles = [each.text for panel in picture.findall(f"{SVG}g") for each in panel.findall(f"{SVG}text") if each.get("class") == "tree"]
    assert titles == ["gather: reduce of 4KiB", "release: bcast of 4KiB"] or titles == ["gather and release: reduce of 4KiB and bcast of 4KiB"]
    texts = [each.text for each in picture.iter(f"{SVG}text")]
    assert {f"cpu {number}" for number in range(8)} <= set(texts)
    assert any("place in which its parent takes or serves it" in (text or "") for text in texts)


@pytest.mark.parametrize("skew", ["left", "right"])
def test_skew_turns_the_order(espalier, tmp_path, skew):
    """A chain has no order; the root of a flat tree serves its children in order, or in reverse."""
    picture = drawn(espalier, tmp_path, "core:4 pu:1", 4, f"flat skew={skew}")
    panel = picture.find(f"{SVG}g")
    order = [each.text for each in panel.findall(f"{SVG}text") if each.get("class") == "order" and each.text]
    assert order == (["1", "2", "3"] if skew == "left" else ["3", "2", "1"])
    assert "the tree of --tree" in panel.find(f"{SVG}text").text
    assert ("skew=right" in ET.tostring(panel, "unicode")) == (skew == "right")


def test_leaves_of_one_parent_stand_together_with_their_orders(espalier, tmp_path):
    panel = drawn(espalier, tmp_path, "core:32 pu:1", 32, "flat").find(f"{SVG}g")
    assert [each[0] for each in places(panel)] == [{0}, set(range(1, 32))]
    texts = re.findall(r'class="(\w+)"[^>]*>1-31<', ET.tostring(panel, "unicode"))
    assert sorted(texts) == ["cpu", "order", "several"]
