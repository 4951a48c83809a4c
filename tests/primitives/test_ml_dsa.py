"""ML-DSA beyond its kind: contexts, hashed messages, altered signatures, Wycheproof's vectors.

The portable code is loaded into this process, with the undefined-behaviour sanitizer.
"""

import ctypes
import hashlib
import json
import lzma
import random
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from statistics import correlation
from typing import Any

import pytest
from dilithium_py.ml_dsa import ML_DSA_44, ML_DSA_65, ML_DSA_87
from dilithium_py.ml_dsa.ml_dsa import ML_DSA
from typer.testing import CliRunner

from command import joulemark
from generate_docs import Signing
from joulemark.catalogue.primitives import Algorithm
from joulemark.cli import app
from joulemark.records.record import of_primitives
from joulemark.records.store import Store
from joulemark.runners.protocol import Status
from vectors import LIBRARY

DATA = Path(__file__).parent / "data/wycheproof/post-quantum.json.xz"
FILES: dict[str, list[dict[str, Any]]] = json.loads(lzma.decompress(DATA.read_bytes()))["files"]
SETS = {"ml-dsa-44": ML_DSA_44, "ml-dsa-65": ML_DSA_65, "ml-dsa-87": ML_DSA_87}
COUNTS = {"ml-dsa-44": (74, 53), "ml-dsa-65": (84, 52), "ml-dsa-87": (75, 54)}
"""Signatures made and verified of Wycheproof's."""
ALTERED, MANY_ALTERED = 200, 350_000
"""Altered signatures of each set; the latter with --full, a million in all, without sanitizers."""
SHA_256_OID = bytes.fromhex("0609608648016503040201")  # FIPS 204, algorithm 4, line 12
BUFFER_BYTES = 8192


class Message(ctypes.Structure):
    """`mldsa_message`."""

    _fields_ = (
        ("context", ctypes.c_char_p),
        ("context_bytes", ctypes.c_uint8),
        ("is_hashed", ctypes.c_uint8),
        ("bytes", ctypes.c_char_p),
        ("length", ctypes.c_size_t),
    )


@dataclass(frozen=True)
class Code:
    """The portable code of one parameter set."""

    algorithm: Algorithm
    reference: ML_DSA
    loaded: ctypes.CDLL

    def vectors(self, what: str) -> list[dict[str, Any]]:
        """Return the groups of a file of Wycheproof's."""
        return FILES[f"{self.algorithm.name.replace('ml-dsa-', 'mldsa_')}_{what}"]

    def keygen(self, secret: bytes) -> bytes:
        out = ctypes.create_string_buffer(self.algorithm.sizes["public_bytes"])
        assert self.loaded.mldsa_keygen(out, secret) == Status.OK
        return out.raw

    def sign(self, secret: bytes, public: bytes, seed: bytes, message: Message) -> bytes:
        out = ctypes.create_string_buffer(self.algorithm.sizes["signature_bytes"])
        status = self.loaded.mldsa_sign_message(out, secret, public, seed, ctypes.byref(message))
        assert status == Status.OK
        return out.raw

    def verifies(self, signature: bytes, public: bytes, message: Message) -> bool:
        status = self.loaded.mldsa_verify_message(signature, public, ctypes.byref(message))
        assert status in (Status.OK, Status.BAD_TAG)
        return bool(status == Status.OK)


