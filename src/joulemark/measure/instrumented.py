"""Measures cases with an instrument, on a board that answers on a serial line."""

from statistics import fmean

from joulemark.campaign.job import Job
from joulemark.errors import InputError, LinkError, VerificationError
from joulemark.measure.metered import Line, Metered
from joulemark.measure.session import BoardSession
from joulemark.measure.window import Instrument
from joulemark.meters.model import ModelMeter
from joulemark.records.record import Quantity, quantity
from joulemark.runners.protocol import Device
from joulemark.runners.serial import SerialLink


class Instrumented(Metered, BoardSession):
    """One image on a board.

    Args:
        job: the cases.
        instrument: measures them.
        port: the board's serial port.

    Raises:
        InputError: the clock profile is for emulation alone.
    """

    def __init__(self, job: Job, instrument: Instrument, port: str) -> None:
        super().__init__(job, instrument)
        if self.clock.runs_from is not None:
            what = f"images that run from {self.clock.runs_from} are emulated, not run on the board"
            raise InputError(what, "--clock", "choose another of the board's clocks")
        self._port = port

    def _open_line(self) -> Line:
        return SerialLink(self._port, self.board.serial.baud)

    def _check(self, device: Device) -> None:
        mend = f"flash {self.image.path}, or give --flash"
        try:
            self.check_identity(device.description, self._port, mend)
        except VerificationError as error:
            raise LinkError(error.what, error.where, error.mend) from error

    @property
    def _clock_bound(self) -> float:
        return self.clock.tolerance.bound

    def _cycles(self, times_s: list[float]) -> list[Quantity]:
        return [quantity("cycles", "cycles", [t * self.clock.hz for t in times_s])]

    def _memory(self) -> list[Quantity]:
        return self.memory

    def _idle_note(self, idle_a: list[float]) -> str:
        text = "net of what the board drew asleep before and after the window, in the same run"
        if not idle_a:
            return text
        model_a = ModelMeter(self.board).idle.ampere
        return (
            f"{text}: {fmean(idle_a) * 1e6:.4g} uA; the model's net energy is net of "
            f"{model_a * 1e6:.4g} uA ({self.board.idle_state})"
        )
