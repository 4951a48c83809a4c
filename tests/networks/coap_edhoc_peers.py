"""A device's EDHOC and OSCORE over CoAP with lakers and aiocoap as its peer, on a lossy link.

    .venv/bin/python tests/networks/coap_edhoc_peers.py 1000

The device's own program is each side in turn, with its retransmission. Time is virtual.
"""

import heapq
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import aiocoap
import lakers

sys.path.insert(0, str(Path(__file__).parent.parent / "support"))

from joulemark.project import FIRMWARE, ROOT
from joulemark.reference.oscore import ACK, CHANGED, CON, CONTENT_FORMAT, POST, URI_PATH, Coap
from oscore_device import build
from oscore_peer import Context, encoded, outgoing
from vectors import LIBRARY

CLIENT, SERVER = "client", "server"
RECORDS = 3
C_I, C_R = b"\x37", b"\x27"
REQUEST, RESPONSE = b"0123456789012345", b"ABCDEFGHIJKLMNOP"
_EDHOC = [(URI_PATH, b".well-known"), (URI_PATH, b"edhoc")]
_TRIES = 5
"""A request and four more (RFC 7252, section 4.8)."""
NET = (
    "coap-edhoc",
    "coap-exchange",
    "udp",
    "csma",
    "radio",
    "ieee802154",
    "console",
    "edhoc/parties",
)
PROGRAM = FIRMWARE / "net/coap-edhoc/main.c"
_PARTY = FIRMWARE / "net/edhoc/parties/rfc9529-3-2"
_WAYS = ("handshake/edhoc-3-2/portable", "key-agreement/ecdh-p256/limbs16")


class GaveUpError(Exception):
    """A request was sent five times without a response, which RFC 7252 allows."""


