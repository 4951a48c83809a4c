"""What can be said of a conversation whose protocol has no oracle.

Its messages are not known, so they are counted by who sends them. Three things are checked: both
sides end on one key, the client says that it is done, and data is on the air only under protection.
"""

from collections.abc import Sequence

from joulemark.catalogue.protocols import CLIENT, SERVER
from joulemark.errors import VerificationError
from joulemark.subjects.handshake.talk import Account, Talk

HANDSHAKE = "handshake"
"""What a side computes before the exchanges."""
_TELLING_BYTES = 8
"""Shorter data may be in a ciphertext by chance."""
_EXCHANGED = {CLIENT: "request", SERVER: "response"}


def check(talk: Talk) -> None:
    """Check what can be checked.

    Raises:
        VerificationError: both sides have different keys, or data is in the clear.
    """
    if talk.keys[CLIENT] != talk.keys[SERVER]:
        raise VerificationError("the server's key is not the client's")
    for name, data in (("request", talk.request), ("response", talk.response)):
        if len(data) >= _TELLING_BYTES and any(data in sent.data for sent in talk.datagrams):
            raise VerificationError(f"a {name}'s data is on the air in the clear")


def read(talk: Talk, begins_ps: Sequence[int], exchanges_ps: tuple[int, int]) -> list[Account]:
    """Return what each datagram is for, by its sender and its time.

    Args:
        talk: what was said.
        begins_ps: when each datagram began.
        exchanges_ps: when the client begins with the first exchange, and with the further ones.

    Raises:
        VerificationError: as `check` says.
    """
    check(talk)
    first_ps, further_ps = exchanges_ps
    sizes = {CLIENT: len(talk.request), SERVER: len(talk.response)}
    accounts: list[Account] = []
    flight, last = 0, ""
    for message, begin_ps in zip(talk.datagrams, begins_ps, strict=True):
        length = len(message.data)
        if begin_ps < first_ps:
            flight += message.sender != last
            last = message.sender
            accounts.append(Account(f"flight {flight}", length))
            continue
        payload = min(length, sizes[message.sender])
        name, is_further = _EXCHANGED[message.sender], begin_ps >= further_ps
        accounts.append(Account(name, length - payload, payload=payload, record=is_further))
    return accounts
