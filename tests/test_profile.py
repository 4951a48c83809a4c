"""`joulemark profile`: functions, energy and flame graphs of what ran."""

import json
import re
from pathlib import Path

import pytest

from command import joulemark
from joulemark.catalogue import boards
from joulemark.catalogue.primitives import Library
from joulemark.images import build_image


@pytest.fixture(scope="module")
def image() -> Path:
    library = Library.load()
    implementation = library.implementation(library["sha-256"], "ref")
    return build_image(implementation, boards.load_board("telosb"), optimisation="Os").path


def test_a_windows_functions_add_up_to_it(image: Path, tmp_path: Path) -> None:
    flame = tmp_path / "hash.speedscope.json"
    options = ("--board", "telosb", "--operation", "hash", "--size", "64")
    done = joulemark("profile", str(image), *options, "--flame", str(flame))
    found = re.search(r"^([\d,]+) cycles, [\d,]+ instructions, [\d.,]+ ms", done.stdout, re.M)
    assert found is not None
    cycles = int(found[1].replace(",", ""))
    profile = json.loads(flame.read_text())["profiles"][0]
    # The edges of the window fall within its first and last instruction.
    assert abs(sum(profile["weights"]) - cycles) <= 10
    assert "sha256" in done.stdout
    assert "datasheet" in done.stdout


def test_a_whole_run_to_a_symbol(image: Path, tmp_path: Path) -> None:
    options = ("--board", "telosb", "--stop-at", "hal_serial_read")
    flame = tmp_path / "boot.svg"
    done = joulemark("profile", str(image), *options, "--flame", str(flame))
    assert "hal_init" in done.stdout
    assert "hal_init" in flame.read_text()


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (("--operation", "sign"), 3, "update"),
        (("--max-cycles", "1000", "--stop-at", "harness_receive"), 8, "--max-cycles"),
        (("--stop-at", "hal_init", "--flame", "x.pdf"), 3, ".svg"),
    ],
)
def test_a_wrong_option_is_one_clear_error(
    image: Path, options: tuple[str, ...], code: int, message: str
) -> None:
    done = joulemark("profile", str(image), "--board", "telosb", *options, code=code)
    assert message in done.stderr
    assert "Traceback" not in done.stderr
