"""Differential fuzzing of fields in assembly, on the emulated chips, against Python's integers.

`PYTHONPATH=tests/support python tests/primitives/field_fuzz.py --seconds 3600 --seed 7` draws
operands at which carries change: near 0, the prime and the end of the words, and with long runs of
equal bits. Any difference ends it with the operands.
"""

import argparse
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from emulated import ARM, BOARD, DSP, PICO, PICO_2
from joulemark._engine import Image, Machine
from joulemark.catalogue.boards import Board
from joulemark.catalogue.chips import load_chip
from joulemark.images.targets import board_target
from joulemark.project import FIRMWARE
from joulemark.reference.curves import P256, SECP160R1, SECP256K1

CASES = 24
"""Per run of the program on the chip."""
BUDGET_CYCLES = 20_000_000
FOLDER = FIRMWARE / "primitives" / "field"
MONTGOMERY = {curve.name: curve.p for curve in (P256, SECP160R1, SECP256K1)}
PRIMES = {"p25519": 2**255 - 19, **MONTGOMERY}
BOARDS = {"msp430": BOARD, "armv7m": ARM, "armv7em": DSP, "armv6m": PICO, "riscv": PICO_2}
POLYNOMIAL_BYTES = {"msp430": 2, "armv7m": 32}
"""Length of the factors of one product of gf2-233."""
STEPS = ("armv6m", "riscv")
"""Cores with a step of X25519's ladder in assembly."""
FIELDS = sorted(
    tuple(path.stem.rsplit("-", 1))
    for path in FOLDER.glob("*-*.S")
    if path.with_suffix(".h").exists() and path.stem.rsplit("-", 1)[0] in PRIMES
)


def build(folder: Path, board: Board, header: Path, program: str = "fields.c") -> Image:
    """Build the test's program on the board's start-up code, without the harness."""
    target = board_target(board, None, "clang" if board is BOARD else "gcc")
    for name, text in target.headers.items():
        (folder / name).write_text(text)
    (folder / "linker.ld").write_text(target.linker_script)
    (folder / "description.ld").write_text("")
    includes = [f"-I{path}" for path in (*target.include_folders, folder, FOLDER.parent)]
    start = [s for s in target.sources if s.suffix == ".S" or s.stem in {"start", "memory"}]
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
    """Draw an element, often near 0, the prime or the end of its words, or with long bit runs."""
    near = source.choice([0, prime, 2 * prime, 1 << bits])
    value = near + source.randrange(-3, 4) + source.choice([0, 0, 1 << 32, -(1 << 32)])
    run = 1 << source.randrange(bits)
    runs = [run, -run, run - 1, source.getrandbits(bits) & -run, source.getrandbits(bits) | run - 1]
    return source.choice([value, *runs, source.getrandbits(bits)]) % (1 << bits)


def run(board: Board, image: Image, operands: bytes, size: int) -> bytes:
    """Return what the program makes of its operands."""
    machine = Machine(load_chip(board.chip), image)
    assert machine.run(until=image.symbols["main"], max_cycles=BUDGET_CYCLES).reason == "address"
    machine.write_memory(image.symbols["operands"], operands)
    stop = machine.run(until=image.symbols["done"], max_cycles=BUDGET_CYCLES)
    assert stop.reason == "address", stop.fault
    return machine.read_memory(image.symbols["results"], size)


class Fuzzed:
    """A field in assembly, in its program on a chip."""

    operations = "multiply, square, add, subtract"

    def __init__(self, name: str, core: str, folder: Path) -> None:
        self.name = f"{name}-{core}"
        self._board, self._prime = BOARDS[core], PRIMES[name]
        self._length = (self._prime.bit_length() + 7) // 8
        # In Montgomery form, a product has a factor of 1 / R.
        self._scale = pow(1 << 8 * self._length, -1, self._prime) if name in MONTGOMERY else 1
        self._image = build(folder, self._board, FOLDER / f"{name}-{core}.h")

    def round(self, source: random.Random) -> None:
        """Try CASES pairs of operands.

        Raises:
            AssertionError: something differs; it holds the operands.
        """
        prime, length = self._prime, self._length
        cases = [[element(source, prime, 8 * length) for _ in range(2)] for _ in range(CASES)]
        data = b"".join(value.to_bytes(length, "little") for case in cases for value in case)
        memory = run(self._board, self._image, data, 4 * length * CASES)
        got = [
            int.from_bytes(memory[i : i + length], "little") for i in range(0, len(memory), length)
        ]
        for number, (a, b) in enumerate(cases):
            wanted = [a * b * self._scale, a * a * self._scale, a + b, a - b]
            found = [value % prime for value in got[4 * number : 4 * number + 4]]
            assert found == [value % prime for value in wanted], (self.name, hex(a), hex(b))


