"""What survives a reboot, whenever power fails: the count of boots, and a floor of numbers."""

import random
from collections.abc import Iterator
from functools import cache

import pytest

from joulemark import project
from joulemark._engine import Chip, Image, Machine, Wiring
from joulemark.catalogue import boards, chips
from joulemark.images import build_program, memory

BOARDS = ["telosb", "openmote-cc2538", "sensortag-cc2650"]
PAGE_RECORDS, RECORD_BYTES = 32, 4
"""As in `kept.h`."""
BOOT_CYCLES = 10_000_000


@cache
def built(name: str, mote: int = 1) -> tuple[Chip, Image, Wiring]:
    board = boards.load_board(name)
    wiring = {"boots": f"boots/{board.core}", "ccm-star": "net/ccm-star/hardware"}
    define = {"TSCH_LEVEL": 5, "MOTE": mote}
    program = build_program("net/tsch-ping", board, wiring=wiring, define=define)
    return chips.load_chip(board.chip), Image.load(program.path), board.wiring


def pages(name: str) -> list[tuple[int, int]]:
    """Return address and size of the part of each page that is written."""
    start, page = {
        "telosb": (0x1000, 128),
        "openmote-cc2538": (0x27E800, 2048),
        "sensortag-cc2650": (0x1D000, 4096),
    }[name]
    size = PAGE_RECORDS * RECORD_BYTES
    return [(start, size), (start + page, size)]


