"""The nRF52840 as operating systems use it: what their images need, in a program of ours."""

import subprocess
from pathlib import Path

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
    return Machine(chips.load_chip("nrf52840"), image), image


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
