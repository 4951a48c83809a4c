"""Simulated instruments, one per module; found here and plugged into a supply line.

A module is an instrument if it defines `plug_in(line, seed)`. Modules are found here and in the
folder `simulated` of JOULEMARK_INSTRUMENTS.
"""

import zlib
from typing import Protocol

from joulemark import found
from joulemark.simulated.supply import SupplyLine

found.extend(__path__, "simulated")


class Plugged(Protocol):
    """An instrument in a supply line, answering on a port of this machine."""

    @property
    def role(self) -> str:
        """Its role on the bench, such as multimeter."""

    @property
    def resource(self) -> str:
        """Its address: the value for --resource or --supply."""

    @property
    def usage(self) -> str:
        """Its name, and the options that reach it."""

    def close(self) -> None:
        """Unplug it."""


def plug_in_all(line: SupplyLine, seed: int) -> list[Plugged]:
    """Plug in every instrument.

    Args:
        line: the line that they measure or feed.
        seed: derives their errors, independently for each instrument.

    Raises:
        InputError: a lab's own module cannot be loaded.
    """
    plugged: list[Plugged] = []
    try:
        for name, module in sorted(found.modules(__path__, __name__).items()):
            plug_in = getattr(found.load(module), "plug_in", None)
            if plug_in is not None:
                plugged.append(plug_in(line, zlib.crc32(f"{seed}/{name}".encode())))
    except BaseException:
        for instrument in plugged:
            instrument.close()
        raise
    return plugged