class Mote:
    """A mote whose kept memory survives it."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.kept = [b"\xff" * size for _, size in pages(name)]

    def switch_on(self) -> Machine:
        """Run to where the boot is counted."""
        chip, image, wiring = built(self.name)
        made = Machine(chip, image, wiring=wiring)
        for (address, _), content in zip(pages(self.name), self.kept, strict=True):
            made.write_memory(address, content)
        stop = made.run(max_cycles=BOOT_CYCLES, until=image.symbols["boots_count"])
        assert stop.reason == "address", stop.fault and stop.fault.message
        return made

    def count(self, made: Machine) -> int:
        """Run on until it is counted, and return the result."""
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


def record(number: int) -> bytes:
    """Return a number as it is kept: with its complement."""
    return number.to_bytes(2, "little") + (number ^ 0xFFFF).to_bytes(2, "little")


def floored(floor: int) -> bytes:
    """Return a floor as it is kept: in two halves, each plus one."""
    return record((floor >> 15) + 1) + record((floor & 0x7FFF) + 1)


def full(name: str, count: int) -> Mote:
    """Return a mote after this many boots: its pages hold the last of its counts."""
    mote = Mote(name)
    erased = b"\xff" * RECORD_BYTES
    records = [[erased] * PAGE_RECORDS for _ in mote.kept]
    for number in range(count):
        page, at = divmod(number % (2 * PAGE_RECORDS), PAGE_RECORDS)
        if at == 0:
            records[page] = [erased] * PAGE_RECORDS
        records[page][at] = record(number + 1)
    mote.kept = [b"".join(page) for page in records]
    return mote


def cuts(mote: Mote) -> Iterator[list[bytes]]:
    """Yield what is kept if power fails at some time while a boot is counted."""
    made = mote.switch_on()
    begin = made.cycles
    assert mote.count(made) > 0
    length = made.cycles - begin
    made = mote.switch_on()
    for part in range(1, 9):
        # A core may stall while its flash changes, and be beyond this point already.
        made.run(max_cycles=max(begin + length * part // 9 - made.cycles, 0))
        yield mote.content(made)


def mixtures(mote: Mote) -> Iterator[list[bytes]]:
    """Yield the same with any subset of the changing bits changed."""
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
    """Whatever a power loss leaves, the next two counts are new, and few are skipped."""
    states = [*cuts(full(name, boots)), *mixtures(full(name, boots))]
    assert len({str(state) for state in states}) > 6
    for state in states:
        mote = full(name, boots)
        mote.kept = state
        first, second = mote.boot(), mote.boot()
        assert boots < first < second <= boots + 3


@pytest.mark.parametrize("name", BOARDS)
def test_a_count_that_cannot_be_kept_is_not_used(name: str) -> None:
    """Worn-out flash: what is written reads as 0."""
    mote = full(name, 3)
    mote.kept = [b"\x00" * len(page) for page in mote.kept]
    kept = 3 * RECORD_BYTES
    mote.kept[0] = full(name, 3).kept[0][:kept] + mote.kept[0][kept:]
    assert mote.boot() == 4  # in the other page, which can be erased
    mote.kept[0] = record(0xFFFE) + b"\xff" * (len(mote.kept[0]) - RECORD_BYTES)
    made = mote.switch_on()
    assert made.run(max_cycles=1_000_000).reason == "cycles"
    assert mote.content(made) == mote.kept


FLOOR_STEP = 0x1234567
"""A step that changes both halves of a floor."""


class Leaf(Mote):
    """A leaf that raises its floor when it boots."""

    def switch_on(self) -> Machine:
        """Run to where the floor begins to be raised."""
        chip, image, wiring = built(self.name, 2)
        made = Machine(chip, image, wiring=wiring)
        for (address, _), content in zip(pages(self.name), self.kept, strict=True):
            made.write_memory(address, content)
        # While it waits for its first slot its floor is known: call from here what it does next.
        stop = made.run(max_cycles=BOOT_CYCLES, until=image.symbols["radio_sleep_until"])
        assert stop.reason == "address", stop.fault and stop.fault.message
        self.floor = int.from_bytes(made.read_memory(image.resolve("floor_block"), 4), "little")
        self.raised = self.floor + FLOOR_STEP
        if "lr" in made.registers:
            made.set_register("r0", self.raised)
        else:
            made.set_register("r12", self.raised & 0xFFFF)
            made.set_register("r13", self.raised >> 16)
        made.set_register("pc", image.symbols["boots_raise_floor"])
        return made

    def count(self, made: Machine) -> int:
        super().count(made)
        return self.raised


def with_floors(name: str, floors: int) -> Leaf:
    """Return a leaf whose pages hold the last of its floors."""
    mote = Leaf(name)
    places = PAGE_RECORDS // 2
    erased = b"\xff" * 2 * RECORD_BYTES
    kept = [[erased] * places for _ in mote.kept]
    for number in range(floors):
        page, at = divmod(number % (2 * places), places)
        if at == 0:
            kept[page] = [erased] * places
        kept[page][at] = floored((number + 1) * FLOOR_STEP)
    mote.kept = [b"".join(page) for page in kept]
    return mote


@pytest.mark.parametrize("name", BOARDS)
@pytest.mark.parametrize("floors", [3, PAGE_RECORDS], ids=str)
def test_no_floor_is_lost_whenever_the_supply_goes(name: str, floors: int) -> None:
    """A power loss leaves the previous floor or the next one, and it can be raised further."""
    states = list((cuts if floors == 3 else mixtures)(with_floors(name, floors)))
    assert len({str(state) for state in states}) > 1
    for state in states:
        mote = with_floors(name, floors)
        mote.kept = state
        first, second = mote.boot(), mote.boot()
        assert first in {(floors + 1) * FLOOR_STEP, (floors + 2) * FLOOR_STEP}
        assert second == first + FLOOR_STEP


@pytest.mark.parametrize("name", BOARDS)
@pytest.mark.parametrize(
    ("kept", "floor"),
    [
        (b"", 0),
        (floored(0x2BCDEF01), 0x2BCDEF01),
        (floored(0x7FFF) + floored(0x8000), 0x8000),
        (floored(0x8000) + floored(0x10000)[:4], 0x8000),
        (floored(0x8000) + floored(0x10000)[:6] + bytes(2), 0x8000),
    ],
    ids=["erased", "one", "two", "half", "cut"],
)
def test_a_leaf_begins_with_the_floor_that_was_kept(name: str, kept: bytes, floor: int) -> None:
    """All 30 bits of it, from the highest floor that is whole."""
    chip, image, wiring = built(name, 2)
    made = Machine(chip, image, wiring=wiring)
    (address, size), _ = pages(name)
    made.write_memory(address, kept + b"\xff" * (size - len(kept)))
    at = image.resolve("floor_block")
    # It has been read by the time that the first slot is waited for.
    stop = made.run(max_cycles=BOOT_CYCLES, until=image.symbols["radio_sleep_until"])
    assert stop.reason == "address", stop.fault and stop.fault.message
    assert int.from_bytes(made.read_memory(at, 4), "little") == floor


@pytest.mark.parametrize("column", range(3), ids=BOARDS)
def test_a_floor_costs_what_the_page_says(column: int) -> None:
    name = BOARDS[column]
    board = boards.load_board(name)
    bare, kept = (
        build_program(
            "net/tsch-ping",
            board,
            wiring={"boots": f"boots/{boots}", "ccm-star": "net/ccm-star/hardware"},
            define={"TSCH_LEVEL": 5, "MOTE": 2},
        )
        for boots in ("none", board.core)
    )
    price = memory.difference(kept, bare)
    raising_ms = []
    for floors in (3, PAGE_RECORDS // 2):
        mote = with_floors(name, floors)
        made = mote.switch_on()
        begun_ps = made.time_ps
        mote.count(made)
        raising_ms.append(f"{(made.time_ps - begun_ps) / 1e9:.2f}")
    table = (project.ROOT / "docs/slots.md").read_text().partition("A floor costs a leaf")[2]
    rows = [line.split("|")[2:-1] for line in table.splitlines()[4:8]]
    said = [row[column].strip() for row in rows]
    assert said == [f"{price.flash_bytes}", f"{price.ram_bytes}", *raising_ms]
