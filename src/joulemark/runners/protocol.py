"""The host's side of the protocol in docs/image-protocol.md, over any byte stream."""

import binascii
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum, IntFlag
from functools import cached_property
from typing import Protocol

from cobs import cobs  # type: ignore[import-untyped]

from joulemark.errors import LinkError

_SIZES = {"3": "H", "4": "I"}
"""How numbers of bytes are packed in slots and stacks, by version of the protocol."""
FRAME_BYTES = 250
_CHUNK = 200
_ATTEMPTS = 4
_REPLY = 0x80
_PASSED_OVER = 16
"""Late or empty frames allowed before an answer: a line that is stuck sends them for ever."""


class Link(Protocol):
    """A line to an image."""

    def send(self, data: bytes) -> None:
        """Send bytes to the image."""

    def receive(self) -> bytes:
        """Receive bytes up to a zero byte; more may follow it.

        Raises:
            LinkError: none arrived in time, or the line is closed.
        """

    def settle(self) -> None:
        """Discard received bytes until the line is silent."""


class Command(IntEnum):
    """Types of the frames that are sent to the image."""

    IDENTIFY = 1
    WRITE = 2
    RUN = 3
    READ = 4


class Flag(IntFlag):
    """Flags of RUN."""

    NONE = 0
    EMPTY = 1
    PAINT = 2
    IN_PLACE = 4


class Status(IntEnum):
    """A primitive's result of an operation (`crypto_status`)."""

    OK = 0
    BAD_LENGTH = 1
    BAD_TAG = 2
    FAILED = 3
    """Of code in SUPERCOP's layout (`SUPERCOP_FAILED`)."""

    def __str__(self) -> str:
        if self is Status.FAILED:
            return "returned an error, or wrote another length"
        return f"ended with {self.name}"


_REFUSALS = {
    2: "unknown command",
    3: "slot, offset or length out of range",
    4: "unknown operation",
    5: "no repetitions, or flags that do not go together",
}


@dataclass(frozen=True)
class RunResult:
    """An image's report of a run."""

    status: Status
    stack_bytes: int
    timer_ticks: int


def encode(kind: int, sequence: int, body: bytes = b"") -> bytes:
    """Encode a frame, including its terminating zero."""
    content = bytes((kind, sequence)) + body
    content += struct.pack("<H", binascii.crc_hqx(content, 0xFFFF))
    if len(content) > FRAME_BYTES:
        raise ValueError(f"a frame holds {FRAME_BYTES} bytes, not {len(content)}")
    return bytes(cobs.encode(content)) + b"\0"


def decode(frame: bytes) -> tuple[int, int, bytes] | None:
    """Decode a frame to its type, sequence number and body; None if it is invalid."""
    try:
        content = cobs.decode(frame)
    except cobs.DecodeError:
        return None
    if len(content) < 4 or binascii.crc_hqx(content[:-2], 0xFFFF) != int.from_bytes(
        content[-2:], "little"
    ):
        return None
    return content[0], content[1], content[2:-2]


