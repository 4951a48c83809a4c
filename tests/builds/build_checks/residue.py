"""What is left in memory: of a refusal neither the right tag nor plaintext, of a key nothing.

A caller that is refused wipes nothing itself; what stays on the stack or in a context is there for
whatever reads memory next. No scheme is named here: every kind that refuses is tested.
"""

import random
import subprocess
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from build_checks import Build, check
from emulated import BuildOf
from joulemark._engine import Chip, Image, Machine
from joulemark.catalogue import boards, chips
from joulemark.catalogue.kinds import Exchange, Operation
from joulemark.runners.protocol import Device, Flag, Status
from vectors import drawn

LENGTHS = (8, 16, 21, 40)
"""Messages with last blocks of 8 bytes for every block size, whole blocks, and others."""
SHOWN_BYTES = 8
"""This many equal bytes in a row are no coincidence."""
BUDGET_CYCLES = 2_000_000_000


class Line:
    """The line to an image; it keeps the contents of RAM when a window ends."""

    def __init__(self, image: Image, board: boards.Board) -> None:
        self.chip: Chip = chips.load_chip(board.chip)
        self._machine = Machine(self.chip, image, marker=board.marker.pin)
        self._port = board.serial.port
        self.ram = b""

    def send(self, data: bytes) -> None:
        self._machine.serial_write(self._port, data)

    def settle(self) -> None:
        """Do nothing: the line carries nothing unasked and is not disturbed."""

    def receive(self) -> bytes:
        machine = self._machine
        while True:
            stop = machine.run(until_marker=True, until_serial=0, max_cycles=BUDGET_CYCLES)
            if stop.reason == "serial":
                return machine.serial_read(self._port)
            assert stop.reason == "marker", stop.reason
            if not machine.marker_edges[-1].rising:
                self.ram = b"|".join(
                    machine.read_memory(memory.start, memory.size)
                    for memory in self.chip.memories
                    if memory.kind == "ram"
                )


def forms(data: bytes) -> Iterator[bytes]:
    """Yield bytes as they are, and as words of the other endianness."""
    yield data
    for width in (2, 4, 8):
        yield b"".join(data[i : i + width][::-1] for i in range(0, len(data), width))


def shown(secret: bytes, ram: bytes) -> bytes | None:
    """Return the first run of a secret's bytes found in memory, or None."""
    for form in forms(secret):
        for start in range(len(form) - SHOWN_BYTES + 1):
            part = form[start : start + SHOWN_BYTES]
            if part in ram:
                return part
    return None


def keeps_secrets(operation: Operation) -> bool:
    """Return whether refused data must stay secret, unlike that of signatures and handshakes."""
    return bool(operation.refuses) and operation.sized and not operation.public


def forged(put: Exchange, operation: Operation, source: random.Random) -> Exchange:
    """Return an exchange whose authenticator differs from the right one in every byte."""
    slot = operation.refuses[-1]
    wrong = bytes(byte ^ source.randrange(1, 256) for byte in put.inputs[slot])
    return Exchange({**put.inputs, slot: wrong}, put.expected)


def residue(build: Build) -> list[str]:
    """Return what refusals leave."""
    algorithm = build.algorithm
    line = Line(build.image, build.board)
    device = Device(line, attempts=1)
    found = []
    for length in LENGTHS:
        source = random.Random(f"{algorithm} {length}")
        values = drawn(algorithm, length, length)
        for name, operation in algorithm.contract.measured.items():
            if not keeps_secrets(operation):
                continue
            right = algorithm.contract.put(name, values)
            wrong = forged(right, operation, source)
            for flags in (Flag.NONE, Flag.IN_PLACE):
                for slot, data in wrong.inputs.items():
                    device.write(slot, data)
                assert device.run(name, flags).status is Status.BAD_TAG
                where = f"{name} of {length} bytes, {flags.name}"
                secrets = {f"right {operation.refuses[-1]}": right.inputs[operation.refuses[-1]]}
                secrets |= right.expected
                for secret, data in secrets.items():
                    part = shown(data, line.ram)
                    if part is not None:
                        found.append(f"{where}: {secret} {part.hex()}")
    return found


def refuses(build: BuildOf) -> bool:
    way = build.implementation
    measured = way.algorithm.contract.measured.values()
    return any(map(keeps_secrets, measured)) and not way.accelerators


@check(refuses)
def a_refusal_leaves_nothing(build: Build) -> None:
    assert residue(build) == []


@lru_cache(maxsize=1)
def own_memory(path: Path) -> list[range]:
    """Return the image's buffers: slots, and the last frame on the line."""
    command = ["llvm-nm-19", "-S", str(path)]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    fields = [line.split() for line in text.splitlines()]
    found = [f for f in fields if len(f) == 4 and f[3].startswith(("slot_", "frame"))]
    assert found
    return [range(int(f[0], 16), int(f[0], 16) + int(f[1], 16)) for f in found]


def memory_after(build: Build, operation: str, seed: int) -> bytes:
    """Return RAM at the end of an operation's window on a fresh board, varying only its secrets.

    The image's own buffers are left out.
    """
    algorithm = build.algorithm
    line = Line(build.image, build.board)
    device = Device(line, attempts=1)
    put = algorithm.contract.exchange(
        operation,
        sizes={**algorithm.sizes, "message": 32},
        forward=algorithm.oracle,
        secret=random.Random(seed).randbytes,
        public=random.Random("public").randbytes,
    )
    for slot, data in put.inputs.items():
        device.write(slot, data)
    assert device.run(operation).status is Status.OK
    (memory,) = (memory for memory in line.chip.memories if memory.kind == "ram")
    ram = bytearray(line.ram)
    for own in own_memory(build.made.path):
        for address in own:
            if 0 <= address - memory.start < memory.size:  # some functions have such names, too
                ram[address - memory.start] = 0
    return bytes(ram)


def remains(build: Build) -> list[str]:
    """Return operations after which memory differs when only the secret did."""
    found = []
    contract = build.algorithm.contract
    for name, operation in contract.measured.items():
        if not operation.public and build.way.has(name):
            first, second = (memory_after(build, name, seed) for seed in (1, 2))
            count = sum(a != b for a, b in zip(first, second, strict=True))
            found += [f"{name}: {count} bytes"] if count else []
    return found


def _keeps_keys(build: BuildOf) -> bool:
    """Return whether it is the build of a public-key implementation whose frames are deepest."""
    way = build.implementation
    is_public_key = way.algorithm.kind in {"key-agreement", "signature"}
    own = way.parts[0].name in {"armv7em", "armv7m", "msp430"}
    of_secrets = any(
        way.has(n) and not o.public for n, o in way.algorithm.contract.measured.items()
    )
    return is_public_key and own and of_secrets and build.optimisation == "O3"


@check(_keeps_keys)
def nothing_of_a_key_remains(build: Build) -> None:
    """Neither on the stack that calls have left nor in a context."""
    assert remains(build) == []
