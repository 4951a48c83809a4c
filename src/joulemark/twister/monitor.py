"""The power monitor: runs an image on an emulated board and samples its supply current."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from joulemark.catalogue import boards, chips
from joulemark.errors import FaultError, InputError
from joulemark.meters.model import ModelMeter
from joulemark.meters.power import total

if TYPE_CHECKING:
    from joulemark._engine import Machine, PowerInterval

SAMPLE_HZ = 1000
_BUILT = ("zephyr/zephyr.elf", "zephyr/zephyr.hex")
"""Where Zephyr's build leaves the image in its folder."""
_RESETS = 16
_PS_PER_S = 10**12
_MOST_S = 86_400


class EmulatedPowerMonitor:
    """Samples of an emulated board's supply current, in amperes.

    It has the methods of Twister's abstract `PowerMonitor`: `connect`, `init`, `measure`,
    `get_data`, `disconnect` and `close`. The first measurement begins at the program's reset, and
    each goes on where the one before ended. Time is the emulated board's: nobody waits for it.

    Args:
        board: name of the emulated board.
        image: ELF or Intel HEX file; if not given, that of the tested device's build folder.
        sample_hz: number of samples per second; each is the mean current since the one before, so
            that the charge is that of the board.
    """

    def __init__(
        self, board: str, image: str | Path | None = None, sample_hz: int = SAMPLE_HZ
    ) -> None:
        if not 1 <= sample_hz <= 1_000_000:
            raise InputError(f"{sample_hz} is not from 1 to 1000000", "sample_hz")
        self._board = boards.load_board(board)
        self._meter = ModelMeter(self._board)
        self._image = None if image is None else Path(image)
        self._sample_hz = sample_hz
        self._machine: Machine | None = None
        self._samples: list[float] = []

    def connect(self, dft: object = None) -> bool:
        """Find the image.

        Args:
            dft: Twister's device, whose build folder has the image, or a path of a build folder or
                an image; not needed if the monitor was made with an image.

        Raises:
            InputError: there is no image.
        """
        if self._image is not None:
            return True
        config = getattr(dft, "device_config", None)
        where = getattr(config, "build_dir", dft)
        if not isinstance(where, str | Path):
            mend = "give an image, or connect to a device with a build folder"
            raise InputError("has no image to run", "the power monitor", mend)
        given = Path(where)
        found = [given] if given.is_file() else [given / name for name in _BUILT]
        self._image = next((path for path in found if path.is_file()), None)
        if self._image is None:
            raise InputError("has no zephyr/zephyr.elf or .hex", str(given), "build it")
        return True

    def init(self, device_id: str | None = None) -> bool:
        """Load the image into the board and reset it.

        Args:
            device_id: not used: there is one emulated board.

        Raises:
            InputError: the image cannot be loaded, or does not fit the board.
        """
        from joulemark._engine import EngineError, Image, Machine

        del device_id
        self.connect()
        assert self._image is not None  # noqa: S101
        try:
            image = Image.load(self._image)
            chip, wiring = chips.load_chip(self._board.chip), self._board.wiring
            self._machine = Machine(chip, image, wiring=wiring, trace=True, resets=_RESETS)
        except EngineError as error:
            raise InputError(str(error)) from error
        self._samples = []
        return True

    def measure(self, duration: float = 0, time: float = 0) -> None:
        """Run the program and sample the current.

        Args:
            duration: length in seconds of the board's time.
            time: the same, as some versions of Twister name it.

        Raises:
            InputError: the monitor was not initialised, or the length is not positive.
            FaultError: the program faulted.
        """
        length_s = duration or time
        if self._machine is None:
            raise InputError("was not initialised", "the power monitor", "call init() first")
        count = round(length_s * self._sample_hz) if 0 < length_s < _MOST_S else 0
        if count < 1:
            what = f"{length_s} s is no duration of a sample or more"
            raise InputError(what, "measure", f"give seconds, up to {_MOST_S:,}")
        machine, begin_ps = self._machine, self._machine.time_ps
        machine.clear_observations()
        stop = machine.run(until_ps=begin_ps + round(length_s * _PS_PER_S))
        if stop.fault is not None:
            raise FaultError(f"the program faulted: {stop.fault.message}", str(self._image))
        self._samples = list(self._sampled(machine.power_tracks, begin_ps, count))

    def get_data(self, duration: float = 0) -> list[float]:
        """Return the samples of the last measurement, in amperes.

        Args:
            duration: the first seconds of it alone; all of it if 0. Measured if nothing was.
        """
        if not self._samples and duration:
            self.measure(duration)
        if not duration:
            return list(self._samples)
        return self._samples[: round(duration * self._sample_hz)]

    def disconnect(self) -> None:
        """Leave the board."""
        self._machine = None

    def close(self) -> None:
        """Leave the board."""
        self.disconnect()

    @property
    def console(self) -> Mapping[str, bytes]:
        """What the program has sent since the last call, by serial port."""
        if self._machine is None:
            return {}
        return {port: self._machine.serial_read(port) for port in self._machine.serial_ports}

    def _sampled(
        self, tracks: "Mapping[str, Sequence[PowerInterval]]", begin_ps: int, count: int
    ) -> Iterator[float]:
        """Yield the mean current of each interval between samples."""
        ends = (begin_ps + (n + 1) * _PS_PER_S // self._sample_hz for n in range(count))
        sample_start_ps = at_ps = begin_ps
        sample_end_ps = next(ends)
        charge = ampere = 0.0
        for ampere, step_end_ps in total(tracks, self._meter.current_of):
            while step_end_ps >= sample_end_ps:
                charge += ampere * (sample_end_ps - at_ps)
                yield charge / (sample_end_ps - sample_start_ps)
                sample_start_ps = at_ps = sample_end_ps
                charge = 0.0
                if (following := next(ends, None)) is None:
                    return
                sample_end_ps = following
            charge += ampere * (step_end_ps - at_ps)
            at_ps = step_end_ps
        # The last instruction may end a cycle before the time that was asked for.
        charge += ampere * (sample_end_ps - at_ps)
        yield charge / (sample_end_ps - sample_start_ps)
