"""Receives an update's bytes over an emulated radio: two boards, CSMA, every frame acknowledged."""

from collections import defaultdict
from dataclasses import dataclass
from functools import lru_cache

from joulemark._engine import Image, Network, PowerInterval
from joulemark.catalogue import boards, chips
from joulemark.catalogue.boards import Board
from joulemark.errors import FaultError, VerificationError
from joulemark.images.program import build_program
from joulemark.meters.power import Occupancy, occupancy

PROGRAM = "update/air"
_SENDER, _RECEIVER = 0, 1
_ATTENUATION_DB = 60
_START_PS = 10**12
"""When the sender is switched on: the receiver's crystal has started."""
_SLICE_PS = 250 * 10**9
_LONGEST_S_PER_BYTE = 1e-3
"""Some ten times what a byte of a filled frame takes."""


@dataclass(frozen=True)
class Reception:
    """What it takes to receive bytes, from the first frame to the last acknowledgement."""

    frames: int
    """Frames that were sent, with those sent again."""
    air_bytes: int
    """Their bytes on the air, without acknowledgements."""
    time_ps: int
    times: Occupancy
    """Of the receiver: time by part, power state and clock."""


def has_driver(board: Board) -> bool:
    """Return whether the firmware has a driver for the board's radio."""
    return board.radio is not None and board.radio.driver is not None


@lru_cache
def images(board: str) -> tuple[Image, Image]:
    """Build the programs of the sender and of the receiver."""
    described = boards.load_board(board)
    built = (
        build_program(PROGRAM, described, define={"MOTE": mote}, optimisation="O2")
        for mote in (1, 2)
    )
    sender, receiver = (Image.load(one.path) for one in built)
    return sender, receiver


def _sum(count: int) -> int:
    """Return what the receiver reports of bytes that are right (firmware/update/air/main.c)."""
    total = 0
    for number in range(count):
        byte = (number ^ number >> 8 ^ number >> 16) & 0xFF
        total = ((total << 1 | total >> 15) + byte) & 0xFFFF
    return total


@lru_cache
def received(board: str, count: int, header_bytes: int) -> Reception:
    """Emulate the reception of bytes.

    Args:
        board: name of the board of either side.
        count: number of bytes.
        header_bytes: bytes of each frame that layers above the MAC take.

    Raises:
        FaultError: a program faulted.
        VerificationError: other bytes came, or they took too long.
    """
    described = boards.load_board(board)
    chip, port = chips.load_chip(described.chip), described.serial.port
    network = Network(seed=1)
    variables = {"air_bytes": count, "air_header_bytes": header_bytes}
    for image, start_ps in zip(images(board), (_START_PS, 0), strict=True):
        network.add(
            chip,
            image.with_variables(variables),
            wiring=described.wiring,
            start_ps=start_ps,
            trace=True,
        )
    network.link(_SENDER, _RECEIVER, attenuation_db=_ATTENUATION_DB)
    network.link(_RECEIVER, _SENDER, attenuation_db=_ATTENUATION_DB)
    tracks: dict[str, list[PowerInterval]] = defaultdict(list)
    sent = []
    said = b""
    until_ps = 4 * _START_PS + round(count * _LONGEST_S_PER_BYTE * 1e12)
    while not said.endswith(b"\n"):
        network.run(network.time_ps + _SLICE_PS)
        said += bytes(byte for byte, _ in network.serial_read_timed(_RECEIVER, port))
        sent += network.take_transmissions(all=True)
        for part, track in network.take_power_tracks(_RECEIVER).items():
            tracks[part] += track
        for mote in (_SENDER, _RECEIVER):
            if (stop := network.fault(mote)) is not None:
                what = stop.fault.message if stop.fault else "it cannot run on"
                raise FaultError(f"{PROGRAM} on {board}, mote {mote + 1}: {what}")
        if network.time_ps > until_ps:
            raise VerificationError(f"{count} bytes do not arrive over the air: {said!r}", board)
    if said.split() != [str(count).encode(), str(_sum(count)).encode()]:
        raise VerificationError(f"other bytes arrive over the air: {said!r}", board)
    frames = [one for one in sent if one.mote == _SENDER]
    last = max(one.end_ps for one in sent if one.mote == _RECEIVER)
    first = frames[0].begin_ps
    return Reception(
        frames=len(frames),
        air_bytes=sum(len(one.frame) + one.phy.overhead_bytes for one in frames),
        time_ps=last - first,
        times=occupancy(tracks, first, last),
    )
