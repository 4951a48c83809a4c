"""Garbage on the serial line: a right answer or a clear error, never a wrong one, never silence."""

import random
from collections.abc import Callable, Iterator

import pytest

from joulemark.build import build_local
from joulemark.errors import LinkError
from joulemark.kinds import Slot
from joulemark.oracle import Inputs
from joulemark.primitives import Library
from joulemark.protocol import Device, Link
from joulemark.runners.local import LocalLink

Damage = Callable[[bytes, random.Random], bytes]


def flip(data: bytes, chance: random.Random) -> bytes:
    at = chance.randrange(len(data))
    return data[:at] + bytes([data[at] ^ 1 << chance.randrange(8)]) + data[at + 1 :]


def insert(data: bytes, chance: random.Random) -> bytes:
    at = chance.randrange(len(data) + 1)
    return data[:at] + chance.randbytes(chance.randint(1, 300)) + data[at:]


def drop(data: bytes, chance: random.Random) -> bytes:
    at = chance.randrange(len(data))
    return data[:at] + data[at + chance.randint(1, 20) :]


def silence(data: bytes, chance: random.Random) -> bytes:
    return b""


class NoisyLink:
    """A line that damages some of what passes, in both directions."""

    def __init__(self, link: Link, damage: Damage, seed: int) -> None:
        self._link = link
        self._damage = damage
        self._chance = random.Random(seed)
        self.rate = 0.2
        self.damaged = 0

    def _pass(self, data: bytes) -> bytes:
        if data and self._chance.random() < self.rate:
            self.damaged += 1
            return self._damage(data, self._chance)
        return data

    def send(self, data: bytes) -> None:
        self._link.send(self._pass(data))

    def receive(self) -> bytes:
        return self._pass(self._link.receive())


@pytest.fixture(scope="module")
def link() -> Iterator[LocalLink]:
    library = Library.load()
    image = build_local(library.implementation(library["sha-256"], "ref"))
    with LocalLink(image.path, timeout_s=0.05) as opened:
        yield opened


@pytest.mark.parametrize("damage", [flip, insert, drop, silence])
def test_noise_never_gives_a_wrong_digest(link: LocalLink, damage: Damage) -> None:
    oracle = Library.load()["sha-256"].oracle
    noisy = NoisyLink(link, damage, seed=1)
    device = Device(noisy, attempts=6)
    chance = random.Random(2)
    right = refused = 0
    for _ in range(60):
        message = chance.randbytes(chance.randint(0, 500))
        try:
            device.write(Slot.MESSAGE, message)
            device.run("hash")
            digest = device.read(Slot.OUTPUT, 32)
        except LinkError:
            refused += 1
            continue
        assert digest == oracle(Inputs(message=message)).data
        right += 1
    assert noisy.damaged > 20
    assert right > refused
    # When the noise ends, the next command goes through.
    noisy.rate = 0
    device.write(Slot.MESSAGE, b"abc")
    device.run("hash")
    assert device.read(Slot.OUTPUT, 32) == oracle(Inputs(message=b"abc")).data
