"""The program `firmware/signing` on a chip with 8 KB of RAM: what it made, and what it took."""

from dataclasses import dataclass

from joulemark._engine import Image, Machine
from joulemark.catalogue import chips
from joulemark.catalogue.boards import load_board
from joulemark.images import memory
from joulemark.images.program import build_program

BOARD = "stm32vldiscovery"
LIMIT_CYCLES = 400_000_000


@dataclass(frozen=True)
class Signed:
    """What the program printed, and what was seen of it."""

    public_key: bytes
    signature: bytes
    flash_bytes: int
    variables_bytes: int
    stack_bytes: int
    """From the top of RAM, where the stack begins."""
    keygen_cycles: int
    sign_cycles: int

    @property
    def ram_bytes(self) -> int:
        """All of it."""
        return self.variables_bytes + self.stack_bytes


def signed() -> Signed:
    """Build the program, run it from reset, and read what it prints.

    Raises:
        RuntimeError: it stops before it is done.
    """
    board = load_board(BOARD)
    built = build_program("signing", board, compiler="gcc")
    chip, marker = chips.load_chip(board.chip), board.marker.pin
    machine = Machine(chip, Image.load(built.path), wiring=board.wiring, marker=marker)
    said = b""
    while not said.endswith(b"done\n"):
        stop = machine.run(until_serial=ord("\n"), max_cycles=LIMIT_CYCLES)
        if stop.reason != "serial":
            raise RuntimeError(f"the program stopped: {stop}")
        said += machine.serial_read(board.serial.port)
    lines = dict(line.split() for line in said.decode().splitlines() if " " in line)
    edges = [edge.cycles for edge in machine.marker_edges]
    size = memory.total(built)
    return Signed(
        bytes.fromhex(lines["key"]),
        bytes.fromhex(lines["signature"]),
        size.flash_bytes,
        size.ram_bytes,
        machine.stack_bytes,
        edges[1] - edges[0],
        edges[3] - edges[2],
    )
