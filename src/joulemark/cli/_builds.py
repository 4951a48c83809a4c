"""Builds that commands make when nobody asks for others."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from joulemark.catalogue.boards import Board


def first_compiler(board: "Board") -> str:
    """The compiler that is there for a board's core on every machine."""
    return "clang" if board.core == "msp430" else "gcc"
