"""Compute the architecture's messages with independent oracles, and play the authority's part.

What firmware/plasa sends is compared with these; what it needs from an authority is made here.
"""

import hashlib
import hmac
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from random import Random
from typing import NamedTuple, Protocol

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.aead import AESCCM
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import ECB

from joulemark.catalogue.primitives import Library
from joulemark.errors import InputError
from joulemark.oracle import Inputs

MANAGER = bytes.fromhex("01000000004d4a02")
KEY_GROUP, KEY_MANAGER, KEY_DATA = 2, 3, 4
PAIRWISE, GROUP, KEK = 1, 2, 4
NO_POLICY, SKIPJACK, SHA_1, BOTH, AES_CCM, ASCON = range(6)
OVERHEAD = {NO_POLICY: 0, SKIPJACK: 8, SHA_1: 20, BOTH: 28, AES_CCM: 16, ASCON: 22}

HELLO = 0xE1
CHALLENGE, CONFIRMATION, RENEWAL, REQUEST, ANSWER, RECONFIGURATION, DERIVATION = range(0xE2, 0xE9)
"""Kinds of messages: their first bytes, and the last bytes of their nonces."""


class Policy(Protocol):
    """A policy of the user's, by an `oracle.py` beside its `modules.toml`."""

    NUMBER: int
    """6 or 7, as in the control field."""
    NAME: str
    OVERHEAD: int
    """Bytes after the payload."""

    def secured(self, key: bytes, header: bytes, payload: bytes, boots: int, count: int) -> bytes:
        """Return what follows the control field: the secured payload, and the bytes after it.

        Args:
            key: 16 bytes.
            header: sender and receiver, 2 bytes each with the low one first, and control field.
            payload: in the clear.
            boots: the sender's count of boots.
            count: the sender's count of packets.
        """
        ...


OWN: dict[int, Policy] = {}
"""Policies of the user's."""
_LIBRARY = Library.load()


def _two(number: int) -> bytes:
    return number.to_bytes(2, "little")


def _four(number: int) -> bytes:
    return number.to_bytes(4, "little")


def ascon(key: bytes, nonce: bytes, ad: bytes, message: bytes) -> bytes:
    """Return Ascon-AEAD128's ciphertext and tag."""
    inputs = Inputs(tag_bytes=16, key=key, nonce=nonce, ad=ad, message=message)
    output = _LIBRARY["ascon-aead128"].oracle(inputs)
    return output["output"] + output["tag"]


def aes(key: bytes, block: bytes) -> bytes:
    """Encrypt one block with AES-128."""
    encryptor = Cipher(AES(key), ECB()).encryptor()
    return encryptor.update(block)


def sealed(key: bytes, nonce: bytes, head: bytes, text: bytes) -> bytes:
    """Return a sealed message: its open part, then the encrypted text and the tag over both."""
    ccm = AESCCM(key, tag_length=16)
    return head + ccm.encrypt(nonce[:12].ljust(12, b"\0") + head[:1], text, head)


def secret_of(mote: int) -> bytes:
    """Return the secret that a mote and the authority share from the start."""
    return b"PLASA test key" + _two(mote)


def fresh(mote: int, boots: int, asked: int) -> bytes:
    """Return what a mote generates on its `asked`th call in a boot."""
    seed = b"seed of a mote" + _two(mote)
    return aes(seed, _two(boots) + _four(asked) + bytes(10))


def hello(mote: int, nonce: bytes) -> bytes:
    """Return the first message of bootstrapping."""
    return bytes([HELLO]) + _two(mote) + nonce


def pairwise(mote: int, authority: int, mote_nonce: bytes, nonce: bytes) -> bytes:
    """Return the key that both sides derive."""
    about = bytes([DERIVATION]) + _two(mote) + _two(authority) + mote_nonce + nonce
    return sealed(secret_of(mote), nonce, about, b"")[-16:]


def challenge(key: bytes, nonce: bytes, kek: bytes, epoch: int) -> bytes:
    """Return the authority's answer to a hello, under the pairwise key."""
    keys = kek + bytes([KEY_GROUP]) + _four(epoch)
    return sealed(key, nonce, bytes([CHALLENGE]) + nonce, keys)


