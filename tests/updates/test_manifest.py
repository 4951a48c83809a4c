"""SUIT manifests: the host's encoder and the device's decoder, beside published and other ones."""

import base64
import ctypes
import random
import re
import subprocess
from pathlib import Path
from typing import Any

import cbor2
import pytest
from cbor_diag import cbor2diag
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.serialization import load_der_public_key
from hypothesis import given, settings
from hypothesis import strategies as st

from joulemark.project import FIRMWARE
from joulemark.subjects.update.manifest import (
    VENDOR,
    Manifest,
    device_class,
    envelope,
    signed_bytes,
)
from joulemark.subjects.update.signatures import ALL, Signature, signature

BOOTLOADER, SUIT = FIRMWARE / "update/bootloader", FIRMWARE / "update/suit"
LMS = FIRMWARE / "primitives/stateful-signature/lms"
SHA_256 = FIRMWARE / "primitives/hash/sha-256"
ALTERED, ALL_ALTERED = 300, 100_000
FUZZED_S = 3

# draft-ietf-suit-manifest-27, appendix B.1 (example 0), and the key of appendix B. That of draft 34
# differs in the signature only, as ECDSA is randomized.
_BODY = bytes.fromhex(
    "a50101020003585fa202818141000458568614a40150fa6b4a53d5ad5fdfbe9de663e4d41ffe02501492af1425695e"
    "48bf429b2d51f2ab45035824822f582000112233445566778899aabbccddeeff0123456789abcdeffedcba98765432"
    "100e1987d0010f020f074382030f0943821702"
)
_SIGNATURES = (
    "6c56f1463de7d83c945b88bceb0797958938942a71b2b4a7dffe2b4e8f07b91dd4ee3c6c48f869e668f6ce9113c32d"
    "e6b2b17dbcabdcad5588102d486c3884df",
    "408d0816f9b510749bf6a51b066951e08a4438f849eb092a1ac768eed9de696c1b1dd35d82ef149e6a73a61976ad2c"
    "fe78444b8064293350a122f332cb49f0da",
)
_KEY = (
    "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEhJaBGq4LqqvSYVcYnuzaJr6qi/Ebbz/m4rVlnIXbwK07HypLbAmBMcCjba"
    "zR14vTgdzfsJwFLbM5kdtzOLSolg=="
)
EXAMPLE = (
    bytes.fromhex(
        "d86ba2025873825824822f58206658ea560262696dd1f13b782239a064da7c6c5cbaf52fded428a6fc83c7e5af"
        "584ad28443a10126a0f65840" + _SIGNATURES[0] + "035871"
    )
    + _BODY
)


class _Bytes(ctypes.Structure):
    _fields_ = (("at", ctypes.POINTER(ctypes.c_uint8)), ("length", ctypes.c_size_t))


class _Signature(ctypes.Structure):
    _fields_ = (("algorithm", ctypes.c_int32), ("protected", _Bytes), ("signature", _Bytes))


class _Manifest(ctypes.Structure):
    _fields_ = (
        ("manifest", _Bytes),
        ("digest", _Bytes),
        ("digest_is", ctypes.POINTER(ctypes.c_uint8)),
        ("signatures", ctypes.c_uint),
        ("signature", _Signature * 2),
        ("sequence", ctypes.c_uint32),
        ("component", _Bytes),
        ("vendor", ctypes.POINTER(ctypes.c_uint8)),
        ("device_class", ctypes.POINTER(ctypes.c_uint8)),
        ("image_digest", ctypes.POINTER(ctypes.c_uint8)),
        ("image_bytes", ctypes.c_uint32),
    )


class _Place(ctypes.Structure):
    _fields_ = (
        ("identity", ctypes.c_char_p),
        ("slot", ctypes.c_uint8),
        ("room", ctypes.c_uint32),
    )


def _bytes(found: Any, length: int | None = None) -> bytes:
    at, size = (found.at, found.length) if length is None else (found, length)
    return bytes(at[:size])


