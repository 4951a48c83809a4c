"""The emulated CC2420 beside MSPSim's: random sequences to both, and any differences.

    .venv/bin/python tests/networks/cc2420_beside_mspsim.py FOLDER --sequences 1000 --seed 1

FOLDER is a built github.com/contiki-ng/mspsim: classes in `out`, libraries in `lib`; with Java 17.
Each sequence powers the radio up with random settings, and goes on with accesses to registers and
RAM, frames for the TXFIFO, arriving frames, reads of the RXFIFO, and strobes. It compares the bytes
that come back, and states and pins once all has settled. Peculiarities of MSPSim listed in
docs/emulated-cc2420.md are kept out of the sequences or of the comparison. Exits with 1 if anything
differs.
"""

import argparse
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from joulemark._engine import Phy
from joulemark.project import ROOT

SNOP, SXOSCON, SRXON, STXON, STXONCCA, SRFOFF, SFLUSHRX, SFLUSHTX, SACK, SACKPEND = (
    *(0x00, 0x01, 0x03, 0x04, 0x05, 0x06, 0x08, 0x09, 0x0A, 0x0B),
)
STROBES = (SNOP, SRXON, SRXON, STXON, STXON, STXONCCA, SRFOFF, SFLUSHRX, SACK, SACKPEND)
MDMCTRL0, RSSI, IOCFG0, IOCFG1, TXFIFO, RXFIFO = 0x11, 0x13, 0x1C, 0x1D, 0x3E, 0x3F
PLAIN_REGISTERS = (0x16, 0x17, 0x20, 0x21, 0x22, 0x24, 0x25, 0x30, 0x2E)
"""Registers without side effects and without read-only bits."""
READ, RAM, RAM_READ, RX_BANK = 0x40, 0x80, 0x20, 0x08
SEARCHES, OVERFLOWN = 3, 17
STATUS = 0x4A
"""Bits of the status byte that MSPSim shows: crystal, TX_ACTIVE, RSSI_VALID."""
PAN = bytes((0xCD, 0xAB))
SETTLED_US = 14_000
SHOWN = 5


class Seen(NamedTuple):
    """A radio's answer to a line."""

    answer: bytes
    pins: str
    """FIFO, FIFOP, SFD, CCA."""
    state: int


class DifferError(Exception):
    """The radios' states have diverged: the sequence ends."""


class Pair:
    """Both radios, and what they were told."""

    def __init__(self, mspsim: Path) -> None:
        path = f"{mspsim / 'out'}:{mspsim / 'lib'}/*"
        java = ["java", "-cp", path, str(ROOT / "tests/networks/radio/Cc2420.java")]
        cargo = ["cargo", "run", "-q", "--release", "-p", "joulemark-devices"]
        self._processes = [
            subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            for command in (java, [*cargo, "--example", "cc2420"])
        ]
        self.compared: Counter[str] = Counter()
        self.differing: Counter[str] = Counter()
        self.log: list[str] = []

    def tell(self, line: str) -> tuple[Seen, Seen]:
        """Give a line to both; return MSPSim's answer and ours."""
        for process in self._processes:
            assert process.stdin is not None
            process.stdin.write(f"{line}\n")
            process.stdin.flush()
        seen = []
        for process in self._processes:
            assert process.stdout is not None
            answer, pins, state = process.stdout.readline().rstrip("\n").split("|")
            seen.append(Seen(bytes.fromhex(answer), pins, int(state)))
        self.log.append(f"{line}: {seen[0]} {seen[1]}")
        return seen[0], seen[1]

    def exchange(self, *parts: int | bytes) -> tuple[Seen, Seen]:
        """Exchange bytes on the bus."""
        data = b"".join(bytes((p,)) if isinstance(p, int) else p for p in parts)
        return self.tell(f"X {data.hex()}")

    def compare(self, what: str, theirs: object, ours: object) -> bool:
        """Note whether both are equal, and print the first differences."""
        self.compared[what] += 1
        if theirs == ours:
            return True
        self.differing[what] += 1
        if self.differing[what] <= SHOWN:
            print(f"{what}: MSPSim {theirs}, here {ours}; after", *self.log[-9:], sep="\n  ")
        return False

    def settle(self) -> Seen:
        """Let both come to rest, and compare them.

        Raises:
            DifferError: they differ, or have overflown: MSPSim then goes on searching.
        """
        theirs, ours = self.tell(f"T {SETTLED_US}")
        alike = self.compare("pins at rest", theirs.pins, ours.pins)
        overflown = ours.pins.startswith("01")
        if not (overflown and (theirs.state, ours.state) == (SEARCHES, OVERFLOWN)):
            alike &= self.compare("state at rest", theirs.state, ours.state)
        if overflown or not alike:
            raise DifferError
        return ours


