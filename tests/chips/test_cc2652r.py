"""Start-up code of the CC2652R as TI and RIOT write it, in a program of ours."""

import subprocess
from pathlib import Path

import pytest

from joulemark._engine import Image, Machine, Stop
from joulemark.catalogue import chips

SOURCE = Path(__file__).with_name("cc2652r_startup.c")


def run(folder: Path, *options: str) -> tuple[Machine, Image, Stop]:
    subprocess.run(
        [
            *("arm-none-eabi-gcc", "-mcpu=cortex-m4", "-Os", "-ffreestanding", "-nostdlib"),
            *("-Wall", "-Wextra", "-Werror", "-Wl,-e,reset", "-Wl,-Ttext=0x400"),
            *("-Wl,--section-start=.vectors=0,--section-start=.ccfg=0x57fa8",),
            *("-Wl,-Tbss=0x20000000", *options, str(SOURCE), "-o", "program.elf"),
        ],
        cwd=folder,
        check=True,
    )
    image = Image.load(folder / "program.elf")
    machine = Machine(chips.load_chip("cc2652r"), image)
    return machine, image, machine.run(max_cycles=20_000)


@pytest.mark.parametrize(("is_cached", "mode"), [(1, 1), (0, 0)])
def test_trims_modes_and_clocks_are_set(tmp_path: Path, is_cached: int, mode: int) -> None:
    machine, image, stop = run(tmp_path, f"-DDIS_GPRAM={is_cached}")
    assert stop.fault is None, stop.fault.message

    def words(name: str, count: int = 1) -> list[int]:
        data = machine.read_memory(image.symbols[name], 4 * count)
        return [int.from_bytes(data[at : at + 4], "little") for at in range(0, 4 * count, 4)]

    assert words("trimmed") == [1]
    assert words("identity")[0] & 0x0FFFFFFF == 0x0BB4102F
    assert words("mode") == [mode], "the cache is as the customer's configuration has it"
    assert words("sources", 2) == [1, 3], "both crystals"
    assert words("time") == [2], "a period of 32,768 Hz is two of 2^-16 s"
    assert words("owned", 2) == [1, 0], "a semaphore is taken once"


def test_a_function_of_the_rom_that_is_left_out_stops(tmp_path: Path) -> None:
    _, _, stop = run(tmp_path, "-DDIS_GPRAM=1", "-DCALLS_MORE")
    assert stop.fault is not None
    assert "pc 0x10010000" in stop.fault.message
