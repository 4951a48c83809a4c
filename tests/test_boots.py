"""The count of boots: it goes on over restarts, whenever the supply goes."""

import random
from collections.abc import Iterator
from functools import cache

import pytest

from joulemark._engine import Chip, Image, Machine, Wiring
from joulemark.catalogue import boards
from joulemark.images import build_program

BOARDS = ["telosb", "openmote-cc2538", "sensortag-cc2650"]
PAGE_RECORDS = 32
"""Of `kept.h`."""
BOOT_CYCLES = 10_000_000


@cache
def built(name: str) -> tuple[Chip, Image, Wiring]:
    board = boards.load_board(name)
    wiring = {"boots": f"boots/{board.core}", "ccm-star": "net/ccm-star/hardware"}
    program = build_program("net/tsch-ping", board, wiring=wiring, define={"TSCH_LEVEL": 5})
    return boards.load_chip(board.chip), Image.load(program.path), board.wiring


def pages(name: str) -> list[tuple[int, int]]:
    """Address and size of what is written of each page."""
    start, page = {
        "telosb": (0x1000, 128),
        "openmote-cc2538": (0x27E800, 2048),
        "sensortag-cc2650": (0x1D000, 4096),
    }[name]
    return [(start, 4 * PAGE_RECORDS), (start + page, 4 * PAGE_RECORDS)]


class Mote:
    """A mote whose kept memory outlives it."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.kept = [b"\xff" * size for _, size in pages(name)]

    def switch_on(self) -> Machine:
        """Run to where the boot is counted."""
        chip, image, wiring = built(self.name)
        made = Machine(chip, image, wiring=wiring)
        for (address, _), content in zip(pages(self.name), self.kept, strict=True):
            made.write_memory(address, content)
        stop = made.run(max_cycles=BOOT_CYCLES, until=image.symbols["boots_count_again"])
        assert stop.reason == "address", stop.fault and stop.fault.message
        return made

    def count(self, made: Machine) -> int:
        """Run to where it is counted: the result."""
        registers = made.registers
        if "lr" in registers:
            back, result = registers["lr"] & ~1, "r0"
        else:
            back = int.from_bytes(made.read_memory(registers["sp"], 2), "little")
            result = "r12"
        stop = made.run(max_cycles=BOOT_CYCLES, until=back)
        assert stop.reason == "address", stop.fault and stop.fault.message
        return made.registers[result]

    def content(self, made: Machine) -> list[bytes]:
        return [made.read_memory(*page) for page in pages(self.name)]

    def boot(self) -> int:
        made = self.switch_on()
        count = self.count(made)
        self.kept = self.content(made)
        return count


@pytest.mark.parametrize("name", BOARDS)
def test_boots_are_counted_through_both_pages(name: str) -> None:
    mote = Mote(name)
    counts = [mote.boot() for _ in range(2 * PAGE_RECORDS + 3)]
    assert counts == list(range(1, len(counts) + 1))


def full(name: str, count: int) -> Mote:
    """A mote that has booted so often: its pages hold the last of its counts."""
    mote = Mote(name)
    records: list[list[bytes]] = [[b"\xff" * 4] * PAGE_RECORDS for _ in mote.kept]
    for number in range(count):
        page, at = divmod(number % (2 * PAGE_RECORDS), PAGE_RECORDS)
        if at == 0:
            records[page] = [b"\xff" * 4] * PAGE_RECORDS
        one = number + 1
        records[page][at] = one.to_bytes(2, "little") + (one ^ 0xFFFF).to_bytes(2, "little")
    mote.kept = [b"".join(page) for page in records]
    return mote


def cuts(mote: Mote) -> Iterator[list[bytes]]:
    """What is kept where the supply goes at some time while a boot is counted."""
    made = mote.switch_on()
    begin = made.cycles
    assert mote.count(made) > 0
    length = made.cycles - begin
    made = mote.switch_on()
    for part in range(1, 9):
        # A core may stand still while its flash changes, and be beyond this already.
        made.run(max_cycles=max(begin + length * part // 9 - made.cycles, 0))
        yield mote.content(made)


def mixtures(mote: Mote) -> Iterator[list[bytes]]:
    """The same where any of the bits that change have changed."""
    made = mote.switch_on()
    mote.count(made)
    after = mote.content(made)
    drawn = random.Random(2026)
    for _ in range(6):
        share = drawn.random()
        yield [
            bytes(
                b ^ (b ^ a) & sum((drawn.random() < share) << bit for bit in range(8))
                for b, a in zip(*page, strict=True)
            )
            for page in zip(mote.kept, after, strict=True)
        ]


@pytest.mark.parametrize("boots", [5, 2 * PAGE_RECORDS], ids=str)
@pytest.mark.parametrize("name", BOARDS)
def test_no_count_comes_twice_whenever_the_supply_goes(name: str, boots: int) -> None:
    """Whatever a cut leaves, the next count is new, as is the one after; few are left out."""
    states = [*cuts(full(name, boots)), *mixtures(full(name, boots))]
    assert len({str(state) for state in states}) > 6
    for state in states:
        mote = full(name, boots)
        mote.kept = state
        first, second = mote.boot(), mote.boot()
        assert boots < first < second <= boots + 3


@pytest.mark.parametrize("name", BOARDS)
def test_a_count_that_cannot_be_kept_is_not_used(name: str) -> None:
    """Worn out: what is written reads as 0."""
    mote = full(name, 3)
    mote.kept = [b"\x00" * len(page) for page in mote.kept]
    keep = full(name, 3).kept[0][:12]
    mote.kept[0] = keep + mote.kept[0][12:]
    assert mote.boot() == 4  # in the other page, which can be erased
    last = (0xFFFE).to_bytes(2, "little") + (1).to_bytes(2, "little")
    mote.kept[0] = last + b"\xff" * (len(mote.kept[0]) - 4)
    made = mote.switch_on()
    assert made.run(max_cycles=1_000_000).reason == "cycles"
    assert mote.content(made) == mote.kept
