"""How much of ML-DSA-65's time on a Cortex-M3 is its hash's permutation."""

from collections.abc import Iterator
from dataclasses import dataclass

from joulemark._engine import Image
from joulemark.catalogue.boards import load_board
from joulemark.catalogue.primitives import library
from joulemark.images import build_image
from joulemark.measure.profiled import window

BOARD = "nucleo-f207zg"
IMPLEMENTATION = "ml-dsa-65/armv7m"
COMPILER = "clang"


@dataclass(frozen=True)
class Share:
    """What the permutation takes of an operation, with the inputs of `joulemark profile`."""

    operation: str
    cycles: int
    permutations: int
    permutation_cycles: int
    """Of all of them."""

    def __str__(self) -> str:
        each = round(self.permutation_cycles / self.permutations)
        return (
            f"of {self.cycles:,} cycles of {self.operation} {self.permutation_cycles:,} are"
            f" {self.permutations} permutations of Keccak, {each:,} each"
        )


def shares() -> Iterator[Share]:
    """Profile key generation and verification."""
    board = load_board(BOARD)
    known = library()
    ways = known.implementations(known["ml-dsa-65"])
    (way,) = (way for way in ways if str(way) == IMPLEMENTATION)
    image = Image.load(build_image(way, board, compiler=COMPILER, optimisation="O3").path)
    for operation in ("keygen", "verify"):
        profiled = window(image, board, operation)
        (hashing,) = (f for f in profiled.costs.functions if f.name == "keccak_f1600")
        yield Share(operation, profiled.cycles, hashing.calls, hashing.self_cycles)
