"""CSMA-CA's acknowledgements: tests/networks/csma_host.c."""

import ctypes
import subprocess
from pathlib import Path

from joulemark.project import FIRMWARE, ROOT

OK, NO_ACK = 0, 2
"""`csma_status`."""
TRIES = 4
"""macMaxFrameRetries is 3 (IEEE Std 802.15.4-2006, table 86)."""


def test_only_the_acknowledgement_of_this_frame_ends_its_tries(tmp_path: Path) -> None:
    net, made = FIRMWARE / "net", tmp_path / "csma.so"
    radio = ROOT / "tests/networks/radio"
    includes = [f"-I{each}" for each in (net / "csma", net / "radio", net / "ieee802154", radio)]
    sources = [ROOT / "tests/networks/csma_host.c", net / "ieee802154/frame.c"]
    command = ["clang-19", "-std=c11", "-O1", "-shared", "-fPIC", "-Wall", "-Werror", *includes]
    subprocess.run([*command, "-DCSMA_INBOX=2", *sources, "-o", made], check=True)
    library = ctypes.CDLL(str(made))

    def tried(off: int, *, silent: bool = False) -> tuple[int, int]:
        """Return the outcome and the number of frames sent."""
        ctypes.c_int.in_dll(library, "off").value = off
        ctypes.c_int.in_dll(library, "is_silent").value = silent
        return library.send(), ctypes.c_int.in_dll(library, "sent").value

    assert tried(0) == (OK, 1)
    assert tried(1) == (NO_ACK, TRIES)
    assert tried(-1) == (NO_ACK, TRIES)
    assert tried(0, silent=True) == (NO_ACK, TRIES)
    assert tried(0) == (OK, 1)
