"""`joulemark profile`: functions, energy and flame graphs of what ran."""

import json
import re
import subprocess
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
    # The window's edges fall within its first and last instructions.
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
        (("--operation", "hash", "--size", "65536"), 2, "65535"),
        (("--operation", "hash", "--stop-at", "main"), 3, "leave out --operation"),
        (("--operation", "update-split"), 3, "update-split of hash is not measured"),
        (("--size", "5"), 3, "give --operation"),
    ],
)
def test_a_wrong_option_is_one_clear_error(
    image: Path, options: tuple[str, ...], code: int, message: str
) -> None:
    done = joulemark("profile", str(image), "--board", "telosb", *options, code=code)
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_a_window_of_what_the_image_does_not_take_is_one_clear_error() -> None:
    library = Library.load()
    cipher = library.implementation(library["aes-128"], "ref")
    image = build_image(cipher, boards.load_board("telosb"), optimisation="Os").path
    for options, message in (
        (("--board", "telosb", "--operation", "encrypt", "--size", "17"), "multiples of 16"),
        (("--board", "telosb", "--operation", "encrypt", "--size", "65520"), "up to 1024"),
        (("--board", "telosb", "--operation", "nothing"), "encrypt"),
        (("--board", "openmote-cc2538", "--operation", "encrypt"), "armv7m"),
    ):
        done = joulemark("profile", str(image), *options, code=3)
        assert message in done.stderr
        assert len(done.stderr.splitlines()) == 1


def test_a_window_without_a_message_asks_for_no_size() -> None:
    library = Library.load()
    agreement = library.implementation(library["ecdh-secp160r1"], "msp430")
    image = build_image(agreement, boards.load_board("telosb"), optimisation="Os").path
    options = ("profile", str(image), "--board", "telosb", "--operation", "agree")
    assert " cycles, " in joulemark(*options).stdout
    done = joulemark(*options, "--size", "32", code=3)
    assert "agree of key-agreement takes no message; leave it out" in done.stderr


def test_brackets_in_a_symbol_are_no_markup(tmp_path: Path) -> None:
    (tmp_path / "p.S").write_text(
        '.global _start\n.text\n_start:\n  mov #0x3900, sp\n  call #"f[/x]"\nend:\n  jmp end\n'
        '.type "f[/x]", @function\n"f[/x]":\n  ret\n.section .vectors, "a"\n.word _start\n'
    )
    for command in (
        ["clang-19", "--target=msp430", "-c", "p.S", "-o", "p.o"],
        [
            *("ld.lld-19", "--omagic", "-Ttext=0x4000", "--section-start=.vectors=0xfffe"),
            *("-e", "_start", "p.o", "-o", "p.elf"),
        ],
    ):
        subprocess.run(command, cwd=tmp_path, check=True)
    done = joulemark(
        *("profile", str(tmp_path / "p.elf"), "--board", "telosb", "--max-cycles", "100")
    )
    assert "f[/x]" in done.stdout
    assert "errors, telosb: time exact (" in done.stdout
