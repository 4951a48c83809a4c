"""Views of a program for `exec`: its serial ports, semihosting, pins and current."""

import os
import sys
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from joulemark import ready
from joulemark.cli._options import to_write
from joulemark.errors import InputError

if TYPE_CHECKING:
    from joulemark._engine import Machine, Stop
    from joulemark.catalogue.boards import Board

_SLICE_CYCLES = 1_000_000
"""Between two looks at the program's output: an eighth of a second of an 8 MHz chip."""
_BKPT_SEMIHOSTING = bytes([0xAB, 0xBE])
"""BKPT #0xAB (ARM IHI 0098, Semihosting for AArch32 and AArch64, section 3, T32 of M profile)."""
_SYS_OPEN, _SYS_CLOSE, _SYS_WRITEC, _SYS_WRITE0, _SYS_WRITE = 0x01, 0x02, 0x03, 0x04, 0x05
_SYS_EXIT, _SYS_EXIT_EXTENDED = 0x18, 0x20
_HANDLE = 1
"""Every file that the program opens is the terminal."""


@dataclass(frozen=True, kw_only=True)
class ShownOptions:
    """Outputs to keep of the run, and whether a debugger controls it."""

    uart_input: Annotated[
        list[str] | None,
        typer.Option(
            "--input",
            metavar="PORT[@TIME]=TEXT",
            help="Sent to a serial port, at the start or at a time such as 20ms; PORT=- is what is"
            " typed or piped in; repeatable.",
        ),
    ] = None
    vcd: Annotated[
        Path | None, typer.Option("--vcd", help="Write pins and power states as VCD.")
    ] = None
    power: Annotated[
        Path | None,
        typer.Option(
            "--power",
            callback=to_write,
            help="With --board: current over time, as .csv or an .html page.",
        ),
    ] = None
    gdb: Annotated[
        str | None,
        typer.Option("--gdb", metavar="[HOST]:PORT", help="Wait for a debugger that runs it."),
    ] = None

    @property
    def traces(self) -> bool:
        """Whether to keep pins and power states."""
        return self.vcd is not None or self.power is not None

    @property
    def address(self) -> tuple[str, int]:
        """Host and port to listen on for a debugger."""
        host, colon, port = (self.gdb or "").rpartition(":")
        if not colon or not port.isdigit() or not 0 < int(port) < 65536:
            raise InputError(f"{self.gdb!r} is no address", "--gdb", "write :3333 or HOST:PORT")
        return host or "localhost", int(port)

    def check(self, board: "Board | None") -> None:
        """Refuse options that do not go together.

        Raises:
            InputError: something is missing or wrong.
        """
        if self.power is not None:
            check_power(self.power, board)
        if self.gdb is not None:
            _ = self.address
            if any("@" in text.partition("=")[0] for text in self.uart_input or ()):
                what = "a debugger decides when the program runs, so input has no time"
                raise InputError(what, "--input", "write PORT=- and type it")

    def write(self, machine: "Machine", board: "Board | None", name: str, start_ps: int) -> None:
        """Write the files that were asked for.

        Raises:
            InputError: one cannot be written.
        """
        if self.vcd is not None:
            try:
                machine.write_vcd(self.vcd)
            except OSError as error:
                raise InputError(f"cannot be written: {error}", "--vcd") from error
            typer.echo(f"pins and power states: {self.vcd}", err=True)
        if self.power is not None and board is not None:
            from joulemark.report.power import write_power

            write_power(machine.power_tracks, board, name, self.power, start_ps)
            typer.echo(f"current: {self.power}", err=True)


def check_power(path: Path, board: "Board | None") -> None:
    """Refuse a power file that cannot be written.

    Raises:
        InputError: there is no board, or the file's suffix is not a known form.
    """
    if board is None:
        raise InputError("a bare chip has no current of a board", "--power", "give --board")
    if path.suffix not in {".csv", ".html"}:
        raise InputError(f"{path}: no such form", "--power", "name a .csv or .html file")


def _bytes(text: str) -> bytes:
    """Return text as bytes for a serial line, with its escapes decoded."""
    try:
        return text.encode().decode("unicode_escape").encode("latin-1")
    except UnicodeError as error:
        mend = r"write \r, \n, \x00 to \xff, and \\ for a backslash"
        raise InputError(f"{text!r} has an escape that is no byte", "--input", mend) from error