class Device:
    """The bootloader's decoder and its check of LMS signatures, on this machine."""

    def __init__(self, folder: Path) -> None:
        library = folder / "suit.so"
        sources = [SUIT / "suit.c", BOOTLOADER / "check.c", FIRMWARE / "update/verify/lms/verify.c"]
        sources += [LMS / "ref/lms.c", SHA_256 / "ref/sha256.c"]
        includes = [SUIT, BOOTLOADER, LMS, LMS.parent, SHA_256, SHA_256.parent]
        includes.append(FIRMWARE / "primitives")
        defines = [
            "UPDATE_ALGORITHM=-46",
            "UPDATE_SECOND_ALGORITHM=0",
            "LMS_IS_HSS=1",
            "LMS_PUBLIC=60",
            "LMS_SIGNATURE=1456",
        ]
        flags = [*(f"-I{path}" for path in includes), *(f"-D{one}" for one in defines)]
        command = ["clang-19", "-std=c11", "-O2", "-shared", "-fPIC", *flags, *map(str, sources)]
        subprocess.run([*command, "-o", library], check=True)
        self._library = ctypes.CDLL(str(library))
        self._library.suit_decode.restype = ctypes.c_size_t
        self._library.suit_signed.restype = ctypes.c_size_t

    def decode(self, data: bytes) -> tuple[int, _Manifest]:
        # A copy of the exact size.
        self._kept = (ctypes.c_uint8 * len(data)).from_buffer_copy(data)
        found = _Manifest()
        size = ctypes.c_size_t(len(data))
        return self._library.suit_decode(ctypes.byref(found), self._kept, size), found

    def signed(self, found: _Manifest) -> bytes:
        out = ctypes.create_string_buffer(100)
        first = ctypes.byref(found.signature[0])
        length = self._library.suit_signed(out, ctypes.byref(found), first)
        return out.raw[:length]

    def accepts(self, data: bytes, slot: int, room: int) -> bool:
        """Return whether it takes a manifest for one of the board `board`."""
        length, found = self.decode(data)
        identity = VENDOR.bytes + device_class("board").bytes
        place = _Place(identity + signature("lms").signer.public_key, slot, room)
        checked = self._library.update_check_manifest
        return length == len(data) and checked(ctypes.byref(found), ctypes.byref(place)) == 1


@pytest.fixture(scope="module")
def device(tmp_path_factory: pytest.TempPathFactory) -> Device:
    return Device(tmp_path_factory.mktemp("suit"))


def _made(chosen: Signature, slot: int = 1, sequence: int = 7, board: str = "board") -> bytes:
    manifest = Manifest(board=board, slot=slot, sequence=sequence, image=bytes(range(256)))
    return envelope(manifest, chosen, 0)


def test_the_drafts_example_is_decoded(device: Device) -> None:
    length, found = device.decode(EXAMPLE + b"what follows in flash")
    assert length == len(EXAMPLE)
    assert (found.sequence, found.image_bytes, found.signatures) == (0, 34768, 1)
    assert _bytes(found.component) == b"\0"
    assert _bytes(found.vendor, 16).hex() == "fa6b4a53d5ad5fdfbe9de663e4d41ffe"
    assert _bytes(found.device_class, 16).hex() == "1492af1425695e48bf429b2d51f2ab45"
    assert _bytes(found.image_digest, 32).hex().startswith("00112233")
    assert found.signature[0].algorithm == -7
    assert _bytes(found.signature[0].signature).hex() == _SIGNATURES[0]
    assert _bytes(found.manifest).endswith(_BODY)
    assert device.signed(found) == signed_bytes(_BODY, -7)


@pytest.mark.parametrize("signed", _SIGNATURES)
def test_the_drafts_signatures_sign_what_ours_do(signed: str) -> None:
    key = load_der_public_key(base64.b64decode(_KEY))
    assert isinstance(key, ec.EllipticCurvePublicKey)
    numbers = (int(signed[:64], 16), int(signed[64:], 16))
    key.verify(encode_dss_signature(*numbers), signed_bytes(_BODY, -7), ec.ECDSA(hashes.SHA256()))


def _shown(data: bytes) -> str:
    """Return a manifest in diagnostic notation by another decoder, without white space."""
    return re.sub(r"\s", "", cbor2diag(data, pretty=False))


