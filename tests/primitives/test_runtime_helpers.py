"""The runtime helpers on the emulated chip, called as the compiler calls them."""

import random
import struct
import subprocess
from pathlib import Path

import pytest

from joulemark._engine import Image, Machine
from joulemark.catalogue import boards, chips
from joulemark.errors import ToolError
from joulemark.images.targets import board_target
from joulemark.project import FIRMWARE

CASES = 64
BUDGET_CYCLES = 100_000_000
RESULTS = struct.Struct("<5H5I3I5Q3Q")
HELPERS = [
    *(f"__mspabi_{name}" for name in ("mpyi_hw", "mpyl_hw", "mpyll_hw", "slll", "srll", "sral")),
    *(f"__mspabi_{kind}{size}" for kind in ("div", "rem") for size in ("u", "i", "ul", "li")),
    *(f"__mspabi_{kind}{size}" for kind in ("div", "rem") for size in ("ull", "lli")),
    *("memcpy", "memset", "memmove", "memcmp"),
]
KEPT = [f"r{number}" for number in range(4, 11)]


def build(folder: Path, compiler: str, optimisation: str, *, whole: bool = False) -> Image:
    """Build the test's program on the board's start-up code and runtime, without the harness."""
    try:
        target = board_target(boards.load_board("telosb"), None, compiler)
    except ToolError as error:
        pytest.skip(str(error))
    for name, text in target.headers.items():
        (folder / name).write_text(text)
    (folder / "linker.ld").write_text(target.linker_script)
    (folder / "description.ld").write_text("")
    includes = [f"-I{path}" for path in (*target.include_folders, FIRMWARE / "hal", folder)]
    program = Path(__file__).with_name("runtime_helpers.c")
    sources = [program, *(s for s in target.sources if s.name != "hal.c")]
    objects = []
    for source in sources:
        flags = [*target.flags, f"-{optimisation}", "-std=c11", "-ffunction-sections"]
        output = f"{source.name}.o"
        command = [target.compiler.path, *flags, *includes, "-c", str(source), "-o", output]
        subprocess.run(command, check=True, cwd=folder)
        objects.append(output)
    link = [flag for flag in target.link if not (whole and flag == "--gc-sections")]
    subprocess.run([*link, *objects, "-o", "image.elf", *target.link_end], check=True, cwd=folder)
    return Image.load(folder / "image.elf")


def start(image: Image) -> Machine:
    machine = Machine(chips.load_chip("msp430f1611"), image)
    stop = machine.run(until=image.symbols["main"], max_cycles=BUDGET_CYCLES)
    assert stop.reason == "address"
    return machine


def signed(value: int, bits: int) -> int:
    return value - (1 << bits) if value >> (bits - 1) else value


