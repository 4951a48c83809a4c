"""Each kind of user: what they type, and that it gives the answer."""

import json
import re
import shlex
from pathlib import Path

import pytest

import released
from command import joulemark
from joulemark.catalogue import boards
from joulemark.catalogue.primitives import Library
from joulemark.images import build_image
from joulemark.project import ROOT


def readme(command: str) -> list[str]:
    """Return the arguments of a command that the README shows."""
    (line,) = re.findall(rf"^\$ \.venv/bin/joulemark ({command} .*)$", README, re.MULTILINE)
    return shlex.split(line, comments=True)


README = (ROOT / "README.md").read_text()


def test_an_engineer_asks_what_suits_a_product(tmp_path: Path) -> None:
    """AEAD for 40 bytes plus 12 on a CC2538, 4 KB of flash to spare, ten years on two AAs."""
    asked = (*readme("choose"), "--store", str(tmp_path / "s.db"))
    text = joulemark(*asked, "--explain").stdout
    found = json.loads(joulemark(*asked, "--stored", "--format", "json").stdout)
    best, *others = found["candidates"]
    assert best["energy µJ"] == min(c["energy µJ"] for c in found["candidates"])
    assert len({c["primitive"] for c in others}) > 4
    for candidate in found["candidates"]:
        assert candidate["flash"] <= 4096
        assert candidate["secrets"].startswith("independent")
    shown = next(line for line in text.splitlines() if best["primitive"] in line)
    assert shown.startswith("*")
    # Its cost, once a minute at 3 V, and how long the cells last.
    per_year = best["energy µJ"] * 1e-6 / 3.0 * 365.25 * 24 * 60 / 3.6
    assert best["mAh a year"] == pytest.approx(per_year, rel=1e-3)
    years = [float(y) for y in re.findall(r"([\d.]+) years", found["battery"])]
    assert len(years) == 2
    assert years[0] > years[1] > 10
    assert "cc2538-engine" in text  # The chip has hardware for it, which is measured like the rest.
    assert "flash at most 4,096 bytes:\n" in text
    assert "constant time" in text


def test_an_engineer_looks_at_his_own_firmware(tmp_path: Path) -> None:
    library = Library.load()
    way = library.implementation(library["aes-128"], "ref")
    image = str(build_image(way, boards.load_board("openmote-cc2538")).path)
    page, board = tmp_path / "power.html", ("--board", "openmote-cc2538")
    between = ("--from", "main", "--stop-at", "hal_serial_read")
    found = json.loads(joulemark("exec", image, *board, *between, "--json").stdout)
    assert found["cycles"] > 0
    joulemark("exec", image, *board, "--max-cycles", "100000", "--power", str(page))
    assert "<html" in page.read_text()
    lines = joulemark("profile", image, *board, "--max-cycles", "100000", "--lines").stdout
    assert re.search(r"\.c:\d+", lines)


def test_a_researcher_puts_a_papers_table_beside_ours(tmp_path: Path) -> None:
    asked = ("study", "shibata-2018", "--item", "table-vi", "--short", "--json")
    found = json.loads(joulemark(*asked, "--store", str(tmp_path / "s.db")).stdout)
    rows = {r["id"]: r for r in found["results"]}
    letter_soup = rows["lettersoup_encrypt_time"]
    assert (letter_soup["paper"], letter_soup["unit"]) == (867.99, "us")
    assert letter_soup["ratio"] == pytest.approx(letter_soup["ours"] / 867.99)
    assert rows["lettersoup_better_encrypt"]["verdict"] == "reproduced"
    # Each number comes with its conditions, and with the paper's beside them.
    assert any("48 MHz" in text for text in letter_soup["conditions"]["ours"])
    assert any("34401A" in text for text in letter_soup["conditions"]["stated"])


WORSE = """
void aes_encrypt(const aes_ctx *ctx, uint8_t *out, const uint8_t *in, size_t blocks) {
    volatile uint8_t copy[96];
    for (unsigned i = 0; i < sizeof copy; i++)
        copy[i] = (uint8_t)i;
    (void)copy[*(const uint8_t *)ctx % sizeof copy];
    before(ctx, out, in, blocks);
}
"""


def test_a_maintainer_is_told_what_a_commit_did(tmp_path: Path) -> None:
    """Slower on a Cortex-M3, 96 more bytes of stack, and no longer constant time."""
    root = released.library(
        tmp_path / "library", "bitslice", ("aes_encrypt", WORSE), secret_independent=True
    )
    limits = ("--fail", "cycles=5%", "--fail", "stack=64", "--fail", "secrets")
    measured = ("--", "--board", "stm32vldiscovery", "--operation", "encrypt", "--size", "16")
    comment = tmp_path / "comment.md"
    asked = ("compare", "v1", "v2", "--source", str(root / "joulemark"), *limits)
    done = joulemark(*asked, "--out", str(comment), *measured, code=14)
    assert "beyond the limits" in done.stderr
    text = comment.read_text()
    said = re.search(r"aes-128/mine encrypt \+([\d.]+)%, flash \+\d+ B, stack \+(\d+) B", text)
    assert said is not None, text
    assert float(said[1]) > 5
    assert int(said[2]) == 96
    assert "no longer independent of secrets" in text
