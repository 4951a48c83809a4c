"""What makers' start-up code and driver libraries do before `main`, each in a program of ours."""

import subprocess
from pathlib import Path

from joulemark._engine import Image, Machine, Stop
from joulemark.catalogue import chips

RAM = 0x20000000
CORES = {"stm32f100rb": "cortex-m3", "cc2650": "cortex-m3", "nrf52840": "cortex-m4"}

PROGRAM = """
    .syntax unified
    .thumb
    .section .vectors, "a"
    .word {top:#x}, reset
    .text
    .global reset
    .type reset, %function
    .thumb_func
reset:
    ldr r7, ={results:#x}
{code}
    b .
    .ltorg
"""


def write(address: int, value: int) -> str:
    return f"ldr r0, ={address:#x}\nldr r1, ={value:#x}\nstr r1, [r0]\n"


def read(address: int) -> str:
    return f"ldr r0, ={address:#x}\nldr r1, [r0]\nstm r7!, {{r1}}\n"


def run(folder: Path, chip: str, code: str, **settings: int) -> tuple[Machine, Stop]:
    base = chips.load_chip(chip).vectors["RESET"] - 4
    text = PROGRAM.format(top=RAM + 0x1000, results=RAM, code=code)
    (folder / "program.S").write_text(text)
    subprocess.run(
        [
            *("arm-none-eabi-gcc", f"-mcpu={CORES[chip]}", "-nostdlib", "-Wl,-e,reset"),
            f"-Wl,-Ttext={base + 0x200:#x},--section-start=.vectors={base:#x}",
            *("program.S", "-o", "program.elf"),
        ],
        cwd=folder,
        check=True,
    )
    image = Image.load(folder / "program.elf")
    machine = Machine(chips.load_chip(chip), image, settings=settings)
    return machine, machine.run(max_cycles=10_000)


def words(machine: Machine, count: int) -> list[int]:
    data = machine.read_memory(RAM, 4 * count)
    return [int.from_bytes(data[at : at + 4], "little") for at in range(0, len(data), 4)]


RCC_CR, RCC_CFGR, RCC_CFGR2 = 0x40021000, 0x40021004, 0x4002102C
# 8 MHz / 2 * 6 from the crystal, with the PLL as the system clock.
PLL_24_MHZ = 1 << 16 | 1 << 17 | 4 << 18


def test_pllxtpre_and_the_lowest_bit_of_prediv1_are_one(tmp_path: Path) -> None:
    """RM0041, RCC_CFGR and RCC_CFGR2; ST's older library sets the one, its newer one the other."""
    code = write(RCC_CFGR, PLL_24_MHZ) + read(RCC_CFGR2)
    code += write(RCC_CFGR2, 0) + read(RCC_CFGR) + write(RCC_CFGR2, 1) + read(RCC_CFGR)
    machine, stop = run(tmp_path, "stm32f100rb", code)
    assert stop.fault is None, stop.fault.message
    assert words(machine, 3) == [1, PLL_24_MHZ & ~(1 << 17), PLL_24_MHZ]


def test_a_pll_that_pllxtpre_makes_24_mhz_is_not_refused(tmp_path: Path) -> None:
    """With the crystal undivided, its factor of 6 would give 48 MHz, which the chip refuses."""
    start = write(RCC_CR, 0x01010081)
    machine, stop = run(
        tmp_path, "stm32f100rb", start + write(RCC_CFGR, PLL_24_MHZ | 2) + read(RCC_CFGR)
    )
    assert stop.fault is None, stop.fault.message
    assert words(machine, 1) == [PLL_24_MHZ | 2 | 2 << 2]
    _, stop = run(tmp_path, "stm32f100rb", start + write(RCC_CFGR, PLL_24_MHZ & ~(1 << 17) | 2))
    assert stop.fault is not None
    assert "48000000 Hz" in stop.fault.message


def test_remapping_of_pins_is_held_but_for_the_debug_port(tmp_path: Path) -> None:
    mapr, mapr2 = 0x40010004, 0x4001001C
    code = write(mapr, 2 << 24 | 1 << 2) + read(mapr) + write(mapr2, 1) + read(mapr2)
    machine, stop = run(tmp_path, "stm32f100rb", code)
    assert stop.fault is None, stop.fault.message
    assert words(machine, 2) == [1 << 2, 1]


def test_all_pieces_of_the_temperature_line_are_there(tmp_path: Path) -> None:
    """A0 to A5, B0 to B5 and T0 to T4 of TEMP, which Nordic's start-up code sets (errata 66)."""
    pieces = [0x4000C520, 0x4000C534, 0x4000C540, 0x4000C554, 0x4000C560, 0x4000C570]
    code = "".join(write(at, number + 1) for number, at in enumerate(pieces))
    machine, stop = run(tmp_path, "nrf52840", code + "".join(map(read, pieces)))
    assert stop.fault is None, stop.fault.message
    assert words(machine, len(pieces)) == [1, 2, 3, 4, 5, 6]


def test_uicr_is_written_through_the_flash_controller_and_a_setting_gives_its_reset_pin(
    tmp_path: Path,
) -> None:
    """As Nordic's start-up code does it (`system_nrf52840.c`: CONFIG, both words, READY)."""
    allow, pin, regout = 0x4001E504, 0x10001200, 0x10001304
    code = read(pin) + write(allow, 1) + write(pin, 18) + write(pin + 4, 18)
    code += write(regout, 0xFFFFFFFD) + write(allow, 0) + "".join(map(read, [pin, pin + 4, regout]))
    machine, stop = run(tmp_path, "nrf52840", code)
    assert stop.fault is None, stop.fault.message
    assert words(machine, 4) == [0xFFFFFFFF, 18, 18, 0xFFFFFFFD]
    machine, _ = run(tmp_path, "nrf52840", read(pin) + read(pin + 4), reset_pin=18)
    assert words(machine, 2) == [18, 18]
    _, stop = run(tmp_path, "nrf52840", write(pin, 18))
    assert stop.fault is not None
    assert (stop.fault.kind, stop.fault.address) == ("flash-write", pin)


def test_a_call_of_a_rom_function_that_is_left_out_names_the_rom(tmp_path: Path) -> None:
    """The first function in AON's table, which the table of tables points to."""
    code = "ldr r0, =0x10000180\nldr r0, [r0, #4]\nldr r0, [r0]\nblx r0\n"
    _, stop = run(tmp_path, "cc2650", code)
    assert stop.fault is not None
    assert stop.fault.kind == "absent"
    assert "the emulation of cc2650 leaves out boot ROM" in stop.fault.message
    assert "IBUSERR" in stop.fault.message
