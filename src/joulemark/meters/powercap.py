"""Linux powercap: the energy that a processor counts of itself, such as Intel's RAPL.

Documentation/power/powercap/powercap.rst and Documentation/ABI/testing/sysfs-class-powercap:
energy_uj counts microjoules up to max_energy_range_uj and then restarts at zero.
"""

from pathlib import Path

from joulemark.closes import Closes
from joulemark.errors import InputError, MeterError
from joulemark.meters import Specification
from joulemark.meters.options import Folder, StatedAccuracy
from joulemark.meters.samples import Counted

UPDATE_S = 1e-3
"""Assumed interval at which a processor updates its counter."""
_WINDOW_S = 2.0


class Powercap(Closes):
    """One power zone.

    Args:
        zone: its folder.
        accuracy: relative bound on its error; the kernel states none.

    Raises:
        InputError: the folder is not a power zone with a counter.
        MeterError: it cannot be read.
    """

    def __init__(self, zone: Path, accuracy: float) -> None:
        self._zone = zone
        self._accuracy = accuracy
        if not (zone / "energy_uj").exists():
            raise InputError(
                "is no power zone with a counter",
                str(zone),
                "name one such as /sys/class/powercap/intel-rapl:0",
            )
        self._range_uj = self._read("max_energy_range_uj")
        self._begin_uj = self._read("energy_uj")
        self.specification = Specification(
            title=f"Linux powercap, zone {(zone / 'name').read_text().strip()}",
            document="counts of the processor; accuracy as stated by whoever measured: "
            f"{accuracy:.2%}; brought up to date each millisecond (assumed)",
            rate_hz=None,
            resolution="1 uJ",
            measures_voltage=True,
            window_s=_WINDOW_S,
        )

    def start(self, seconds: float) -> None:
        """Read the counter."""
        self._begin_uj = self._read("energy_uj")

    def finish(self) -> Counted:
        """Return the energy counted since `start`; the counter may have wrapped once.

        Raises:
            MeterError: it cannot be read, or has not moved.
        """
        moved_uj = self._read("energy_uj") - self._begin_uj
        if moved_uj < 0:
            # After its highest count it continues at zero.
            moved_uj += self._range_uj + 1
        if moved_uj <= 0:
            raise MeterError("its counter does not move", str(self._zone), "use another zone")
        return Counted(
            moved_uj * 1e-6, 1e-6, self._accuracy, edge_bound_s=UPDATE_S, where=str(self._zone)
        )

    def _read(self, name: str) -> int:
        path = self._zone / name
        try:
            return int(path.read_text(encoding="ascii"))
        except PermissionError as error:
            mend = f"let your user read it (sudo chmod a+r {path}), or measure as root"
            raise MeterError("may not be read", str(path), mend) from error
        except (OSError, ValueError) as error:
            raise MeterError(f"cannot be read: {error}", str(path)) from error


def open_meter(resource: Folder, accuracy: StatedAccuracy) -> Powercap:
    """Open a power zone under /sys/class/powercap.

    Raises:
        InputError: the folder is not a power zone with a counter.
        MeterError: it cannot be read.
    """
    return Powercap(Path(resource), accuracy)
