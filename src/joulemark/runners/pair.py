"""Run two motes of the same board that hear only each other."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from joulemark.errors import BudgetError, FaultError

if TYPE_CHECKING:
    from joulemark._engine import MarkerEdge, PowerInterval, Profile, Transmission
    from joulemark.catalogue.boards import Board
    from joulemark.images import BuiltImage

ATTENUATION_DB = 50.0
"""Low enough that no frame is lost to noise."""
CRYSTAL_PPB = (40_000, -40_000)
"""The largest difference that IEEE Std 802.15.4 allows between radios (2006, section 6.9.4)."""
STARTS_PS = (100 * 10**9, 0)
"""The leaf listens before the root is switched on."""
_STEP_PS = 10**11


@dataclass(frozen=True, kw_only=True)
class Observed:
    """Events of a mote, in the network's time in picoseconds."""

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
    """Watched memory of each mote at the end."""
    digest: str


class RunningPair:
    """Two running motes; `run` can be called again to continue.

    Args:
        board: board of both motes.
        images: the motes' images.
        profile: count cycles by function.
        trace: keep power states and edges of the marker.
        watched: an object in both motes' memory, by its symbol and size.
    """

    def __init__(
        self,
        board: "Board",
        images: Sequence["BuiltImage"],
        *,
        profile: bool = False,
        trace: bool = True,
        watched: tuple[str, int] | None = None,
    ) -> None:
        from joulemark._engine import Image, Network
        from joulemark.catalogue import chips

        self._board, self._profile, self._trace = board, profile, trace
        self._network = Network()
        self._places: list[tuple[int, int]] = []
        self._texts = ["", ""]
        self._frames: list[Transmission] = []
        chip = chips.load_chip(board.chip)
        for image, start_ps, ppb in zip(images, STARTS_PS, CRYSTAL_PPB, strict=True):
            loaded = Image.load(image.path)
            if watched is not None:
                self._places.append((loaded.resolve(watched[0]), watched[1]))
            self._network.add(
                chip,
                loaded,
                wiring=board.wiring,
                start_ps=start_ps,
                ppb=ppb,
                trace=trace,
                marker=board.marker.pin if trace else None,
                profile=profile,
            )
        self._network.link(0, 1, attenuation_db=ATTENUATION_DB)
        self._network.link(1, 0, attenuation_db=ATTENUATION_DB)

    def run(
        self,
        *,
        until_said: str,
        limit_ps: int,
        enough: Callable[[Sequence[bytes]], bool] | None = None,
    ) -> PairRun:
        """Run on until each mote has sent a text on its serial line.

        Args:
            until_said: the text that ends each mote's output.
            limit_ps: limit on the time since the start.
            enough: given the watched bytes of both motes, returns whether to stop earlier.

        Raises:
            BudgetError: the limit was reached.
            FaultError: a program faulted.
        """
        network = self._network
        while not all(until_said in text for text in self._texts):
            if network.time_ps >= limit_ps:
                said = "; ".join(repr(text[-200:]) for text in self._texts)
                raise BudgetError(f"not done in {limit_ps / 1e12:g} s; the motes said {said}")
            network.run(network.time_ps + _STEP_PS)
            self._frames += network.take_transmissions()
            for mote in range(2):
                self._listen(mote)
            if enough is not None and enough(self._look()):
                break
        return PairRun(
            motes=tuple(
                Observed(
                    text=self._texts[mote],
                    edges=network.marker_edges(mote) if self._trace else (),
                    profile=network.profile(mote) if self._profile else None,
                    power=network.take_power_tracks(mote) if self._trace else {},
                )
                for mote in range(2)
            ),
            frames=self._frames,
            watched=self._look(),
            digest=network.digest,
        )

    def _look(self) -> tuple[bytes, ...]:
        read = self._network.read_memory
        return tuple(read(mote, at, size) for mote, (at, size) in enumerate(self._places))

    def _listen(self, mote: int) -> None:
        """Collect a mote's output, and raise its fault if it has one."""
        sent = self._network.serial_read_timed(mote, self._board.serial.port)
        self._texts[mote] += bytes(byte for byte, _ in sent).decode("ascii", "replace")
        stop = self._network.fault(mote)
        if stop is not None and stop.fault is not None:
            fault = stop.fault
            calls = " < ".join(f"{f.symbol}+{f.offset:#x}" for f in fault.call_stack)
            raise FaultError(f"mote {mote + 1}: {fault.kind}: {fault.message} ({calls})")


def run_pair(
    board: "Board", images: Sequence["BuiltImage"], *, until_said: str, limit_ps: int
) -> PairRun:
    """Run a new pair until each mote has sent a text: see [RunningPair.run][]."""
    return RunningPair(board, images).run(until_said=until_said, limit_ps=limit_ps)