class Wires:
    """Carries a program's output to the terminal, and typed input to the program.

    Args:
        machine: the program's.
        given: `PORT=TEXT`, `PORT@TIME=TEXT`, or `PORT=-` for standard input, each.
        quiet: collect the output instead of showing it.

    Raises:
        InputError: there is no such port or time, or the text has an invalid escape.
    """

    slice_cycles = _SLICE_CYCLES

    def __init__(self, machine: "Machine", given: Sequence[str], *, quiet: bool) -> None:
        self._machine = machine
        self._quiet = quiet
        self._sent: dict[str, bytes] = defaultdict(bytes)
        self._typed_to: str | None = None
        self._waiting: list[tuple[int, str, bytes]] = []
        self._shown = False
        for text in given:
            self._take(text)
        self._waiting.sort(key=itemgetter(0))

    @property
    def due_ps(self) -> int | None:
        """When there is input whose time is given; None if there is none left."""
        return self._waiting[0][0] if self._waiting else None

    def _take(self, given: str) -> None:
        from joulemark.catalogue.networks import picoseconds, seconds

        where, equals, text = given.partition("=")
        named, at, time = where.partition("@")
        ports = self._machine.serial_ports
        port = {name.lower(): name for name in ports}.get(named.lower())
        mend = f"write PORT=TEXT or PORT@TIME=TEXT with {', '.join(ports)}"
        if not equals:
            raise InputError(f"{given!r} has no =TEXT", "--input", mend)
        if port is None:
            raise InputError(f"{given!r} names no port", "--input", mend)
        if at:
            at_ps = picoseconds(seconds(time, "--input"))
            self._waiting.append((at_ps, port, _bytes(text)))
        elif text != "-":
            self._machine.serial_write(port, _bytes(text))
        elif self._typed_to is not None:
            raise InputError("two ports have what is typed", "--input", "give - to one of them")
        else:
            self._typed_to = port

    def sent(self) -> list[tuple[str, bytes]]:
        """Return the bytes sent on each port, and through semihosting as "semihosting"."""
        return sorted(self._sent.items())

    def pump(self) -> None:
        """Carry whatever is pending, in both directions."""
        while self._waiting and self._machine.time_ps >= self._waiting[0][0]:
            _, port, data = self._waiting.pop(0)
            self._machine.serial_write(port, data)
        for port in self._machine.serial_ports:
            self._show(port, self._machine.serial_read(port))
        while self._typed_to and ready.to_read(sys.stdin.fileno(), 0):
            data = os.read(sys.stdin.fileno(), 4096)
            if not data:
                self._typed_to = None
                break
            self._machine.serial_write(self._typed_to, data)

    def _show(self, port: str, data: bytes) -> None:
        if not data:
            return
        self._sent[port] += data
        if not self._quiet:
            typer.echo(data.decode("utf-8", "replace"), nl=False)
            self._shown = not data.endswith(b"\n")

    def flush(self) -> None:
        """End a line that the program did not end, and tell of input whose time did not come."""
        if self._shown:
            typer.echo("")
        if self._waiting:
            typer.echo(f"the run ended before {len(self._waiting)} of --input was sent", err=True)

    def semihosted(self, stop: "Stop") -> bool:
        """Serve a semihosting request; return whether that was why it stopped and it can go on.

        A program that went astray, or that passes a bad address, is left at its fault.
        """
        from joulemark._engine import EngineError

        machine = self._machine
        if stop.fault is None or "lr" not in machine.registers:
            return False
        pc = machine.registers["pc"]
        try:
            if machine.read_memory(pc, 2) != _BKPT_SEMIHOSTING:
                return False
            operation, argument = machine.registers["r0"], machine.registers["r1"]
            if operation in {_SYS_EXIT, _SYS_EXIT_EXTENDED}:
                return False
            machine.set_register("r0", self._called(operation, argument))
        except EngineError:
            return False
        machine.set_register("pc", pc + 2)
        return True

    def _called(self, operation: int, argument: int) -> int:
        machine = self._machine

        def word(number: int) -> int:
            return int.from_bytes(machine.read_memory(argument + 4 * number, 4), "little")

        if operation == _SYS_OPEN:
            return _HANDLE
        if operation == _SYS_CLOSE:
            return 0
        if operation == _SYS_WRITEC:
            self._show("semihosting", machine.read_memory(argument, 1))
            return 0
        if operation == _SYS_WRITE0:
            text = bytearray()
            while (byte := machine.read_memory(argument + len(text), 1)) != b"\0":
                text += byte
            self._show("semihosting", bytes(text))
            return 0
        if operation == _SYS_WRITE:
            self._show("semihosting", machine.read_memory(word(1), word(2)))
            return 0
        return 0xFFFFFFFF  # Unsupported operations fail.
