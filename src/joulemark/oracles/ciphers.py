"""Ciphers that process one buffer repeatedly."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from Crypto.Cipher import AES, DES, DES3, Blowfish
from cryptography.hazmat.decrepit.ciphers.algorithms import IDEA
from cryptography.hazmat.primitives.ciphers import Cipher as PycaCipher
from cryptography.hazmat.primitives.ciphers import modes
from cryptography.utils import CryptographyDeprecationWarning

from joulemark.oracles import PERIOD, Algorithm, Random, Values, difference
from joulemark.reference.blocks import Block, rc5, rc6, twofish


def _xor(a: bytes, b: bytes) -> bytes:
    return (int.from_bytes(a, "big") ^ int.from_bytes(b, "big")).to_bytes(len(a), "big")


def _idea(key: bytes) -> Block:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CryptographyDeprecationWarning)
        return PycaCipher(IDEA(key), modes.ECB()).encryptor().update


def _des_xex3(key: bytes) -> Block:
    """Return DES between two XORs with keys, like Crypto++'s DES_XEX3."""
    des = DES.new(key[8:16], DES.MODE_ECB).encrypt

    def encrypt(data: bytes) -> bytes:
        count = len(data) // 8
        return _xor(des(_xor(data, key[:8] * count)), key[16:] * count)

    return encrypt


_BLOCKS: dict[str, tuple[Callable[[bytes], Block], int]] = {
    "aes": (lambda key: AES.new(key, AES.MODE_ECB).encrypt, 16),
    "blowfish": (lambda key: Blowfish.new(key, Blowfish.MODE_ECB).encrypt, 8),
    "des": (lambda key: DES.new(key, DES.MODE_ECB).encrypt, 8),
    "des-ede3": (lambda key: DES3.new(key, DES3.MODE_ECB).encrypt, 8),
    "des-xex3": (_des_xex3, 8),
    "idea": (_idea, 8),
    "rc5": (rc5, 8),
    "rc6": (rc6, 16),
    "twofish": (twofish, 16),
}
"""By name: a function from the key to the cipher, and the block size in bytes."""


def _counter(cipher: str, key: bytes, iv: bytes, message: bytes) -> bytes:
    make, block_bytes = _BLOCKS[cipher]
    encrypt, first = make(key), int.from_bytes(iv, "big")
    blocks = -(-len(message) * PERIOD // block_bytes)
    counters = b"".join(
        ((first + n) % (1 << 8 * block_bytes)).to_bytes(block_bytes, "big") for n in range(blocks)
    )
    stream = encrypt(counters)
    for call in range(PERIOD):
        message = _xor(message, stream[call * len(message) : (call + 1) * len(message)])
    return message


def _chained(_: str, key: bytes, iv: bytes, message: bytes) -> bytes:
    cipher = AES.new(key, AES.MODE_CBC, iv)
    for _call in range(PERIOD):
        message = cipher.encrypt(message)
    return message


def _authenticated(_: str, key: bytes, iv: bytes, message: bytes) -> bytes:
    cipher = AES.new(key, AES.MODE_GCM, iv)
    for _call in range(PERIOD):
        message = cipher.encrypt(message)
    return message + cipher.digest()


_MODES = {"ctr": _counter, "cbc": _chained, "gcm": _authenticated}


@cache
def _expected(mode: str, cipher: str, key: bytes, iv: bytes, message: bytes) -> bytes:
    return _MODES[mode](cipher, key, iv, message)


@dataclass(frozen=True, kw_only=True)
class Cipher(Algorithm):
    """A block cipher in a mode: PERIOD calls in place on a buffer, as one message."""

    cipher: str
    mode: str
    key_bytes: int
    group: str = "Ciphers"
    operations: tuple[str, ...] = ("encrypt",)
    sized: bool = True

    def inputs(self, operation: str, message_bytes: int, draw: Random) -> dict[str, bytes]:
        """Draw the key, the first counter block, IV or nonce, and the buffer."""
        iv_bytes = 12 if self.mode == "gcm" else _BLOCKS[self.cipher][1]
        key = draw(self.key_bytes)
        return {"key": key, "iv": draw(iv_bytes), "message": draw(message_bytes)}

    def problem(self, operation: str, inputs: Values, outputs: Values) -> str | None:
        """Compare the buffer after PERIOD calls in place, and the tag if the mode has one."""
        given = (inputs["key"], inputs["iv"], inputs["message"])
        return difference("output", outputs["output"], _expected(self.mode, self.cipher, *given))


def _counted(name: str, title: str, cipher: str, key_bytes: int) -> Cipher:
    return Cipher(name=f"{name}-ctr", title=title, cipher=cipher, mode="ctr", key_bytes=key_bytes)


ALGORITHMS = (
    _counted("aes-128", "AES/CTR (128-bit key)", "aes", 16),
    _counted("aes-256", "AES/CTR (256-bit key)", "aes", 32),
    *(
        Cipher(
            name=f"aes-{bits}-cbc",
            title=f"AES/CBC ({bits}-bit key)",
            cipher="aes",
            mode="cbc",
            key_bytes=bits // 8,
            unit_bytes=16,
        )
        for bits in (128, 256)
    ),
    *(
        Cipher(name=f"aes-128-gcm{name}", title=title, cipher="aes", mode="gcm", key_bytes=16)
        for name, title in (
            ("", "AES/GCM (128-bit key)"),
            ("-2k", "AES/GCM (2K tables)"),
            ("-64k", "AES/GCM (64K tables)"),
        )
    ),
    _counted("blowfish-128", "Blowfish/CTR (128-bit key)", "blowfish", 16),
    _counted("des", "DES/CTR (64-bit key)", "des", 8),
    _counted("des-ede3", "DES-EDE3/CTR (192-bit key)", "des-ede3", 24),
    _counted("des-xex3", "DES-XEX3/CTR (192-bit key)", "des-xex3", 24),
    _counted("idea", "IDEA/CTR (128-bit key)", "idea", 16),
    _counted("rc5-32-16", "RC5 (r=16)", "rc5", 16),
    _counted("rc6-128", "RC6/CTR (128-bit key)", "rc6", 16),
    _counted("twofish-128", "Twofish/CTR (128-bit key)", "twofish", 16),
)
