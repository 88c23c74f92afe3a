"""Looks at a page in headless Chromium: what lies where, at a width, in the light and in the dark."""

import json
import re
import shutil
import subprocess

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")

# Runs in a page around the page that is looked at, which has no script of its own.
LOOK = r"""
const page = document.getElementById("page").contentWindow, inside = page.document;
const box = element => element.getBoundingClientRect();
const said = element => element.textContent.trim().slice(0, 40);
const shown = element => { const b = box(element); return b.width > 0 && b.height > 0; };
const cut = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1.5 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1.5;

function crossing(elements) {
  const found = [], boxes = elements.filter(shown).map(e => [box(e), e]);
  boxes.forEach(([a, e], i) => boxes.slice(i + 1).forEach(([b, f]) => { if (cut(a, b)) found.push(said(e) + " / " + said(f)); }));
  return found;
}

function channels(colour) {
  const numbers = colour.match(/[\d.]+/g).map(Number);
  return [numbers.slice(0, 3), numbers.length > 3 ? numbers[3] : 1];
}
function light(rgb) {
  const [r, g, b] = rgb.map(c => c / 255).map(c => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
function background(element) {
  for (let at = element; at; at = at.parentElement) {
    const [rgb, alpha] = channels(page.getComputedStyle(at).backgroundColor);
    if (alpha > 0.5) return rgb;
  }
  return [255, 255, 255];
}
function contrast(element, colour) {
  const [a, b] = [light(channels(colour)[0]), light(background(element))].sort((x, y) => y - x);
  return (a + 0.05) / (b + 0.05);
}

const all = selector => [...inside.querySelectorAll(selector)];
const width = inside.documentElement.clientWidth;
const words = all("h1, h2, h3, p, li, th, td, pre, summary").filter(shown);
const found = {
  width: width,
  scrolls: inside.documentElement.scrollWidth,
  paper: page.getComputedStyle(inside.body).backgroundColor,
  first: said(inside.querySelector("h1 ~ p.verdict") || inside.body),
  verdict_bottom: inside.querySelector("p.verdict") ? box(inside.querySelector("p.verdict")).bottom : -1,
  blocks: crossing([...inside.body.children]),
  cells: all("tr").flatMap(row => crossing([...row.children])),
  drawn: all("svg").flatMap(svg => crossing([...svg.querySelectorAll("text")])),
  ratios: all("td.ratio").filter(shown).length,
  hidden_ratios: all("td.ratio").filter(shown).filter(cell => box(cell).right > width + 0.5 || box(cell).left < 0).map(said),
  faint: words.filter(e => said(e) && contrast(e, page.getComputedStyle(e).color) < 4.5).map(said),
  faint_drawn: all("svg text").filter(shown).filter(e => !e.closest(".on-colour") && !(e.getAttribute("style") || "").includes("fill: #"))
    .filter(e => contrast(e, page.getComputedStyle(e).fill) < 4.5).map(said),
};
const out = document.createElement("pre");
out.id = "found";
out.textContent = JSON.stringify(found);
document.body.append(out);
"""


def chromium():
    """Its path; without one the test is skipped."""
    for name in NAMES:
        if path := shutil.which(name):
            return path
    pytest.skip(f"no {NAMES[0]} is installed, to look at pages with (apt-get install chromium)")


def look(page, width, dark=False):
    """Of the page at that width: a dictionary (LOOK), and in `console` what the browser complained of."""
    frame = page.with_name(f"{page.stem}-{width}-{'dark' if dark else 'light'}.html")
    frame.write_text(
        f'<!DOCTYPE html><meta charset="utf-8"><body style="margin: 0">'
        f'<iframe id="page" src="{page.name}" style="width: {width}px; height: 1200px; border: 0"></iframe>'
        f'<script>document.getElementById("page").onload = () => {{ {LOOK} }};</script>'
    )
    words = [chromium(), "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--hide-scrollbars",
             f"--user-data-dir={page.parent / 'profile'}", "--allow-file-access-from-files", "--enable-logging=stderr",
             f"--blink-settings=preferredColorScheme={0 if dark else 1}", "--virtual-time-budget=10000", "--dump-dom",
             frame.as_uri()]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120)
    text = re.search(r'<pre id="found">(.*?)</pre>', done.stdout, re.DOTALL)
    assert text, [line for line in done.stderr.splitlines() if "CONSOLE" in line] or done.stderr[-500:]
    plain = text[1].replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", '"').replace("&amp;", "&")
    return {**json.loads(plain), "console": re.findall(r"CONSOLE.*", done.stderr)}
