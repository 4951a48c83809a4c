"""The nRF52840 as operating systems use it: what their images need, in a program of ours."""

import subprocess
from pathlib import Path

import pytest

from joulemark._engine import Image, Machine
from joulemark.catalogue import chips

SOURCE = Path(__file__).with_name("nrf52840_system.c")


def started(folder: Path, *options: str) -> tuple[Machine, Image]:
    subprocess.run(
        [
            *("arm-none-eabi-gcc", "-mcpu=cortex-m4", "-Os", "-ffreestanding", "-nostdlib"),
            *("-Wall", "-Wextra", "-Werror", "-Wl,-e,reset", "-Wl,-Ttext=0x400"),
            *("-Wl,--section-start=.vectors=0", "-Wl,-Tbss=0x20000000", "-Wl,-Tdata=0x20000800"),
            *(*options, str(SOURCE), "-o", "program.elf"),
        ],
        cwd=folder,
        check=True,
    )
    image = Image.load(folder / "program.elf")
    return Machine(chips.load_chip("nrf52840"), image, trace=True), image


def test_clocks_flash_and_serial_line_serve_a_system(tmp_path: Path) -> None:
    machine, image = started(tmp_path)
    stop = machine.run(max_cycles=20_000_000)
    assert stop.fault is None, stop.fault.message

    def word(name: str) -> int:
        return int.from_bytes(machine.read_memory(image.symbols[name], 4), "little")

    assert machine.serial_read("UART0") == b"ready\n"
    # 4,096 ticks of 32,768 Hz, by a 1 MHz counter.
    assert word("microseconds") == 125_000
    assert word("programmed") == 0x12005678
    assert word("erased") == 0xFFFFFFFF
    # Four bytes of ten bits at 115,200 baud (UARTE, reception).
    assert word("stopping") in (347, 348)
    machine.serial_write("UART0", b"echo")
    stop = machine.run(max_cycles=machine.cycles + 1_000_000)
    assert stop.fault is None, stop.fault.message
    assert machine.serial_read("UART0") == b"echo"


def test_a_store_to_flash_that_its_controller_does_not_allow_stops(tmp_path: Path) -> None:
    machine, _ = started(tmp_path, "-DREADS_ONLY")
    stop = machine.run(max_cycles=20_000_000)
    assert stop.fault is not None
    assert stop.fault.kind == "flash-write"
    assert stop.fault.address == 0xFF000


def test_system_off_ends_by_a_pin_alone(tmp_path: Path) -> None:
    machine, image = started(tmp_path, "-DTURNS_OFF")
    machine.set_pin("P0.11", True)
    stop = machine.run(until_ps=2 * 10**12)
    assert stop.fault is None, stop.fault.message
    last = machine.power_tracks["mcu"][-1]
    assert last.state == "system-off"
    # After 4,106 ticks of 32,768 Hz; until the end, whatever the counter does.
    assert last.start_ps == pytest.approx(4106 / 32768 * 1e12, abs=1e9)
    assert last.end_ps == 2 * 10**12
    assert machine.read_memory(image.symbols["wakes"], 1) == b"\2"
    machine.set_pin("P0.11", False)
    stop = machine.run(until_ps=3 * 10**12)
    assert stop.fault is not None
    assert stop.fault.message.startswith("the chip wakes from system off by a pin")