class Sequence:
    """One random sequence."""

    def __init__(self, pair: Pair, source: random.Random) -> None:
        self.pair, self.source = pair, source
        self.is_loaded = False
        self.decodes = source.random() < 0.5
        self.extended = source.randbytes(8)
        self.short = bytes((source.randrange(256), 0x11))
        self.last = self._power_up()

    def _power_up(self) -> Seen:
        pair, source = self.pair, self.source
        for line in ("V 0", "T 2000", "V 1", "T 1000"):
            pair.tell(line)
        threshold = source.choice([127, 127, 64, source.randrange(1, 127)])
        modem = 0x02E2 | self.decodes << 11 | (source.random() < 0.5) << 4
        settings = {IOCFG0: threshold, MDMCTRL0: modem, IOCFG1: 0, RSSI: 0xE000}
        for register, value in settings.items():
            pair.exchange(register, value.to_bytes(2, "big"))
        for register in PLAIN_REGISTERS:
            pair.exchange(register, source.randbytes(2))
        pair.exchange(SXOSCON)
        pair.tell("T 2000")
        pair.exchange(0xE0, 0x80, self.extended)
        pair.exchange(0xE8, 0x80, PAN, self.short)
        pair.exchange(SFLUSHRX)
        pair.exchange(SFLUSHRX)
        return pair.exchange(SFLUSHTX)[1]

    def run(self, steps: int) -> None:
        """Do this many random steps, or fewer if the radios differ."""
        ways: list[Callable[[], None]] = [self.write_register, self.read_register, self.ram]
        ways += [self.load, self.receive, self.read_fifo, self.strobe]
        try:
            for way in self.source.choices(ways, (8, 8, 8, 12, 24, 20, 20), k=steps):
                way()
        except DifferError:
            pass

    def write_register(self) -> None:
        self.pair.exchange(self.source.choice(PLAIN_REGISTERS), self.source.randbytes(2))

    def read_register(self) -> None:
        theirs, ours = self.pair.exchange(self.source.choice(PLAIN_REGISTERS) | READ, bytes(2))
        self.pair.compare("registers", theirs.answer[1:], ours.answer[1:])

    def ram(self) -> None:
        """Access keys, nonces and buffers."""
        at = self.source.randrange(0x100, 0x160)
        count = self.source.randrange(1, 0x161 - at)
        low, bank = RAM | at & 0x7F, at >> 7 << 6
        self.pair.exchange(low, bank, self.source.randbytes(count))
        theirs, ours = self.pair.exchange(low, bank | RAM_READ, bytes(count))
        self.pair.compare("RAM", theirs.answer[2:], ours.answer[2:])

    def load(self) -> None:
        """Load a whole frame, in place of the previous one."""
        count = self.source.randrange(3, 126)
        self.pair.exchange(SFLUSHTX)
        frame = bytes((count + 2,)) + self.source.randbytes(count)
        theirs, ours = self.pair.exchange(TXFIFO, frame)
        shown = [bytes(b & STATUS for b in seen.answer) for seen in (theirs, ours)]
        self.pair.compare("status while loading", *shown)
        theirs, ours = self.pair.exchange(RAM, RAM_READ, bytes(count + 1))
        self.pair.compare("TXFIFO", theirs.answer[2:], ours.answer[2:])
        self.is_loaded = True

    def _body(self) -> bytes:
        """Return a frame's body: for us, for all or for others.

        Types are data, beacons and, where addresses are read, others.
        """
        choice, source = self.source.choice, self.source
        ask = choice([0, 0x20])
        kind = source.random()
        rest = source.randbytes(source.randrange(60))
        if kind < 0.5:
            other = bytes((self.short[0] ^ 1, 0x11))
            to = choice([PAN, PAN, b"\xff\xff", b"\xce\xab"])
            to += choice([self.short, b"\xff\xff", other])
            return bytes((0x41 | ask, 0x88, source.randrange(256))) + to + b"\x22\x22" + rest
        if kind < 0.75:
            other = self.extended[:7] + bytes((self.extended[7] ^ 1,))
            to = choice([PAN, b"\xce\xab"]) + choice([self.extended, other])
            return bytes((0x43 | ask, 0x8C, source.randrange(256))) + to + b"\x22\x22" + rest
        if kind < 0.85:
            return bytes((0x02, 0x00, source.randrange(256)))
        first = choice([4, 5, 6, 7]) if self.decodes else 0x41
        return bytes((first, 0x88, 1)) + PAN + self.short + b"\x22\x22" + rest

    def receive(self) -> None:
        """Let a frame arrive; one in ten has a wrong check sequence."""
        body = self._body()
        check = Phy("oqpsk-2450").check_sequence(body)
        if self.source.random() < 0.1:
            check = bytes((check[0] ^ 0x34, check[1] ^ 0x12))
        self.pair.tell(f"F {(bytes((len(body) + 2,)) + body + check).hex()}")
        self.last = self.pair.settle()

    def read_fifo(self) -> None:
        """Read a frame in two pieces."""
        if not self.last.pins.startswith("1"):
            return
        theirs, ours = self.pair.exchange(RXFIFO | READ, 0)
        if not self.pair.compare("length", theirs.answer[1:], ours.answer[1:]):
            raise DifferError
        length = ours.answer[1]
        first = self.source.randrange(1, length + 1) if length else 0
        for begin, end in ((0, first), (first, length)):
            if begin == end:
                continue
            theirs, ours = self.pair.exchange(RXFIFO | READ, bytes(end - begin))
            read = [bytearray(seen.answer[1:]) for seen in (theirs, ours)]
            # The RSSI: MSPSim returns its register's, ours the frame's own.
            if begin <= length - 2 < end:
                read[0][length - 2 - begin] = read[1][length - 2 - begin]
            self.pair.compare("RXFIFO", *read)
            self.pair.compare("pins while reading", theirs.pins, ours.pins)
        self.last = ours

    def strobe(self) -> None:
        """Send a strobe; sending needs a frame, and acknowledging a receiver."""
        code = self.source.choice(STROBES)
        if code in (STXON, STXONCCA) and not self.is_loaded:
            code = SRXON
        if code in (SACK, SACKPEND) and self.last.state != SEARCHES:
            code = SNOP
        theirs, ours = self.pair.exchange(code)
        shown = [seen.answer[0] & STATUS for seen in (theirs, ours)]
        self.pair.compare("status", *shown)
        self.pair.compare("state after a strobe", theirs.state, ours.state)
        self.last = self.pair.settle()


def main() -> None:
    """Compare."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("mspsim", type=Path)
    options.add_argument("--sequences", type=int, default=1000)
    options.add_argument("--steps", type=int, default=30)
    options.add_argument("--seed", type=int, default=1)
    given = options.parse_args()
    pair = Pair(given.mspsim.resolve())
    source = random.Random(given.seed)
    for _ in range(given.sequences):
        Sequence(pair, source).run(given.steps)
    for what, count in sorted(pair.compared.items()):
        print(f"{what}: {count:,} compared, {pair.differing[what]} differ")
    print(f"{given.sequences} sequences, {sum(pair.compared.values()):,} comparisons")
    sys.exit(1 if pair.differing else 0)


if __name__ == "__main__":
    main()
