"""Fields in assembly on the emulated chips, on operands at which carries turn."""

import random
import subprocess
from pathlib import Path

import pytest

from emulated import ARM, BOARD
from joulemark._engine import Image, Machine
from joulemark.catalogue.boards import Board, load_chip
from joulemark.curves import P256, SECP160R1, SECP256K1
from joulemark.images.targets import board_target
from joulemark.project import FIRMWARE

CASES = 24
ROUNDS = 16
BUDGET_CYCLES = 20_000_000
FOLDER = FIRMWARE / "primitives" / "field"
MONTGOMERY = {curve.name: curve.p for curve in (P256, SECP160R1, SECP256K1)}
PRIMES = {"p25519": 2**255 - 19, **MONTGOMERY}
BOARDS = {"msp430": BOARD, "armv7m": ARM}
FIELDS = sorted(
    tuple(path.stem.rsplit("-", 1))
    for path in FOLDER.glob("*-*.S")
    if path.with_suffix(".h").exists() and path.stem.rsplit("-", 1)[0] in PRIMES
)


def build(folder: Path, board: Board, header: Path, program: str = "fields.c") -> Image:
    """The test's program on the board's start-up code, without the harness."""
    target = board_target(board, None, "clang" if board is BOARD else "gcc")
    for name, text in target.headers.items():
        (folder / name).write_text(text)
    (folder / "linker.ld").write_text(target.linker_script)
    (folder / "description.ld").write_text("")
    includes = [f"-I{path}" for path in (*target.include_folders, folder, FOLDER.parent)]
    start = [s for s in target.sources if s.suffix == ".S" or "start" in s.name]
    objects = []
    for source in (Path(__file__).with_name(program), header.with_suffix(".S"), *start):
        flags = [*target.flags, "-O2", "-std=c11", f'-DFIELD_HEADER="{header.name}"']
        flags.append(f"-DFIELD={header.stem.rpartition('-')[0]}")
        output = f"{source.name}.o"
        command = [target.compiler.path, *flags, f"-I{FOLDER}", *includes, "-c", str(source)]
        subprocess.run([*command, "-o", output], check=True, cwd=folder)
        objects.append(output)
    link = [*target.link, *objects, "-o", "image.elf", *target.link_end]
    subprocess.run(link, check=True, cwd=folder)
    return Image.load(folder / "image.elf")


def element(source: random.Random, prime: int, bits: int) -> int:
    """An element, often beside 0, the prime or the end of its words, or of long runs of bits."""
    near = source.choice([0, prime, 2 * prime, 1 << bits])
    value = near + source.randrange(-3, 4) + source.choice([0, 0, 1 << 32, -(1 << 32)])
    run = 1 << source.randrange(bits)
    runs = [run, -run, run - 1, source.getrandbits(bits) & -run, source.getrandbits(bits) | run - 1]
    return source.choice([value, *runs, source.getrandbits(bits)]) % (1 << bits)


def run(board: Board, image: Image, operands: bytes, size: int) -> bytes:
    """What the program makes of its operands."""
    machine = Machine(load_chip(board.chip), image)
    assert machine.run(until=image.symbols["main"], max_cycles=BUDGET_CYCLES).reason == "address"
    machine.write_memory(image.symbols["operands"], operands)
    stop = machine.run(until=image.symbols["done"], max_cycles=BUDGET_CYCLES)
    assert stop.reason == "address", stop.fault
    return machine.read_memory(image.symbols["results"], size)


@pytest.mark.parametrize(("name", "core"), FIELDS)
def test_results(tmp_path: Path, name: str, core: str) -> None:
    board, prime = BOARDS[core], PRIMES[name]
    length = (prime.bit_length() + 7) // 8
    scale = pow(1 << 8 * length, -1, prime) if name in MONTGOMERY else 1
    image = build(tmp_path, board, FOLDER / f"{name}-{core}.h")
    source = random.Random(name)
    for _ in range(ROUNDS):
        cases = [[element(source, prime, 8 * length) for _ in range(2)] for _ in range(CASES)]
        data = b"".join(value.to_bytes(length, "little") for case in cases for value in case)
        memory = run(board, image, data, 4 * length * CASES)
        got = [
            int.from_bytes(memory[i : i + length], "little") for i in range(0, len(memory), length)
        ]
        for number, (a, b) in enumerate(cases):
            wanted = [a * b * scale, a * a * scale, a + b, a - b]
            found = [value % prime for value in got[4 * number : 4 * number + 4]]
            assert found == [value % prime for value in wanted], (hex(a), hex(b))


@pytest.mark.parametrize(("core", "length"), [("msp430", 2), ("armv7m", 32)])
def test_products_of_polynomials(tmp_path: Path, core: str, length: int) -> None:
    """All ones are where most products meet in a bit."""
    board = BOARDS[core]
    image = build(tmp_path, board, FOLDER / f"gf2-233-{core}.h", "polynomials.c")
    source, ones = random.Random(core), (1 << 8 * length) - 1
    for number in range(ROUNDS):
        cases = [[element(source, ones, 8 * length) for _ in range(2)] for _ in range(CASES)]
        if number == 0:
            cases[:3] = [[ones, ones], [ones, ones - 1], [ones >> 1, ones]]
        data = b"".join(value.to_bytes(length, "little") for case in cases for value in case)
        memory = run(board, image, data, 2 * length * CASES)
        for at, (a, b) in enumerate(cases):
            wanted = 0
            for bit in range(8 * length):
                wanted ^= a << bit if b >> bit & 1 else 0
            found = memory[2 * length * at : 2 * length * (at + 1)]
            assert int.from_bytes(found, "little") == wanted, (hex(a), hex(b))


def test_all_are_tried() -> None:
    assert {("secp256k1", "armv7m"), ("p25519", "msp430")} <= set(FIELDS)