class Device:
    """An image behind a line.

    Args:
        link: the line.
        attempts: how often to send a frame before giving up.
    """

    def __init__(self, link: Link, attempts: int = _ATTEMPTS) -> None:
        self._link = link
        self._attempts = attempts
        self._sequence = 0

    @cached_property
    def description(self) -> Mapping[str, str]:
        """The image's description of itself.

        Raises:
            LinkError: it does not answer, its answer is invalid, or its protocol differs.
        """
        text = b""
        total = 1
        while len(text) < total:
            body = self._command(Command.IDENTIFY, struct.pack("<H", len(text)))
            if len(body) < 2 or (len(body) == 2 and len(text) < int.from_bytes(body, "little")):
                raise LinkError(f"the image's description ends after {len(text)} bytes")
            total = int.from_bytes(body[:2], "little")
            text += body[2:]
        try:
            lines = text.decode().splitlines()
            description = dict(line.split("=", 1) for line in lines)
        except ValueError as error:
            raise LinkError(f"the image's description is not key=value lines: {error}") from error
        if description.get("protocol") not in _SIZES:
            known = " or ".join(_SIZES)
            what = f"the image speaks protocol {description.get('protocol')}, not {known}"
            raise LinkError(what, mend="build and flash it again")
        return description

    @property
    def operations(self) -> list[str]:
        """Names of the operations, in the order of their numbers."""
        return self.description.get("operations", "").split(",")

    @property
    def slots(self) -> list[str]:
        """Names of the slots, in the order of their numbers."""
        return self.description.get("slots", "").split(",")

    @property
    def _size(self) -> str:
        return _SIZES[self.description["protocol"]]

    def _slot(self, name: str) -> int:
        if name not in self.slots:
            mend = f"it has {', '.join(self.slots)}"
            raise LinkError(f"the image has no slot {name}", mend=mend)
        return self.slots.index(name)

    def write(self, slot: str, data: bytes) -> None:
        """Fill a slot.

        Args:
            slot: one of `slots`.
            data: the slot's new contents.

        Raises:
            LinkError: no answer, no such slot, or the data does not fit.
        """
        number = self._slot(slot)
        for offset in range(0, max(len(data), 1), _CHUNK):
            body = struct.pack(f"<B{self._size}", number, offset) + data[offset : offset + _CHUNK]
            self._command(Command.WRITE, body, f"writing {len(data)} bytes to slot {slot}")

    def read(self, slot: str, length: int) -> bytes:
        """Read the first bytes of a slot.

        Args:
            slot: one of `slots`.
            length: number of bytes.

        Raises:
            LinkError: no answer, no such slot, or the slot is shorter.
        """
        number = self._slot(slot)
        data = b""
        while len(data) < length:
            count = min(_CHUNK, length - len(data))
            body = struct.pack(f"<B{self._size}B", number, len(data), count)
            part = self._command(Command.READ, body, f"reading {length} bytes of {slot}")
            if len(part) != count:
                raise LinkError(f"the image sent {len(part)} bytes of {slot}, not {count}")
            data += part
        return data

    def run(
        self,
        operation: str,
        flags: Flag = Flag.NONE,
        repetitions: int = 1,
        quiet_ms: int = 0,
    ) -> RunResult:
        """Run an operation.

        Args:
            operation: one of `operations`.
            flags: see `Flag`.
            repetitions: executions in the window.
            quiet_ms: how long the image sleeps before and after the window.

        Raises:
            LinkError: no answer, or no such operation.
        """
        if operation not in self.operations:
            mend = f"it has {', '.join(self.operations)}"
            raise LinkError(f"the image has no operation {operation}", mend=mend)
        number = self.operations.index(operation)
        body = struct.pack("<BBIH", number, flags, repetitions, quiet_ms)
        reply = self._command(Command.RUN, body, f"running {operation}")
        form = struct.Struct(f"<B{self._size}I")
        if len(reply) != form.size:
            raise LinkError(f"the image's answer to RUN has {len(reply)} bytes, not {form.size}")
        status, stack_bytes, timer_ticks = form.unpack(reply)
        try:
            return RunResult(Status(status), stack_bytes, timer_ticks)
        except ValueError as error:
            raise LinkError(f"the image says status {status}, which does not exist") from error

    def _command(self, command: Command, body: bytes, what: str = "") -> bytes:
        """Send a command until it is answered; return the reply's body after the status."""
        self._sequence = self._sequence % 255 + 1
        frame = encode(command, self._sequence, body)
        trouble = "it does not answer"
        for attempt in range(self._attempts):
            if attempt == 0:
                self._link.send(frame)
            else:
                # An image does not listen while it answers. The zero terminates what a broken
                # frame may have left in its buffer.
                self._link.settle()
                self._link.send(b"\0")
                self._link.settle()
                self._link.send(frame)
            try:
                status, reply = self._reply(command)
            except LinkError as error:
                trouble = str(error)
                continue
            if status == 1:
                trouble = "it received a damaged frame"
                continue
            if status != 0:
                refusal = _REFUSALS.get(status, f"status {status}")
                raise LinkError(f"the image refuses: {refusal}", what or command.name)
            return reply
        raise LinkError(
            f"no valid answer in {self._attempts} attempts: {trouble}",
            what or command.name,
            "check the line, the baud rate and that the image is flashed",
        )

    def _reply(self, command: Command) -> tuple[int, bytes]:
        """Return the reply to the current command; late replies to older ones are skipped."""
        garbage = b""
        for _ in range(_PASSED_OVER):
            for part in self._link.receive().split(b"\0"):
                if not part:
                    continue
                reply = decode(part)
                if reply is None:
                    garbage += part
                    continue
                kind, sequence, body = reply
                if (kind, sequence) == (_REPLY, 0) and body[:1] == b"\1":
                    return 1, b""
                if kind == command | _REPLY and sequence == self._sequence and body:
                    return body[0], body[1:]
            if garbage:
                raise LinkError(f"garbage on the line: {garbage[:16].hex(' ')}")
        raise LinkError(f"{_PASSED_OVER} frames came, and none of them is the answer")
