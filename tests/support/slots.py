"""Motes in time slots on this machine: the firmware, compiled for it, on a simulated medium.

Code takes no time here; crystals are as wrong as they are told to be. Times are in microseconds.
"""

import atexit
import functools
import shutil
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from joulemark.project import FIRMWARE, ROOT

NET = FIRMWARE / "net"
TICK_US = 1e6 / 32768
LEAD_US = 12 * TICK_US
PREAMBLE_US = 160.0
BYTE_US = 32.0
FCS_BYTES = 2

AES = FIRMWARE / "primitives/block-cipher/aes/ref"
CCM = FIRMWARE / "primitives/aead/ccm-star/ref"
DEFINES = {
    "MOTES": 2,
    "TSCH_LEVEL": 0,
    "TSCH_KEY_ID_MODE": 1,
    "TSCH_COUNTER_CARRIED": 0,
    "TSCH_TABLES_FULL": 0,
    "TSCH_AHEAD": 0,
    "TSCH_BRIEF_ACKNOWLEDGEMENTS": 0,
    "TSCH_SLOT_TICKS": 328,
    "TSCH_TX_OFFSET_TICKS": 74,
    "TSCH_TX_ACK_DELAY_TICKS": 38,
    "TSCH_GUARD_TICKS": 36,
    "TSCH_ACK_GUARD_TICKS": 13,
    "TSCH_IDLE_SLOTS": 4,
    "TSCH_KEPT_BLOCKS": 64,
    "PING_SLOTS": 0,
    "PING_BYTES": 0,
    "AES_KEY_BITS": 128,
    "SECURITY_KEYS": 4,
    "SECURITY_DEVICES": 10,
    "SECURITY_RULES": 6,
}


COMMON = [
    NET / "console/console.c",
    NET / "ieee802154/frame.c",
    NET / "ieee802154/security/security.c",
    NET / "ccm-star/memory/ccm-strategy.c",
    CCM / "ccm_star.c",
    AES / "aes.c",
    FIRMWARE / "hal/host/marker.c",
    ROOT / "tests/networks/radio/simulated.c",
]
OWN = [NET / "tsch/tsch.c", NET / "tsch-ping/main.c"]
INCLUDES = [
    ROOT / "tests/networks/radio",
    FIRMWARE / "hal",
    FIRMWARE / "hal/host",
    FIRMWARE / "boots/none",
    *(NET / p for p in ("radio", "ieee802154", "tsch", "console", "tsch-ping")),
    *(NET / p for p in ("ieee802154/security", "ccm-star/memory", "ccm-star/software")),
    FIRMWARE / "primitives",
    *(folder for leaf in (AES, CCM) for folder in (leaf, *list(leaf.parents)[:2])),
]
COMPILE = ["clang-19", "-std=gnu11", "-g", "-Wall", "-Wextra", "-Werror"]
COMPILE += ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
COMPILE += [f"-I{folder}" for folder in INCLUDES]


def _defines(values: dict[str, int]) -> list[str]:
    return [f"-D{k}={v}" for k, v in values.items()]


@functools.cache
def _common() -> list[Path]:
    """Compile what is the same for all motes, once."""
    folder = Path(tempfile.mkdtemp(prefix="slots-"))
    atexit.register(shutil.rmtree, folder)
    command = [*COMPILE, *_defines(DEFINES), "-c", *map(str, COMMON)]
    subprocess.run(command, cwd=folder, check=True)
    return sorted(folder.glob("*.o"))


def build(folder: Path, mote: int, **define: int) -> Path:
    """Compile a mote's program, with sanitizers."""
    path = folder / f"mote-{mote}"
    command = [*COMPILE, *_defines(DEFINES | define | {"MOTE": mote})]
    command += map(str, (*OWN, *_common(), "-o", path))
    subprocess.run(command, check=True)
    return path


@dataclass
class OnAir:
    """A frame in transit."""

    sender: int
    channel: int
    frame: str
    sfd_us: float
    end_us: float
    heard_by: list[int] = field(default_factory=list)


