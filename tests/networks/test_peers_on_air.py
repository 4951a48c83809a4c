"""Other people's protocols on the host, and ours on emulated boards, across the emulated air."""

import random
import subprocess
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path
from typing import cast

import aiocoap
import pytest

from coap_edhoc_peers import RECORDS, REQUEST, RESPONSE, Client, Device, Link, Server
from joulemark import project
from joulemark.catalogue.boards import load_board
from joulemark.catalogue.networks import made
from joulemark.catalogue.protocols import CLIENT, SERVER, Pair, protocol
from joulemark.project import ROOT
from joulemark.reference.oscore import ACK, CHANGED, CON, POST, URI_PATH, Coap
from joulemark.runners.network import RunningNetwork
from test_dtls13 import VARIANTS, WOLFSSL, build_with_wolfssl

BOARD = "nrf52840-dk"
DEVICE, RELAY = 0, 1
CLIENT_PORT = 61617
LONGEST_S = 60.0
TWO = 2
"""Addresses are 1 of the client, and 2 of the server."""


class Air:
    """A device that runs a protocol, and a relay between the air and whoever speaks with it."""

    def __init__(self, name: str, side: str, loss: float = 0.0) -> None:
        of, board = protocol(name), load_board(BOARD)
        network = of.pair(board, Pair(records=RECORDS, loss=loss))
        device = next(mote for mote in network.mote if mote.name == side)
        here, there = (TWO, 1) if side == CLIENT else (1, TWO)
        ports = (of.file.port, CLIENT_PORT) if side == CLIENT else (CLIENT_PORT, of.file.port)
        known = device.model_dump(include={"name", "board", "program", "define", "wiring"})
        relay = {
            "name": "relay",
            "board": BOARD,
            "program": "relay",
            "define": {
                "RELAY_MOTE": here,
                "RELAY_PEER": there,
                "RELAY_PORT": ports[0],
                "RELAY_PEER_PORT": ports[1],
            },
        }
        start_s = 0.05 if side == CLIENT else 0.0
        values = {
            "title": f"{name}, {side}, and a relay",
            "everyone": {"attenuation_db": 60, "loss": loss},
            "mote": [{**known, "start_s": start_s}, relay],
        }
        self.running = RunningNetwork(made(values, ROOT / "tests/networks/relay/network.toml"))
        self.keys: list[bytes] = []
        self.end = ""
        self._lines = self._said()

    def _said(self) -> Iterator[str]:
        """Yield what the relay says, and keep what the device does."""
        for piece in self.running.run(LONGEST_S, slice_s=0.001):
            assert not piece.faults
            for line in piece.lines:
                text = line.data.decode().strip()
                if line.mote == RELAY:
                    yield text
                elif text.startswith("key "):
                    self.keys.append(bytes.fromhex(text.removeprefix("key ")))
                else:
                    self.end = text

    def _tell(self, data: bytes) -> None:
        assert next(self._lines) == "next"
        port = load_board(BOARD).serial.port
        self.running.engine.serial_write(RELAY, port, data)

    def sends(self, data: bytes) -> None:
        """Have the relay send a datagram."""
        self._tell(len(data).to_bytes(2) + data)

    def hears(self, ms: int) -> bytes | None:
        """Return what the relay hears within a time."""
        self._tell(bytes(2) + ms.to_bytes(2))
        word, _, data = next(self._lines).partition(" ")
        return bytes.fromhex(data) if word == "heard" else None


@pytest.fixture(autouse=True)
def _relay() -> Iterator[None]:
    with project.using(ROOT / "tests/networks"):
        yield


@pytest.mark.parametrize("loss", [0.0, 0.1])
def test_a_device_agrees_with_lakers_and_asks_aiocoap(loss: float) -> None:
    air, peer = Air("edhoc-3-2", CLIENT, loss), Server()
    while not air.end:
        data = air.hears(1000)
        if data is not None:
            air.sends(peer.hears(data))
    assert (air.end, peer.records) == ("done", RECORDS)
    assert air.keys == [peer.key]


class OnAir(Client):
    """lakers and aiocoap as a client of a device on the air."""

    def __init__(self, air: Air) -> None:
        super().__init__(cast(Device, None), Link(random.Random(1), 0))
        self.air = air

    def _asks(self, data: bytes) -> aiocoap.Message:
        for _ in range(5):
            self.air.sends(data)
            heard = self.air.hears(2500)
            while heard is not None:
                answer = aiocoap.Message.decode(heard)
                if answer.mid == self.number:
                    return answer
                heard = self.air.hears(1)
        raise AssertionError("no answer")


