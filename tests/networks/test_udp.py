"""UDP over 6LoWPAN as devices read it: firmware/fuzz/udp.c."""

import subprocess
from pathlib import Path

import pytest

from fuzzers import run_fuzzer
from joulemark.project import FIRMWARE, ROOT

LONGEST = 600
NET = FIRMWARE / "net"
SANITIZERS = ("-fsanitize=fuzzer,address,undefined", "-fno-sanitize-recover=all")


def fuzzer(folder: Path, source: Path = FIRMWARE / "fuzz/udp.c") -> Path:
    """Build the target from a source whose net/udp is beside it."""
    made = folder / "udp"
    radio = (NET / "csma", NET / "radio", NET / "ieee802154", ROOT / "tests/networks/radio")
    includes = (source.parent.parent / "net/udp", *radio)
    command = ["clang-19", "-std=c11", "-O1", "-g", "-Wall", "-Wextra", "-Werror", *SANITIZERS]
    command += ["-DUDP_BYTES_MAX=512", *(f"-I{each}" for each in includes)]
    subprocess.run([*command, source, "-o", made], check=True)
    return made


@pytest.mark.slow
def test_what_comes_is_what_was_sent(tmp_path: Path) -> None:
    run_fuzzer(fuzzer(tmp_path), 20_000, LONGEST)


@pytest.mark.slow
@pytest.mark.parametrize(
    "check",
    [
        "partial.have != frame->payload[FIRST_BYTES] * UNIT",
        "left > partial.size - partial.have",
    ],
)
def test_a_check_that_is_missing_is_found(check: str, tmp_path: Path) -> None:
    for name in ("fuzz/udp.c", "net/udp/udp.c", "net/udp/udp.h"):
        to = tmp_path / name
        to.parent.mkdir(parents=True, exist_ok=True)
        text = (FIRMWARE / name).read_text()
        assert name != "net/udp/udp.c" or check in text
        to.write_text(text.replace(check, "false"))
    with pytest.raises(AssertionError, match="SUMMARY"):
        run_fuzzer(fuzzer(tmp_path, tmp_path / "fuzz/udp.c"), 200_000, LONGEST)
