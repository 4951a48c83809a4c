"""Keys beside a capture, in the forms that Wireshark reads."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from joulemark.errors import InputError
from joulemark.reference.oscore import OSCORE_CONTEXTS

if TYPE_CHECKING:
    from joulemark.analysis.oscore_auditor import OscoreAuditor
    from joulemark.catalogue.networks import KeyFile

_FRAMES = "keys"
"""What is added to a capture's name for Wireshark's table ieee802154_keys."""


def of_network(keys: "KeyFile", auditor: "OscoreAuditor") -> dict[str, list[str]]:
    """Return the lines of a network's keys, by what is added to the capture's name."""
    return {
        _FRAMES: [f'"{key.hex}","{key.index}","No hash"' for key in keys.key],
        OSCORE_CONTEXTS: [context.wireshark for context in auditor.contexts],
    }


def beside(capture: Path, lines: Mapping[str, Iterable[str]]) -> list[Path]:
    """Write files beside a capture, unless they would be empty; return their paths.

    Raises:
        InputError: one cannot be written.
    """
    written = []
    for suffix, some in lines.items():
        text = "".join(f"{line}\n" for line in some)
        if not text:
            continue
        path = capture.with_name(f"{capture.name}.{suffix}")
        try:
            path.write_text(text, encoding="utf-8")
        except OSError as error:
            raise InputError(f"cannot be written: {error.strerror}", str(path)) from error
        written.append(path)
    return written
