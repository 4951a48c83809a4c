"""What a protocol's oracle is given, and what it tells: docs/protocols.md is the contract."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Message:
    """A datagram that was on the air; a copy of an earlier one is left out."""

    sender: str
    """`client` or `server`."""
    source: int
    destination: int
    """UDP ports."""
    data: bytes


@dataclass(frozen=True, kw_only=True)
class Talk:
    """A handshake and its records."""

    variant: str
    define: Mapping[str, int]
    """Macros of the variant."""
    wiring: Mapping[str, str]
    """Parts behind its interfaces, as its file names them."""
    datagrams: Sequence[Message]
    """In the order in which they were sent first."""
    keys: Mapping[str, bytes]
    """The shared secret that each side printed."""
    records: int
    request: bytes
    response: bytes
    """Payloads of each request and response."""


@dataclass(frozen=True)
class Account:
    """What the bytes of a datagram are for; their sum is its length."""

    flight: str
    """Name of the row that it is counted in."""
    protocol: int
    coap: int = 0
    payload: int = 0
    """An application's data."""
    record: bool = False
    """Whether it is a record after the handshake."""
    again: bool = False
    """Whether it repeats an earlier flight in other bytes."""

    @property
    def length(self) -> int:
        """All bytes."""
        return self.protocol + self.coap + self.payload


def request_of(length: int) -> bytes:
    """Return the payload of requests that device programs send."""
    return bytes(ord("0") + i % 10 for i in range(length))


def response_of(length: int) -> bytes:
    """Return the payload of responses that device programs send."""
    return bytes(ord("A") + i % 26 for i in range(length))
