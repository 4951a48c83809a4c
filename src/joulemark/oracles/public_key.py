"""Encryption, signatures and key agreement, as Crypto++'s own benchmark measures them.

As in bench2.cpp and TestData of Crypto++ 5.6.5, messages have 16 bytes, RSA's public exponent is
17, and ECDSA, DSA, OAEP and PSS use SHA-1.
"""

import hashlib
import random
from dataclasses import dataclass
from functools import cache
from typing import Literal

from Crypto.Cipher import PKCS1_OAEP
from Crypto.Hash import SHA1
from Crypto.PublicKey import DSA, RSA
from Crypto.Signature import pkcs1_15, pss
from Crypto.Util.number import getPrime

from joulemark.oracles import Algorithm, Random, Values, difference, number, octets
from joulemark.reference import xtr
from joulemark.reference.curves import SECP256K1, SECT233R1, Curve

MESSAGE_BYTES = 16
_EXPONENT = 17
_ACCEPTED, _REFUSED = b"\x01", b"\x00"
_UNCOMPRESSED = b"\x04"
"""Before a point's coordinates (SEC 1, 2.3.3)."""


def _digest(message: bytes) -> int:
    return number(hashlib.sha1(message, usedforsecurity=False).digest())


def _below(limit: int, draw: Random) -> int:
    """Draw a number from 1 to limit - 1."""
    return 1 + number(draw((limit.bit_length() + 7) // 8 + 8)) % (limit - 1)


def _flipped(signature: bytes) -> bytes:
    return signature[:-1] + bytes([signature[-1] ^ 1])


@cache
def _rsa(bits: int, draw_seed: bytes) -> RSA.RsaKey:
    draw = random.Random(draw_seed).randbytes
    while True:
        p, q = getPrime(bits // 2, draw), getPrime(bits // 2, draw)
        order = (p - 1) * (q - 1)
        if p != q and (p * q).bit_length() == bits and order % _EXPONENT:
            return RSA.construct((p * q, _EXPONENT, pow(_EXPONENT, -1, order), p, q))


@dataclass(frozen=True, kw_only=True)
class _Rsa(Algorithm):
    bits: int

    def _key(self, draw: Random) -> RSA.RsaKey:
        return _rsa(self.bits, draw(32))

    @staticmethod
    def _numbers(key: RSA.RsaKey, *, secret: bool) -> dict[str, bytes]:
        values = {"n": key.n, "e": key.e}
        if secret:
            values |= {
                "d": key.d,
                "p": key.p,
                "q": key.q,
                "dp": key.d % (key.p - 1),
                "dq": key.d % (key.q - 1),
                "qinv": pow(key.q, -1, key.p),
            }
        return {name: octets(value) for name, value in values.items()}


@dataclass(frozen=True, kw_only=True)
class RsaEncryption(_Rsa):
    """RSAES-OAEP with SHA-1 (RFC 8017, 7.1)."""

    group: str = "Public-key encryption"
    operations: tuple[str, ...] = ("decrypt", "encrypt")

    def inputs(self, operation: str, message_bytes: int, draw: Random) -> dict[str, bytes]:
        """Draw the key and a message, or its ciphertext."""
        key, message = self._key(draw), draw(MESSAGE_BYTES)
        if operation == "encrypt":
            return {**self._numbers(key, secret=True), "message": message}
        ciphertext = PKCS1_OAEP.new(key, SHA1, randfunc=draw).encrypt(message)
        return {**self._numbers(key, secret=True), "ciphertext": ciphertext, "plain": message}

    def problem(self, operation: str, inputs: Values, outputs: Values) -> str | None:
        """Compare the message, after decrypting it here if the library encrypts."""
        if operation == "decrypt":
            return difference("output", outputs["output"], inputs["plain"])
        key = RSA.construct(tuple(number(inputs[name]) for name in ("n", "e", "d", "p", "q")))
        try:
            plain = PKCS1_OAEP.new(key, SHA1).decrypt(outputs["output"])
        except ValueError as error:
            return f"its ciphertext does not decrypt: {error}"
        return difference("message", plain, inputs["message"])


@dataclass(frozen=True, kw_only=True)
class RsaSignature(_Rsa):
    """RSASSA-PSS with SHA-1 and a salt of the hash's length (RFC 8017, 8.1), or PKCS1-v1_5 (8.2).

    The former equals PSS with message recovery if no part of the message is recoverable.
    """

    padding: Literal["pss", "pkcs1"] = "pss"

    group: str = "Signatures"
    operations: tuple[str, ...] = ("sign", "verify")

    def inputs(self, operation: str, message_bytes: int, draw: Random) -> dict[str, bytes]:
        """Draw the key, a message and, to verify, its signature."""
        key, message = self._key(draw), draw(MESSAGE_BYTES)
        values = {**self._numbers(key, secret=operation == "sign"), "message": message}
        if operation == "verify":
            values["signature"] = self._scheme(key, draw).sign(SHA1.new(message))
        return values

    def problem(self, operation: str, inputs: Values, outputs: Values) -> str | None:
        """Verify the signature, or check that the library accepted a valid one."""
        if operation == "verify":
            return difference("output", outputs["output"], _ACCEPTED)
        key = RSA.construct((number(inputs["n"]), number(inputs["e"])))
        try:
            self._scheme(key).verify(SHA1.new(inputs["message"]), outputs["output"])
        except ValueError as error:
            return f"its signature does not verify: {error}"
        return None

    def forged(self, operation: str, inputs: Values) -> tuple[Values, Values] | None:
        """Return the inputs with an altered signature."""
        return _forged(operation, inputs)

    def _scheme(
        self, key: RSA.RsaKey, draw: Random | None = None
    ) -> pss.PSS_SigScheme | pkcs1_15.PKCS115_SigScheme:
        return pss.new(key, rand_func=draw) if self.padding == "pss" else pkcs1_15.new(key)


def _forged(operation: str, inputs: Values) -> tuple[Values, Values] | None:
    if operation != "verify":
        return None
    return {**inputs, "signature": _flipped(inputs["signature"])}, {"output": _REFUSED}


@cache
def _dsa_group(bits: int, draw_seed: bytes) -> tuple[int, int, int]:
    key = DSA.generate(bits, random.Random(draw_seed).randbytes)
    return int(key.p), int(key.q), int(key.g)


@dataclass(frozen=True, kw_only=True)
class DsaSignature(Algorithm):
    """DSA with SHA-1 and a subgroup order of 160 bits (FIPS 186-4, 4)."""

    bits: int
    group: str = "Signatures"
    operations: tuple[str, ...] = ("sign", "verify")

    def inputs(self, operation: str, message_bytes: int, draw: Random) -> dict[str, bytes]:
        """Draw the group, the key, a message and, to verify, its signature."""
        p, q, g = _dsa_group(self.bits, draw(32))
        x, message = _below(q, draw), draw(MESSAGE_BYTES)
        numbers = {"p": p, "q": q, "g": g, "x": x, "y": pow(g, x, p)}
        values = {name: octets(value) for name, value in numbers.items()}
        values |= {"message": message, "order": octets(q)}
        if operation == "verify":
            k = _below(q, draw)
            r = pow(g, k, p) % q
            s = pow(k, -1, q) * (_digest(message) + x * r) % q
            values["signature"] = r.to_bytes(20, "big") + s.to_bytes(20, "big")
        return values

    def problem(self, operation: str, inputs: Values, outputs: Values) -> str | None:
        """Verify the signature, or check that the library accepted a valid one."""
        if operation == "verify":
            return difference("output", outputs["output"], _ACCEPTED)
        p, q, g, y = (number(inputs[name]) for name in "pqgy")
        r, s = number(outputs["output"][:20]), number(outputs["output"][20:])
        if not (0 < r < q and 0 < s < q):
            return "its signature is out of range"
        w = pow(s, -1, q)
        v = pow(g, _digest(inputs["message"]) * w % q, p) * pow(y, r * w % q, p) % p % q
        return None if v == r else "its signature does not verify"

    def forged(self, operation: str, inputs: Values) -> tuple[Values, Values] | None:
        """Return the inputs with an altered signature."""
        return _forged(operation, inputs)


@dataclass(frozen=True, kw_only=True)
class EcdsaSignature(Algorithm):
    """ECDSA with SHA-1 (FIPS 186-4, 6.4)."""

    curve: Curve
    group: str = "Signatures"
    operations: tuple[str, ...] = ("sign", "verify")

    def inputs(self, operation: str, message_bytes: int, draw: Random) -> dict[str, bytes]:
        """Draw the key, a message and, to verify, its signature."""
        curve = self.curve
        x, message = _below(curve.order, draw), draw(MESSAGE_BYTES)
        values = {
            "x": octets(x),
            "point": _UNCOMPRESSED + curve.public_key(octets(x)),
            "order": octets(curve.order),
            "message": message,
        }
        if operation == "verify":
            values["signature"] = curve.signature(x, _digest(message), _below(curve.order, draw))
        return values

    def problem(self, operation: str, inputs: Values, outputs: Values) -> str | None:
        """Verify the signature, or check that the library accepted a valid one."""
        if operation == "verify":
            return difference("output", outputs["output"], _ACCEPTED)
        public = self.curve.decoded(self.curve.public_key(inputs["x"]))
        good = self.curve.verifies(public, _digest(inputs["message"]), outputs["output"])
        return None if good else "its signature does not verify"

    def forged(self, operation: str, inputs: Values) -> tuple[Values, Values] | None:
        """Return the inputs with an altered signature."""
        return _forged(operation, inputs)


def _pi(bits: int) -> int:
    """Compute pi times 2^bits, rounded down, by Machin's formula with guard bits."""
    guard = bits + 64

    def arctangent_of_inverse(x: int) -> int:
        power = total = (1 << guard) // x
        n, sign = 3, -1
        while power:
            power //= x * x
            total += sign * (power // n)
            n, sign = n + 2, -sign
        return total

    return 4 * (4 * arctangent_of_inverse(5) - arctangent_of_inverse(239)) >> 64


def _modp(bits: int, added: int) -> int:
    """RFC 2412, appendix E: 2^n - 2^(n-64) - 1 + 2^64 ((2^(n-130) pi) + added)."""
    return (1 << bits) - (1 << bits - 64) - 1 + (_pi(bits - 130) + added << 64)


# RFC 2409, 6.2, and RFC 3526, 3; the generator is 2, as in Crypto++'s own parameters.
_MODP = {1024: _modp(1024, 129093), 2048: _modp(2048, 124476)}


@dataclass(frozen=True, kw_only=True)
class DiffieHellman(Algorithm):
    """Diffie-Hellman modulo a prime; the library chooses the length of exponents."""

    bits: int
    group: str = "Key agreement"
    operations: tuple[str, ...] = ("agree", "keygen")

    def inputs(self, operation: str, message_bytes: int, draw: Random) -> dict[str, bytes]:
        """Return the group; the library generates the keys."""
        return {"p": octets(_MODP[self.bits]), "g": octets(2)}

    def problem(self, operation: str, inputs: Values, outputs: Values) -> str | None:
        """Recompute the public key or the shared secret from the private key."""
        p, secret = number(inputs["p"]), number(outputs["private"])
        if secret < 2:
            return f"a private key of {secret}"
        base, name = (2, "public") if operation == "keygen" else (number(outputs["peer"]), "output")
        wanted = pow(base, secret, p).to_bytes(self.bits // 8, "big")
        return difference(name, outputs[name].rjust(self.bits // 8, b"\0"), wanted)


@cache
def _xtr_group(p_bits: int, q_bits: int, draw_seed: bytes) -> xtr.Group:
    return xtr.group(p_bits, q_bits, random.Random(draw_seed).randbytes)


@dataclass(frozen=True, kw_only=True)
class XtrAgreement(Algorithm):
    """XTR-DH (Lenstra and Verheul 2000, section 4.1)."""

    p_bits: int
    q_bits: int
    group: str = "Key agreement"
    operations: tuple[str, ...] = ("agree", "keygen")

    def inputs(self, operation: str, message_bytes: int, draw: Random) -> dict[str, bytes]:
        """Draw the group; the library generates the keys."""
        made = _xtr_group(self.p_bits, self.q_bits, draw(32))
        numbers = {"p": made.p, "q": made.q, "g1": made.g[0], "g2": made.g[1]}
        return {name: octets(value) for name, value in numbers.items()}

    def problem(self, operation: str, inputs: Values, outputs: Values) -> str | None:
        """Recompute the public key or the shared secret from the private key."""
        p, q, g1, g2 = (number(inputs[name]) for name in ("p", "q", "g1", "g2"))
        made, half = xtr.Group(p, q, (g1, g2)), (p.bit_length() + 7) // 8
        base, name = None, "public"
        if operation == "agree":
            peer, name = outputs["peer"], "output"
            base = number(peer[:half]), number(peer[half:])
        power = made.power(number(outputs["private"]), base)
        return difference(name, outputs[name], b"".join(x.to_bytes(half, "big") for x in power))


ALGORITHMS: tuple[Algorithm, ...] = (
    *(RsaEncryption(name=f"rsa-{n}-oaep", title=f"RSA {n} (OAEP)", bits=n) for n in (1024, 2048)),
    *(RsaSignature(name=f"rsa-{n}-pss", title=f"RSA {n} (PSS)", bits=n) for n in (1024, 2048)),
    *(
        RsaSignature(
            name=f"rsa-{n}-pkcs1", title=f"RSA {n} (PKCS #1 v1.5)", bits=n, padding="pkcs1"
        )
        for n in (1024, 2048)
    ),
    DsaSignature(name="dsa-1024", title="DSA 1024", bits=1024),
    EcdsaSignature(
        name="ecdsa-sect233r1", title="ECDSA over GF(2^n) 233 (sect233r1)", curve=SECT233R1
    ),
    EcdsaSignature(
        name="ecdsa-secp256k1", title="ECDSA over GF(p) 256 (secp256k1)", curve=SECP256K1
    ),
    *(DiffieHellman(name=f"dh-{n}", title=f"DH {n}", bits=n) for n in (1024, 2048)),
    # Field and subgroup have the sizes of Crypto++'s TestData/xtrdh342.dat.
    XtrAgreement(name="xtr-dh-342", title="XTR-DH 342", p_bits=342, q_bits=226),
)
