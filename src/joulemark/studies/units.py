"""Units that papers print, as factors of the SI unit of their dimension."""

UNITS: dict[str, tuple[float, str]] = {
    "s": (1.0, "s"),
    "ms": (1e-3, "s"),
    "us": (1e-6, "s"),
    "ns": (1e-9, "s"),
    "J": (1.0, "J"),
    "mJ": (1e-3, "J"),
    "uJ": (1e-6, "J"),
    "nJ": (1e-9, "J"),
    "uWh": (3.6e-3, "J"),
    "uWh/MiB": (3.6e-3 / 2**20, "J/B"),
    "W": (1.0, "W"),
    "mW": (1e-3, "W"),
    "A": (1.0, "A"),
    "mA": (1e-3, "A"),
    "uA": (1e-6, "A"),
    "V": (1.0, "V"),
    "Hz": (1.0, "Hz"),
    "MHz": (1e6, "Hz"),
    "Mb/s": (1e6, "b/s"),
    "MiB/s": (float(2**20), "B/s"),
    "op/s": (1.0, "/s"),
    "B": (1.0, "B"),
    "bit": (1.0, "bit"),
    "%": (0.01, ""),
    "x": (1.0, ""),
    "": (1.0, ""),
    "cycles": (1.0, "cycles"),
    "years": (365.25 * 86400, "s"),
}
"""By name in a study's file: the unit in SI, and its dimension."""


def si(value: float, unit: str) -> float:
    """Return a value in SI units."""
    return value * UNITS[unit][0]


def shown(value: float, unit: str) -> float:
    """Return an SI value in a unit."""
    return value / UNITS[unit][0]


def dimension(unit: str) -> str:
    """Return the SI unit of the same dimension."""
    return UNITS[unit][1]