def device(side: str, folder: Path) -> Path:
    """Build the program as one side, with sanitizers."""
    macros = {
        "LEDGER_MOTE": 1,
        "LEDGER_PEER": 2 if side == CLIENT else 0,
        "LEDGER_RECORDS": RECORDS,
        "LEDGER_REQUEST_BYTES": len(REQUEST),
        "LEDGER_RESPONSE_BYTES": len(RESPONSE),
        "EDHOC_COMBINED": 0,
        "COAP_ACK_TIMEOUT_MS": 2000,
        "UDP_BYTES_MAX": 256,
        "EDHOC_PLAINTEXT_BYTES": 160,
    }
    primitives = [FIRMWARE / "primitives" / way for way in _WAYS]
    includes = [
        *(FIRMWARE / "net" / each for each in NET),
        FIRMWARE / "boots/none",
        _PARTY,
        ROOT / "tests/networks/radio",
        FIRMWARE / "hal",
        FIRMWARE / "hal/host",
        *(folder for way in primitives for folder in (way, way.parent, way.parent.parent)),
    ]
    sources = [
        PROGRAM,
        *_PARTY.glob("*.c"),
        *(source for way in primitives for source in way.glob("*.c")),
    ]
    flags = ["-D_GNU_SOURCE", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    flags += [f"-D{name}={value}" for name, value in macros.items()]
    flags += [*(f"-I{each}" for each in includes), *map(str, sources)]
    folder = folder / side
    folder.mkdir()
    return build(folder, ROOT / "tests/networks/coap_edhoc_host.c", *flags)


@dataclass
class Link:
    """A clock, and datagrams that are under way."""

    rng: random.Random
    loss: float
    now_ms: int = 0
    datagrams: int = 0
    way: list[tuple[int, int, str, bytes]] = field(default_factory=list)

    def carry(self, to: str, data: bytes) -> None:
        """Send a datagram: it may be lost, come twice, or overtake another."""
        self.datagrams += 1
        lost, again = self.rng.random() < self.loss, self.rng.random() < self.loss
        for delay in (10 + self.rng.randrange(20), 10 + self.rng.randrange(3000)):
            if not lost:
                when = self.now_ms + delay
                heapq.heappush(self.way, (when, self.datagrams, to, data))
            lost |= not again


class Peer:
    """What both of the device's peers have: keys of RFC 9529, and a context after the handshake."""

    def __init__(self) -> None:
        self.values = LIBRARY["edhoc-3-2-aes-128"].vectors[0].values
        self.key = b""
        self.context: Context | None = None
        self.records = 0

    def credential(self, side: str) -> lakers.Credential:
        """Return a side's credential."""
        return lakers.Credential(self.values[f"{side}_credential"])

    def agreed(self, session: lakers.EdhocInitiator | lakers.EdhocResponder) -> None:
        """Derive OSCORE's context (RFC 9528, appendix A.1)."""
        session.completed_without_message_4()
        secret, salt = session.edhoc_exporter(0, b"", 16), session.edhoc_exporter(1, b"", 8)
        is_client = isinstance(session, lakers.EdhocInitiator)
        ends = (C_R, C_I) if is_client else (C_I, C_R)
        self.context = Context(secret, salt, *ends)


class Server(Peer):
    """lakers as the responder, and aiocoap's OSCORE behind it."""

    def __init__(self) -> None:
        super().__init__()
        self.session = lakers.EdhocResponder(
            self.values["responder_key"], self.credential("responder")
        )
        self.answers: dict[int, bytes] = {}

    def hears(self, data: bytes) -> bytes:
        """Return the answer to a request, the same one to the same request."""
        message = aiocoap.Message.decode(data)
        if message.mid not in self.answers:
            answer = Coap(kind=ACK, code=CHANGED, number=message.mid, token=message.token)
            is_edhoc = message.opt.uri_path == (".well-known", "edhoc")
            made = self._edhoc(message, answer) if is_edhoc else self._protected(message, answer)
            self.answers[message.mid] = made
        return self.answers[message.mid]

    def _edhoc(self, message: aiocoap.Message, answer: Coap) -> bytes:
        if message.payload[:1] == b"\xf5":
            self.session.process_message_1(message.payload[1:])
            by_reference = lakers.CredentialTransfer.ByReference
            message_2 = self.session.prepare_message_2(by_reference, C_R, None)
            options = [(CONTENT_FORMAT, b"\x40")]
            return bytes(Coap(**{**vars(answer), "options": options, "payload": message_2}))
        assert message.payload[:1] == C_R
        self.session.parse_message_3(message.payload[1:])
        self.key = self.session.verify_message_3(self.credential("initiator"))
        self.agreed(self.session)
        return bytes(answer)

    def _protected(self, message: aiocoap.Message, answer: Coap) -> bytes:
        assert self.context is not None
        opened, bound = self.context.unprotect(message)
        assert (opened.code, opened.opt.uri_path, opened.payload) == (POST, ("s",), REQUEST)
        plain = Coap(**{**vars(answer), "payload": RESPONSE})
        outer, _ = self.context.protect(outgoing(bytes(plain)), bound)
        self.records += 1
        return encoded(outer, bytes(plain))


@contextmanager
def running(program: Path) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        [program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        yield process
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait() == 0


class Device:
    """The device's program, which runs until it listens."""

    def __init__(self, running: "subprocess.Popen[str]", link: Link, to: str) -> None:
        self.running, self.link, self.to = running, link, to
        self.until_ms = 0
        self.key = b""
        self.end = ""
        self.goes_on()

    def goes_on(self) -> None:
        """Take what it sends and says, until it listens or ends."""
        assert self.running.stdout is not None
        for line in self.running.stdout:
            word, _, rest = line.rstrip().partition(" ")
            if word == "send":
                self.link.carry(self.to, bytes.fromhex(rest))
            elif word == "key":
                self.key = bytes.fromhex(rest)
            elif word == "hear":
                self.until_ms = self.link.now_ms + int(rest)
                return
            else:
                self.end = self.end or line.strip()

    def told(self, line: str) -> None:
        """Answer what it listens for."""
        assert self.running.stdin is not None
        self.running.stdin.write(line + "\n")
        self.running.stdin.flush()
        self.goes_on()

    def hears(self, data: bytes) -> None:
        """Give it a datagram."""
        self.told(f"datagram {self.until_ms - self.link.now_ms} {data.hex()}")


def we_ask(program: Path, seed: int, loss: float) -> int:
    """Have the device agree with lakers as its server, and make protected requests.

    Raises:
        GaveUpError: the device sent a request five times without a response.
    """
    link, server = Link(random.Random(seed), loss), Server()
    with running(program) as process:
        ours = Device(process, link, SERVER)
        while not ours.end:
            if not link.way or link.way[0][0] > ours.until_ms:
                link.now_ms = ours.until_ms
                ours.told("over")
                continue
            link.now_ms, _, to, data = heapq.heappop(link.way)
            if to == SERVER:
                link.carry(CLIENT, server.hears(data))
            else:
                ours.hears(data)
    if ours.end == "no answer":
        raise GaveUpError
    assert (ours.end, ours.key, server.records) == ("done", server.key, RECORDS)
    return link.datagrams


class Client(Peer):
    """lakers as the initiator, and aiocoap's OSCORE behind it, over CoAP's retransmission."""

    def __init__(self, ours: Device, link: Link) -> None:
        super().__init__()
        self.ours, self.link, self.number = ours, link, 0

    def _asks(self, data: bytes) -> aiocoap.Message:
        wait_ms = 2000 + self.link.rng.randrange(1000)
        for _ in range(_TRIES):
            self.link.carry(SERVER, data)
            until_ms = self.link.now_ms + wait_ms
            while self.link.way and self.link.way[0][0] <= until_ms:
                self.link.now_ms, _, to, heard = heapq.heappop(self.link.way)
                if to == SERVER:
                    self.ours.hears(heard)
                    continue
                answer = aiocoap.Message.decode(heard)
                if answer.mid == self.number:
                    return answer
            self.link.now_ms = until_ms
            wait_ms *= 2
        raise GaveUpError

    def _request(self, options: list[tuple[int, bytes]], payload: bytes) -> Coap:
        self.number += 1
        return Coap(
            kind=CON, code=POST, number=self.number, token=b"t", options=options, payload=payload
        )

    def agrees(self) -> None:
        """Make the handshake."""
        session = lakers.EdhocInitiator()
        message_1 = session.prepare_message_1(C_I, None)
        options = [*_EDHOC, (CONTENT_FORMAT, b"\x41")]
        answer = self._asks(bytes(self._request(options, b"\xf5" + message_1)))
        connection, *_ = session.parse_message_2(answer.payload)
        assert connection == C_R
        own, peer = self.credential("initiator"), self.credential("responder")
        session.verify_message_2(self.values["initiator_key"], own, peer)
        by_reference = lakers.CredentialTransfer.ByReference
        message_3, self.key = session.prepare_message_3(by_reference, None)
        answer = self._asks(bytes(self._request(options, C_R + message_3)))
        assert answer.code == CHANGED
        self.agreed(session)

    def records_go(self) -> None:
        """Make the protected requests."""
        assert self.context is not None
        for _ in range(RECORDS):
            plain = self._request([(URI_PATH, b"s")], REQUEST)
            outer, bound = self.context.protect(outgoing(bytes(plain)))
            answer, _ = self.context.unprotect(self._asks(encoded(outer, bytes(plain))), bound)
            assert (answer.code, answer.payload) == (CHANGED, RESPONSE)


def we_answer(program: Path, seed: int, loss: float) -> int:
    """Have lakers agree with the device as its server, and make protected requests.

    Raises:
        GaveUpError: lakers' side sent a request five times without a response.
    """
    link = Link(random.Random(seed), loss)
    with running(program) as process:
        ours = Device(process, link, CLIENT)
        theirs = Client(ours, link)
        theirs.agrees()
        theirs.records_go()
    assert ours.key == theirs.key
    return link.datagrams


def main() -> None:
    """Count."""
    count, loss = int(sys.argv[1]), 0.1
    with tempfile.TemporaryDirectory() as folder:
        for side, converse in ((CLIENT, we_ask), (SERVER, we_answer)):
            program = device(side, Path(folder))
            gave_up = datagrams = 0
            for seed in range(count):
                try:
                    datagrams += converse(program, seed, loss)
                except GaveUpError:
                    gave_up += 1
            done = f"{count - gave_up} of {count} agreed, {gave_up} gave up"
            print(f"the device is the {side}: {done}; {datagrams} datagrams", flush=True)


if __name__ == "__main__":
    main()
