"""Builds that commands make by default."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from joulemark.catalogue.boards import Board


def first_compiler(board: "Board") -> str:
    """Return the compiler for a board's core that every machine has."""
    return "clang" if board.core == "msp430" else "gcc"