def confirmation(mote: int, key: bytes, nonce: bytes) -> bytes:
    """Return the last message of bootstrapping, under the pairwise key."""
    return sealed(key, nonce, bytes([CONFIRMATION]) + _two(mote) + bytes([KEY_GROUP]), b"")


def _renewal(kind: int, key_id: int, epoch: int) -> bytes:
    return bytes([kind]) + MANAGER + bytes([key_id, GROUP]) + _four(epoch)


def renewal(kek: bytes, key_id: int, epoch: int, key: bytes) -> bytes:
    """Return the broadcast of a new key, under the KEK of its epoch."""
    head = _renewal(RENEWAL, key_id, epoch)
    return sealed(kek, head, head, key)


def ratchet(kek: bytes) -> bytes:
    """Return the KEK of the epoch after that of `kek`."""
    return aes(kek, bytes(16))


def request(key: bytes, key_id: int, nonce: bytes) -> bytes:
    """Return a mote's request for a key that it has missed."""
    return sealed(key, nonce, bytes([REQUEST, key_id]) + nonce, b"")


def answer(pairwise_key: bytes, nonce: bytes, key_id: int, epoch: int, key: bytes) -> bytes:
    """Return the manager's answer to a request with this nonce."""
    return sealed(pairwise_key, nonce, _renewal(ANSWER, key_id, epoch), key)


def reconfiguration(kek: bytes, label: int, policy: int, key_id: int, number: int) -> bytes:
    """Return the broadcast of a change of policy."""
    head = bytes([RECONFIGURATION, label, policy, key_id]) + _four(number)
    return sealed(kek, _four(number), head, b"")


