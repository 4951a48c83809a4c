"""Audit frames on the air against keys and a policy, independently of programs.

The auditor knows keys and slot numbers, not programs. It flags a nonce that was used twice with a
key for different frames, frames whose MIC does not verify with their key, frames that claim to be
encrypted and are not, frames whose nonce is not what their header states, and frames with less
security than the policy requires.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import AESCCM

from joulemark.analysis.frames import MIC_BYTES, Frame, MalformedFrameError, parse
from joulemark.catalogue.architectures import Listener
from joulemark.catalogue.networks import KeyFile, Policy, Slots

if TYPE_CHECKING:
    from joulemark._engine import Phy

Rule = Literal[
    "nonce used twice",
    "nonce misstated",
    "sent in the clear",
    "does not verify",
    "too little security",
]
_MICROSECOND = 1_000_000


@dataclass(frozen=True)
class Seen:
    """A frame observed in a network."""

    sender: str
    phy: "Phy"
    begin_ps: int
    psdu: bytes
    """Including its check sequence."""


@dataclass(frozen=True)
class Flaw:
    """A violation by a frame."""

    rule: Rule
    sender: str
    time_ps: int
    text: str


class SlotNumbers:
    """Absolute slot numbers (ASN), learned from enhanced beacons.

    Args:
        slots: length of slots, and when frames begin in them; if None, no number is known.
    """

    def __init__(self, slots: Slots | None) -> None:
        self._slots = slots
        self._zero_ps: dict[str, int] = {}
        """Start of slot 0 according to each sender's last beacon."""
        self._last: str | None = None
        """Sender of the last beacon."""
        self._former_ps: list[int] = []
        """Starts of slot 0 before senders restarted: motes that heard them keep their numbers."""

    def note(self, frame: Frame, seen: Seen) -> None:
        """Learn the slot number from a frame, if it contains one."""
        if frame.asn is not None and self._slots is not None:
            lead_ps = self._slots.tx_offset_us * _MICROSECOND - seen.phy.synchronisation_ps
            passed_ps = frame.asn * self._slots.length_us * _MICROSECOND
            zero_ps = seen.begin_ps - lead_ps - passed_ps
            before_ps = self._zero_ps.get(seen.sender, zero_ps)
            if abs(zero_ps - before_ps) > self._slots.length_us * _MICROSECOND:
                self._former_ps.append(before_ps)
            self._zero_ps[seen.sender] = zero_ps
            self._last = seen.sender

    def _zero_of(self, sender: str) -> int | None:
        """Return the start of slot 0 by the sender's own beacons, or else by the last beacon.

        A sender that restarts has its own count.
        """
        whose = sender if sender in self._zero_ps else self._last
        return None if whose is None else self._zero_ps[whose]

    def at(self, begin_ps: int, sender: str) -> int | None:
        """Return the number of a frame's slot; None before the first beacon.

        A frame may begin up to a sixteenth of a slot early because of clock errors.
        """
        zero_ps = self._zero_of(sender)
        return None if zero_ps is None else self._number(begin_ps, zero_ps)

    def others(self, begin_ps: int) -> list[int]:
        """Return the slot's number by beacons before restarts, and by each sender's beacons."""
        zeros_ps = [*reversed(self._former_ps), *self._zero_ps.values()]
        numbers = (self._number(begin_ps, zero_ps) for zero_ps in zeros_ps)
        return [number for number in numbers if number is not None]

    def _number(self, begin_ps: int, zero_ps: int) -> int | None:
        if self._slots is None:
            return None
        length_ps = self._slots.length_us * _MICROSECOND
        return (begin_ps - zero_ps + length_ps // 16) // length_ps

    def start_ps(self, begin_ps: int, sender: str) -> int | None:
        """Return the start of a frame's slot; None before the first beacon."""
        asn, zero_ps = self.at(begin_ps, sender), self._zero_of(sender)
        if asn is None or zero_ps is None or self._slots is None:
            return None
        return zero_ps + asn * self._slots.length_us * _MICROSECOND


def ccm_star(key: bytes, nonce: bytes, header: bytes, sealed: bytes, mic_bytes: int) -> bytes:
    """Unsecure a frame with CCM* (IEEE Std 802.15.4-2015, annex B).

    Raises:
        InvalidTag: the MIC is wrong; without a MIC, nothing is checked.
    """
    if mic_bytes:
        return AESCCM(key, tag_length=mic_bytes).decrypt(nonce, sealed, header)
    # CCM is not defined without a MIC; CCM* is then its counter mode: L = 2, counters from 1.
    counter = bytes([1]) + nonce + (1).to_bytes(2, "big")
    return Cipher(algorithms.AES(key), modes.CTR(counter)).decryptor().update(sealed)


def _clear(psdu: bytes, frame: Frame) -> tuple[bytes, bytes]:
    """Split a frame into header and sealed part according to its level."""
    assert frame.security is not None  # noqa: S101
    if frame.security.level >= 4:
        return psdu[: frame.open_bytes], psdu[frame.open_bytes :]
    mic = frame.security.mic_bytes
    return psdu[: len(psdu) - mic], psdu[len(psdu) - mic :]


class Auditor:
    """Audits frames one after the other.

    Args:
        keys: the known keys; if None, nothing is verified.
        policy: the security policy; if None, nothing is required.
        slots: timing of slots, for nonces with slot numbers.
        listeners: verify data frames that security architectures protect.
    """

    def __init__(
        self,
        keys: KeyFile | None,
        policy: Policy | None,
        slots: Slots | None,
        listeners: Sequence[Listener] = (),
    ) -> None:
        self._listeners = listeners
        self._keys = {key.index: bytes.fromhex(key.hex) for key in keys.key} if keys else {}
        self._addresses = keys.addresses if keys else {}
        self._policy = policy
        self._used: dict[tuple[object, ...], tuple[bytes, int]] = {}
        self.slots = SlotNumbers(slots)
        self.verified = 0
        """Number of frames whose MIC is correct."""

    def look(self, seen: Seen) -> list[Flaw]:
        """Audit a frame."""
        psdu = seen.psdu[: -seen.phy.check_bytes]
        try:
            frame = parse(psdu)
        except MalformedFrameError:
            return []
        self.slots.note(frame, seen)
        flaws = self._by_policy(frame, seen)
        if frame.security is not None and frame.security.level:
            flaws += self._by_keys(frame, psdu, seen)
        return flaws + self._by_listeners(frame, seen)

    def _by_listeners(self, frame: Frame, seen: Seen) -> list[Flaw]:
        if frame.kind != "data" or not (frame.source and frame.destination and frame.payload):
            return []
        sender = int.from_bytes(frame.source, "big")
        receiver = int.from_bytes(frame.destination, "big")
        flaws = []
        for listener in self._listeners:
            verifies, text = listener.look(sender, receiver, frame.payload)
            self.verified += verifies
            if text is not None:
                flaws.append(Flaw("nonce used twice", seen.sender, seen.begin_ps, text))
        return flaws

    def _by_policy(self, frame: Frame, seen: Seen) -> list[Flaw]:
        if self._policy is None:
            return []
        least = {
            "beacon": self._policy.beacon_level,
            "acknowledgment": self._policy.acknowledgment_level,
        }.get(frame.kind, self._policy.level)
        level = 0 if frame.security is None else frame.security.level
        mic = 0 if frame.security is None else frame.security.mic_bytes
        needed = MIC_BYTES[least]
        if mic >= needed and (least < 4 or level >= 4):
            return []
        text = (
            f"{frame.kind} of level {level}, MIC of {mic} bytes; the policy asks for level {least}"
        )
        return [Flaw("too little security", seen.sender, seen.begin_ps, text)]

    def _nonce(self, frame: Frame, seen: Seen, asn: int | None = None) -> bytes | None:
        """Return the nonce, with a given slot number or else that of beacons; None if unknown."""
        assert frame.security is not None  # noqa: S101
        address = self._extended(frame, seen)
        if address is None:
            return None
        if frame.security.asn_in_nonce:
            asn = self.slots.at(seen.begin_ps, seen.sender) if asn is None else asn
            return None if asn is None else address + asn.to_bytes(5, "big")
        counter = (frame.security.counter or 0).to_bytes(4, "big")
        return address + counter + bytes([frame.security.level])

    def _extended(self, frame: Frame, seen: Seen) -> bytes | None:
        """Return the sender's extended address, or its substitute in nonces; None if unknown."""
        if frame.source is not None and len(frame.source) == 8:
            return frame.source
        if frame.source is None:
            # A frame without source address: the file of keys lists the address by mote name.
            known = self._addresses.get(seen.sender)
        else:
            known = self._addresses.get(f"{frame.source_pan or 0:04x}:{frame.source.hex()}")
        return None if known is None else bytes.fromhex(known)

    def _by_keys(self, frame: Frame, psdu: bytes, seen: Seen) -> list[Flaw]:
        security = frame.security
        assert security is not None  # noqa: S101
        key = self._keys.get(security.key_index if security.key_index is not None else 0)
        flaws = []
        is_right = key is not None and self._opens(frame, key, psdu, seen)
        if key is not None and is_right is False and not security.asn_in_nonce:
            # Some stacks send a frame counter but use the slot's number in the nonce.
            by_slot = replace(frame, security=replace(security, asn_in_nonce=True))
            if self._opens(by_slot, key, psdu, seen):
                text = (
                    f"{frame.kind} of level {security.level} says that frame counter "
                    f"{security.counter} is in its nonce; the slot's number is"
                )
                flaws.append(Flaw("nonce misstated", seen.sender, seen.begin_ps, text))
                frame, is_right = by_slot, True
        other = None
        if key is not None and is_right is False and security.asn_in_nonce:
            other = next(
                (
                    asn
                    for asn in self.slots.others(seen.begin_ps)
                    if self._opens(frame, key, psdu, seen, asn)
                ),
                None,
            )
            is_right = other is not None
        flaws += self._by_use(frame, psdu, seen, other, key if is_right is not False else None)
        if is_right:
            self.verified += 1
        elif key is not None and is_right is False:
            flaws.append(self._why(frame, key, psdu, seen))
        return flaws

    def _by_use(
        self, frame: Frame, psdu: bytes, seen: Seen, other: int | None, key: bytes | None
    ) -> list[Flaw]:
        """Check whether another frame had the same nonce.

        Two frames are compared by key and nonce, under whatever index and address, and where one
        of these is unknown by what their headers say.

        Args:
            frame: the parsed frame.
            psdu: its bytes.
            seen: its sender and time.
            other: the slot's number, if it differs from that of current beacons.
            key: the key that it was secured with, if it is known and does not fail to verify it.
        """
        security = frame.security
        assert security is not None  # noqa: S101
        identity = (security.key_mode, security.key_source, security.key_index)
        asn = self.slots.at(seen.begin_ps, seen.sender) if other is None else other
        counter = asn if security.asn_in_nonce else security.counter
        if counter is None:
            return []
        level = None if security.asn_in_nonce else security.level
        whose = frame.source or seen.sender.encode()
        nonce = self._nonce(frame, seen, other)
        uses: list[tuple[object, ...]] = [(identity, whose, frame.source_pan, counter, level)]
        uses += [(key, nonce)] if key is not None and nonce is not None else []
        befores = [self._used.setdefault(use, (psdu, seen.begin_ps)) for use in uses]
        before = next((before for before in befores if before[0] != psdu), None)
        if before is None:
            return []
        what = "slot" if security.asn_in_nonce else "frame counter"
        text = (
            f"{what} {counter} with key {security.key_index}: another frame had it at "
            f"{before[1] * 1e-12:.6f} s; whoever has both has the difference of their texts"
        )
        return [Flaw("nonce used twice", seen.sender, seen.begin_ps, text)]

    def _opens(
        self, frame: Frame, key: bytes, psdu: bytes, seen: Seen, asn: int | None = None
    ) -> bool | None:
        """Return whether a key verifies a frame; None if it has no MIC or its nonce is unknown."""
        assert frame.security is not None  # noqa: S101
        nonce = self._nonce(frame, seen, asn)
        if nonce is None or not frame.security.mic_bytes:
            return None
        header, sealed = _clear(psdu, frame)
        try:
            ccm_star(key, nonce, header, sealed, frame.security.mic_bytes)
        except InvalidTag:
            return False
        return True

    def _why(self, frame: Frame, key: bytes, psdu: bytes, seen: Seen) -> Flaw:
        """Explain a frame that does not verify: its MIC may be right but its payload in clear."""
        security, nonce = frame.security, self._nonce(frame, seen)
        assert security is not None  # noqa: S101
        where = (seen.sender, seen.begin_ps)
        if security.level >= 4 and nonce is not None:
            payload, mic = frame.payload, psdu[len(psdu) - security.mic_bytes :]
            right = AESCCM(key, tag_length=security.mic_bytes).encrypt(
                nonce, payload, psdu[: frame.open_bytes]
            )[len(payload) :]
            if right == mic:
                text = f"{frame.kind} of level {security.level}: its payload is not encrypted"
                return Flaw("sent in the clear", *where, text)
        text = f"{frame.kind} of level {security.level} with key {security.key_index}"
        return Flaw("does not verify", *where, text)
