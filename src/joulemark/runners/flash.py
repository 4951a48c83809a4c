"""Write an image to a real board with the program that the board's file names."""

import shutil
import subprocess
import tempfile
from pathlib import Path

from elftools.elf.elffile import ELFFile

from joulemark.catalogue.boards import Board
from joulemark.errors import InputError, LinkError, ToolError
from joulemark.images import BuiltImage

_PATIENCE_S = 180.0
_DATA, _END, _EXTENDED_LINEAR_ADDRESS = 0, 1, 4  # record types of Intel HEX
_BYTES_A_RECORD = 16


def flash(board: Board, image: BuiltImage, port: str) -> None:
    """Write an image to a board.

    Args:
        board: the board, whose file has the command.
        image: the image to write.
        port: the board's serial port.

    Raises:
        InputError: the board's file has no such command.
        ToolError: the program is not installed.
        LinkError: the program failed.
    """
    if board.flash is None:
        mend = "flash it by hand and leave --flash out, or add [flash]"
        raise InputError("does not say how the board is flashed", f"boards/{board.name}.toml", mend)
    program = board.flash.command[0]
    if shutil.which(program) is None:
        raise ToolError(f"{program} is not installed", f"--flash of {board.name}", board.flash.get)
    with tempfile.TemporaryDirectory() as folder:
        as_hex = Path(folder) / "image.hex"
        as_hex.write_text(intel_hex(image.path), encoding="ascii")
        known = {"elf": str(image.path), "hex": str(as_hex), "port": port}
        command = [argument.format(**known) for argument in board.flash.command]
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=_PATIENCE_S, check=False
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise LinkError(f"the board was not flashed: {error}", program) from error
    if done.returncode != 0:
        said = (done.stderr.strip() or done.stdout.strip() or "it said nothing")[-2000:]
        raise LinkError(
            f"the board was not flashed: exit code {done.returncode}: {said}",
            " ".join(command),
            f"check cable, port and that the board is in its boot loader; {board.flash.note}",
        )


def intel_hex(elf: Path) -> str:
    """Return the flash contents of an ELF file as Intel HEX (Intel, 1988, revision A)."""
    lines = []
    upper = 0
    with elf.open("rb") as file:
        for segment in ELFFile(file).iter_segments("PT_LOAD"):
            # The load address, which for initialised data differs from the run-time address.
            base, data = int(segment["p_paddr"]), segment.data()
            for offset in range(0, len(data), _BYTES_A_RECORD):
                address = base + offset
                part = data[offset : offset + _BYTES_A_RECORD]
                split = 0x10000 - (address & 0xFFFF)
                for at, piece in ((address, part[:split]), (address + split, part[split:])):
                    if not piece:
                        continue
                    if at >> 16 != upper:
                        upper = at >> 16
                        extended = upper.to_bytes(2, "big")
                        lines.append(_record(_EXTENDED_LINEAR_ADDRESS, 0, extended))
                    lines.append(_record(_DATA, at & 0xFFFF, piece))
    lines.append(_record(_END, 0, b""))
    return "".join(f"{line}\n" for line in lines)


def _record(kind: int, address: int, data: bytes) -> str:
    content = bytes((len(data), address >> 8, address & 0xFF, kind)) + data
    return ":" + (content + bytes((-sum(content) & 0xFF,))).hex().upper()