@pytest.fixture(scope="module", params=SETS)
def code(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Code:
    algorithm = LIBRARY[request.param]
    (part,) = LIBRARY.implementation(algorithm, "ref").parts
    path = tmp_path_factory.mktemp("code") / f"{algorithm}.so"
    flags = ["-std=c11", "-shared", "-fPIC"]
    if request.config.getoption("--full"):
        flags += ["-O2"]
    else:
        flags += ["-O1", "-fsanitize=undefined", "-fno-sanitize-recover=all"]
    flags += [f"-I{folder}" for folder in part.include_folders]
    flags += [f"-D{name}={value}" for name, value in algorithm.defines.items()]
    subprocess.run(["cc", *flags, *map(str, part.sources), "-o", str(path)], check=True)
    return Code(algorithm, SETS[algorithm.name], ctypes.CDLL(str(path)))


def message_of(test: dict[str, Any]) -> Message:
    context, text = bytes.fromhex(test.get("ctx", "")), bytes.fromhex(test["msg"])
    return Message(context, len(context), 0, text, len(text))


def test_wycheproof_s_signatures_are_made(code: Code) -> None:
    made = 0
    for group in code.vectors("sign_seed"):
        secret, public = (
            bytes.fromhex(group["privateSeed"]),
            bytes.fromhex(group["publicKey"] or ""),
        )
        for test in group["tests"]:
            if "msg" not in test:
                continue  # of a hash mu that no message is known for
            if test["result"] == "invalid":
                # Lengths that the functions here cannot be given.
                assert len(secret) != 32 or len(test["ctx"]) // 2 > 255, test
                continue
            made += 1
            seed = bytes.fromhex(test.get("rnd", "00" * 32))
            assert code.keygen(secret) == public, test
            signature = code.sign(secret, public, seed, message_of(test))
            assert hashlib.sha256(signature).hexdigest() == test["sig"], test
    assert made == COUNTS[code.algorithm.name][0]


def test_wycheproof_s_signatures_are_verified(code: Code) -> None:
    verified = 0
    sizes = code.algorithm.sizes
    for group in code.vectors("verify"):
        public = bytes.fromhex(group["publicKey"])
        for test in group["tests"]:
            signature = bytes.fromhex(test["sig"])
            lengths = len(public), len(signature)
            too_long = len(test.get("ctx", "")) // 2 > 255
            if lengths != (sizes["public_bytes"], sizes["signature_bytes"]) or too_long:
                assert test["result"] == "invalid", test
                continue
            verified += 1
            good = code.verifies(signature, public, message_of(test))
            assert good == (test["result"] == "valid"), test
    assert verified == COUNTS[code.algorithm.name][1]


@pytest.mark.parametrize("is_hashed", [0, 1])
@pytest.mark.parametrize("context", [b"", b"c", bytes(255)])
def test_contexts_and_hashed_messages(code: Code, context: bytes, is_hashed: int) -> None:
    source = random.Random(f"{code.algorithm} {context!r} {is_hashed}")
    secret, seed, text = source.randbytes(32), source.randbytes(32), source.randbytes(50)
    if is_hashed:
        text = SHA_256_OID + hashlib.sha256(text).digest()
    public, private = code.reference.key_derive(secret)
    message = Message(context, len(context), is_hashed, text, len(text))
    signature = code.sign(secret, public, seed, message)
    whole = bytes([is_hashed, len(context)]) + context + text  # FIPS 204, algorithms 2 and 4
    assert signature == code.reference._sign_internal(private, whole, seed)
    assert code.verifies(signature, public, message)
    for other in (
        Message(context, len(context), 1 - is_hashed, text, len(text)),
        Message(context + b"x", min(255, len(context) + 1), is_hashed, text, len(text) - 1),
        Message(context, len(context), is_hashed, text + b"\0", len(text) + 1),
    ):
        assert not code.verifies(signature, public, other)


def altered(source: random.Random, signature: bytes, hints: int) -> bytes:
    """Return a signature that differs: a bit, a byte, two hints or the number of a row's hints."""
    data = bytearray(signature)
    first = len(data) - hints
    while bytes(data) == signature:
        match source.randrange(5):
            case 0:
                data[source.randrange(len(data))] ^= 1 << source.randrange(8)
            case 1:
                data[source.randrange(len(data))] = source.choice([0, 1, 0x7F, 0xFF])
            case 2:
                at = source.randrange(first, len(data) - 1)
                data[at], data[at + 1] = data[at + 1], data[at]
            case 3:
                data[source.randrange(first, len(data))] = source.randrange(256)
            case _:
                at = source.randrange(len(data))
                end = min(len(data), at + source.randrange(1, 40))
                data[at:end] = source.randbytes(end - at)
    return bytes(data)


def test_altered_signatures_are_refused(code: Code, request: pytest.FixtureRequest) -> None:
    source = random.Random(code.algorithm.name)
    define = code.algorithm.defines
    hints = define["MLDSA_OMEGA"] + define["MLDSA_K"]
    secret, text = source.randbytes(32), b"a message"
    public = code.keygen(secret)
    message = Message(b"", 0, 0, text, len(text))
    signature = code.sign(secret, public, bytes(32), message)
    assert code.verifies(signature, public, message)
    for _ in range(MANY_ALTERED if request.config.getoption("--full") else ALTERED):
        forged = altered(source, signature, hints)
        assert not code.verifies(forged, public, message), forged.hex()


@pytest.mark.slow
def test_signing_time_is_linear_in_attempts(tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path / 'store.db'}"
    asked = ["run", "--primitive", "ml-dsa-44", "--implementation", "armv7em"]
    asked += ["--board", "nrf52840-dk", "--operation", "sign", "--opt", "O3", "--trials", "12"]
    asked += ["--store", store]
    result = CliRunner().invoke(app, asked)
    assert result.exit_code == 0, result.output
    with Store(store, "read") as found:
        (record,) = of_primitives(found.records())
    line = Signing.of(record)
    assert line.most > 4
    assert line.off < 0.15  # a candidate is rejected before z is computed, or after
    assert correlation(*zip(*line.points(record), strict=True)) > 0.98
    # The first attempt also makes hints and z; no other does.
    assert line.further < line.first < 3 * line.further


def test_a_signing_time_says_that_chance_decides_it(tmp_path: Path) -> None:
    asked = ("--primitive", "ml-dsa-44", "--implementation", "armv7em", "--operation", "sign")
    board = ("--board", "nrf52840-dk", "--compiler", "gcc", "--opt", "O3", "--seed", "1")
    said = joulemark("run", *asked, *board, "--store", str(tmp_path / "s.db")).stdout
    assert re.search(r"ml-dsa-44/armv7em sign: trials of [0-9, ]+ attempts", said)
