"""Agilent E3631A: a supply for the board.

Commands: E3631A User's Guide (E3631-90002), chapter 4.
"""

from joulemark.meters.scpi.session import Session


class AgilentE3631A:
    """The supply; the board is connected to its +6 V output.

    Args:
        resource: VISA resource name.
    """

    # One-year readback accuracy of the +6 V output: inferred, as its specifications were not read.
    readback_of_output, readback_v = 0.1e-2, 5e-3

    def __init__(self, resource: str) -> None:
        self._session = Session(resource, "E3631A")

    def power(self, volt: float, limit_a: float) -> None:
        """Set voltage and current limit, and switch on.

        Raises:
            MeterError: the supply refuses.
        """
        self._session.command(f"APPL P6V, {volt:g}, {limit_a:g}", "OUTP ON")

    def off(self) -> None:
        """Switch all outputs off."""
        self._session.command("OUTP OFF")

    def measure_v(self) -> float:
        """Measure the voltage at the terminals."""
        return float(self._session.query("MEAS:VOLT? P6V"))

    def close(self) -> None:
        """Close the session; the outputs stay as they are."""
        self._session.close()
