"""The device's OSCORE, compiled for this machine with a sanitizer."""

import ctypes
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

from joulemark.project import FIRMWARE, ROOT

OK, MALFORMED, UNKNOWN, REPLAYED, FORGED, STALE, NO_ROOM, EXHAUSTED = range(8)
ROOM = 512
_MACROS = {"AES_KEY_BITS": 128, "OSCORE_GROUP": 0, "OSCORE_CREDENTIAL_BYTES_MAX": 96}
_OSCORE = (FIRMWARE / "net/coap/coap.c", FIRMWARE / "net/oscore/oscore.c")
_PRIMITIVES = (
    FIRMWARE / "primitives/aead/ccm/ref/ccm.c",
    FIRMWARE / "primitives/block-cipher/aes/ref/aes.c",
    FIRMWARE / "primitives/hash/sha-256/ref/sha256.c",
)
INCLUDES = (
    *dict.fromkeys(source.parent for source in (*_OSCORE, *_PRIMITIVES)),
    FIRMWARE / "net/ccm-star/software",
    FIRMWARE / "primitives/block-cipher/aes",
    FIRMWARE / "primitives/block-cipher",
    FIRMWARE / "primitives/hash/sha-256",
    FIRMWARE / "primitives/hash",
    FIRMWARE / "primitives/aead",
    FIRMWARE / "primitives/aead/ccm",
    FIRMWARE / "primitives",
)


def build(
    folder: Path,
    source: Path,
    *flags: str,
    includes_oscore: bool = False,
    macros: Mapping[str, int] | None = None,
) -> Path:
    """Compile a source with OSCORE, unless it includes it, and with its primitives."""
    beside = _PRIMITIVES if includes_oscore else (*_OSCORE, *_PRIMITIVES)
    made = folder / source.stem
    command = ["clang-19", "-std=c11", "-O1", "-g", "-Wall", "-Wextra", "-Werror", *flags]
    command += [f"-D{name}={value}" for name, value in {**_MACROS, **(macros or {})}.items()]
    command += [f"-I{each}" for each in INCLUDES]
    subprocess.run([*command, *beside, source, "-o", made], check=True)
    return made


def load(folder: Path) -> ctypes.CDLL:
    """Compile and load it; undefined behaviour ends the process."""
    host = ROOT / "tests/networks/oscore_host.c"
    sanitized = ("-fPIC", "-shared", "-fsanitize=undefined", "-fsanitize-trap=undefined")
    library = ctypes.CDLL(str(build(folder, host, *sanitized)))
    library.host_context_bytes.restype = ctypes.c_size_t
    library.host_echo.restype = ctypes.c_uint32
    library.host_kept.restype = ctypes.c_uint32
    return library


class Device:
    """A side of a context, as a device has it."""

    def __init__(  # noqa: PLR0917
        self,
        library: ctypes.CDLL,
        secret: bytes,
        salt: bytes,
        sender: bytes,
        recipient: bytes,
        id_context: bytes = b"",
    ) -> None:
        self.library = library
        self.context = ctypes.create_string_buffer(library.host_context_bytes())
        sized = [
            value
            for part in (salt, sender, recipient, id_context)
            for value in (part, ctypes.c_size_t(len(part)))
        ]
        library.host_init(self.context, secret, *sized)

    @property
    def keys(self) -> tuple[bytes, bytes, bytes]:
        """Sender key, recipient key and common IV."""
        out = ctypes.create_string_buffer(45)
        self.library.host_keys(self.context, out)
        return out.raw[:16], out.raw[16:32], out.raw[32:45]

    def _through(
        self, function: "Callable[..., int]", message: bytes, *more: object, room: int = ROOM
    ) -> tuple[int, bytes]:
        given = ctypes.create_string_buffer(message, max(1, len(message)))
        out, length = ctypes.create_string_buffer(max(1, room)), ctypes.c_size_t(room)
        size = ctypes.c_size_t(len(message))
        status = function(self.context, given, size, out, ctypes.byref(length), *more)
        return status, out.raw[: length.value] if status == OK else b""

    def protect_request(self, message: bytes, room: int = ROOM) -> tuple[int, bytes, bytes]:
        """Return the status, the protected message, and what binds the response to it."""
        bound = ctypes.create_string_buffer(6)
        found = self._through(self.library.oscore_protect_request, message, bound, room=room)
        return (*found, bound.raw)

    def open_request(self, message: bytes, room: int = ROOM) -> tuple[int, bytes, bytes]:
        """Return the status, the message, and what binds the response to it."""
        bound = ctypes.create_string_buffer(6)
        found = self._through(self.library.oscore_open_request, message, bound, room=room)
        return (*found, bound.raw)

    def protect_response(
        self, message: bytes, bound: bytes, *, fresh: bool = False
    ) -> tuple[int, bytes]:
        """Return the status and the protected message."""
        given = ctypes.create_string_buffer(bound, 6)
        function = self.library.oscore_protect_response
        return self._through(function, message, given, ctypes.c_bool(fresh))

    def open_response(self, message: bytes, bound: bytes) -> tuple[int, bytes]:
        """Return the status and the message."""
        given = ctypes.create_string_buffer(bound, 6)
        return self._through(self.library.oscore_open_response, message, given)