class Mote:
    """A process, its clock and what it waits for."""

    def __init__(self, path: Path, number: int, start_us: float, ppm: float) -> None:
        self.number = number
        self._start_us = start_us
        self._tick_us = TICK_US * (1 + ppm * 1e-6)
        self.process = subprocess.Popen(
            [path],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.channel = 0
        self.receiving_since: float | None = None
        self.request = ""
        self.due_us = 0.0
        self.hearing: OnAir | None = None
        self.sending: OnAir | None = None
        self.done = False

    def tick(self, now_us: float) -> int:
        return max(0, int((now_us - self._start_us) / self._tick_us + 1e-6))

    def when(self, now_us: float, tick: int) -> float:
        """Return the moment of a 16-bit time less than a second away; now if it is past."""
        ahead = (tick - self.tick(now_us)) & 0xFFFF
        if ahead >= 0x8000:
            return now_us
        return max(now_us, self._start_us + (self.tick(now_us) + ahead) * self._tick_us)

    def answer(self, text: object) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{text}\n")
        self.process.stdin.flush()
        self.request = ""


class Medium:
    """Motes that hear each other, frame by frame."""

    def __init__(self, paths: list[Path], ppm: list[float]) -> None:
        self.now_us = 0.0
        self.motes = [
            Mote(path, i + 1, 1234.5 * i, error)
            for i, (path, error) in enumerate(zip(paths, ppm, strict=True))
        ]
        self.frames: list[OnAir] = []
        self.lost: frozenset[int] = frozenset()
        """Numbers of the frames that nobody hears."""

    def _step(self, mote: Mote) -> None:
        """Run a mote to its next wait."""
        assert mote.process.stdout is not None
        while not mote.request:
            line = mote.process.stdout.readline()
            if not line:
                mote.done = True
                mote.due_us = float("inf")
                mote.request = "done"
                return
            name, _, rest = line.strip().partition(" ")
            if name == "N":
                mote.answer(mote.tick(self.now_us) & 0xFFFF)
            elif name == "C":
                mote.channel = int(rest)
            elif name == "R":
                mote.receiving_since = self.now_us
                mote.hearing = None
            elif name == "I":
                mote.receiving_since = None
            elif name == "X":
                sfd = self.now_us + LEAD_US
                end = sfd + (1 + len(rest) / 2 + FCS_BYTES) * BYTE_US
                mote.sending = OnAir(mote.number, mote.channel, rest, sfd, end)
                mote.receiving_since = None
                self.frames.append(mote.sending)
                mote.request, mote.due_us = name, sfd
            elif name == "E":
                assert mote.sending is not None
                mote.request, mote.due_us = name, mote.sending.end_us
            else:
                mote.request = name
                mote.due_us = mote.when(self.now_us, int(rest))

    def _deliver(self, frame: OnAir) -> None:
        """Deliver an SFD to those who have listened since before the preamble."""
        if len(self.frames) - 1 in self.lost:
            return
        for mote in self.motes:
            since = mote.receiving_since
            if since is None or mote.channel != frame.channel or mote.hearing is not None:
                continue
            if since <= frame.sfd_us - PREAMBLE_US:
                mote.hearing = frame
                frame.heard_by.append(mote.number)
                if mote.request == "W":
                    mote.answer(mote.tick(self.now_us) & 0xFFFF)

    def _wake(self, mote: Mote) -> None:
        request, mote.request = mote.request, ""
        if request == "X":
            assert mote.sending is not None
            self._deliver(mote.sending)
            mote.answer(mote.tick(self.now_us) & 0xFFFF)
        elif request == "E":
            mote.receiving_since, mote.hearing = self.now_us, None
            mote.answer(0)
        elif request == "W":
            mote.answer("-")
        elif request == "F":
            frame = mote.hearing
            mote.hearing = None
            mote.answer(frame.frame if frame is not None else "-")
        else:
            mote.answer(mote.tick(self.now_us) & 0xFFFF)

    def run(self, *, until_us: float) -> None:
        while self.now_us < until_us and not all(mote.done for mote in self.motes):
            for mote in self.motes:
                self._step(mote)
                if mote.request == "F" and mote.hearing is not None:
                    mote.due_us = max(self.now_us, mote.hearing.end_us)
            mote = min(self.motes, key=lambda m: m.due_us)
            self.now_us = max(self.now_us, min(mote.due_us, until_us))
            if mote.due_us <= self.now_us and not mote.done:
                self._wake(mote)

    def finish(self) -> list[str]:
        """Return what each mote printed."""
        texts = []
        for mote in self.motes:
            _, error = mote.process.communicate()
            assert mote.process.returncode == 0, error
            texts.append(error)
        return texts
