"""aiocoap as the peer of the device's OSCORE."""

import aiocoap
import aiocoap.oscore


class Context(
    aiocoap.oscore.CanProtect,  # type: ignore[misc]
    aiocoap.oscore.CanUnprotect,  # type: ignore[misc]
    aiocoap.oscore.SecurityContextUtils,  # type: ignore[misc]
):
    """A context that lives in memory."""

    def __init__(
        self,
        secret: bytes,
        salt: bytes,
        sender: bytes,
        recipient: bytes,
        id_context: bytes | None = None,
    ) -> None:
        self.alg_aead = aiocoap.oscore.AES_CCM_16_64_128()
        self.hashfun = aiocoap.oscore.hashfunctions["sha256"]
        self.sender_id, self.recipient_id, self.id_context = sender, recipient, id_context
        self.derive_keys(salt, secret)
        self.sender_sequence_number = 0
        self.recipient_replay_window = aiocoap.oscore.ReplayWindow(32, lambda: None)
        self.recipient_replay_window.initialize_empty()

    def post_seqnoincrease(self) -> None:
        """Numbers are kept by nobody."""


def outgoing(plain: bytes) -> aiocoap.Message:
    """Return a message that is to be protected."""
    message = aiocoap.Message.decode(plain)
    message.direction = aiocoap.message.Direction.OUTGOING
    return message


def encoded(outer: aiocoap.Message, like: bytes) -> bytes:
    """Return a protected message with the head of the one before."""
    of = aiocoap.Message.decode(like)
    outer.direction = aiocoap.message.Direction.OUTGOING
    outer.mid, outer.token, outer.mtype = of.mid, of.token, of.mtype
    return bytes(outer.encode())
