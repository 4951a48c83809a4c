"""Two motes of one board that hear each other, and nobody else."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from joulemark.errors import BudgetError, FaultError

if TYPE_CHECKING:
    from joulemark._engine import MarkerEdge, PowerInterval, Profile, Transmission
    from joulemark.catalogue.boards import Board
    from joulemark.images import BuiltImage

ATTENUATION_DB = 50.0
"""Near enough for no frame to be lost to noise."""
CRYSTAL_PPB = (40_000, -40_000)
"""As far apart as IEEE Std 802.15.4 allows two radios' crystals (2006, section 6.9.4)."""
STARTS_PS = (100 * 10**9, 0)
"""The leaf listens before the root is switched on."""
_STEP_PS = 10**11


@dataclass(frozen=True, kw_only=True)
class Observed:
    """Events of a mote. Times are the network's, in picoseconds."""

    text: str
    edges: Sequence["MarkerEdge"]
    power: Mapping[str, Sequence["PowerInterval"]]
    profile: "Profile | None"


@dataclass(frozen=True, kw_only=True)
class PairRun:
    """Events of two motes, and frames on the air."""

    motes: tuple[Observed, ...]
    frames: Sequence["Transmission"]
    watched: tuple[bytes, ...]
    """Watched memory of each mote, at the end."""
    digest: str


def run_pair(
    board: "Board",
    images: Sequence["BuiltImage"],
    *,
    until_said: str,
    limit_ps: int,
    profile: bool = False,
    trace: bool = True,
    watched: tuple[str, int] | None = None,
    enough: Callable[[Sequence[bytes]], bool] | None = None,
) -> PairRun:
    """Run until each mote has said something on its serial line.

    Args:
        board: of both.
        images: of both.
        until_said: the last that each says.
        limit_ps: how long that may take.
        profile: count cycles by function.
        trace: keep power states and edges of the marker.
        watched: an object in both motes' memory, by its symbol and size.
        enough: told the watched bytes of both, says whether to stop before.

    Raises:
        BudgetError: it takes longer.
        FaultError: a program faulted.
    """
    from joulemark._engine import Image, Network
    from joulemark.catalogue import chips

    network = Network()
    chip = chips.load_chip(board.chip)
    places = []
    for image, start_ps, ppb in zip(images, STARTS_PS, CRYSTAL_PPB, strict=True):
        loaded = Image.load(image.path)
        if watched is not None:
            places.append(loaded.resolve(watched[0]))
        network.add(
            chip,
            loaded,
            wiring=board.wiring,
            start_ps=start_ps,
            ppb=ppb,
            trace=trace,
            marker=board.marker.pin if trace else None,
            profile=profile,
        )

    def look() -> tuple[bytes, ...]:
        size = 0 if watched is None else watched[1]
        return tuple(network.read_memory(mote, at, size) for mote, at in enumerate(places))

    network.link(0, 1, attenuation_db=ATTENUATION_DB)
    network.link(1, 0, attenuation_db=ATTENUATION_DB)
    texts = ["", ""]
    frames: list[Transmission] = []
    while not all(until_said in text for text in texts):
        if network.time_ps >= limit_ps:
            said = "; ".join(repr(text[-200:]) for text in texts)
            raise BudgetError(f"not done in {limit_ps / 1e12:g} s; the motes said {said}")
        network.run(network.time_ps + _STEP_PS)
        frames += network.take_transmissions()
        for mote in range(2):
            sent = network.serial_read_timed(mote, board.serial.port)
            texts[mote] += bytes(byte for byte, _ in sent).decode("ascii", "replace")
            stop = network.fault(mote)
            if stop is not None and stop.fault is not None:
                fault = stop.fault
                calls = " < ".join(f"{f.symbol}+{f.offset:#x}" for f in fault.call_stack)
                raise FaultError(f"mote {mote + 1}: {fault.kind}: {fault.message} ({calls})")
        if enough is not None and enough(look()):
            break
    return PairRun(
        motes=tuple(
            Observed(
                text=texts[mote],
                edges=network.marker_edges(mote) if trace else (),
                profile=network.profile(mote) if profile else None,
                power=network.take_power_tracks(mote) if trace else {},
            )
            for mote in range(2)
        ),
        frames=frames,
        watched=look(),
        digest=network.digest,
    )