def expected(a: int, b: int) -> tuple[int, ...]:
    """Return what C defines for the operations in runtime_helpers.c."""
    arithmetic = {}
    shifts = {}
    for bits in (16, 32, 64):
        mask = (1 << bits) - 1
        x, y = a & mask, b & mask
        row = [x * y & mask, 0, 0, 0, 0]
        if y:
            row[1:3] = [x // y, x % y]
            p, q = signed(x, bits), signed(y, bits)
            if (x, y) != (1 << (bits - 1), mask):
                quotient = abs(p) // abs(q) * (1 if (p < 0) == (q < 0) else -1)
                row[3:5] = [quotient & mask, p - quotient * q & mask]
        arithmetic[bits] = row
        count = b & (bits - 1)
        shifts[bits] = [x << count & mask, x >> count, signed(x, bits) >> count & mask]
    return (
        *arithmetic[16],
        *arithmetic[32],
        *shifts[32],
        *arithmetic[64],
        *shifts[64],
    )


def operand(source: random.Random) -> int:
    """Draw operands of all lengths, signs and edges."""
    value = source.getrandbits(source.choice([1, 8, 15, 16, 17, 31, 32, 33, 48, 63, 64]))
    edge = 1 << source.randrange(64)
    return source.choice([value, -value, edge, edge - 1, -edge, value << 32, 0]) % (1 << 64)


@pytest.mark.parametrize("optimisation", ["O3", "O2", "Os"])
@pytest.mark.parametrize("compiler", ["clang", "gcc"])
def test_results(tmp_path: Path, compiler: str, optimisation: str) -> None:
    image = build(tmp_path, compiler, optimisation)
    source = random.Random(f"{compiler} {optimisation}")
    for _ in range(12):
        machine = start(image)
        cases = [(operand(source), operand(source)) for _ in range(CASES)]
        data = b"".join(struct.pack("<QQ", a, b) for a, b in cases)
        machine.write_memory(image.symbols["operands"], data)
        stop = machine.run(until=image.symbols["done"], max_cycles=BUDGET_CYCLES)
        assert stop.reason == "address", stop.fault
        memory = machine.read_memory(image.symbols["results"], RESULTS.size * CASES)
        for (a, b), got in zip(cases, RESULTS.iter_unpack(memory), strict=True):
            assert got == expected(a, b), (hex(a), hex(b))


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Image:
    return build(tmp_path_factory.mktemp("whole"), "clang", "O2", whole=True)


@pytest.mark.parametrize("helper", HELPERS)
def test_what_a_caller_keeps_is_kept(whole: Image, helper: str) -> None:
    """No helper changes r4 to r10, its stack, or what its caller has there."""
    machine = start(whole)
    source = random.Random(helper)
    back = whole.symbols["done"]
    stack = 0x3800
    caller = source.randbytes(32)
    for _ in range(50):
        values = {name: source.getrandbits(16) for name in [*KEPT, "r11", "r12", "r13", "r15"]}
        values["r14"] = source.randrange(1, 32)
        if helper.startswith("mem"):
            values |= {"r12": 0x3000 + source.randrange(64), "r13": 0x3200 + source.randrange(64)}
        for name, value in values.items():
            machine.set_register(name, value)
        machine.write_memory(stack, back.to_bytes(2, "little") + caller)
        machine.set_register("sp", stack)
        machine.set_register("pc", whole.symbols[helper])
        assert machine.run(until=back, max_cycles=BUDGET_CYCLES).reason == "address"
        registers = machine.registers
        assert {name: registers[name] for name in KEPT} == {name: values[name] for name in KEPT}
        assert registers["sp"] == stack + 2
        assert machine.read_memory(stack + 2, len(caller)) == caller


@pytest.mark.parametrize("helper", ["memcpy", "memmove", "memset", "memcmp"])
def test_memory_functions(whole: Image, helper: str) -> None:
    """Any alignment, any length; memmove with any overlap. Nothing else changes."""
    machine = start(whole)
    source = random.Random(helper)
    base, size, back = 0x3000, 0x300, whole.symbols["done"]
    for _ in range(300):
        before = source.randbytes(size)
        machine.write_memory(base, before)
        length = source.choice([0, 1, 2, 7, 8, 9, source.randrange(100)])
        to = source.randrange(200)
        near = helper == "memmove"
        frm = source.randrange(200) if near else 400 + source.randrange(200)
        if helper == "memcmp" and source.randrange(2):
            before = before[:frm] + before[to : to + length] + before[frm + length :]
            machine.write_memory(base, before)
        value = source.randrange(256)
        arguments = {"r12": base + to, "r13": base + frm, "r14": length}
        if helper == "memset":
            arguments["r13"] = value
        for name, argument in arguments.items():
            machine.set_register(name, argument)
        machine.write_memory(0x3800, back.to_bytes(2, "little"))
        machine.set_register("sp", 0x3800)
        machine.set_register("pc", whole.symbols[helper])
        assert machine.run(until=back, max_cycles=BUDGET_CYCLES).reason == "address"
        after = machine.read_memory(base, size)
        result = machine.registers["r12"]
        if helper == "memcmp":
            left, right = before[to : to + length], before[frm : frm + length]
            assert after == before
            assert (signed(result, 16) > 0, result == 0) == (left > right, left == right)
        else:
            data = bytes([value]) * length if helper == "memset" else before[frm : frm + length]
            assert after == before[:to] + data + before[to + length :]
            assert result == base + to