class FuzzedPolynomials:
    """Products of binary polynomials in assembly, which gf2-233 is built from."""

    operations = "multiply"

    def __init__(self, core: str, folder: Path) -> None:
        self.name = f"gf2-233-{core}"
        self._board, self._length = BOARDS[core], POLYNOMIAL_BYTES[core]
        header = FOLDER / f"{self.name}.h"
        self._image = build(folder, self._board, header, "polynomials.c")

    def round(self, source: random.Random) -> None:
        """Try CASES pairs of operands.

        Raises:
            AssertionError: something differs; it holds the operands.
        """
        length = self._length
        ones = (1 << 8 * length) - 1
        cases = [[element(source, ones, 8 * length) for _ in range(2)] for _ in range(CASES - 3)]
        # With all ones, most products meet in a bit.
        cases += [[ones, ones], [ones, ones - 1], [ones >> 1, ones]]
        data = b"".join(value.to_bytes(length, "little") for case in cases for value in case)
        memory = run(self._board, self._image, data, 2 * length * CASES)
        for at, (a, b) in enumerate(cases):
            wanted = 0
            for bit in range(8 * length):
                wanted ^= a << bit if b >> bit & 1 else 0
            found = memory[2 * length * at : 2 * length * (at + 1)]
            assert int.from_bytes(found, "little") == wanted, (self.name, hex(a), hex(b))


class FuzzedInversion:
    """Inverses by division steps in assembly."""

    operations = "inverses modulo the prime and the order"

    def __init__(self, core: str, folder: Path) -> None:
        self.name = f"p256-{core}"
        self._board = BOARDS[core]
        self._image = build(folder, self._board, FOLDER / f"{self.name}.h", "inversion.c")

    def round(self, source: random.Random) -> None:
        """Try CASES numbers.

        Raises:
            AssertionError: something differs; it holds the number.
        """
        cases = [element(source, P256.p, 256) for _ in range(CASES)]
        data = b"".join(value.to_bytes(32, "little") for value in cases)
        memory = run(self._board, self._image, data, 2 * 32 * CASES)
        for number, value in enumerate(cases):
            for at, modulus in enumerate((P256.p, P256.order)):
                start = 32 * (2 * number + at)
                found = int.from_bytes(memory[start : start + 32], "little")
                # In Montgomery form: the representation of a / R becomes R^2 / a.
                wanted = pow(value, -1, modulus) << 512 if value % modulus else 0
                assert found == wanted % modulus, (self.name, hex(value), hex(modulus))


def sum_of(z: int, u: int, s: int, h: int, r: int) -> list[int]:
    """Return the result of an addition, as by `point_sum` of curve/weierstrass.h."""
    x = r * r - h**3 - 2 * u * h * h
    return [x, r * (u * h * h - x) - s * h**3, z * h]


