"""Conducts a plan: measures every case and yields records as they are made."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar

from joulemark import meters
from joulemark.campaign.build import Builder
from joulemark.campaign.job import LOCAL, RUNS, Job, Setup
from joulemark.campaign.options import EMULATOR, Options
from joulemark.errors import InputError, MeterError
from joulemark.images import BuiltImage
from joulemark.meters.options import SUPPLY

if TYPE_CHECKING:
    from joulemark.records.record import PrimitiveRecord

SERIAL = "serial"
NO_METER = "none"
LONGEST_S = 3600.0
"""The longest window that a user may ask for."""
SUPPLY_LIMIT_A = 0.5
"""Limit on the current that a supply delivers to a board."""
SUPPLY_APART = 0.05
"""How far a supply's reading may be from its setting, as a fraction of the setting."""


A = TypeVar("A")
T = TypeVar("T")


class Workers(Builder, Protocol):
    """Builds and emulates, here or elsewhere."""

    def each(self, work: Callable[[A], T], of: Sequence[A]) -> Iterator[tuple[A, T]]:
        """Yield each item with its result as it is ready.

        Args:
            work: a function of a module, importable by another process.
            of: the items, one call each; the longest first.

        Raises:
            JoulemarkError: what it raises, or a process ended prematurely.
        """

    def conduct(self, jobs: Sequence[Job]) -> "Iterator[Sequence[PrimitiveRecord]]":
        """Measure jobs on emulated boards, and yield records in batches as they are made.

        Args:
            jobs: at least one.

        Raises:
            JoulemarkError: a failure that is not a single case's.
        """


