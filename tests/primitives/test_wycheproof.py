"""All of Wycheproof's vectors that apply here: data/wycheproof lists them, with their origin.

Each is run with sanitizers; what is not valid is refused, with nothing computed. Of AEADs, one
implementation is run: test_vectors.py shows that all of them agree.
"""

import json
import lzma
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from joulemark.images import build_local
from joulemark.runners.local import LocalLink
from joulemark.runners.protocol import Device, Status
from vectors import LIBRARY

DATA = Path(__file__).parent / "data/wycheproof/vectors.json.xz"
FILES: dict[str, list[dict[str, Any]]] = json.loads(lzma.decompress(DATA.read_bytes()))["files"]
COUNTS = {
    "aes_ccm": 372,
    "aes_eax": 156,
    "aes_gcm": 232,
    "ascon_sp800_232_aead128": 201,
    "chacha20_poly1305": 254,
    "ecdh_secp256r1_ecpoint": 355,
    "ecdsa_secp160r1_sha256_p1363": 228,
    "ecdsa_secp256k1_sha256_p1363": 252,
    "ecdsa_secp256r1_sha256_p1363": 262,
    "ed25519": 151,
    "hkdf_sha256": 86,
    "x25519": 518,
}
KEY_BITS = (128, 192, 256)
SIGNATURES = {
    "ecdsa-secp160r1": "ecdsa_secp160r1_sha256_p1363",
    "ecdsa-secp256k1": "ecdsa_secp256k1_sha256_p1363",
    "ecdsa-p256": "ecdsa_secp256r1_sha256_p1363",
    "ed25519": "ed25519",
}


AEADS = {
    **{f"aes-{bits}-{mode}": f"aes_{mode}" for mode in ("ccm", "eax", "gcm") for bits in KEY_BITS},
    "ascon-aead128": "ascon_sp800_232_aead128",
    "chacha20-poly1305": "chacha20_poly1305",
}


def of_file(name: str) -> list[dict[str, Any]]:
    """Return a file's tests, each with its group's key."""
    return [{"key": group["key"], **test} for group in FILES[name] for test in group["tests"]]


def write(device: Device, **values: str) -> None:
    for slot, data in values.items():
        device.write(slot, bytes.fromhex(data))


def device_of(primitive: str, part: str = "") -> closing[LocalLink]:
    algorithm = LIBRARY[primitive]
    ways = [w for w in LIBRARY.implementations(algorithm) if w.runs_on("host") and part in w.name]
    return closing(LocalLink(build_local(ways[0], sanitize=True).path))


def test_all_are_here() -> None:
    assert {name: len(of_file(name)) for name in FILES} == COUNTS


@pytest.mark.parametrize(
    ("name", "part"),
    [
        *((name, part) for name in SIGNATURES for part in ("limbs16", "limbs32")),
        *(("ecdsa-secp160r1", part) for part in ("tinyecc16", "tinyecc32")),
    ],
)
def test_signatures(name: str, part: str) -> None:
    length = LIBRARY[name].sizes["signature_bytes"]
    with device_of(name, part) as link:
        device = Device(link)
        for test in of_file(SIGNATURES[name]):
            key = test["key"].removeprefix("04") if name != "ed25519" else test["key"]
            signature = test["sig"]
            if len(signature) != 2 * length:
                # Other lengths are refused as signatures before they are examined.
                assert test["result"] == "invalid", test
                continue
            write(device, public_key=key, message=test["msg"], signature=signature)
            expected = Status.OK if test["result"] == "valid" else Status.BAD_TAG
            assert device.run("verify").status is expected, test


@pytest.mark.parametrize("part", ["limbs16", "limbs32"])
def test_p256_agreement(part: str) -> None:
    tried = 0
    with device_of("ecdh-p256", part) as link:
        device = Device(link)
        for test in of_file("ecdh_secp256r1_ecpoint"):
            point = test["public"]
            if len(point) != 130 or not point.startswith("04"):
                # Compressed, or not a point: what comes before X and Y is not handled by this code.
                assert test["result"] != "valid", test
                continue
            tried += 1
            write(device, secret_key=test["private"].zfill(64)[-64:], peer_key=point[2:])
            status = device.run("agree").status
            if test["result"] == "valid":
                assert status is Status.OK, test
                assert device.read("shared", 32).hex() == test["shared"], test
            else:
                assert status is Status.BAD_TAG, test
                assert device.read("shared", 32) == bytes(32), test
    assert tried > 340


@pytest.mark.parametrize("part", ["limbs16", "limbs32"])
def test_x25519(part: str) -> None:
    """A result of zeros is refused here; RFC 7748 leaves the choice."""
    with device_of("x25519", part) as link:
        device = Device(link)
        for test in of_file("x25519"):
            write(device, secret_key=test["private"], peer_key=test["public"])
            status = device.run("agree").status
            if int(test["shared"], 16) == 0:
                assert test["result"] != "valid", test
                assert status is Status.BAD_TAG, test
            else:
                assert status is Status.OK, test
            assert device.read("shared", 32).hex() == test["shared"], test


@pytest.mark.parametrize("name", AEADS)
def test_aead(name: str) -> None:
    """What is valid is sealed and opened; else nothing is released, and no length is guessed."""
    algorithm = LIBRARY[name]
    room: dict[str, Any] = {n: slot.bytes for n, slot in algorithm.contract.file.slot.items()}
    tried = 0
    with device_of(name) as link:
        device = Device(link)
        for test in of_file(AEADS[name]):
            names = {"key": "key", "nonce": "iv", "ad": "aad", "message": "msg", "tag": "tag"}
            given = {slot: test[field] for slot, field in names.items()}
            if len(given["key"]) // 2 != algorithm.sizes["key_bytes"] or any(
                len(value) // 2 > room[slot] for slot, value in given.items()
            ):
                continue  # Another variant's, or more than an image takes.
            tried += 1
            write(device, **{**given, "message": test["ct"]})
            status = device.run("decrypt").status
            opened = device.read("output", len(test["ct"]) // 2).hex()
            if test["result"] == "valid":
                assert (status, opened) == (Status.OK, test["msg"]), test
                write(device, **given)
                assert device.run("encrypt").status is Status.OK, test
                assert device.read("output", len(opened) // 2).hex() == test["ct"], test
                assert device.read("tag", len(test["tag"]) // 2).hex() == test["tag"], test
            else:
                # An insecure length of the tag or the nonce may also be one that is not allowed.
                assert status in {Status.BAD_TAG, Status.BAD_LENGTH}, test
                assert opened == "00" * (len(opened) // 2), test
    assert tried > 40


def test_hkdf() -> None:
    with device_of("hkdf-sha-256", "ref") as link:
        device = Device(link)
        for test in of_file("hkdf_sha256"):
            size = test["size"]
            write(device, secret=test["ikm"], salt=test["salt"], message=test["info"])
            if test["result"] == "valid" and size <= 1024:
                device.write("key", bytes(size))
                assert device.run("derive").status is Status.OK, test
                assert device.read("key", size).hex() == test["okm"], test
            else:
                # Longer than 255 digests, and than the image's buffer.
                assert size > 1024, test
