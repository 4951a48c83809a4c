"""Garbage on the serial line: a right answer or a clear error, never a wrong one."""

import random
from collections.abc import Callable

import pytest

from joulemark._engine import Image
from joulemark.catalogue import boards, chips
from joulemark.catalogue.primitives import Library
from joulemark.errors import BudgetError, LinkError
from joulemark.images import build_image
from joulemark.oracle import Inputs
from joulemark.runners.emulator import EmulatedBoard
from joulemark.runners.protocol import Device, Link

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

    def settle(self) -> None:
        self._link.settle()


class _Patient:
    """A line to an emulated board that treats silence as a lost answer."""

    def __init__(self, board: EmulatedBoard) -> None:
        self._board = board

    def send(self, data: bytes) -> None:
        self._board.send(data)

    def receive(self) -> bytes:
        try:
            return self._board.receive()
        except BudgetError as error:
            raise LinkError(str(error)) from error

    def settle(self) -> None:
        self._board.settle()


@pytest.mark.parametrize("damage", [flip, insert, drop, silence])
def test_an_emulated_board_stands_noise_on_its_line(damage: Damage) -> None:
    library = Library.load()
    board = boards.load_board("telosb")
    image = build_image(library.implementation(library["sha-256"], "ref"), board)
    emulated = EmulatedBoard(
        chips.load_chip(board.chip),
        Image.load(image.path),
        marker=board.marker.pin,
        port=board.serial.port,
        budget_cycles=5_000_000,
    )
    link: Link = _Patient(emulated)
    noisy = NoisyLink(link, damage, seed=3)
    noisy.rate = 0
    device = Device(noisy, attempts=8)
    assert device.description["primitive"] == "sha-256"
    oracle = library["sha-256"].oracle
    noisy.rate = 0.2
    right = 0
    for number in range(25):
        message = bytes([number]) * (number * 7)
        try:
            device.write("message", message)
            device.run("hash")
            digest = device.read("output", 32)
            # An image that runs while the line settles answers without a window, and says so.
            window = emulated.take_window()
        except LinkError:
            continue
        assert digest == oracle(Inputs(message=message)).output
        assert window.cycles > 0
        right += 1
    assert noisy.damaged > 10
    assert right > 12