@dataclass(frozen=True, kw_only=True)
class Bench:
    """Runner and meter of the images, as the user gave them."""

    runner: str = EMULATOR
    port: str | None = None
    """Serial port of the board."""
    meter: str | None = None
    told: Mapping[str, object] = field(default_factory=dict)
    """The meter's options, by parameter."""
    runs: int = RUNS
    supply_v: float | None = None
    """The board's nominal voltage if not given."""
    supply: str | None = None
    """VISA resource of an E3631A that feeds the board."""
    unit: str = "unnamed"
    """Name of this specimen of the board."""
    flash: bool = False
    """Write each image to the board."""
    seconds: float | None = None
    """Length of a window of a library; chosen if not given."""

    marker: str | None = None
    """Pin of this machine that is high during a window."""

    def check(self, asked: type[Options]) -> None:
        """Refuse options that do not go together.

        Args:
            asked: the options of what is measured.

        Raises:
            InputError: an option is missing, or belongs to another runner.
        """
        where = f"--runner {self.runner}"
        if self.runner not in asked.runners:
            what = f"that is not how {asked.type} is measured"
            raise InputError(what, where, f"give --runner {' or '.join(asked.runners)}")
        if self.seconds is not None and not asked.has_windows:
            raise InputError("it is for libraries", "--seconds", "give --repetitions")
        if self.seconds is not None and not 0 < self.seconds <= LONGEST_S:
            mend = f"give more than 0 and at most {LONGEST_S:g}"
            raise InputError(f"{self.seconds:g} s is no window", "--seconds", mend)
        if self.marker is not None and self.runner != LOCAL:
            mend = "give --runner local; a board has its marker"
            raise InputError("it is a pin of this machine", "--marker-pin", mend)
        if self.runner == EMULATOR:
            if self.flash or self.meter or self.port:
                raise InputError(
                    "an emulated board has no port and no instrument",
                    where,
                    "give --runner serial or local",
                )
            return
        if self.supply_v is not None:
            SUPPLY.check(self.supply_v)
        if self.meter is None and not asked.has_windows:
            raise InputError("no instrument given", where, "give --meter")
        if self.runner == SERIAL and self.port is None:
            raise InputError("it is not said where the board is", where, "give --port")
        if self.runner == LOCAL and (self.flash or self.port):
            raise InputError("this machine is not flashed and has no port", where)

    def check_marker(self) -> None:
        """Refuse a pin whose chip or file does not exist here, before anything is built.

        Raises:
            InputError: the pin does not exist.
        """
        if self.marker is None:
            return
        chip, _, line = self.marker.rpartition(":")
        if not Path(chip if line.isdecimal() else self.marker).exists():
            mend = "`gpioinfo` lists chips and lines; write CHIP:LINE, or a file"
            raise InputError("this machine has no such pin", f"--marker-pin {self.marker}", mend)

    @property
    def setup(self) -> Setup:
        """The details that a result depends on."""
        if self.runner == EMULATOR:
            return Setup()
        options = meters.options(self.meter) if self.meter else []
        known = [o.parameter for o in options if o.option.identifies]
        return Setup(
            runner=self.runner,
            meter=self.meter or NO_METER,
            unit=self.unit,
            runs=self.runs,
            # A different way to measure gives a different result.
            details=(
                *((name, value) for name, value in sorted(self.told.items()) if name in known),
                *(self.runs, self.supply_v, self.supply is not None),
                *([self.seconds] if self.seconds is not None else []),
            ),
        )

    def measure(
        self,
        jobs: Sequence[Job],
        workers: "Workers",
        tell: Callable[[str], None] = lambda _: None,
    ) -> "Iterator[Sequence[PrimitiveRecord]]":
        """Measure jobs, and yield records in batches as they are made.

        Args:
            jobs: at least one.
            workers: measure on emulated boards.
            tell: says something to the user.

        Raises:
            JoulemarkError: a failure that is not a single case's.
        """
        if self.runner == EMULATOR:
            yield from workers.conduct(jobs)
            return
        if self.runner == SERIAL and len(jobs) != 1 and not self.flash:
            what = f"a board has one image, and these cases need {len(jobs)}"
            mend = "choose one with --board, --primitive, --implementation and --opt, or --flash"
            raise InputError(what, f"--runner {self.runner}", mend)
        # Imported late: cases served from the store need none of these.
        from joulemark.measure.instrumented import Instrumented
        from joulemark.measure.local import Local
        from joulemark.measure.window import Instrument
        from joulemark.runners.flash import flash

        with ExitStack() as opened:
            supply_v, bound, note = self._voltage(jobs[0], opened)
            meter = opened.enter_context(
                meters.open_meter(self.meter or "", self.told, supply_v=supply_v)
            )
            instrument = Instrument(meter, bound, note)
            for job in jobs:
                if self.flash and isinstance(job.image, BuiltImage) and job.firmware.board:
                    flash(job.firmware.board, job.image, self.port or "")
                session = (
                    Local(job, instrument, self.marker, tell)
                    if self.runner == LOCAL
                    else Instrumented(job, instrument, self.port or "")
                )
                with session:
                    yield from ([record] for record in session.records())

    def _voltage(self, job: Job, opened: ExitStack) -> tuple[float | None, float, str]:
        """Return the supply voltage, the relative bound on its error, and where it comes from."""
        if self.supply_v is not None:
            volt, where = self.supply_v, "as stated by whoever measured"
        elif job.firmware.board is None:
            # A meter of a whole machine knows its voltage, or reports that it needs it.
            return None, 0.0, "the meter knows the voltage"
        else:
            volt, where = job.firmware.board.supply_v.value, "as the board's file says"
        if self.supply is None:
            return volt, 0.0, f"supply voltage: {volt:g} V, {where}, taken as exact"
        from joulemark.meters.scpi.agilent_e3631a import AgilentE3631A

        supply = AgilentE3631A(self.supply)
        opened.callback(supply.close)
        supply.power(volt, SUPPLY_LIMIT_A)
        read_v = supply.measure_v()
        if abs(read_v - volt) > SUPPLY_APART * volt:
            raise MeterError(
                f"it is set to {volt:g} V and reads {read_v:g} V", self.supply, "is it overloaded?"
            )
        bound = supply.readback_of_output + supply.readback_v / read_v
        return read_v, bound, f"supply voltage: {read_v:.4f} V +- {bound:.2%}, read back by E3631A"
