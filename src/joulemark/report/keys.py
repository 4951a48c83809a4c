"""Keys beside a capture, in the forms that Wireshark reads."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from joulemark.errors import InputError

if TYPE_CHECKING:
    from joulemark.catalogue.networks import KeyFile

KEYS, OSCORE, KEY_LOG = "keys", "oscore", "keylog"
"""What is added to a capture's name: for tables `ieee802154_keys` and `oscore_contexts` of
Wireshark's folder, and the log of DTLS's secrets."""
_ALGORITHM = "AES-CCM-16-64-128 (CCM*)"


def oscore_line(
    *, sender: bytes, recipient: bytes, secret: bytes, salt: bytes, id_context: bytes | None
) -> str:
    """Return a security context as a line of Wireshark's table `oscore_contexts`."""
    values = (sender.hex(), recipient.hex(), secret.hex(), salt.hex(), (id_context or b"").hex())
    return ",".join(f'"{value}"' for value in (*values, _ALGORITHM))


def write(capture: Path, keys: "KeyFile") -> None:
    """Write a network's keys beside its capture.

    Raises:
        InputError: they cannot be written.
    """
    beside(capture, KEYS, (f'"{key.hex}","{key.index}","No hash"' for key in keys.key))
    beside(
        capture,
        OSCORE,
        (
            oscore_line(
                sender=bytes.fromhex(context.ids[0]),
                recipient=bytes.fromhex(context.ids[1]),
                secret=bytes.fromhex(context.secret),
                salt=bytes.fromhex(context.salt),
                id_context=bytes.fromhex(context.id_context or ""),
            )
            for context in keys.oscore
        ),
    )


def beside(capture: Path, what: str, lines: Iterable[str]) -> Path | None:
    """Write a file beside a capture, unless it would be empty; return its path.

    Raises:
        InputError: it cannot be written.
    """
    text = "".join(f"{line}\n" for line in lines)
    if not text:
        return None
    path = capture.with_name(f"{capture.name}.{what}")
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", str(path)) from error
    return path