@pytest.mark.parametrize("loss", [0.0, 0.1])
def test_a_device_serves_lakers_and_aiocoap(loss: float) -> None:
    air = Air("edhoc-3-2", SERVER, loss)
    peer = OnAir(air)
    peer.agrees()
    peer.records_go()
    assert air.keys == [peer.key]


class WolfSsl:
    """wolfSSL's side of DTLS 1.3, at the other end of a relay."""

    def __init__(self, air: Air, program: Path, role: str) -> None:
        words = [f"{role}=wolfssl", "tunnel=1", "cid=1", "mtu=256"]
        self.air, self.wait_ms = air, 0
        self.key, self.data = b"", list[bytes]()
        self.process = subprocess.Popen(
            [program, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self._goes_on()

    def _goes_on(self) -> None:
        assert self.process.stdout is not None
        for line in takewhile(lambda line: not line.startswith("wait"), self.process.stdout):
            word, _, digits = line.strip().partition(" ")
            if word == "sends":
                self.air.sends(bytes.fromhex(digits))
            elif word == "key":
                self.key = bytes.fromhex(digits)
            elif word == "data":
                self.data.append(bytes.fromhex(digits))

    def told(self, word: str, data: bytes = b"") -> None:
        """Tell it what it hears, what it is to say, or the time alone."""
        assert self.process.stdin is not None
        now_ms = round(1000 * self.air.running.time_s)
        self.process.stdin.write(f"{now_ms} {word} {data.hex()}\n")
        self.process.stdin.flush()
        self._goes_on()

    def listens(self, ms: int) -> None:
        """Let it hear for some time."""
        heard = self.air.hears(ms)
        self.told("over") if heard is None else self.told("hear", heard)

    def ends(self) -> None:
        """End it; sanitizers have nothing to say."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        assert self.process.wait() == 0


WAYS = ["psk", "psk-p256"]


@pytest.mark.skipif(not WOLFSSL, reason="JOULEMARK_WOLFSSL names no folder: docs/dtls.md")
@pytest.mark.parametrize("loss", [0.0, 0.1])
@pytest.mark.parametrize("name", WAYS)
def test_a_device_asks_wolfssl(name: str, loss: float, tmp_path: Path) -> None:
    program = build_with_wolfssl(VARIANTS[name], tmp_path / name)
    air = Air(f"dtls13-{name}", CLIENT, loss)
    peer = WolfSsl(air, program, SERVER)
    numbers = set()
    while not air.end:
        peer.listens(500)
        for data in peer.data:
            asked = aiocoap.Message.decode(data)
            assert (asked.code, asked.opt.uri_path, asked.payload) == (POST, ("s",), REQUEST)
            numbers.add(asked.mid)
            answer = Coap(
                kind=ACK, code=CHANGED, number=asked.mid, token=asked.token, payload=RESPONSE
            )
            peer.told("say", bytes(answer))
        peer.data.clear()
    assert (air.end, len(numbers)) == ("done", RECORDS)
    assert air.keys == [peer.key]
    peer.ends()


@pytest.mark.skipif(not WOLFSSL, reason="JOULEMARK_WOLFSSL names no folder: docs/dtls.md")
@pytest.mark.parametrize("loss", [0.0, 0.1])
@pytest.mark.parametrize("name", WAYS)
def test_a_device_serves_wolfssl(name: str, loss: float, tmp_path: Path) -> None:
    program = build_with_wolfssl(VARIANTS[name], tmp_path / name)
    air = Air(f"dtls13-{name}", SERVER, loss)
    peer = WolfSsl(air, program, CLIENT)
    while not (peer.key and air.keys):
        peer.listens(500)
    for number in range(1, RECORDS + 1):
        options = [(URI_PATH, b"s")]
        asked = Coap(
            kind=CON, code=POST, number=number, token=b"t", options=options, payload=REQUEST
        )
        while not peer.data:
            peer.told("say", bytes(asked))
            peer.listens(2500)
        answer = aiocoap.Message.decode(peer.data.pop())
        assert (answer.mid, answer.code, answer.payload) == (number, CHANGED, RESPONSE)
    assert air.keys == [peer.key]
    peer.ends()
