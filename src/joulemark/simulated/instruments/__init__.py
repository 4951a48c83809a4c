"""Simulated instruments: one module an instrument, found and plugged into a supply line.

A module is an instrument when it defines `plug_in(line, seed)`. Modules are found here, and in the
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
        """Where it answers: what --resource or --supply has to be given."""

    @property
    def usage(self) -> str:
        """Its name, and the options that reach it."""

    def close(self) -> None:
        """Unplug it."""


def plug_in_all(line: SupplyLine, seed: int) -> list[Plugged]:
    """Plug every instrument in.

    Args:
        line: what they measure or feed.
        seed: draws their errors; each one's apart from the others'.

    Raises:
        InputError: a lab's own cannot be loaded.
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
