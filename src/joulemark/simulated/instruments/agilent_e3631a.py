"""A simulated Agilent E3631A: the supply that feeds the board.

Commands and programming ranges: Agilent E3631A User's Guide (E3631-90002), chapter 4 (table 4-1)
and 5. The accuracies are inferred: its specifications were not consulted.
"""

from typing import ClassVar

import numpy as np

from joulemark.simulated.instruments.scpi import (
    ILLEGAL_PARAMETER,
    ScpiInstrument,
    ScpiServer,
    command,
    number,
)
from joulemark.simulated.supply import SupplyLine

# Table 4-1: highest voltage and current that can be programmed; current after *RST.
_OUTPUTS = {"P6V": (6.18, 5.15), "P25V": (25.75, 1.03), "N25V": (25.75, 1.03)}
_RESET_A = {"P6V": 5.0, "P25V": 1.0, "N25V": 1.0}
_PROGRAMMING = (0.05e-2, 20e-3)  # of output, volt
_READBACK = (0.1e-2, 5e-3)  # of output, volt; +6 V output
_MEASURE_S = 0.1  # averaging of MEASure:CURRent?


class SimulatedAgilentE3631A(ScpiInstrument):
    """One specimen of the supply; the board is on its +6 V output.

    Args:
        line: the line that it feeds.
        seed: draws this specimen's errors.
    """

    identity: ClassVar[str] = "HEWLETT-PACKARD,E3631A,0,2.1-5.0-1.0"

    def __init__(self, line: SupplyLine, seed: int) -> None:
        super().__init__()
        self._line = line
        # Output and readback have independent errors.
        self._output_error, self._readback_error = np.random.default_rng(seed).uniform(-1, 1, 2)
        self.reset()

    @command("*RST")
    def reset(self) -> None:
        """Restore the power-on state: off, 0 V."""
        self._selected = "P6V"
        self._on = False
        self._volt = dict.fromkeys(_OUTPUTS, 0.0)
        self._limit = dict(_RESET_A)

    @command("INSTrument[:SELect]")
    def select(self, name: str) -> None:
        """Select the output that the next commands address."""
        self._selected = self._output(name)

    @command("INSTrument[:SELect]?")
    def selected(self) -> str:
        """Return the selected output."""
        return self._selected

    @command("APPLy")
    def apply(self, name: str, volt: str, ampere: str = "MAX") -> None:
        """Select an output and set voltage and current limit."""
        self.select(name)
        self.set_voltage(volt)
        self.set_limit(ampere)

    @command("[SOURce:]VOLTage[:LEVel][:IMMediate][:AMPLitude]")
    def set_voltage(self, volt: str) -> None:
        """Set the voltage of the selected output."""
        self._volt[self._selected] = number(volt, 0.0, _OUTPUTS[self._selected][0], 0.0)

    @command("[SOURce:]VOLTage[:LEVel][:IMMediate][:AMPLitude]?")
    def voltage(self) -> str:
        """Return the voltage that was set."""
        return f"{self._volt[self._selected]:+.8E}"

    @command("[SOURce:]CURRent[:LEVel][:IMMediate][:AMPLitude]")
    def set_limit(self, ampere: str) -> None:
        """Set the current limit of the selected output."""
        highest = _OUTPUTS[self._selected][1]
        self._limit[self._selected] = number(ampere, 0.0, highest, _RESET_A[self._selected])

    @command("[SOURce:]CURRent[:LEVel][:IMMediate][:AMPLitude]?")
    def limit(self) -> str:
        """Return the current limit that was set."""
        return f"{self._limit[self._selected]:+.8E}"

    @command("OUTPut[:STATe]")
    def set_output(self, state: str) -> None:
        """Switch all outputs on or off."""
        self._on = state.upper() in {"ON", "1"}

    @command("OUTPut[:STATe]?")
    def output(self) -> str:
        """Return 1 if the outputs are on, else 0."""
        return str(int(self._on))

    @command("MEASure[:VOLTage][:DC]?")
    def measure_voltage(self, name: str | None = None) -> str:
        """Return the voltage at the terminals, as the supply reads it back."""
        output = self._output(name or self._selected)
        true = self._true_v(output)
        of_output, volt = _READBACK
        return f"{true + self._readback_error * (true * of_output + volt):+.8E}"

    @command("MEASure:CURRent[:DC]?")
    def measure_current(self, name: str | None = None) -> str:
        """Return the current of an output."""
        if not self._on or self._output(name or self._selected) != "P6V":
            return f"{0.0:+.8E}"
        start = np.array([self._line.now_s])
        return f"{float(self._line.mean_current_a(start, start + _MEASURE_S)[0]):+.8E}"

    @property
    def true_voltage_v(self) -> float:
        """The board's true voltage, within the programming accuracy."""
        return self._true_v("P6V")

    def _true_v(self, output: str) -> float:
        if not self._on:
            return 0.0
        of_output, volt = _PROGRAMMING
        return self._volt[output] + float(self._output_error) * (
            self._volt[output] * of_output + volt
        )

    def _output(self, name: str) -> str:
        if name.upper() not in _OUTPUTS:
            raise ILLEGAL_PARAMETER
        return name.upper()


def plug_in(line: SupplyLine, seed: int) -> ScpiServer:
    """Serve one specimen on a TCP port."""
    return ScpiServer(SimulatedAgilentE3631A(line, seed), "supply", "E3631A, --supply")
