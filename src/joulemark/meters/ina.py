"""Texas Instruments INA219, INA226 and their like, through Linux: hwmon or IIO.

hwmon: Documentation/hwmon/ina2xx (curr1_input in mA, in1_input in mV, update_interval in ms).
IIO: Documentation/ABI/testing/sysfs-bus-iio (raw x scale: mA, mV).
"""

from pathlib import Path

from joulemark.clock import HOST, Clock
from joulemark.errors import InputError, MeterError
from joulemark.meters import Specification
from joulemark.meters.options import Folder, StatedAccuracy
from joulemark.meters.polled import Polled
from joulemark.meters.samples import Accuracy

_INTERVAL_S = 0.01
_HWMON_STEP_A = 1e-3  # what curr1_input counts in


class _Files:
    """A sysfs folder whose files contain numbers."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def number(self, name: str) -> float:
        path = self.folder / name
        try:
            return float(path.read_text(encoding="ascii"))
        except (OSError, ValueError) as error:
            raise MeterError(
                f"{name} cannot be read: {error}",
                str(self.folder),
                "check the chip's wires and driver; what was measured before is kept",
            ) from error


def open_meter(resource: Folder, accuracy: StatedAccuracy, clock: Clock = HOST) -> Polled:
    """Open a chip by its folder under /sys/class/hwmon or /sys/bus/iio/devices.

    The accuracy must include that of the chip and of its shunt resistor.

    Raises:
        InputError: the folder is not such a chip's.
        MeterError: it cannot be read.
    """
    folder = Path(resource)
    files = _Files(folder)
    interval_s = _INTERVAL_S
    if (folder / "curr1_input").exists():
        step_a, kind = _HWMON_STEP_A, "hwmon"
        if (folder / "update_interval").exists():
            interval_s = max(files.number("update_interval") * 1e-3, interval_s)

        def read() -> tuple[float, float]:
            return files.number("curr1_input") * 1e-3, files.number("in1_input") * 1e-3

    else:
        currents = sorted(folder.glob("in_current*_raw"))
        voltages = sorted(folder.glob("in_voltage*_raw"))
        if len(currents) != 1 or not voltages:
            raise InputError(
                "is no folder of an INA219 or INA226",
                str(folder),
                "name the one under /sys/class/hwmon with curr1_input, or under "
                "/sys/bus/iio/devices with in_current3_raw",
            )
        # The shunt voltage's file sorts before the bus voltage's.
        current, voltage = (c[-1].name.removesuffix("_raw") for c in (currents, voltages))
        step_a, kind = files.number(f"{current}_scale") * 1e-3, "IIO"

        def read() -> tuple[float, float]:
            milliampere = files.number(f"{current}_raw") * files.number(f"{current}_scale")
            millivolt = files.number(f"{voltage}_raw") * files.number(f"{voltage}_scale")
            return milliampere * 1e-3, millivolt * 1e-3

    read()
    specification = Specification(
        title=f"INA219 or its like through Linux {kind}",
        document=f"accuracy as stated by whoever measured: {accuracy:.2%} of reading",
        rate_hz=1 / interval_s,
        resolution=f"{step_a * 1e3:g} mA",
        measures_voltage=True,
    )
    # A reading is rounded to a step.
    bound = Accuracy(accuracy, step_a / 2)
    return Polled(read, interval_s, bound, specification, where=str(folder), clock=clock)
