"""Audit OSCORE on the air against its security contexts, independently of programs.

The auditor flags a nonce that was used twice with a key for different messages, across reboots too,
and messages that do not verify.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from cryptography.exceptions import InvalidTag

from joulemark.analysis.auditor import Flaw
from joulemark.analysis.lowpan import Datagram, Reassembly
from joulemark.catalogue.networks import OscoreContext
from joulemark.reference.oscore import OSCORE, OptionValue, Security, parsed

if TYPE_CHECKING:
    from joulemark._engine import Transmission

_REQUESTS = 0x20
"""Codes of requests are below (RFC 7252, section 5.2)."""


def sides(context: OscoreContext) -> tuple[Security, Security]:
    """Return a context as each of its two sides has it."""
    one, other = (bytes.fromhex(identifier) for identifier in context.ids)

    def side(sender: bytes, recipient: bytes) -> Security:
        return Security(
            secret=bytes.fromhex(context.secret),
            salt=bytes.fromhex(context.salt),
            sender=sender,
            recipient=recipient,
            id_context=None if context.id_context is None else bytes.fromhex(context.id_context),
        )

    return side(one, other), side(other, one)


class OscoreAuditor:
    """Audits frames one after the other.

    Args:
        contexts: the known security contexts.
    """

    def __init__(self, contexts: Sequence[OscoreContext]) -> None:
        pairs = [sides(context) for context in contexts]
        self.contexts = [one for one, _ in pairs]
        """As the first side of each has it."""
        self._known = [*pairs, *((other, one) for one, other in pairs)]
        """The client's and the server's side, whichever is which."""
        self._reassembly = Reassembly()
        self._asked: dict[tuple[int, bytes], tuple[Security, OptionValue]] = {}
        """By a request's number and token: the server's side, and what the request said."""
        self._used: dict[tuple[bytes, bytes], tuple[bytes, int]] = {}
        self.verified = 0
        """Number of messages that are authentic."""

    def look(self, sent: "Transmission", sender: str) -> list[Flaw]:
        """Audit the message that a frame makes whole, if it does."""
        datagram = self._reassembly.add(sent) if self._known else None
        return [] if datagram is None else list(self._look(datagram, sender))

    def _look(self, datagram: Datagram, sender: str) -> Iterator[Flaw]:
        try:
            message = parsed(datagram.data)
            value = dict(message.options)[OSCORE]
            said = OptionValue.read(value)
        except (ValueError, KeyError):
            return
        asked = message.number, message.token
        if message.code < _REQUESTS:
            found = next(
                (
                    (client, server)
                    for client, server in self._known
                    if client.sender == said.kid and said.id_context in (None, client.id_context)
                ),
                None,
            )
            if found is None:
                return
            own, server = found
            self._asked[asked] = server, said
            request_id, request_piv = own.sender, said.piv
            nonce = own.nonce(own.sender, said.piv)
        elif asked in self._asked:
            own, request = self._asked[asked]
            request_id, request_piv = own.recipient, request.piv
            is_fresh = bool(said.piv)
            nonce = own.nonce(
                own.sender if is_fresh else own.recipient, said.piv if is_fresh else request.piv
            )
        else:
            return
        ad = own.ad(request_id, request_piv, value)
        try:
            own.opened(message.payload, nonce, ad)
        except InvalidTag:
            text = f"a message under OSCORE of {own.sender.hex() or 'the empty identifier'}"
            yield Flaw("does not verify", sender, datagram.begin_ps, text)
            return
        self.verified += 1
        this = message.payload, datagram.begin_ps
        before = self._used.setdefault((own.key, nonce), this)
        if before[0] != message.payload:
            number = (said.piv or request_piv).hex()
            text = (
                f"OSCORE's number {number}: another message had it at {before[1] * 1e-12:.6f} s; "
                "whoever has both has the difference of their texts"
            )
            yield Flaw("nonce used twice", sender, datagram.begin_ps, text)
