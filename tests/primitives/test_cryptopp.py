"""Oracles in our own Python, against Crypto++ (cryptopp.cpp), with random inputs."""

import random
import subprocess
from pathlib import Path

import pytest

from joulemark.oracle import Inputs
from joulemark.reference.curves import SECP160R1, SECT233R1, Curve
from vectors import LIBRARY

TRIALS = 100
REVERSED = {"skipjack"}
"""Crypto++ has their keys and blocks in the opposite byte order."""
NOT_EMPTY = {"xtea-cbc-mac"}
"""Crypto++ enciphers no block for an empty message; here it is padded to one."""
NAMES = [
    "speck-64-128",
    "simon-64-128",
    "skipjack",
    "xtea",
    "xtea-eax",
    "xtea-cmac",
    "xtea-cbc-mac",
    "siphash-2-4",
]


@pytest.fixture(scope="module")
def cryptopp(tmp_path_factory: pytest.TempPathFactory) -> Path:
    program = tmp_path_factory.mktemp("cryptopp") / "cryptopp"
    source = Path(__file__).with_name("cryptopp.cpp")
    subprocess.run(
        ["g++", "-std=c++17", "-Wall", "-Wextra", source, "-lcryptopp", "-o", program], check=True
    )
    return program


def ask(cryptopp: Path, questions: str) -> list[str]:
    done = subprocess.run([cryptopp], input=questions, check=True, capture_output=True, text=True)
    return done.stdout.split()


@pytest.mark.parametrize("curve", [SECP160R1, SECT233R1], ids=lambda c: c.name)
def test_curves_agree_with_cryptopp(cryptopp: Path, curve: Curve) -> None:
    """Curves that the cryptography package lacks, by their definition."""
    source = random.Random(curve.name)
    questions, expected = "", []
    for _ in range(8):
        secret, other = (source.randbytes((curve.order.bit_length() - 1) // 8) for _ in range(2))
        peer = curve.public_key(other)
        questions += f"{curve.name} {secret.hex()} - - {peer.hex()}\n"
        expected.append(curve.shared(secret, peer).hex())
    assert ask(cryptopp, questions) == expected


@pytest.mark.parametrize("name", NAMES)
def test_oracles_agree_with_cryptopp(cryptopp: Path, name: str) -> None:
    algorithm = LIBRARY[name]
    sizes = algorithm.sizes
    source = random.Random(name)
    questions, expected = "", []
    for trial in range(1 if name in NOT_EMPTY else 0, TRIALS):
        lengths = {**sizes, "message": 8 if algorithm.whole_blocks else trial, "ad": trial % 20}
        given = {
            name: source.randbytes(lengths[each.size])
            for name, each in algorithm.contract.file.input.items()
        }
        inputs = Inputs(tag_bytes=sizes.get("tag_bytes", 0), **given)
        answer = b"".join(algorithm.oracle(inputs)[name] for name in algorithm.contract.results)
        fields = [given.get(name, b"") for name in ("key", "nonce", "ad", "message")]
        if name in REVERSED:
            fields = [field[::-1] for field in fields]
            answer = answer[::-1]
        questions += " ".join([name, *(field.hex() or "-" for field in fields)]) + "\n"
        expected.append(answer.hex())
    assert ask(cryptopp, questions) == expected
