"""SCPI on the instrument's side: a command tree over a stream (IEEE 488.2, SCPI-1999)."""

import re
import socket
import socketserver
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

_ERROR_QUEUE = 20  # entries; 34401A User's Guide, chapter 5
_LOOK_S = 0.02


class ScpiError(Exception):
    """A refusal of a command, with its SCPI error number."""

    def __init__(self, number: int, text: str) -> None:
        super().__init__(f'{number:+d},"{text}"')


UNDEFINED_HEADER = ScpiError(-113, "Undefined header")
MISSING_PARAMETER = ScpiError(-109, "Missing parameter")
OUT_OF_RANGE = ScpiError(-222, "Data out of range")
ILLEGAL_PARAMETER = ScpiError(-224, "Illegal parameter value")
DATA_STALE = ScpiError(-230, "Data stale")


@dataclass(frozen=True)
class _Command:
    pattern: re.Pattern[str]
    handler: Callable[..., str | None]


def command(header: str) -> Callable[[Callable[..., str | None]], Callable[..., str | None]]:
    """Bind a method to a header in the manuals' notation.

    Capitals are the short form and brackets enclose optional parts: "[SENSe:]CURRent[:DC]:RANGe?".
    The method is called with the parameters as text.
    """

    def mark(method: Callable[..., str | None]) -> Callable[..., str | None]:
        method.__dict__.setdefault("scpi_headers", []).append(header)
        return method

    return mark


def _pattern(header: str) -> re.Pattern[str]:
    def word(match: re.Match[str]) -> str:
        short, rest = match.group(1), match.group(2)
        return f"{short}(?:{rest.upper()})?" if rest else short

    escaped = header.replace("*", r"\*").replace("?", r"\?")
    optional = escaped.replace("[", "(?:").replace("]", ")?")
    return re.compile(re.sub(r"([A-Z0-9]+)([a-z]*)", word, optional) + r"\Z")


class ScpiInstrument:
    """A command interpreter; an instrument is a subclass with `@command` methods."""

    identity: ClassVar[str]

    def __init__(self) -> None:
        self._errors: deque[ScpiError] = deque()
        self._commands = [
            _Command(_pattern(header), getattr(self, name))
            for name in dir(type(self))
            for header in getattr(getattr(type(self), name), "scpi_headers", ())
        ]

    def execute(self, line: str) -> str | None:
        """Execute one line, and return what the instrument sends back, or None.

        Errors go to the instrument's queue, as on a real one, and end the line.
        """
        answers = []
        for part in line.strip().split(";"):
            text = part.strip().lstrip(":")
            if not text:
                continue
            header, _, rest = text.partition(" ")
            parameters = [p.strip() for p in rest.split(",")] if rest.strip() else []
            try:
                answer = self._dispatch(header.upper(), parameters)
            except ScpiError as error:
                self.fail(error)
                break
            if answer is not None:
                answers.append(answer)
        return ";".join(answers) if answers else None

    def _dispatch(self, header: str, parameters: list[str]) -> str | None:
        for entry in self._commands:
            if entry.pattern.match(header):
                try:
                    return entry.handler(*parameters)
                except TypeError as error:
                    if "argument" not in str(error):
                        raise
                    raise MISSING_PARAMETER from error
        raise UNDEFINED_HEADER

    def fail(self, error: ScpiError) -> None:
        """Queue an error; in a full queue the last entry becomes "Too many errors"."""
        if len(self._errors) == _ERROR_QUEUE:
            self._errors[-1] = ScpiError(-350, "Too many errors")
        else:
            self._errors.append(error)

    @command("*IDN?")
    def identify(self) -> str:
        """Return maker, model, serial number, firmware."""
        return self.identity

    @command("*CLS")
    def clear_status(self) -> None:
        """Clear the error queue."""
        self._errors.clear()

    @command("*OPC?")
    def operation_complete(self) -> str:
        """Return 1: commands are executed in sequence, so all earlier ones are complete."""
        return "1"

    @command("SYSTem:ERRor?")
    def next_error(self) -> str:
        """Return the oldest queued error."""
        return str(self._errors.popleft()) if self._errors else '+0,"No error"'

    @command("SYSTem:REMote")
    @command("SYSTem:LOCal")
    def front_panel(self) -> None:
        """Do nothing: this locks or unlocks the front panel, which a simulation lacks."""


def number(text: str, low: float, high: float, default: float) -> float:
    """Return a numeric parameter: a number with a unit if any, as SCPI allows, or MIN, MAX, DEF."""
    words = {"MIN": low, "MINIMUM": low, "MAX": high, "MAXIMUM": high, "DEF": default}
    upper = text.upper()
    if upper in words:
        return words[upper]
    match = re.fullmatch(r"([-+0-9.E]+?)\s*(MA|UA|A|MV|V|MS|US|S)?", upper)
    if not match:
        raise ILLEGAL_PARAMETER
    scale = {"M": 1e-3, "U": 1e-6}.get(
        (match.group(2) or "")[:1] if len(match.group(2) or "") > 1 else "", 1.0
    )
    try:
        value = float(match.group(1)) * scale
    except ValueError:
        raise ILLEGAL_PARAMETER from None
    if not low <= value <= high:
        raise OUT_OF_RANGE
    return value


class ScpiServer:
    """Serves an instrument on a TCP port, one connection at a time, as a LAN gateway does.

    Args:
        instrument: the instrument.
        role: its role on the bench.
        usage: its name, and the options that reach it.
    """

    def __init__(self, instrument: ScpiInstrument, role: str = "", usage: str = "") -> None:
        self.role = role
        self.usage = usage

        class Handler(socketserver.StreamRequestHandler):
            def handle(self) -> None:
                self._hurry()
                for raw in self.rfile:
                    self._hurry()
                    answer = instrument.execute(raw.decode("ascii", errors="replace"))
                    if answer is not None:
                        self.wfile.write(answer.encode("ascii") + b"\n")

            def _hurry(self) -> None:
                # A client's next command waits for this acknowledgement, which Linux would delay by
                # 40 ms.
                self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)

        self._server = socketserver.TCPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(_LOOK_S,), daemon=True
        )
        self._thread.start()

    @property
    def resource(self) -> str:
        """VISA resource name of the port."""
        host, port = self._server.server_address[:2]
        return f"TCPIP::{host!s}::{port}::SOCKET"

    def close(self) -> None:
        """Stop serving."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
