"""OSCORE whose keys outlive power, and Group OSCORE's pairwise mode: the ledger, and aiocoap."""

from typing import Any

import aiocoap
import aiocoap.oscore
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, x25519

from joulemark.catalogue.protocols import CLIENT, Pair, protocol
from joulemark.errors import VerificationError
from joulemark.reference.oscore import (
    ACK,
    CHANGED,
    CON,
    ECHO,
    POST,
    URI_PATH,
    Coap,
    Pairwise,
    Security,
)
from joulemark.subjects.handshake import flights
from joulemark.subjects.handshake.flights import Priced, price
from joulemark.subjects.handshake.talk import Talk
from oscore_peer import encoded, outgoing

BOARD = "openmote-cc2538"
NAMES = ["oscore", "group-oscore-x25519", "group-oscore-p256"]


@pytest.fixture(scope="module", params=NAMES)
def priced(request: pytest.FixtureRequest) -> tuple[Priced, Talk]:
    told: list[Talk] = []
    with pytest.MonkeyPatch.context() as patch:

        def kept(**values: object) -> Talk:
            told.append(Talk(**values))  # type: ignore[arg-type]
            return told[-1]

        patch.setattr(flights, "Talk", kept)
        return price(protocol(request.param), BOARD, Pair(records=1)), told[0]


def test_bytes_of_each_flight(priced: tuple[Priced, Talk]) -> None:
    """The IETF's draft has 13 and 11 bytes for OSCORE, and 15 and 11 for the pairwise mode.

    There, a group's identifier is empty, a member's has a byte. An Echo option is six bytes long.
    """
    found, _ = priced
    request = 13 if found.protocol == "oscore" else 15
    rows = {(f.name, f.record): f.protocol for f in found.flights}
    assert rows == {
        ("first request", False): request,
        ("4.01, Echo", False): 11 + 2 + 6,  # with its own number
        ("request, Echo", False): request + 6,
        ("response", False): 11,
        ("request", True): request,
        ("response", True): 11,
    }


def test_no_byte_passes_the_oracle_changed(priced: tuple[Priced, Talk]) -> None:
    found, talk = priced
    of = protocol(found.protocol)
    assert len(of.read(talk)) == len(talk.datagrams)
    for number, message in enumerate(talk.datagrams):
        for at in range(len(message.data)):
            data = bytearray(message.data)
            data[at] ^= 0x10
            changed = type(message)(**{**vars(message), "data": bytes(data)})
            datagrams = [*talk.datagrams[:number], changed, *talk.datagrams[number + 1 :]]
            with pytest.raises(VerificationError):
                of.read(Talk(**{**vars(talk), "datagrams": datagrams}))


def test_frames_that_are_lost() -> None:
    lost = price(protocol("group-oscore-x25519"), BOARD, Pair(records=2, loss=0.5, seed=1))
    assert sum(flight.again for flight in lost.flights) > 0
    assert len(lost.party(CLIENT).computed) == 6


class _Ecdh:
    """ECDH-SS + HKDF-256 over keys that are for nothing else."""

    value = -27

    @staticmethod
    def staticstatic(own: Any, peer: Any) -> bytes:
        if isinstance(own, x25519.X25519PrivateKey):
            return own.exchange(peer)
        shared: bytes = own.exchange(ec.ECDH(), peer)
        return shared


class _Group(aiocoap.oscore.SecurityContextUtils):  # type: ignore[misc]
    """What aiocoap's pairwise contexts ask of a group's: its own has the group mode, too."""

    alg_aead = aiocoap.oscore.AES_CCM_16_64_128()
    hashfun = aiocoap.oscore.hashfunctions["sha256"]
    alg_signature = alg_group_enc = None
    alg_pairwise_key_agreement = _Ecdh

    def __init__(self, like: Pairwise, private_key: Any, public_key: Any) -> None:
        self.id_context, self.sender_id = like.id_context, like.sender
        self.sender_auth_cred, self.group_manager_cred = like.own, like.manager
        self.recipient_auth_creds = {like.recipient: like.peer}
        self.private_key, self.recipient_public_keys = private_key, {like.recipient: public_key}
        own, other = (
            self._kdf(like.salt, like.secret, name, "Key", self.alg_aead)
            for name in (like.sender, like.recipient)
        )
        self._sender_key, self.recipient_keys = own, {like.recipient: other}
        self.common_iv = self._kdf(like.salt, like.secret, b"", "IV")
        window = aiocoap.oscore.ReplayWindow(32, lambda: None)
        window.initialize_empty()
        self.recipient_replay_windows = {like.recipient: window}
        self.sender_sequence_number = 0

    def new_sequence_number(self) -> int:
        self.sender_sequence_number += 1
        return self.sender_sequence_number - 1

    def post_seqnoincrease(self) -> None:
        """Numbers are kept by nobody."""

    def pairwise(self) -> Any:
        (peer,) = self.recipient_auth_creds
        return aiocoap.oscore._PairwiseContextAspect(self, peer)


@pytest.mark.parametrize("exchange", ["x25519", "ecdh-p256"])
def test_aiocoap_and_the_oracle_agree(exchange: str) -> None:
    oracle = protocol("group-oscore-x25519").folder / "oracle.py"
    made: dict[str, Any] = {}
    exec(compile(oracle.read_text(), oracle, "exec"), made)  # noqa: S102
    sides: tuple[Security, Security] = made["contexts"](exchange)
    names = ("client", "server")
    secrets = [made["_secret"](name) for name in names]
    private: list[Any] = [
        x25519.X25519PrivateKey.from_private_bytes(secret)
        if exchange == "x25519"
        else ec.derive_private_key(int.from_bytes(secret), ec.SECP256R1())
        for secret in secrets
    ]
    client, server = (
        _Group(like, private[n], private[1 - n].public_key()).pairwise()  # type: ignore[arg-type]
        for n, like in enumerate(sides)
    )
    assert client.sender_key == server.recipient_key == sides[0].key
    assert server.sender_key == sides[1].key
    asked = Coap(kind=CON, code=POST, number=1, options=[(URI_PATH, b"s")], payload=b"0123")
    plain = outgoing(bytes(asked))
    sealed, _ = client.protect(plain)
    assert encoded(sealed, bytes(asked)) == bytes(sides[0].request(asked, 0))
    incoming = aiocoap.Message.decode(bytes(sides[0].request(asked, 0)))
    incoming.direction = aiocoap.message.Direction.INCOMING
    opened, bound = server.unprotect(incoming)
    assert opened.payload == b"0123"
    answer = Coap(kind=ACK, code=CHANGED, number=1, options=[(ECHO, bytes(4))], payload=b"AB")
    server.responses_send_kid = False  # it may, and is known
    response, _ = server.protect(outgoing(bytes(answer)), bound)
    assert encoded(response, bytes(answer)) == bytes(sides[1].response(answer, 0))