class FuzzedPoints:
    """P-256's points in assembly: the formulas hold for any elements, on the curve or not."""

    operations = "points doubled and added"

    def __init__(self, core: str, folder: Path) -> None:
        self.name = f"p256-{core}"
        self._board, self._prime = BOARDS[core], PRIMES["p256"]
        self._image = build(folder, self._board, FOLDER / f"{self.name}.h", "points.c")

    def _element(self, source: random.Random) -> int:
        """Draw an element, often 1 in Montgomery form, so that a product is the other factor."""
        one = (1 << 256) % self._prime
        return source.choice([one, *(element(source, self._prime, 256) for _ in range(3))])

    def round(self, source: random.Random) -> None:
        """Try CASES pairs of points.

        Raises:
            AssertionError: something differs; it holds the operands.
        """
        prime = self._prime
        cases = [[self._element(source) for _ in range(8)] for _ in range(CASES)]
        for case in cases[:4]:
            # z = 0, and an x^2 at which carries change, for the half of elements that are squares.
            square = element(source, prime, 256) << 256
            case[0], case[2] = pow(square, (prime + 1) // 4, prime), 0
        data = b"".join(value.to_bytes(32, "little") for case in cases for value in case)
        memory = run(self._board, self._image, data, 9 * 32 * CASES)
        scale, half = pow(1 << 256, -1, prime), pow(2, -1, prime)
        for number, case in enumerate(cases):
            x, y, z, x2, y2, z2, zz2, zzz2 = (value * scale % prime for value in case)
            alpha, beta, gamma = 3 * (x - z * z) * (x + z * z) * half % prime, x * y * y, y * y
            twice = alpha**2 - 2 * beta
            wanted = [twice, alpha * (beta - twice) - gamma**2, y * z]
            for z_product, u, s in ((z * z2, x * zz2, y * zzz2), (z, x, y)):
                wanted += sum_of(z_product, u, s, x2 * z * z - u, y2 * z**3 - s)
            at = 9 * 32 * number
            got = [memory[i : i + 32] for i in range(at, at + 9 * 32, 32)]
            found = [int.from_bytes(value, "little") * scale % prime for value in got]
            assert found == [value % prime for value in wanted], (self.name, *map(hex, case))


def doubled_and_added(points: list[int], base: int) -> list[int]:
    """Return x and z of the double of the first point and of the sum, by RFC 7748 (section 5)."""
    x, z, x3, z3 = points
    a, b, c, d = x + z, x - z, x3 + z3, x3 - z3
    e = a * a - b * b
    twice = [a * a * b * b, e * (a * a + 121665 * e)]
    return [*twice, (d * a + c * b) ** 2, base * (d * a - c * b) ** 2]


class FuzzedStep:
    """A step of X25519's ladder in assembly, and inversion."""

    operations = "step of the ladder, inverse"

    def __init__(self, core: str, folder: Path) -> None:
        self.name = f"p25519-{core}"
        self._board = BOARDS[core]
        self._image = build(folder, self._board, FOLDER / f"{self.name}.h", "steps.c")

    def round(self, source: random.Random) -> None:
        """Try CASES pairs of points.

        Raises:
            AssertionError: something differs; it holds the operands.
        """
        prime = PRIMES["p25519"]
        # As large as elements are between steps.
        end = 2**255 + 2**135
        cases = [[element(source, prime, 256) % end for _ in range(5)] for _ in range(CASES)]
        swaps = [source.choice([0, 2**32 - 1]) for _ in cases]
        data = b"".join(
            value.to_bytes(32, "little")
            for case, swap in zip(cases, swaps, strict=True)
            for value in (*case, swap)
        )
        memory = run(self._board, self._image, data, 5 * 32 * CASES)
        for number, (case, swap) in enumerate(zip(cases, swaps, strict=True)):
            points = [*case[2:4], *case[:2]] if swap else case[:4]
            wanted = [*doubled_and_added(points, case[4])]
            wanted.append(pow(case[0], -1, prime) if case[0] % prime else 0)
            at = 5 * 32 * number
            got = [memory[i : i + 32] for i in range(at, at + 5 * 32, 32)]
            found = [int.from_bytes(value, "little") % prime for value in got]
            assert found == [value % prime for value in wanted], (self.name, swap, *map(hex, case))


class FuzzedLadder:
    """X25519's ladder in assembly, beside RFC 7748's own."""

    operations = "ladder"

    def __init__(self, core: str, folder: Path) -> None:
        self.name = f"p25519-{core}"
        self._board = BOARDS[core]
        self._image = build(folder, self._board, FOLDER / f"{self.name}.h", "ladder.c")

    def round(self, source: random.Random) -> None:
        """Try CASES points and scalars.

        Raises:
            AssertionError: something differs; it holds the operands.
        """
        prime = PRIMES["p25519"]
        cases = [
            (element(source, prime, 255), element(source, prime, 255) & -2) for _ in range(CASES)
        ]
        data = b"".join(value.to_bytes(32, "little") for case in cases for value in case)
        memory = run(self._board, self._image, data, 2 * 32 * CASES)
        for number, (base, scalar) in enumerate(cases):
            x, z, x3, z3 = 1, 0, base, 1
            for bit in range(254, -1, -1):
                if scalar >> bit & 1:
                    x, z, x3, z3 = x3, z3, x, z
                sums = doubled_and_added([x, z, x3, z3], base)
                x, z, x3, z3 = (value % prime for value in sums)
                if scalar >> bit & 1:
                    x, z, x3, z3 = x3, z3, x, z
            at = 2 * 32 * number
            found = [int.from_bytes(memory[i : i + 32], "little") for i in (at, at + 32)]
            assert [value % prime for value in found] == [x, z], (hex(base), hex(scalar))


def fuzz(seconds: float, seed: int) -> Counter[str]:
    """Try all in turn until the time is over.

    Args:
        seconds: of CPU time.
        seed: of the operands.

    Returns:
        How many pairs of operands each was tried on.

    Raises:
        AssertionError: something differs; it holds the operands.
    """
    source, tried = random.Random(seed), Counter[str]()
    with tempfile.TemporaryDirectory() as place:
        fields: list[
            Fuzzed | FuzzedPolynomials | FuzzedInversion | FuzzedPoints | FuzzedLadder | FuzzedStep
        ] = []

        def folder(name: str) -> Path:
            made = Path(place, name)
            made.mkdir()
            return made

        for name, core in FIELDS:
            fields.append(Fuzzed(name, core, folder(f"{name}-{core}")))
        for core in POLYNOMIAL_BYTES:
            fields.append(FuzzedPolynomials(core, folder(f"polynomials-{core}")))
        fields.append(FuzzedInversion("armv7em", folder("inversion")))
        fields.append(FuzzedPoints("armv7em", folder("points")))
        fields.append(FuzzedLadder("armv7em", folder("ladder")))
        for core in STEPS:
            fields.append(FuzzedStep(core, folder(f"step-{core}")))
        until = time.process_time() + seconds
        while time.process_time() < until:
            for field in fields:
                field.round(source)
                tried[f"{field.name}: {field.operations}"] += CASES
    return tried


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=60, help="of processor time")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    for what, count in sorted(fuzz(given.seconds, given.seed).items()):
        sys.stdout.write(f"{count:9,}  {what}\n")
