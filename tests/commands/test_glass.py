"""Views of a program: its serial line, semihosting, VCD, current over time, a debugger."""

import contextlib
import csv
import json
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import sync_playwright

from command import joulemark
from joulemark.catalogue import boards, chips
from joulemark.catalogue.primitives import Library
from joulemark.images import build_image
from joulemark.images.toolchain import find
from joulemark.meters.model import ModelMeter

CHIPS = {
    "msp430f1611": "telosb",
    "cc2650": "sensortag-cc2650",
    "cc2538": "openmote-cc2538",
    "stm32f100rb": "stm32vldiscovery",
    "cc2652r": "launchxl-cc26x2r1",
}


@pytest.fixture(scope="module")
def images() -> dict[str, str]:
    """An image for each chip."""
    library = Library.load()
    way = library.implementation(library["xtea"], "ref")
    return {
        chip: str(build_image(way, boards.load_board(board)).path) for chip, board in CHIPS.items()
    }


@contextlib.contextmanager
def served(image: str, chip: str, kind: str = "--chip") -> Iterator[int]:
    """Run the command, waiting for a debugger at a port."""
    with socket.socket() as probe:
        probe.bind(("localhost", 0))
        port: int = probe.getsockname()[1]
    code = "from joulemark.cli import main; main()"
    serving = subprocess.Popen(
        [sys.executable, "-c", code, "exec", image, kind, chip, "--gdb", f":{port}"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert serving.stderr is not None
        assert f"localhost:{port}" in serving.stderr.readline()
        yield port
        out, err = serving.communicate(timeout=30)
        assert serving.returncode == 0, err
        assert out.startswith("stop ")
    finally:
        serving.kill()
        serving.wait()


COMMANDS = """\
set confirm off
set tcp connect-timeout 30
target remote localhost:{port}
break main
continue
print/x $pc
stepi
print/x $pc
print/x $sp
set var $r10 = 0x1234
print/x $r10
set var *(unsigned char *){ram} = 0x5a
x/1xb {ram}
break harness_receive
break hal_serial_read
continue
print/x $pc
"""


def _debugger(chip: str) -> list[str]:
    """Return a distribution's GDB; for the MSP430, which those do not support, one from PyPI."""
    if chips.load_chip(chip).core == "msp430":
        # Clang's images do not tell GDB which MSP430 they are for.
        return [str(Path(sys.executable).parent / "gdb"), "-ex", "set architecture MSP430"]
    gdb = shutil.which("gdb-multiarch")
    assert gdb is not None, "tools/system-packages.sh test installs it"
    return [gdb]


@pytest.mark.parametrize("chip", CHIPS)
def test_gdb_steps_breaks_and_inspects(chip: str, images: dict[str, str]) -> None:
    described = chips.load_chip(chip)
    ram = max((m for m in described.memories if m.kind == "ram"), key=lambda m: m.size)
    with served(images[chip], chip) as port:
        text = COMMANDS.format(port=port, ram=f"{ram.start + ram.size - 4096:#x}")
        done = subprocess.run(
            [
                *(*_debugger(chip), "--batch", "-nx", "-ex", f"file {images[chip]}"),
                *(*_each(text), "-ex", "detach"),
            ],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    shown = done.stdout
    assert re.search(r"Breakpoint 1, 0x\w+ in main", shown), shown + done.stderr
    values = [line.split(" = ")[1] for line in shown.splitlines() if line.startswith("$")]
    at_main, after, stack, changed, second = (int(v, 16) for v in values)
    assert at_main != after, "a step moves"
    assert ram.start < stack <= ram.start + ram.size
    assert changed == 0x1234
    assert "0x5a" in shown
    # The first of two breakpoints that the program reaches.
    end = shown.partition("0x5a")[2]
    assert re.search(r"in hal_serial_read", end)
    assert second not in {at_main, after}


def test_gdb_sees_and_sets_floating_point_registers(images: dict[str, str]) -> None:
    chip = "cc2652r"
    with served(images[chip], chip) as port:
        text = f"""\
set tcp connect-timeout 30
target remote localhost:{port}
set var $s3 = 1.5
set var $fpscr = 0xf0000000
stepi
print $s3
print/x $fpscr
print $s2"""
        done = subprocess.run(
            [*_debugger(chip), "--batch", "-nx", *_each(text), "-ex", "detach"],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    values = re.findall(r"^\$\d+ = (.*)$", done.stdout, re.MULTILINE)
    assert values == ["1.5", "0xf0000000", "0"], done.stdout + done.stderr


BACK = """\
set confirm off
set tcp connect-timeout 30
target remote localhost:{port}
break main
continue
print/x $pc
monitor cycles
stepi
stepi
stepi
print/x $pc
reverse-stepi
reverse-stepi
reverse-stepi
print/x $pc
monitor cycles
break hal_serial_read
continue
print/x $pc
set var $r10 = 0x1234
stepi
reverse-stepi
print/x $r10
delete 2
reverse-continue
print/x $pc
monitor cycles
monitor nonsense
reverse-continue
print/x $pc"""


@pytest.mark.parametrize("chip", ["msp430f1611", "cc2538", "rp2350"])
def test_gdb_goes_back(chip: str, images: dict[str, str]) -> None:
    """What was stepped over is stepped over backwards, with what the debugger changed."""
    image = images.get(chip)
    if image is None:
        library = Library.load()
        way = library.implementation(library["xtea"], "ref")
        image = str(build_image(way, boards.load_board("raspberry-pi-pico-2")).path)
    with served(image, chip) as port:
        done = subprocess.run(
            [
                *(*_debugger(chip), "--batch", "-nx", "-ex", f"file {image}"),
                *(*_each(BACK.format(port=port)), "-ex", "detach"),
            ],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    shown = done.stdout + done.stderr
    values = [int(v, 16) for v in re.findall(r"^\$\d+ = (0x\w+)$", done.stdout, re.MULTILINE)]
    assert len(values) == 7, shown
    main, later, back, reading, register, main_again, start = values
    assert later != main == back == main_again, shown
    assert register == 0x1234, shown
    assert reading not in {main, start}, shown
    cycles = re.findall(r"^(\d+ cycles.*)$", shown, re.MULTILINE)
    assert len(cycles) == 3, shown
    assert len(set(cycles)) == 1, "at main, each time"
    assert "unknown: nonsense" in shown
    assert re.search("reverse-execution history|recorded history", shown), shown
    assert start != main


def test_going_back_undoes_a_watched_write(images: dict[str, str]) -> None:
    from joulemark._engine import Image, Machine

    chip = "cc2538"
    image = Image.load(images[chip])
    alone = Machine(chips.load_chip(chip), image)
    alone.run(until=image.resolve("main") & ~1)
    below = alone.registers["sp"] - 8
    with served(images[chip], chip) as port:
        remote = Remote(port)
        assert remote(f"M{below:x},8:{'a5' * 8}") == "OK"
        assert remote(f"Z2,{below:x},8") == "OK"
        remote("c")
        after = remote.registers()
        assert remote(f"m{below:x},8") != "a5" * 8
        assert "watch" in remote("bc")
        before = remote.registers()
        assert remote(f"m{below:x},8") == "a5" * 8
        remote("s")
        assert remote.registers() == after != before
        assert "watch" in remote("bc")
        assert "replaylog:begin" in remote("bc"), "the debugger's own write is none"
        remote.close()


def test_monitor_tells_cycles_energy_and_snapshots(images: dict[str, str]) -> None:
    text = """\
set tcp connect-timeout 30
target remote localhost:{port}
monitor registers
monitor snapshot reset
break main
continue
monitor energy
monitor snapshots
monitor restore reset
maintenance flush register-cache
print/x $pc
monitor cycles
monitor restore nowhere"""
    with served(images["cc2538"], "openmote-cc2538", "--board") as port:
        done = subprocess.run(
            [
                *(*_debugger("cc2538"), "--batch", "-nx", "-ex", f"file {images['cc2538']}"),
                *(*_each(text.format(port=port)), "-ex", "detach"),
            ],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    shown = done.stdout + done.stderr
    assert re.search(r"^ *r0 [0-9a-f]{8} ", shown, re.MULTILINE), shown
    assert re.search(r"^[\d.,]+ µJ \(\w+\); now mcu active 13 mA", shown, re.MULTILINE), shown
    assert "reset: cycle 0" in shown
    assert re.search(r"^0 cycles, 0 of them asleep; 0 instructions; 0 ps", shown, re.MULTILINE)
    assert "no snapshot nowhere" in shown


def _each(commands: str) -> list[str]:
    return [word for command in commands.splitlines() for word in ("-ex", command)]


class Remote:
    """As much of GDB's remote protocol as these tests need (GDB manual, appendix E)."""

    def __init__(self, port: int) -> None:
        for _ in range(100):
            with contextlib.suppress(ConnectionRefusedError):
                self._stream = socket.create_connection(("localhost", port), timeout=30)
                break
            time.sleep(0.1)

    def __call__(self, command: str) -> str:
        self.send(command)
        return self.receive()

    def send(self, command: str) -> None:
        self._stream.sendall(f"${command}#{sum(command.encode()) % 256:02x}".encode())

    def receive(self) -> str:
        data = b""
        while not re.search(rb"\$[^#]*#..$", data):
            got = self._stream.recv(4096)
            assert got, data
            data += got
        self._stream.sendall(b"+")
        found = re.search(rb"\$([^#]*)#..$", data)
        assert found is not None
        text = found[1].decode()
        # Runs are compressed: "0*!" is "0000".
        return re.sub(r"(.)\*(.)", lambda m: m[1] * (ord(m[2]) - 28), text)

    def registers(self) -> list[int]:
        data = bytes.fromhex(self("g"))
        return [int.from_bytes(data[i : i + 4], "little") for i in range(0, len(data), 4)]

    def interrupt(self) -> str:
        self._stream.sendall(b"\x03")
        return self.receive()

    def close(self) -> None:
        assert self("D") == "OK"
        self._stream.close()


@pytest.mark.parametrize("chip", CHIPS)
def test_the_protocol_on_every_chip(chip: str, images: dict[str, str]) -> None:
    from joulemark._engine import Image, Machine

    image = Image.load(images[chip])
    described = chips.load_chip(chip)
    pc = 0 if described.core == "msp430" else 15
    main, later = (image.resolve(n) & ~1 for n in ("main", "hal_serial_read"))
    ram = max((m for m in described.memories if m.kind == "ram"), key=lambda m: m.size)
    with served(images[chip], chip) as port:
        remote = Remote(port)
        expected = 16 if described.core == "msp430" else 17
        assert len(remote.registers()) == expected + (33 if described.fpu else 0)
        assert remote(f"Z0,{main:x},2") == "OK"
        assert remote("c")[1:].startswith("05")
        assert remote.registers()[pc] == main
        # The same machine without a debugger has the same state after as many instructions.
        alone = Machine(described, image)
        alone.run(until=main)
        assert list(alone.registers.values()) == remote.registers()
        for _ in range(5):
            assert remote("s")[1:].startswith("05")
            alone.run(max_cycles=1)
            assert list(alone.registers.values()) == remote.registers()
        assert remote(f"M{ram.start + 64:x},2:5aa5") == "OK"
        assert remote(f"m{ram.start + 64:x},2") == "5aa5"
        assert remote("mfffffff0,4").startswith("E")
        assert remote(f"z0,{main:x},2") == "OK"
        assert remote(f"Z0,{later:x},2") == "OK"
        assert remote("c")[1:].startswith("05")
        assert remote.registers()[pc] == later
        values = remote.registers()
        values[10] = 0x1234
        assert remote("G" + b"".join(v.to_bytes(4, "little") for v in values).hex()) == "OK"
        assert remote.registers()[10] == 0x1234
        remote.close()


@pytest.mark.parametrize("chip", CHIPS)
def test_a_write_is_watched_for(chip: str, images: dict[str, str]) -> None:
    from joulemark._engine import Image, Machine

    image = Image.load(images[chip])
    alone = Machine(chips.load_chip(chip), image)
    alone.run(until=image.resolve("main") & ~1)
    # At the call of main, or in it, something is pushed for the first time.
    below = alone.registers["sp"] - 8
    size = 8 if "lr" in alone.registers else 10  # The MSP430's return address is on the stack.
    with served(images[chip], chip) as port:
        remote = Remote(port)
        assert remote(f"M{below:x},{size:x}:{'a5' * size}") == "OK"
        assert remote(f"Z2,{below:x},{size:x}") == "OK"
        stopped = remote("c")
        assert f"watch:{below:x};" in re.sub(r":0+", ":", stopped)
        assert remote(f"m{below:x},{size:x}") != "a5" * size
        assert remote(f"z2,{below:x},{size:x}") == "OK"
        remote.close()


READER = """\
volatile unsigned counter = 7, copy, other;
void start(void) {
    other = 1;
    copy = counter;
    counter = 7;
    counter = 8;
    copy = counter;
    for (;;)
        ;
}
"""
TOOLS = {
    "msp430": (("clang-19", "--target=msp430"), "ld.lld-19"),
    "armv7m": (("arm-none-eabi-gcc", "-mcpu=cortex-m3", "-mthumb"), "arm-none-eabi-ld"),
    "riscv": (("clang-19", "--target=riscv32", "-march=rv32imac", "-mabi=ilp32"), "ld.lld-19"),
}
"""Compiler and linker by core."""


@pytest.mark.parametrize(
    ("chip", "core", "code", "data"),
    [
        ("msp430f1611", "msp430", 0x4000, 0x1100),
        ("stm32f100rb", "armv7m", 0x8000100, 0x20000000),
        ("rp2350", "riscv", 0x20000000, 0x20001000),
    ],
)
def test_reads_are_watched_for(tmp_path: Path, chip: str, core: str, code: int, data: int) -> None:
    from joulemark._engine import Image

    (tmp_path / "r.c").write_text(READER)
    compiler, linker = TOOLS[core]
    compiled = (*compiler, "-O1", "-ffreestanding", "-c", "r.c", "-o", "r.o")
    places = (f"-Ttext={code:#x}", f"-Tdata={data:#x}", f"-Tbss={data + 0x80:#x}")
    linked = (linker, *places, "-e", "start", "r.o")
    for command in (compiled, (*linked, "-o", "r.elf")):
        subprocess.run(command, cwd=tmp_path, check=True)
    out = str(tmp_path / "r.elf")
    symbols = Image.load(out).symbols
    address, size = symbols["counter"], 2 if core == "msp430" else 4
    letter = {"rwatch": "Z3", "awatch": "Z4"}
    # A store of the same 7 looks like a load.
    for kind, wanted in {"rwatch": [7, 7, 8], "awatch": [7, 7, 8, 8]}.items():
        with served(out, chip) as port:
            remote = Remote(port)
            assert remote(f"{letter[kind]},{address:x},{size:x}") == "OK"
            for value in wanted:
                assert f"{kind}:{address:x};" in re.sub(":0+", ":", remote("c"))
                held = bytes.fromhex(remote(f"m{address:x},{size:x}"))
                assert int.from_bytes(held, "little") == value
            remote.close()


PROGRAM = """\
#include <stdint.h>
static int call(int operation, const void *argument) {
    register int r0 __asm__("r0") = operation;
    register const void *r1 __asm__("r1") = argument;
    __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
    return r0;
}
__attribute__((noinline)) void finished(void) { for (;;) __asm__("wfi"); }
__attribute__((noinline)) void measured(void) { for (volatile int i = 0; i < 100; i++) {} }
void start(void) {
    call(0x04, "from the debugger\\n");
    call(0x03, "x");
    const uint32_t some[3] = {1, (uint32_t) "abcd", 3};
    if (call(0x05, some) == 0)
        call(0x04, "\\n");
    if (call(0x99, 0) != -1)
        __asm__("udf 0");
    measured();
    finished();
}
typedef void (*handler)(void);
__attribute__((section(".vectors"))) const handler vectors[] = {(handler)0x20002000, start};
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A program for the STM32F100RB that prints by semihosting."""
    folder = tmp_path_factory.mktemp("program")
    (folder / "p.c").write_text(PROGRAM)
    flags = ["-mcpu=cortex-m3", "-mthumb", "-O1", "-nostdlib", "-Wl,-Ttext=0x08000100"]
    flags += ["-Wl,--section-start=.vectors=0x08000000", "-Wl,-e,start"]
    out = str(folder / "p.elf")
    gcc = find("gcc", "armv7m").path
    subprocess.run([gcc, *flags, str(folder / "p.c"), "-o", out], check=True)
    return out


def test_semihosting_is_shown_and_goes_on(program: str) -> None:
    done = joulemark("exec", program, "--chip", "stm32f100rb", "--stop-at", "finished")
    assert done.stdout.startswith("from the debugger\nxabc\nstop          address")
    asked = ("exec", program, "--chip", "stm32f100rb", "--stop-at", "finished", "--json")
    found = json.loads(joulemark(*asked).stdout)
    assert found["serial"] == {"semihosting": "from the debugger\nxabc\n"}


def test_between_two_symbols_is_what_lies_between(program: str) -> None:
    asked = ("exec", program, "--chip", "stm32f100rb", "--json")
    whole = json.loads(joulemark(*asked, "--stop-at", "finished").stdout)
    first = json.loads(joulemark(*asked, "--stop-at", "measured").stdout)
    between = json.loads(joulemark(*asked, "--from", "measured", "--stop-at", "finished").stdout)
    for name in ("cycles", "instructions"):
        assert between[name] == whole[name] - first[name] > 0
    joulemark(
        *asked, "--from", "finished", "--stop-at", "measured", "--max-cycles", "100000", code=8
    )


def test_the_serial_line_shows_and_takes(images: dict[str, str]) -> None:
    # An image of `run` answers only frames; the answer to an identify is its description.
    asked = ("exec", images["msp430f1611"], "--chip", "msp430f1611", "--max-cycles", "4000000")
    assert json.loads(joulemark(*asked, "--json").stdout)["serial"] == {}
    from joulemark.runners import protocol

    frame = protocol.encode(protocol.Command.IDENTIFY, 0, bytes(2))
    text = "".join(f"\\x{byte:02x}" for byte in frame)
    port = boards.load_board("telosb").serial.port
    found = json.loads(joulemark(*asked, "--json", "--input", f"{port}={text}").stdout)
    assert "protocol=" in found["serial"][port.upper()]
    # The program has its serial line by then and sleeps; nothing but the line wakes it.
    late = joulemark(*asked, "--json", "--input", f"{port}@200ms={text}").stdout
    assert "protocol=" in json.loads(late)["serial"][port.upper()]
    # In pieces, in the order of their times.
    halves = (f"{port}@250ms={text[8:]}", f"{port}@200ms={text[:8]}")
    pieces = [word for half in halves for word in ("--input", half)]
    found = json.loads(joulemark(*asked, "--json", *pieces).stdout)
    assert "protocol=" in found["serial"][port.upper()]
    # The end comes before the input.
    never = joulemark(*asked, "--json", "--input", f"{port}@2s={text}")
    found = json.loads(never.stdout)
    assert (found["serial"], found["cycles"] >= 4_000_000) == ({}, True)
    assert "the run ended before 1 of --input was sent" in never.stderr


def test_pins_power_and_current(images: dict[str, str], tmp_path: Path) -> None:
    vcd, trace, page = (tmp_path / n for n in ("p.vcd", "p.csv", "p.html"))
    asked = ("exec", images["msp430f1611"], "--board", "telosb", "--max-cycles", "400000")
    joulemark(*asked, "--vcd", str(vcd), "--power", str(trace))
    joulemark(*asked, "--power", str(page))
    assert "$enddefinitions" in vcd.read_text()
    rows = list(csv.DictReader(trace.open()))
    ends = [float(r["end_s"]) for r in rows]
    assert [float(r["start_s"]) for r in rows[1:]] == ends[:-1]
    charge = sum((float(r["end_s"]) - float(r["start_s"])) * float(r["ampere"]) for r in rows)
    # The same as the model meter computes from the times in each state.
    from joulemark._engine import Image, Machine
    from joulemark.meters.power import occupancy

    board = boards.load_board("telosb")
    machine = Machine(
        chips.load_chip(board.chip),
        Image.load(images["msp430f1611"]),
        wiring=board.wiring,
        trace=True,
    )
    machine.run(until_asleep=True, max_cycles=400000)
    times = occupancy(machine.power_tracks, 0, machine.time_ps)
    energy_nj = ModelMeter(board).energy(times).gross_nj
    assert charge * board.supply_v.value * 1e9 == pytest.approx(energy_nj, rel=1e-6)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path="/usr/bin/chromium", args=["--no-sandbox", "--disable-gpu"]
        )
        opened = browser.new_page(viewport={"width": 1000, "height": 800})
        complaints: list[str] = []
        opened.on("pageerror", lambda error: complaints.append(str(error)))
        opened.goto(page.as_uri())
        opened.wait_for_selector("html[data-trace=drawn]")

        def shown(which: str, column: int) -> float:
            cell = opened.locator(f"tr[data-range={which}] td").nth(column)
            return float(str(cell.get_attribute("data-value")))

        assert shown("all", 7) == pytest.approx(energy_nj * 1e-9, rel=1e-6)
        box = opened.locator("#trace").bounding_box()
        assert box is not None
        middle = box["y"] + box["height"] / 2
        opened.mouse.move(box["x"] + box["width"] * 0.25, middle)
        opened.mouse.down()
        opened.mouse.move(box["x"] + box["width"] * 0.75, middle)
        opened.mouse.up()
        half = shown("selected", 2)
        assert half == pytest.approx(shown("all", 2) / 2, rel=0.01)
        first, last = shown("selected", 1), shown("selected", 1) + half
        expected = sum(
            max(0.0, min(float(r["end_s"]), last) - max(float(r["start_s"]), first))
            * float(r["ampere"])
            for r in rows
        )
        assert shown("selected", 6) == pytest.approx(expected, rel=1e-6)
        opened.locator("#trace").press("+")
        assert shown("shown", 2) == pytest.approx(shown("all", 2) * 0.8, rel=1e-6)
        assert complaints == []
        browser.close()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "one of them says what to emulate"),
        (("--chip", "cc2650", "--board", "telosb"), "give one"),
        (("--chip", "msp430f1611", "--power", "x.csv"), "give --board"),
        (("--board", "telosb", "--power", "x.png"), "name a .csv or .html file"),
        (("--chip", "msp430f1611", "--gdb", "3333"), "write :3333"),
        (("--chip", "msp430f1611", "--gdb", ":99999"), "write :3333"),
        (("--chip", "msp430f1611", "--gdb", ":3333", "--max-cycles", "9"), "leave them out"),
        (("--chip", "msp430f1611", "--input", "uart9=x"), "names no port"),
        (("--chip", "msp430f1611", "--input", r"usart1=\x"), "has an escape that is no byte"),
        (("--chip", "msp430f1611", "--input", r"usart1=\u20ac"), "has an escape that is no byte"),
        (("--chip", "msp430f1611", "--input", "usart1@20ms"), "has no =TEXT"),
        (("--chip", "msp430f1611", *("--input", "usart1=-") * 2), "is typed"),
        (("--chip", "msp430f1611", "--input", "usart1@soon=x"), "'soon' is not a time"),
        (("--chip", "msp430f1611", "--input", "usart1@=x"), "'' is not a time"),
        (("--chip", "msp430f1611", "--gdb", ":3333", "--input", "usart1@1s=x"), "no time"),
        (("--chip", "msp430f1611", "--from", "nowhere"), "nowhere"),
        (
            ("--chip", "msp430f1611", "--max-cycles", "9", "--vcd", "/proc/x.vcd"),
            "/proc/x.vcd: No such",
        ),
    ],
)
def test_bad_input(images: dict[str, str], arguments: tuple[str, ...], message: str) -> None:
    done = joulemark("exec", images["msp430f1611"], *arguments, code=3)
    assert message in done.stderr
    assert "internal error" not in done.stderr
