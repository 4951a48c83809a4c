"""Run an image on a real board, or on a stand-in for one, over its serial line."""

import time

import serial

from joulemark.closes import Closes
from joulemark.errors import LinkError

NAME = "serial"


class SerialLink(Closes):
    """The serial line of a board that has been flashed.

    Args:
        port: the host's port.
        baud: the baud rate in the board's file.
        timeout_s: time limit of an answer.

    Raises:
        LinkError: the port cannot be opened.
    """

    def __init__(self, port: str, baud: int, timeout_s: float = 5.0) -> None:
        self._where = port
        self.timeout_s = timeout_s
        try:
            self._port = serial.Serial(port, baud, timeout=0.05, exclusive=True)
        except (serial.SerialException, OSError, ValueError) as error:
            mend = "check the port's name, and that no other program holds it"
            raise LinkError(f"cannot be opened: {error}", port, mend) from error
        self._port.reset_input_buffer()

    def close(self) -> None:
        """Close the port."""
        self._port.close()

    def send(self, data: bytes) -> None:
        """Write to the line.

        Raises:
            LinkError: it was unplugged.
        """
        try:
            self._port.write(data)
        except (serial.SerialException, OSError) as error:
            raise LinkError(f"went away: {error}", self._where, "plug it in again") from error

    def settle(self) -> None:
        """Discard input until none arrives for longer than a host and its USB bridge delay bytes.

        Raises:
            LinkError: it was unplugged, or the input does not end.
        """
        deadline = time.monotonic() + self.timeout_s
        try:
            while self._port.read(4096):
                if time.monotonic() > deadline:
                    raise LinkError("what comes does not end", self._where, "check the baud rate")
        except (serial.SerialException, OSError) as error:
            raise LinkError(f"went away: {error}", self._where, "plug it in again") from error

    def receive(self) -> bytes:
        """Read up to a zero byte.

        Raises:
            LinkError: none arrives in time, or it was unplugged.
        """
        data = b""
        deadline = time.monotonic() + self.timeout_s
        while not data.endswith(b"\0"):
            try:
                data += self._port.read(max(self._port.in_waiting, 1))
            except (serial.SerialException, OSError) as error:
                raise LinkError(f"went away: {error}", self._where, "plug it in again") from error
            if time.monotonic() > deadline:
                raise LinkError(f"silent for {self.timeout_s:g} s", self._where)
        return data