def _skipjack_ctr(key: bytes, counter: bytes, data: bytes) -> bytes:
    blocks = [counter[:7] + bytes([i]) for i in range((len(data) + 7) // 8)]
    inputs = Inputs(key=key[:10], message=b"".join(blocks))
    stream = _LIBRARY["skipjack"].oracle(inputs)["output"]
    return bytes(a ^ b for a, b in zip(data, stream, strict=False))


def packet(
    policy: int,
    key: bytes,
    payload: bytes,
    *,
    sender: int,
    receiver: int,
    boots: int,
    count: int,
    age: int,
    label: int = 0,
) -> bytes:
    """Return a packet that STaR has secured."""
    control = bytes([label << 5 | policy << 2 | age & 3])
    header = _two(sender) + _two(receiver) + control
    counter = _two(boots) + count.to_bytes(3, "little") + _two(sender) + b"\0"
    if policy == SKIPJACK:
        return control + _skipjack_ctr(key, counter, payload) + counter
    if policy == SHA_1:
        short = _four(boots << 20 | count)
        tag = hmac.new(key, header + payload + short, hashlib.sha1).digest()
        return control + payload + short + tag[:16]
    if policy == BOTH:
        tag = hmac.new(key, header + payload + counter, hashlib.sha1).digest()
        return control + _skipjack_ctr(key, counter, payload + tag) + counter
    told = _two(boots) + _four(count)
    if policy == AES_CCM:
        nonce = told + bytes(2) + _two(sender) + bytes(3)
        text = AESCCM(key, tag_length=8).encrypt(nonce, payload, _two(receiver) + control)
        return control + text[:-8] + told + bytes(2) + text[-8:]
    if policy == ASCON:
        nonce = told + _two(sender) + bytes(8)
        text = ascon(key, nonce, _two(receiver) + control, payload)
        return control + text[:-16] + told + text[-16:]
    own = OWN.get(policy)
    return control + (own.secured(key, header, payload, boots, count) if own else payload)


def told_number(policy: int, sent: bytes) -> tuple[int, int]:
    """Read boots and count from what follows a packet's payload."""
    trailer = sent[len(sent) - OVERHEAD[policy] :]
    if policy == SHA_1:
        short = int.from_bytes(trailer[:4], "little")
        return short >> 20, short & 0xFFFFF
    told, width = (trailer[-8:], 3) if policy in (SKIPJACK, BOTH) else (trailer, 4)
    return int.from_bytes(told[:2], "little"), int.from_bytes(told[2 : 2 + width], "little")


def is_under(key: bytes, sent: bytes, sender: int, receiver: int) -> bool:
    """Return whether a packet of a policy that authenticates was secured with a key."""
    policy, age = sent[0] >> 2 & 7, sent[0] & 3
    boots, count = told_number(policy, sent)
    about = {"sender": sender, "receiver": receiver, "boots": boots, "count": count, "age": age}
    end = len(sent) - OVERHEAD[policy]
    payload = sent[1:end]
    # Securing the ciphertext again gives the payload, as the same stream is XORed twice. Where the
    # stream depends on the payload (Ascon), each round corrects another 16 bytes.
    for _ in range(len(payload) // 16 + 2):
        again = packet(policy, key, payload, label=sent[0] >> 5, **about)
        if again == sent:
            return True
        payload = bytes(
            p ^ a ^ s for p, a, s in zip(payload, again[1:end], sent[1:end], strict=True)
        )
    return False


class Listener:
    """Hears every frame, has the secrets of all motes, and finds the key that each frame is under.

    It follows keys through handshakes and renewals and keeps those from before a restart: no nonce
    may repeat under any of them.
    """

    def __init__(self) -> None:
        self._nonces: dict[int, list[bytes]] = defaultdict(list)
        """What motes have generated for handshakes and for requests."""
        self._pairwise: dict[int, list[tuple[bytes, bytes]]] = defaultdict(list)
        """Pairwise keys of motes and the authority, each with the authority's nonce."""
        self._keks: list[bytes] = []
        self._data: list[bytes] = []
        self._used: dict[tuple[bytes, bytes], bytes] = {}
        self._judged: dict[tuple[int, int, bytes], tuple[bool, str | None]] = {}

    def look(self, sender: int, receiver: int, payload: bytes) -> tuple[bool, str | None]:
        """Return whether a frame's payload is under a known key, and what is wrong with it.

        A repeated frame gets its first verdict: a key always comes before what is under it.
        """
        frame = sender, receiver, payload
        if frame not in self._judged:
            self._judged[frame] = self._judge(*frame)
        return self._judged[frame]

    def _judge(self, sender: int, receiver: int, payload: bytes) -> tuple[bool, str | None]:
        kind = payload[0]
        if kind == HELLO:
            self._nonces[sender].append(payload[3:])
        under = self._star(sender, receiver, payload) if kind < HELLO else None
        for key, nonce, head_bytes in self._candidates(sender, receiver, payload):
            text = _unsealed(key, nonce, payload, head_bytes)
            if text is not None:
                self._learn(kind, receiver, payload, key, text)
                under = key, nonce[:12] + payload[:1]
        if under is None:
            return False, None
        before = self._used.setdefault(under, payload)
        if before == payload:
            return True, None
        return True, "a nonce of the architecture's, with a key under which another message had it"

    def _star(self, sender: int, receiver: int, sent: bytes) -> tuple[bytes, bytes] | None:
        policy = sent[0] >> 2 & 7
        if policy in (NO_POLICY, SKIPJACK, *OWN) or len(sent) < 1 + OVERHEAD.get(policy, len(sent)):
            return None
        found = (key for key in reversed(self._data) if is_under(key, sent, sender, receiver))
        key = next(found, None)
        if key is None:
            return None
        boots, count = told_number(policy, sent)
        return key, _two(sender) + _two(boots) + _four(count)

    def _candidates(
        self, sender: int, receiver: int, payload: bytes
    ) -> Iterator[tuple[bytes, bytes, int]]:
        """Yield the keys that a sealed message may be under, with its nonce and its open length."""
        kind = payload[0]
        if kind == CHALLENGE:
            nonce = payload[1:17]
            for drawn in reversed(self._nonces[receiver]):
                yield pairwise(receiver, sender, drawn, nonce), nonce, 17
        elif kind == CONFIRMATION:
            yield from ((key, nonce, 4) for key, nonce in reversed(self._pairwise[sender]))
        elif kind == RENEWAL:
            yield from ((kek, payload[:12], 15) for kek in reversed(self._keks))
        elif kind == REQUEST:
            self._nonces[sender].append(payload[2:18])
            yield from ((key, payload[2:14], 18) for key, _ in reversed(self._pairwise[sender]))
        elif kind == ANSWER:
            for key, _ in reversed(self._pairwise[receiver]):
                yield from ((key, nonce, 15) for nonce in reversed(self._nonces[receiver]))
        elif kind == RECONFIGURATION:
            yield from ((kek, payload[4:8], 8) for kek in reversed(self._keks))

    def _learn(self, kind: int, receiver: int, payload: bytes, key: bytes, text: bytes) -> None:
        if kind == CHALLENGE:
            self._pairwise[receiver].append((key, payload[1:17]))
            self._keks.append(text[:16])
        elif kind == RENEWAL:
            self._data.append(text)
            self._keks.append(ratchet(key))


def _unsealed(key: bytes, nonce: bytes, message: bytes, head_bytes: int) -> bytes | None:
    head, rest = message[:head_bytes], message[head_bytes:]
    try:
        ccm = AESCCM(key, tag_length=16)
        return ccm.decrypt(nonce[:12].ljust(12, b"\0") + head[:1], rest, head)
    except InvalidTag:
        return None


MOTE, AUTHORITY, PEER = 2, 1, 9


class Step(NamedTuple):
    """An operation of the measuring application, and its expected output."""

    row: str
    """What is measured; steps with the same row are added up."""
    operation: str
    message: bytes
    output: bytes


POLICIES = {
    NO_POLICY: "STaR",
    SKIPJACK: "Skipjack",
    SHA_1: "SHA-1",
    BOTH: "Skipjack and SHA-1",
    AES_CCM: "AES-128-CCM*",
    ASCON: "Ascon-AEAD128",
}


def add(policy: Policy, where: str) -> None:
    """Take a policy of the user's.

    Args:
        policy: what its oracle defines.
        where: the oracle's file, for messages.

    Raises:
        InputError: it lacks something, or its number is taken.
    """
    lacks = [n for n in ("NUMBER", "NAME", "OVERHEAD", "secured") if not hasattr(policy, n)]
    if lacks:
        raise InputError(f"there is no {lacks[0]}", where, "docs/architectures.md says what it is")
    free = sorted({6, 7} - {*OWN})
    if policy.NUMBER not in free:
        mend = f"give {' or '.join(map(str, free))}" if free else "leave one out"
        raise InputError(f"{policy.NUMBER} is no number of a policy that is free", where, mend)
    OWN[policy.NUMBER] = policy
    POLICIES[policy.NUMBER] = policy.NAME
    OVERHEAD[policy.NUMBER] = policy.OVERHEAD


def steps(random: Random, trials: int) -> Iterator[Step]:
    """Yield all operations of the measuring application after a boot, in order.

    Args:
        random: the source of keys, nonces and payloads.
        trials: how often each operation is repeated.
    """
    asked = count = age = epoch = 0
    for number in range(1, trials + 1):
        key = random.randbytes(16)
        yield Step("set key", "set-key", bytes([PEER, GROUP]) + key, key)
        yield Step("get key", "get-key", bytes([PEER, GROUP]), key)

        asked += 1
        mote_nonce = fresh(MOTE, 1, asked)
        yield Step("bootstrapping", "node-init-hello", b"", hello(MOTE, mote_nonce))
        nonce, kek = random.randbytes(16), random.randbytes(16)
        shared = pairwise(MOTE, AUTHORITY, mote_nonce, nonce)
        told = challenge(shared, nonce, kek, epoch)
        agreed = confirmation(MOTE, shared, nonce)
        yield Step("bootstrapping", "node-init-challenge", told, agreed)

        kek = random.randbytes(16)
        yield Step("init key", "init-key", kek + _four(epoch), kek)
        key = random.randbytes(16)
        yield Step("rekeying", "update-key", renewal(kek, KEY_DATA, epoch, key), key)
        kek, epoch = ratchet(kek), epoch + 1
        asked += 1
        nonce = fresh(MOTE, 1, asked)
        yield Step("request key", "request-key", b"", request(shared, KEY_DATA, nonce))
        key = random.randbytes(16)
        recovered = answer(shared, nonce, KEY_DATA, epoch, key)
        yield Step("answer to a request", "answer-key", recovered, key)

        policy = random.choice(list(POLICIES))
        change = reconfiguration(kek, 1, policy, KEY_DATA, number)
        yield Step("change of policy over the air", "reconfigure", change, bytes([policy]))
        for policy, name in POLICIES.items():
            age += 1
            policy_is = bytes([policy])
            changed = bytes([0, policy, KEY_DATA])
            yield Step("change of policy", "change-policy", changed, policy_is)
            payload = random.randbytes(8)
            about_peer = _two(PEER) + payload
            yield Step("retrieve label", "retrieve-label", about_peer, b"\0")
            yield Step("retrieve policy", "retrieve-policy", b"\0", policy_is)
            count += policy != NO_POLICY
            about = {"boots": 1, "count": count, "age": age}
            sent = packet(policy, key, payload, sender=MOTE, receiver=PEER, **about)
            yield Step(f"{name}: secure", "secure", about_peer, sent)
            received = packet(policy, key, payload, sender=PEER, receiver=MOTE, **about)
            yield Step(f"{name}: unsecure", "unsecure", _two(PEER) + received, payload)


def on_air() -> dict[str, int]:
    """Return the number of bytes that each protocol sends."""
    nonce, key = bytes(16), bytes(16)
    bootstrapping = (
        hello(MOTE, nonce) + challenge(key, nonce, key, 0) + confirmation(MOTE, key, nonce)
    )
    return {
        "bootstrapping": len(bootstrapping),
        "rekeying": len(renewal(key, KEY_DATA, 0, key)),
        "request key": len(request(key, KEY_DATA, nonce)),
        "answer to a request": len(answer(key, nonce, KEY_DATA, 0, key)),
        "change of policy over the air": len(reconfiguration(key, 0, ASCON, KEY_DATA, 1)),
        **{f"{name}: secure": 1 + OVERHEAD[policy] for policy, name in POLICIES.items()},
    }


_ROWS = {
    HELLO: ("bootstrapping", "hello"),
    CHALLENGE: ("bootstrapping", "challenge"),
    CONFIRMATION: ("bootstrapping", "confirmation"),
    RENEWAL: ("rekeying", "renewal"),
    REQUEST: ("request key", "request"),
    ANSWER: ("answer to a request", "answer"),
    RECONFIGURATION: ("change of policy over the air", "change"),
}


def seen(payload: bytes) -> tuple[str, str, bool] | None:
    """Return a payload's row, its message, and whether the row counts the whole frame."""
    if payload[0] in _ROWS:
        return *_ROWS[payload[0]], True
    policy = payload[0] >> 2 & 7
    if policy not in POLICIES or len(payload) != 1 + 8 + OVERHEAD[policy]:
        return None
    return f"{POLICIES[policy]}: secure", "packet", False


_HEARD = re.compile(r"heard 64([0-9a-f]{4})1122334455 from (\d)")


def broken(lines: Mapping[str, list[str]]) -> str | None:
    """Return what was wrongly accepted: motes number their packets and must hear none."""
    last: dict[str, int] = {}
    for line in lines["authority"]:
        if line.startswith("admitted "):
            last.pop(line.removeprefix("admitted "), None)
        if not line.startswith("heard"):
            continue
        match = _HEARD.fullmatch(line)
        if match is None:
            return f"the authority took what nobody has sent: {line}"
        number = int.from_bytes(bytes.fromhex(match[1]), "little")
        if number <= last.get(match[2], -1):
            return f"the authority took number {number} of {match[2]} after {last[match[2]]}"
        last[match[2]] = number
    if str(MOTE) not in last:
        return "the authority hears nothing of the sensor"
    strange = [line for line in lines["sensor"] if line.startswith("heard")]
    return f"the sensor took what is not for it: {strange[0]}" if strange else None
