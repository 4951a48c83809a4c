"""DTLS 1.3 on this machine: tests/networks/dtls13_host.c with the firmware's sources."""

import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from joulemark.catalogue import kinds
from joulemark.images import headers
from joulemark.project import FIRMWARE, ROOT
from joulemark.reference.certificates import Parties
from joulemark.reference.dtls13 import Record, Secrets, Side, Witness

PRIMITIVES = FIRMWARE / "primitives"
DTLS = FIRMWARE / "net/dtls13"
PROGRAM = FIRMWARE / "net/coap-dtls13"
"""Whose certificates the harness has."""
HOST = ROOT / "tests/networks/dtls13_host.c"
FUZZER = FIRMWARE / "fuzz/dtls13.c"
X509_HOST = ROOT / "tests/networks/x509_host.c"
X509_FUZZER = FIRMWARE / "fuzz/x509.c"
PSK = bytes(range(16))
"""The harness's."""
LABEL = "EXPORTER-joulemark"
_FLAGS = ("-std=gnu11", "-O1", "-g", "-Wall", "-Wextra", "-Werror")
_SANITIZE = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all")
_ALWAYS = ("block-cipher/aes/ref", "hash/sha-256/ref")
_SUITE = {"ccm": "aead/ccm/ref", "gcm": "aead/gcm/multiply"}
_EXCHANGE = {
    "none": (),
    "x25519": ("key-agreement/x25519/limbs32",),
    "ecdh-p256": ("key-agreement/ecdh-p256/limbs32",),
    "x25519mlkem768": ("key-agreement/x25519/limbs32", "kem/ml-kem/ref"),
}
_CREDENTIAL = {
    "none": (),
    "ed25519": ("signature/ed25519/limbs32", "hash/sha-512/ref"),
    "ecdsa-p256": ("signature/ecdsa-p256/limbs32",),
}


@dataclass(frozen=True)
class Variant:
    """How the sides agree and authenticate."""

    exchange: str
    credential: str = "none"
    macros: tuple[tuple[str, int], ...] = ()
    suite: str = "ccm"

    def macro(self, name: str) -> int:
        """Return a macro's value, its part's by default."""
        given = dict(self.macros)
        text = (DTLS / "part.toml").read_text()
        found = re.search(rf"^{name} = (\d+)$", text, re.MULTILINE)
        return given[name] if name in given or found is None else int(found[1])


def build(variant: Variant, to: Path, *more: str, harness: Path = HOST) -> Path:
    """Compile a harness for a variant, with sanitizers; `more` are further options."""
    to.parent.mkdir(parents=True, exist_ok=True)
    over = to.parent / f"{to.name}-over"
    over.mkdir()
    kind = kinds.known()["block-cipher"]
    (over / "over.h").write_text(headers.alias(kind, "aes", "block-cipher"))
    ways = [
        PRIMITIVES / way
        for way in (
            *_ALWAYS,
            _SUITE[variant.suite],
            *_EXCHANGE[variant.exchange],
            *_CREDENTIAL[variant.credential],
        )
    ]
    chosen = {
        "suite": variant.suite,
        "exchange": variant.exchange,
        "credential": variant.credential,
    }
    parts = [DTLS / interface / part for interface, part in chosen.items()]
    folders = [over, DTLS, *parts, PROGRAM, PRIMITIVES]
    folders += [folder for way in ways for folder in (way, *list(way.parents)[:2])]
    sources = [
        harness,
        *DTLS.glob("*.c"),
        *(s for folder in (*parts, *ways) for s in folder.glob("*.c")),
    ]
    macros = {**_defines(), "DTLS13_MESSAGE_BYTES": 1024, **dict(variant.macros)}
    command = ["clang-19", *_FLAGS, *_SANITIZE, *(f"-D{k}={v}" for k, v in macros.items())]
    command += [*(f"-I{folder}" for folder in folders), *map(str, sources), *more, "-o", str(to)]
    subprocess.run(command, check=True)
    return to


def _defines() -> dict[str, int]:
    found = re.findall(r"^([A-Z0-9_]+) = (\d+)$", (DTLS / "part.toml").read_text(), re.MULTILINE)
    own = {"DTLS13_KEY_LOG": 1, "ECDSA_SEEDED": 0}
    return {name: int(value) for name, value in found} | own


def run(program: Path, **options: object) -> list[str]:
    """Run the harness; return its lines. What must never happen fails it."""
    words = [f"{name}={value}" for name, value in options.items()]
    done = subprocess.run([program, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(words)}: {done.stderr[-3000:]}"
    return done.stdout.splitlines()


def counts(lines: list[str]) -> dict[str, int]:
    """Return the numbers of the last line, by name."""
    words = lines[-1].split()
    return dict(zip(words[::2], map(int, words[1::2]), strict=True))


@dataclass
class Seen:
    """What a witness saw of one conversation."""

    witness: Witness
    records: list[Record] = field(default_factory=list)
    flights: list[tuple[Side, int]] = field(default_factory=list)
    """Bytes of the datagrams that a side sent before the other one did."""
    keys: list[bytes] = field(default_factory=list)
    """Both sides' exported keys."""


def witnessed(variant: Variant, lines: list[str]) -> Seen:
    """Have a witness read what the harness showed.

    Raises:
        VerificationError: as `Witness.sees` says.
    """
    words = [line.split() for line in lines]
    ephemeral = next((bytes.fromhex(w[1]) for w in words if w[0] == "ephemeral"), b"")
    psk = PSK if variant.credential == "none" else b""
    anchor = Parties(variant.credential).anchor if variant.macro("DTLS13_X509") else None
    secrets = Secrets(psk=psk, client_ephemeral=ephemeral, anchor=anchor)
    seen = Seen(Witness(secrets))
    for sender, datagram in _datagrams(words):
        seen.records += seen.witness.sees(sender, datagram)
        if seen.flights and seen.flights[-1][0] == sender:
            seen.flights[-1] = sender, seen.flights[-1][1] + len(datagram)
        else:
            seen.flights.append((sender, len(datagram)))
    seen.keys = [bytes.fromhex(w[1]) for w in words if w[0] == "key"]
    return seen


def _datagrams(words: list[list[str]]) -> Iterator[tuple[Side, bytes]]:
    for line in words:
        if line[0] == "client":
            yield "client", bytes.fromhex(line[1])
        elif line[0] == "server":
            yield "server", bytes.fromhex(line[1])
