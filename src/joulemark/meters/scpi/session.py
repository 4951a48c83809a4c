"""An SCPI session with one instrument."""

import pyvisa
from pyvisa.resources import MessageBasedResource, SerialInstrument

from joulemark.errors import MeterError

ANSWER_MS = 5_000
"""Time limit of an answer that needs no measurement."""
_NO_ERROR = "+0"


class Session:
    """An SCPI instrument whose identity is checked.

    Args:
        resource: VISA resource name, such as TCPIP::192.0.2.7::5025::SOCKET or GPIB0::22::INSTR.
        model: the model that its identity must name.

    Raises:
        MeterError: it cannot be reached, or is another instrument.
    """

    def __init__(self, resource: str, model: str) -> None:
        self.where = f"{model} at {resource}"
        self._manager = pyvisa.ResourceManager("@py")
        try:
            session = self._manager.open_resource(resource)
        except Exception as error:  # PyVISA-py raises bare exceptions, as for an unknown host.
            self._manager.close()
            mend = "check the resource name, the cable and that nothing else holds it"
            raise MeterError(f"cannot be opened: {error}", self.where, mend) from error
        assert isinstance(session, MessageBasedResource)  # noqa: S101
        self._session = session
        session.read_termination = session.write_termination = "\n"
        session.timeout = ANSWER_MS
        self.is_serial = isinstance(session, SerialInstrument)
        try:
            if self.is_serial:
                self.write("SYST:REM")
            identity = self.query("*IDN?")
            fields = [field.strip() for field in identity.split(",")]
            if len(fields) < 2 or fields[1] != model:
                raise MeterError(f"it says it is {identity!r}", self.where, "connect the right one")
        except MeterError:
            self.close()
            raise

    def write(self, line: str) -> None:
        """Send a line.

        Raises:
            MeterError: it cannot be reached any more.
        """
        try:
            self._session.write(line)
        except (pyvisa.Error, OSError) as error:
            raise self._gone(error) from error

    def read(self, timeout_ms: float = ANSWER_MS) -> str:
        """Read the next line.

        Raises:
            MeterError: none arrives in time.
        """
        self._session.timeout = timeout_ms
        try:
            text = self._session.read()
        except (pyvisa.Error, OSError, UnicodeDecodeError) as error:
            raise self._gone(error) from error
        return str(text).strip()

    def query(self, line: str) -> str:
        """Send a line and return the answer.

        Raises:
            MeterError: it does not answer.
        """
        self.write(line)
        return self.read()

    def command(self, *lines: str) -> None:
        """Send lines and check the error queue.

        Raises:
            MeterError: it does not answer, or refuses a line.
        """
        for line in lines:
            self.write(line)
        error = self.query("SYST:ERR?")
        if not error.startswith(_NO_ERROR):
            raise MeterError(f"it answers {error} to {'; '.join(lines)}", self.where)

    def close(self) -> None:
        """Close the session."""
        self._session.close()
        self._manager.close()

    def _gone(self, error: Exception) -> MeterError:
        mend = "check cable and power; what was measured before is kept"
        return MeterError(f"it does not answer: {error}", self.where, mend)