@pytest.mark.parametrize("name", ALL)
def test_both_decoders_read_what_was_encoded(name: str, device: Device) -> None:
    chosen = signature(name)
    data = _made(chosen)
    length, found = device.decode(data)
    assert length == len(data)
    assert (found.sequence, found.image_bytes, _bytes(found.component)) == (7, 256, b"\1")
    signed = _bytes(found.signature[0].signature)
    assert found.signature[0].algorithm == chosen.cose
    body = _bytes(found.manifest)[-len(_BODY) + 1 :]
    manifest = Manifest(board="board", slot=1, sequence=7, image=bytes(range(256))).body()
    assert manifest.endswith(body)
    assert device.signed(found) == signed_bytes(manifest, chosen.cose)
    outside = _shown(data)
    assert outside.startswith("107({2:h'")
    assert signed.hex() in outside
    parameters = f"1:h'{VENDOR.hex}',2:h'{device_class('board').hex}',3:h'822f5820"
    common = re.findall(r"3:h'([0-9a-f]+)',7:h'82030f',9:h'821702'\}$", _shown(manifest))
    assert _shown(manifest).startswith("{1:1,2:7,3:h'")
    shared = re.fullmatch(r"\{2:\[\[h'01'\]\],4:h'([0-9a-f]+)'\}", _shown(bytes.fromhex(common[0])))
    assert shared is not None
    assert _shown(bytes.fromhex(shared[1])).startswith("[20,{" + parameters)


@given(st.data())
@settings(max_examples=300)
def test_what_the_device_decodes_has_one_form(device: Device, data: st.DataObject) -> None:
    changed = bytearray(EXAMPLE)
    for _ in range(data.draw(st.integers(1, 3))):
        changed[data.draw(st.integers(0, len(changed) - 1))] = data.draw(st.integers(0, 255))
    length, _ = device.decode(bytes(changed))
    if length:
        assert cbor2.dumps(cbor2.loads(changed[:length]), canonical=True) == changed[:length]


def test_no_part_of_a_manifest_is_a_manifest(device: Device) -> None:
    assert all(device.decode(EXAMPLE[:end])[0] == 0 for end in range(len(EXAMPLE)))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("0201", "021801"),  # a number that is longer than it has to be
        ("a50101", "a60101"),  # more in the map than is known
        ("a50101", "a50102"),  # another version of the manifest
        ("07438203", "07438202"),  # validation that does not look at the image
        ("d86b", "d86c"),  # another tag
    ],
)
def test_other_forms_are_refused(device: Device, before: str, after: str) -> None:
    text = EXAMPLE.hex().replace("020003", "020103")
    assert device.decode(bytes.fromhex(text))[0] == len(EXAMPLE)
    assert before in text
    assert device.decode(bytes.fromhex(text.replace(before, after, 1)))[0] == 0


def test_a_manifest_is_for_one_device_slot_and_room(device: Device) -> None:
    lms = signature("lms")
    good = _made(lms)
    assert device.accepts(good, slot=1, room=256)
    assert not device.accepts(good, slot=0, room=256)
    assert not device.accepts(good, slot=1, room=255)
    assert not device.accepts(_made(lms, board="another"), slot=1, room=256)
    assert not device.accepts(_made(signature("hss")), slot=1, room=256), "another key"
    assert not device.accepts(_made(signature("ecdsa-p256")), slot=1, room=256)


@pytest.mark.slow
def test_altered_manifests_and_signatures_are_refused(
    device: Device, request: pytest.FixtureRequest
) -> None:
    good = _made(signature("lms"))
    drawn = random.Random(1)
    count = ALL_ALTERED if request.config.getoption("--full") else ALTERED
    for number in range(count):
        changed = bytearray(good)
        start = 0 if number % 2 else len(good) - len(_BODY)
        changed[drawn.randrange(start, len(good))] ^= 1 << drawn.randrange(8)
        assert not device.accepts(bytes(changed), slot=1, room=256)


@pytest.mark.slow
def test_the_fuzzer_finds_nothing(tmp_path: Path) -> None:
    fuzzer, corpus = tmp_path / "fuzzer", tmp_path / "corpus"
    sanitizers = "-fsanitize=fuzzer,address,undefined"
    sources = [FIRMWARE / "fuzz/suit.c", SUIT / "suit.c"]
    flags = ["-std=c11", "-g", "-O1", sanitizers, f"-I{SUIT}"]
    subprocess.run(["clang-19", *flags, *sources, "-o", fuzzer], check=True)
    corpus.mkdir()
    (corpus / "example").write_bytes(EXAMPLE)
    options = [f"-max_total_time={FUZZED_S}", "-max_len=700", "-seed=1"]
    done = subprocess.run(
        [fuzzer, *options, corpus], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-4000:]
